"""Published figures that the project ships as data in reference/, each with its source and licence.

One figure a line of reference/NAME.csv, as printed and in its true unit; reference/NAME.yaml says where it
is from. Format in docs/formats.md.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mpicampaign.errors import Problem, UserError, did_you_mean
from mpicampaign.places import shipped
from mpicampaign.units import MB, MIB
from mpicampaign.yaml_lines import Document, read_yaml, shown

REFERENCE = shipped("reference")
COLUMNS = (
    "system",
    "host_group",
    "placement",
    "ranks",
    "benchmark",
    "quantity",
    "size",
    "statistic",
    "n",
    "value",
    "unit",
)
STATISTICS = ("mean", "median", "minimum", "maximum", "single", "derived")
LARGEST = "max"  # in the column size: the largest value over all message sizes
# To bytes, seconds, B/s, flop/s.
UNITS = {
    "us": 1e-6,
    "s": 1.0,
    "MB/s": float(MB),
    "MiB/s": float(MIB),
    "GB/s": 1e9,
    "Gflop/s": 1e9,
    "byte/kflop": 1e-3,
}
_NEEDED = ("title", "source", "licence", "note")
_OPTIONAL = ("address",)


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """One published figure. ``size`` (B) is None for maxima over sizes and where there are none."""

    system: str
    host_group: str
    placement: str
    ranks: int | None
    benchmark: str
    quantity: str
    size: int | None
    statistic: str
    n: int
    printed: str
    unit: str

    @property
    def value(self) -> float:
        """In bytes, seconds, B/s, flop/s."""
        return float(self.printed) * UNITS[self.unit]


@dataclass(frozen=True, slots=True)
class Reference:
    """All figures of one publication."""

    name: str
    title: str
    source: str
    licence: str
    note: str
    address: str
    figures: tuple[PublishedValue, ...]


def reference_names(folder: Path = REFERENCE) -> tuple[str, ...]:
    """The publications that are shipped."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


@cache
def load_reference(name: str, folder: Path = REFERENCE) -> Reference:
    """One publication's figures.

    Raises
    ------
    UserError
        with every damaged line, or when there is no such publication.
    """
    if name not in reference_names(folder):
        hint = did_you_mean(name, reference_names(folder))
        raise UserError(Problem(f"no reference {shown(name)} is shipped", str(folder), hint=hint))
    words, problems = _words(folder / f"{name}.yaml")
    path = folder / f"{name}.csv"
    figures = _figures(path, problems)
    if problems:
        raise UserError(problems)
    return Reference(name, **{key: words.get(key, "") for key in (*_NEEDED, *_OPTIONAL)}, figures=figures)


def _words(path: Path) -> tuple[dict[str, str], list[Problem]]:
    document = read_yaml(path)
    data = document.data
    if not isinstance(data, dict):
        raise UserError(Problem("must be a mapping with title, source, licence and note", str(path), 1))
    problems = [*document.problems, *_key_problems(document)]
    return {key: value.strip() for key, value in data.items() if isinstance(value, str)}, problems


def _key_problems(document: Document) -> list[Problem]:
    data, known = document.data, (*_NEEDED, *_OPTIONAL)
    found = [document.problem((key,), "this key is missing") for key in _NEEDED if key not in data]
    for key, value in data.items():
        if key not in known:
            found.append(document.problem((key,), "unknown key", hint=did_you_mean(key, known)))
        elif not isinstance(value, str) or not value.strip():
            found.append(document.problem((key,), "must be a text", shown(value)))
    return found


def _figures(path: Path, problems: list[Problem]) -> tuple[PublishedValue, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(Problem(f"this file cannot be read: {error}", str(path))) from error
    lines = csv.reader(io.StringIO(text))
    if tuple(next(lines, ())) != COLUMNS:
        raise UserError(Problem("the first line must be " + ",".join(COLUMNS), str(path), 1))
    found: dict[tuple[object, ...], int] = {}
    figures = []
    for cells in lines:
        problem = _problem(cells, found, lines.line_num)
        if problem:
            problems.append(Problem(problem[0], str(path), lines.line_num, value=shown(problem[1])))
        else:
            figures.append(_figure(cells))
    if not figures and not problems:
        problems.append(Problem("no figures are in it", str(path)))
    return tuple(figures)


def _problem(cells: list[str], found: dict[tuple[object, ...], int], line: int) -> tuple[str, str] | None:
    """What is wrong with a line, and the value that it is about."""
    if len(cells) != len(COLUMNS):
        return f"must have {len(COLUMNS)} columns", str(len(cells))
    named = dict(zip(COLUMNS, cells, strict=True))
    for key in ("system", "host_group", "benchmark", "quantity"):
        if not named[key].strip():
            return f"{key} is missing", named[key]
    checks = (
        ("ranks", _count(named["ranks"]) or not named["ranks"], "must be a whole number from 1 on, or empty"),
        ("size", _size(named["size"]), f"must be a number of bytes, '{LARGEST}' or empty"),
        ("statistic", named["statistic"] in STATISTICS, "must be one of " + ", ".join(STATISTICS)),
        ("n", _count(named["n"]), "must be a whole number from 1 on"),
        ("value", _positive(named["value"]), "must be a positive number"),
        ("unit", named["unit"] in UNITS, "must be one of " + ", ".join(UNITS)),
    )
    for key, right, words in checks:
        if not right:
            return f"{key} {words}", named[key]
    first = found.setdefault(tuple(cells[:7]), line)
    return None if first == line else (f"the same figure as in line {first}", named["value"])


def _count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0


def _size(text: str) -> bool:
    return text in ("", LARGEST) or (text.isascii() and text.isdecimal())


def _positive(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and float(text) > 0
    except ValueError:
        return False


def _figure(cells: list[str]) -> PublishedValue:
    system, host_group, placement, ranks, benchmark, quantity, size, statistic, n, value, unit = cells
    return PublishedValue(
        system,
        host_group,
        placement,
        int(ranks) if ranks else None,
        benchmark,
        quantity,
        int(size) if size.isdecimal() else None,
        statistic,
        int(n),
        value,
        unit,
    )
