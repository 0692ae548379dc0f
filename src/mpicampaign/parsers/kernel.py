"""Raw outputs of the bundled kernels; the format is described in docs/kernels.md.

Header lines ``#@key=value``, a line ``#@columns.KIND=...`` for each kind of row (samples, levels, sizes),
the rows, each beginning with its kind, and ``#@end rows=N status=ok``. Other lines, such as what the MPI
library prints, are passed over: the closing line's row count proves that no row is missing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

from mpicampaign.parsers.output import (
    OutputError,
    ParsedOutput,
    check_column_count,
    integer,
    numbered_lines,
    row_tokens,
    scientific,
    shown,
)
from mpicampaign.records import Series

if TYPE_CHECKING:
    from collections.abc import Iterable

SUITE = "kernel"

_FIRST = "#mpicampaign-kernel "
_FORMAT_VERSION = "1"
_KEY = re.compile(r"#@([a-z_]{1,40}(?:\.[a-z_]{1,40})?)=(.{0,4000})$")
_END = re.compile(r"#@end rows=([0-9]{1,9}) status=([a-z_]{1,40})\s*$")
_KINDS = ("samples", "levels", "sizes")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}|-", re.ASCII)
_NEEDED = {
    "samples": {"operation", "tree", "size", "seconds", "useful_bytes", "wire_bytes"},
    "levels": {"operation", "tree", "size", "rank", "receive_seconds", "merge_seconds"},
    "sizes": {"operation", "tree", "size", "samples", "converged", "verified"},
}
_TEXTS = ("operation", "tree")
_SECONDS = ("seconds", "receive_seconds", "merge_seconds")
_NO_TREE = "-"
_MERGING = "tree_merge"

_Row = dict[str, str | int | float]
_Key = tuple[str, str, int]  # operation, tree, size


def parse_kernel(text: str) -> ParsedOutput:
    """Read the raw output of one kernel run.

    Raises
    ------
    OutputError
        when the closing line is missing, rows are missing or damaged, or verification failed.
    """
    header, rows, count = _read(text)
    found = sum(len(rows[kind]) for kind in _KINDS)
    if count is None:
        raise OutputError(f"ends after {found} rows; the closing line is missing")
    if count != found:
        raise OutputError(f"{found} rows, but the closing line counts {count}")
    sizes = _by_key(rows["sizes"])
    samples = _by_key(rows["samples"])
    if not samples:
        raise OutputError("no samples")
    levels = _by_key(rows["levels"])
    _check_sizes(sizes, samples, levels)
    ranks = _ranks(header)
    labels = dict.fromkeys((operation, tree) for operation, tree, _ in samples)
    series = [_series(label, ranks, samples, sizes, levels) for label in labels]
    return ParsedOutput(SUITE, header.get("version", ""), header, tuple(series))


def _read(text: str) -> tuple[dict[str, str], dict[str, list[_Row]], int | None]:
    header: dict[str, str] = {}
    columns: dict[str, list[str]] = {}
    rows: dict[str, list[_Row]] = {kind: [] for kind in _KINDS}
    started = False
    count: int | None = None
    for number, line in numbered_lines(text):
        if line.startswith(_FIRST):
            _check_first(number, line, started)
            started = True
        elif not started:
            continue
        elif end := _END.match(line):
            count = _end(number, end[1], end[2], count)
        elif line.startswith("#@"):
            _header_line(number, line, header, columns)
        elif (kind := line.split(" ", 1)[0]) in _KINDS:
            rows[kind].append(_row(number, line, kind, columns.get(kind), count))
    if not started:
        raise OutputError("the first line of a kernel's output is missing: empty, cut or another program's")
    return header, rows, count


def _check_first(number: int, line: str, started: bool) -> None:
    if started:
        raise OutputError(f"line {number}: a second first line: two outputs in one file")
    version = line.removeprefix(_FIRST).strip()
    if version != _FORMAT_VERSION:
        raise OutputError(
            f"line {number}: format version {shown(version)}; this program reads {_FORMAT_VERSION}"
        )


def _end(number: int, rows: str, status: str, before: int | None) -> int:
    if before is not None:
        raise OutputError(f"line {number}: a second closing line: two outputs in one file")
    if status != "ok":
        raise OutputError(
            f"line {number}: the kernel reports status {shown(status)}: its data are not verified"
        )
    return int(rows)


def _header_line(number: int, line: str, header: dict[str, str], columns: dict[str, list[str]]) -> None:
    found = _KEY.match(line)
    if not found:
        raise OutputError(f"line {number}: {shown(line)} is no header line: garbled")
    key, value = found[1], found[2].strip()
    if key in header or key.removeprefix("columns.") in columns:
        raise OutputError(f"line {number}: {key} a second time: two outputs in one file")
    if not key.startswith("columns."):
        header[key] = value
        return
    kind = key.removeprefix("columns.")
    if kind not in _KINDS:
        raise OutputError(f"line {number}: unknown kind of row {shown(kind)}")
    missing = _NEEDED[kind] - set(value.split())
    if missing:
        raise OutputError(f"line {number}: rows of {kind} lack the columns {', '.join(sorted(missing))}")
    columns[kind] = value.split()


def _row(number: int, line: str, kind: str, names: list[str] | None, end: int | None) -> _Row:
    if names is None:
        raise OutputError(f"line {number}: row of {kind} before the line that names its columns")
    if end is not None:
        raise OutputError(f"line {number}: row after the closing line: two outputs in one file")
    tokens = row_tokens(line, number)[1:]
    check_column_count(tokens, names, number)
    return {name: _value(name, token, number) for name, token in zip(names, tokens, strict=True)}


def _value(name: str, token: str, number: int) -> str | int | float:
    if name in _TEXTS:
        if not _NAME.fullmatch(token):
            raise OutputError(f"line {number}: {shown(token)} is no name of a {name}")
        return token
    if name in _SECONDS:
        return scientific(token, number, name)
    return integer(token, number, name)


def _by_key(rows: Iterable[_Row]) -> dict[_Key, list[_Row]]:
    grouped: dict[_Key, list[_Row]] = defaultdict(list)
    for row in rows:
        grouped[str(row["operation"]), str(row["tree"]), int(row["size"])].append(row)
    return dict(grouped)


def _check_sizes(
    sizes: dict[_Key, list[_Row]], samples: dict[_Key, list[_Row]], levels: dict[_Key, list[_Row]]
) -> None:
    for key in sorted(samples.keys() | sizes.keys() | levels.keys()):
        what = " ".join(map(str, key))
        if len(sizes.get(key, ())) != 1:
            raise OutputError(f"{what} B: {len(sizes.get(key, ()))} rows of sizes, not one")
        if not sizes[key][0]["verified"]:
            raise OutputError(f"{what} B: the data was not verified")
        if not 0 < len(samples.get(key, ())) <= float(sizes[key][0]["samples"]):
            raise OutputError(f"{what} B: {len(samples.get(key, ()))} samples of {sizes[key][0]['samples']}")


def _ranks(header: dict[str, str]) -> int:
    ranks = header.get("ranks", "")
    if not ranks.isdecimal() or len(ranks) > 9:
        raise OutputError(f"the header's number of ranks is {shown(ranks)}")
    return int(ranks)


def _series(
    label: tuple[str, str],
    ranks: int,
    samples: dict[_Key, list[_Row]],
    sizes: dict[_Key, list[_Row]],
    levels: dict[_Key, list[_Row]],
) -> Series:
    operation, tree = label
    keys = [key for key in samples if key[:2] == label]
    columns: dict[str, list[float | None]] = defaultdict(list)
    for key in keys:
        figures = _figures(samples[key], sizes[key][0])
        if operation == _MERGING:
            figures |= _merge_figures(levels.get(key, []))
        for name, value in figures.items():
            columns[name].append(value)
    return Series(operation, ranks, dict(columns), {} if tree == _NO_TREE else {"tree": tree})


def _figures(samples: list[_Row], size: _Row) -> dict[str, float | None]:
    times = [float(row["seconds"]) for row in samples]
    if min(times) <= 0:
        raise OutputError(f"{size['operation']} {size['size']} B: a sample took no time at all")
    time = median(times)
    return {
        "size": int(size["size"]),
        "time": time,
        "time_min": min(times),
        "time_max": max(times),
        "samples": int(size["samples"]),
        "bandwidth": _rate(samples, "useful_bytes", time),
        "bandwidth_wire": _rate(samples, "wire_bytes", time),
        "converged": int(size["converged"]),
    }


def _rate(samples: list[_Row], name: str, time: float) -> float | None:
    volumes = {int(row[name]) for row in samples}
    if len(volumes) != 1:
        raise OutputError(f"{name} differs between samples of one size: {sorted(volumes)}")
    return volumes.pop() / time


def _merge_figures(levels: list[_Row]) -> dict[str, float | None]:
    """Seconds of communication and of merging, summed over the levels of the rank that spent most."""
    return {
        "communication": _longest(levels, "receive_seconds"),
        "merge": _longest(levels, "merge_seconds"),
    }


def _longest(levels: list[_Row], name: str) -> float | None:
    by_rank: dict[int, float] = defaultdict(float)
    for row in levels:
        by_rank[int(row["rank"])] += float(row[name])
    return max(by_rank.values(), default=None)
