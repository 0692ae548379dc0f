"""nccl-tests and rccl-tests: their tables since 2017, and the JSON of ``-J``.

A table has a row for each size, with values out of place and in place; datatypes, operations, roots and
cycles (``-N``) follow each other. The closing line has the mean of all bus bandwidths, by which missing and
damaged rows show. Source: common.cu and util.cu of nccl-tests 2017 to 2.19, common.cu of rccl-tests.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.records import Series
from mpicampaign.suites.reading import (
    MICROSECOND,
    OutputError,
    ParsedOutput,
    check_column_count,
    check_row_count,
    half_digit,
    integer,
    is_aborted,
    numbered_lines,
    row_tokens,
    scientific,
)
from mpicampaign.suites.suite import Banner, ColumnMetric, Refusal, Sources, Suite
from mpicampaign.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpicampaign.suites.suite import Request

_GB = 1e9
_COLLECTIVES = (
    *("all_gather", "all_reduce", "alltoall", "broadcast", "gather", "hypercube", "reduce"),
    *("reduce_scatter", "scatter", "sendrecv"),
)
_COLUMNS = {  # heading -> column and factor to SI; nothing is kept of others
    "time": ("time", MICROSECOND),
    "cputime": ("cpu_time", MICROSECOND),
    "algbw": ("algorithm_bandwidth", _GB),
    "busbw": ("bandwidth", _GB),
    "i_min": ("time_min", MICROSECOND),
    "i_max": ("time_max", MICROSECOND),
    "i_p99": ("time_p99", MICROSECOND),
}
_RATES = ("algbw", "busbw")
_OF_JSON = {"time": "time", "cpu_time": "cputime", "alg_bw": "algbw", "bus_bw": "busbw"}
_OF_PER_ITERATION = {"min_us": "i_min", "max_us": "i_max", "p99_us": "i_p99"}
_SETTINGS_OF_JSON = {
    "warmup_iters": "warmup_iters",
    "iters": "iterations",
    "agg_iters": "aggregated_iterations",
    "graph": "graph",
}
_ABOUT = {"type": "datatype", "redop": "redop", "op": "redop", "root": "root"}
_CHECKS = ("#wrong", "error", "res")  # until 2022 the largest difference, in which * marks too large ones
_SIZES = ("size", "bytes")
_PLACES = ("out-of-place", "in-place")
_JSON_DIGIT = 5e-7
_MOST_RANKS = 10**7
_ROUNDING = 1e-9

_BEGIN = re.compile(
    r"(?:# )?nThread +([0-9]{1,6}) +nGpus +([0-9]{1,6}) +minBytes +([0-9]{1,20}) +maxBytes +([0-9]{1,20}) "
)
_ABOVE = re.compile(r"# (?:nccl-tests version|Collective test starting)")
_SETTING = re.compile(r"((?:warmup |agg )?iters|graph|unalign): ([0-9]{1,9})")
_VERSION = re.compile(r"(?:# nccl-tests version|rccl-tests: Version) (\S{1,60})")
_PROGRAM = re.compile(r"^# Collective test (?:starting|concluded): *(\w{1,60})", re.MULTILINE)
_DEVICE = re.compile(
    r"^#? +Rank +([0-9]{1,7})(?: +Group +([0-9]{1,7}))?(?: +Pid +[0-9]{1,10})? +on +(\S{1,255})"
    r" +device +[0-9]{1,4} +\[[^\]\n]{1,40}\] +(\S[^\n]{0,99})",
    re.MULTILINE,
)
_LIBRARY = re.compile(r"nccl-library=([0-9]{4,6})|\b[NR]CCL version *:? *([0-9][0-9.]{0,20})")
_ROW = re.compile(r"\s*[0-9]{1,20}\s+[0-9]{1,20}\s+[a-z]\w*\s")
_BOUNDS = re.compile(r"(?:# | )Out of bounds values *: *([0-9]{1,18}) ")
_MEAN = re.compile(r"(?:# | )Avg bus bandwidth *: *(\S{1,40})")
_FAILURE = re.compile(r".{0,200}\bTest (?:(?:NCCL|CUDA|MPI) )?(?:failure|timeout)\b")
_JSON = re.compile(r'\s{0,20}\{"version": ?[0-9]{1,4}, ?"start_time":')
_DEVICE_KEYS = ("rank", "group", "hostname", "device_info")
_NOT_OF_JSON = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
_JOBS = ("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID")


class _Number(NamedTuple):
    """A printed number, and half of its last digit."""

    value: float
    slack: float


class _Half(NamedTuple):
    """The values of a row in one place, by heading. ``wrong``: why they do not count."""

    place: str
    values: Mapping[str, _Number | None]
    checked: bool
    wrong: str = ""


class _Row(NamedTuple):
    """``where``: its line; ``about``: its datatype, operation and root, as far as they are printed."""

    where: str
    size: int
    about: dict[str, str]
    halves: Sequence[_Half]


class _Device(NamedTuple):
    rank: str
    group: str
    host: str
    name: str


@dataclass(slots=True)
class _Output:
    """What a text or a JSON file holds. ``faults``: of damaged rows and aborted programs."""

    version: str = ""
    threads: int = 1
    one_size: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    rows: list[_Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    out_of_bounds: int = 0
    mean: _Number | None = None


# ---- rows


class _Layout(NamedTuple):
    """The headings of a table: those in front, and those of each place."""

    front: list[str]
    halves: list[tuple[str, list[str]]]
    timestamp: bool

    def _tokens(self, number: int, line: str) -> list[str]:
        """Without the date and time that may end a row, and with the operation that alltoall left blank."""
        tokens = row_tokens(line, number)
        tokens = tokens[:-2] if self.timestamp else tokens
        headings = [*self.front, *(each for _, half in self.halves for each in half)]
        if len(tokens) == len(headings) - 1 and self.front[-1] == "redop":
            tokens.insert(len(self.front) - 1, "none")
        check_column_count(tokens, headings, number)
        return tokens

    def row(self, number: int, line: str) -> _Row:
        tokens = self._tokens(number, line)
        front = dict(zip(self.front, tokens, strict=False))
        size = integer(next(front[name] for name in _SIZES if name in front), number, "size")
        if (count := integer(front.get("count", "0"), number, "count")) and size % count:
            raise OutputError(f"line {number}: {size} B are not {count} elements: damaged")
        about = {_ABOUT[name]: token for name, token in front.items() if name in _ABOUT}
        rest = iter(tokens[len(front) :])
        printed = [(place, {name: next(rest) for name in names}) for place, names in self.halves]
        return _Row(
            f"line {number}", size, about, [_half(*each, number, "bytes" in front) for each in printed]
        )


def _layout(line: str, places: Sequence[str], number: int) -> _Layout:
    """The headings of a line; ``places`` from the one above it."""
    headings = [name for name in line[1:].split() if name != "timestamp"]
    starts = [place for place, name in enumerate(headings) if name in ("time", "cputime")]
    if len(starts) != len(places):
        raise OutputError(f"line {number}: {len(starts)} times in the header, {len(places)} places: damaged")
    ends = [*starts[1:], len(headings)]
    halves = [headings[start:end] for start, end in zip(starts, ends, strict=True)]
    if any(not {*_RATES} <= {*half} for half in halves) or not {*_SIZES} & {*headings}:
        raise OutputError(f"line {number}: the header names no size or no bandwidths: damaged")
    timestamp = line.rstrip().endswith("timestamp")
    return _Layout(headings[: starts[0]], list(zip(places, halves, strict=True)), timestamp)


def _half(place: str, printed: Mapping[str, str], number: int, old: bool) -> _Half:
    """``old``: of 2017 and 2018, whose times are in ms."""
    values: dict[str, _Number | None] = {}
    for heading, token in printed.items():
        if heading in _COLUMNS:
            scale = 1000 if old and heading == "time" else 1
            found = None if token == "N/A" else scientific(token, number, heading)
            values[heading] = None if found is None else _Number(found * scale, half_digit(token) * scale)
    check = next((name for name in _CHECKS if name in printed), "")
    token = printed.get(check, "N/A")
    wrong = "wrong values" if token.endswith("*") else ""
    if check == "#wrong" and token != "N/A" and scientific(token.rstrip("*"), number, check) > 0:
        wrong = f"{token} wrong values"
    return _Half(place, values, token != "N/A", wrong)


class _Shares(NamedTuple):
    """What bandwidths count, as shares: of the size by the algorithm's, of that by the bus's; from, to.

    Some operations leave out the part of one rank; the bus of an all-reduce carries almost twice the size.
    """

    algorithm: Sequence[tuple[float, float]]
    bus: Sequence[tuple[float, float]]


def _shares(ranks: int, program: str) -> _Shares:
    """alltoallv prints the size of all ranks with the bandwidth of one."""
    part = (ranks - 1) / ranks if ranks else 0.0
    algorithm = [(1, 1), (part, part)] if ranks else [(0.5, 1)]
    bus = [(1, 1), (part, part), (2 * part, 2 * part)] if ranks else [(0, 2)]
    return _Shares([(0, math.inf)] if program.startswith("alltoallv") else algorithm, bus)


def _check_row(row: _Row, shares: _Shares) -> None:
    """Refuse a row whose size, time and bandwidths contradict each other."""
    for half in row.halves:
        time, algorithm, bus = (half.values.get(name) for name in ("time", "algbw", "busbw"))
        fits = True
        if algorithm and time:
            low = row.size / 1000 / (time.value + time.slack)
            high = row.size / 1000 / (time.value - time.slack) if time.value > time.slack else math.inf
            fits = any(_within(algorithm, low * least, high * most) for least, most in shares.algorithm)
        if algorithm and bus:
            low, high = algorithm.value - algorithm.slack, algorithm.value + algorithm.slack
            fits &= any(_within(bus, low * least, high * most) for least, most in shares.bus)
        if not fits:
            raise OutputError(
                f"{row.where}: size, time and bandwidths contradict each other {half.place}: damaged"
            )


def _within(number: _Number, low: float, high: float) -> bool:
    return low * (1 - _ROUNDING) - number.slack <= number.value <= high * (1 + _ROUNDING) + number.slack


# ---- text


@dataclass(slots=True)
class _TextReader:
    """The state while the lines go by."""

    output: _Output = field(default_factory=_Output)
    begun: int = 0
    places: list[str] = field(default_factory=list)
    layout: _Layout | None = None

    def read(self, number: int, line: str) -> None:
        if found := _BEGIN.match(line):
            self._begin(number, line, found)
        elif found := _VERSION.match(line):
            self.output.version = found[1]
        elif found := _BOUNDS.match(line):
            self.output.out_of_bounds = int(found[1])
        elif found := _MEAN.match(line):
            self._close(number, found[1])
        elif line.startswith("# "):
            self._header(number, line)
        elif _ROW.match(line):
            self._row(number, line)
        elif is_aborted(line) or _FAILURE.match(line):
            self.output.faults.append(f"line {number}: {line.strip()[:160]}")

    def _begin(self, number: int, line: str, found: re.Match[str]) -> None:
        if self.begun:
            again = f"line {number}: the first line of line {self.begun} again"
            raise OutputError(f"{again}: two outputs in one, or each rank started alone, without MPI")
        self.begun = number
        self.output.threads, self.output.one_size = int(found[1]), found[3] == found[4]
        self.output.metadata |= {name.replace(" ", "_"): value for name, value in _SETTING.findall(line)}

    def _header(self, number: int, line: str) -> None:
        if places := [name for name in line[1:].split() if name in _PLACES]:
            self.places = places
        elif line[1:].split()[:1] in ([name] for name in _SIZES):
            if self.output.rows:
                raise OutputError(f"line {number}: a second header of one table: two outputs in one")
            self.layout = _layout(line, self.places, number)

    def _row(self, number: int, line: str) -> None:
        if self.layout is None or self.output.mean:
            raise OutputError(f"line {number}: a row outside of the table: of another output")
        check_row_count(self.output.rows, number)
        try:
            self.output.rows.append(self.layout.row(number, line))
        except OutputError as error:
            self.output.faults.append(str(error))

    def _close(self, number: int, mean: str) -> None:
        if self.output.mean:
            raise OutputError(f"line {number}: a second mean of the bandwidths: two outputs in one")
        self.output.mean = _Number(scientific(mean, number, "the mean bus bandwidth"), half_digit(mean))


def _of_text(text: str) -> _Output:
    reader = _TextReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.begun:
        raise OutputError("the first line of nccl-tests is missing: empty, cut or another program's")
    return reader.output


# ---- JSON


def _loaded(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"not whole JSON: {error}") from None
    if not isinstance(data, dict):
        raise OutputError("not the JSON of nccl-tests")
    return data


def _of_json(text: str) -> _Output:
    data = _loaded(text)
    try:
        config, results = data["config"], data["results"]
        steps = {name: config[key] for name, key in _SETTINGS_OF_JSON.items() if key in config}
        output = _Output(
            threads=int(config["nthreads"]),
            one_size=config["minimum_bytes"] == config["maximum_bytes"],
            metadata={name: str(value) for name, value in steps.items()},
        )
        for number, result in enumerate(results, start=1):
            output.rows.append(_json_row(result, number))
        output.faults += [str(each)[:160] for each in data.get("errors", []) if each]
        output.out_of_bounds = int(data.get("out_of_bounds", {}).get("count", 0))
        if "average_bus_bandwidth" in data:
            output.mean = _json_number(data["average_bus_bandwidth"]["bandwidth"], "the mean bus bandwidth")
    except _NOT_OF_JSON as error:
        raise OutputError(f"not the JSON of nccl-tests: {type(error).__name__} at {error}") from None
    return output


def _json_row(result: Mapping[str, Any], number: int) -> _Row:
    where, size = f"result {number}", integer(str(result["size"]), number, "size")
    about = {_ABOUT[name]: str(result[name]).strip() for name in ("type", "redop", "root")}
    halves = []
    for place in _PLACES:
        key = place.replace("-", "_")
        if found := result.get(key):
            halves.append(_json_half(place, found, result.get(f"{key}_per_iter") or {}, where))
    return _Row(where, size, about, halves)


def _json_half(place: str, found: Mapping[str, Any], every: Mapping[str, Any], where: str) -> _Half:
    headings = {_OF_JSON[key]: found[key] for key in _OF_JSON if key in found or key.endswith("bw")}
    headings |= {_OF_PER_ITERATION[key]: every[key] for key in _OF_PER_ITERATION if key in every}
    values = {name: _json_number(value, f"{where}: {name}") for name, value in headings.items()}
    wrong = found.get("nwrong")
    return _Half(place, values, wrong is not None, f"{wrong:g} wrong values" if wrong else "")


def _json_number(value: Any, what: str) -> _Number | None:
    if value is None or value == "nan":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise OutputError(f"{what} is {str(value)[:40]!r}, not a number")
    return _Number(float(value), _JSON_DIGIT)


def _program(text: str) -> str:
    """As the output names it; empty where it does not."""
    if _JSON.match(text):
        return _program_of_json(_loaded(text))
    printed = _PROGRAM.search(text)
    return printed[1] if printed else ""


def _program_of_json(data: Mapping[str, Any]) -> str:
    arguments = data.get("args")
    return str(arguments[0]).rpartition("/")[2] if isinstance(arguments, list) and arguments else ""


# ---- both


def parse(text: str) -> ParsedOutput:
    """Read the output of one program: a series for each place, datatype, operation, root and cycle.

    Raises
    ------
    OutputError
        when no row counts, or when rows and the mean of their bandwidths contradict each other.
    """
    output = _of_json(text) if _JSON.match(text) else _of_text(text)
    facts = _facts(text)
    ranks = int(facts.get("ranks", 0))
    _keep_sound(output, _shares(ranks, _program(text)))
    wrong = [
        f"{row.size} B {half.place}: {half.wrong}" for row in output.rows for half in row.halves if half.wrong
    ]
    if len(wrong) == sum(len(row.halves) for row in output.rows):
        raise OutputError("; ".join([*output.faults, *wrong]) or "no rows")
    _check_complete(output, wrong)
    metadata = {**output.metadata, **_common(output.rows), **_unchecked(output.rows)}
    metadata |= {name: facts[name] for name in ("nccl", "gpu", "gpus") if facts.get(name)}
    metadata |= {"not_measured": "; ".join(wrong)} if wrong else {}
    series = tuple(_series(output, ranks or None))
    return ParsedOutput(output.version, metadata, series, "; ".join(output.faults))


def _keep_sound(output: _Output, shares: _Shares) -> None:
    """Damaged rows become faults."""
    rows, output.rows = output.rows, []
    for row in rows:
        try:
            _check_row(row, shares)
            output.rows.append(row)
        except OutputError as error:
            output.faults.append(str(error))


def _check_complete(output: _Output, wrong: Sequence[str]) -> None:
    if output.out_of_bounds and not wrong:
        raise OutputError(f"{output.out_of_bounds} values are out of bounds; no row says which")
    if output.mean is None:
        output.faults.append(f"ends after {len(output.rows)} rows; the closing line is missing")
    elif not output.faults:
        if output.threads == 1:
            _check_mean(output.rows, output.mean)
        if len({len(sweep) for sweep in _sweeps(output)}) > 1:
            raise OutputError("datatypes, operations, roots or cycles have other sizes: damaged")


def _check_mean(rows: Sequence[_Row], mean: _Number) -> None:
    """One thread prints all that it averages."""
    values = [half.values["busbw"] for row in rows for half in row.halves]
    printed = [value for value in values if value]
    found = math.fsum(value.value for value in printed) / max(len(printed), 1)
    slack = math.fsum(value.slack for value in printed) / max(len(printed), 1) + mean.slack
    if abs(found - mean.value) > slack + _ROUNDING * mean.value:
        said = f"the mean bus bandwidth is {found:.6g} GB/s, the closing line says {mean.value:g} GB/s"
        raise OutputError(f"{said}: rows are missing or damaged")


def _unchecked(rows: Sequence[_Row]) -> dict[str, str]:
    places = {half.place for row in rows for half in row.halves if not half.checked}
    return {"unchecked": ", ".join(place for place in _PLACES if place in places)} if places else {}


def _common(rows: Sequence[_Row]) -> dict[str, str]:
    """What all rows have in common of datatype, operation and root."""
    return {
        name: value for name, value in rows[0].about.items() if {row.about[name] for row in rows} == {value}
    }


def _sweeps(output: _Output) -> Iterator[list[_Row]]:
    """Rows of one datatype, operation and root, up to where the sizes begin again."""
    sweep = output.rows[:1]
    for before, row in pairwise(output.rows):
        if row.about != before.about or row.size < before.size or output.one_size:
            yield sweep
            sweep = []
        sweep.append(row)
    yield sweep


def _series(output: _Output, ranks: int | None) -> Iterator[Series]:
    alike, sweeps = _common(output.rows), list(_sweeps(output))
    cycles = Counter(str(sweep[0].about) for sweep in sweeps)
    seen: Counter[str] = Counter()
    for sweep in sweeps:
        about = sweep[0].about
        seen[str(about)] += 1
        qualifiers = {name: value for name, value in about.items() if name not in alike}
        if cycles[str(about)] > 1:
            qualifiers["cycle"] = str(seen[str(about)])
        for place in _PLACES:
            halves = [(row.size, half) for row in sweep for half in row.halves if half.place == place]
            if halves:
                yield Series(place, ranks, _columns(halves), qualifiers)


def _columns(halves: Sequence[tuple[int, _Half]]) -> dict[str, list[float | None]]:
    columns: dict[str, list[float | None]] = {"size": [size for size, _ in halves]}
    for heading in halves[0][1].values:
        name, factor = _COLUMNS[heading]
        values = [None if half.wrong else half.values.get(heading) for _, half in halves]
        # a bandwidth of 0.00 is too small to print
        kept = [value if value and (value.value or heading not in _RATES) else None for value in values]
        columns[name] = [value.value * factor if value else None for value in kept]
    return columns


def _facts(text: str) -> dict[str, str]:
    return _facts_of_json(_loaded(text)) if _JSON.match(text) else _facts_of_text(text)


def _facts_of_text(text: str) -> dict[str, str]:
    devices = [_Device(*found) for found in _DEVICE.findall(text)]
    library, begin = _LIBRARY.search(text), _BEGIN.search(text)
    version = (_dotted(library[1] or "") or library[2].rstrip(".")) if library else ""
    facts = _of_devices(devices, 1) | {"nccl": version}
    of_process = int(begin[1]) * int(begin[2]) if begin else 1
    numbers = {int(device.rank) for device in devices}
    if numbers != {*range(len(devices))} or len(devices) % max(of_process, 1):  # lines are missing
        facts.pop("ranks", "")
    return facts


def _facts_of_json(data: Mapping[str, Any]) -> dict[str, str]:
    """Each process names its first device alone."""
    try:
        config = data["config"]
        devices = [_Device(*(str(each[key]) for key in _DEVICE_KEYS)) for each in config["devices"]]
        of_each = int(config["nthreads"]) * int(config["ngpus"])
        if not 0 < of_each < _MOST_RANKS:
            return {}
        variables = dict(str(each).partition("=")[::2] for each in data["env"])
        job = next((variables[name] for name in _JOBS if name in variables), "")
        started = str(data["start_time"]).replace(" ", "T")
        version = _dotted(str(data["nccl_version"]))
    except _NOT_OF_JSON:
        return {}
    return _of_devices(devices, of_each) | {"nccl": version, "started": started, "job": job}


def _of_devices(devices: Sequence[_Device], each: int) -> dict[str, str]:
    """``ranks``: those of the first communicator; ``each``: devices for which one is listed."""
    hosts = Counter(device.host for device in devices)
    if not hosts:
        return {}
    on_host = {each * number for number in hosts.values()}
    return {
        "ranks": str(each * sum(device.group == devices[0].group for device in devices)),
        "gpus": str(each * len(devices)),
        "gpus_per_node": str(*on_host) if len(on_host) == 1 else "",
        "gpu": ", ".join(dict.fromkeys(device.name.strip() for device in devices)),
        "hosts": " ".join(hosts),
        "nodes": str(len(hosts)),
    }


def _dotted(code: str) -> str:
    """``2.7.8`` for 2708, ``2.28.9`` for 22809: from 2.9 on the number has a digit more."""
    if not code.isascii() or not code.isdecimal():
        return ""
    major, minor = divmod(int(code), 1000 if len(code) == 4 else 10000)
    return f"{major}.{minor // 100}.{minor % 100}"


def _inferred(text: str) -> str:
    """The program of a text that does not name it: two operations show in the ratio of their bandwidths."""
    if _JSON.match(text):
        return ""
    try:
        rows, ranks = _of_text(text).rows, int(_facts(text).get("ranks", 0))
    except OutputError:
        return ""
    rates = [
        (algorithm.value, bus.value)
        for row in rows
        if row.about.get("redop", "none") != "none" and row.about.get("root", "-1") == "-1"
        for half in row.halves
        if (algorithm := half.values["algbw"]) and (bus := half.values["busbw"])
    ]
    fastest, of_bus = max(rates, default=(0.0, 0.0))
    if ranks < 3 or not fastest:
        return ""
    share = of_bus / fastest / (ranks - 1) * ranks
    near = {2.0: "all_reduce_perf", 1.0: "reduce_scatter_perf"}
    return next((name for ratio, name in near.items() if abs(share - ratio) < 0.1), "")


class _NcclTests(Suite):
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e7, "algorithm_bandwidth": 1e7}  # two decimals
    options = ("datatype", "redop", "root", "warmup_iters", "iters", "agg_iters", "graph", "unalign")

    def names(self, text: str, program: str) -> tuple[str, str]:
        """By the output; else by the job script, or by the ratio of the bandwidths."""
        named = _program(text) or program or _inferred(text)
        return named.removesuffix("_mpi"), named

    def facts(self, text: str) -> Mapping[str, str]:
        return {name: value for name, value in _facts(text).items() if value and name != "ranks"}

    def lacks(self, request: Request) -> str:
        return "" if request.gpus else "the placement has no gpus_per_node"

    def refuses(self, request: Request) -> Iterator[Refusal]:
        """A process uses its threads × its GPUs, from the number of its local rank on."""
        each = _option(request, "-t|--nthreads") * _option(request, "-g|--ngpus")
        used = request.ranks_per_node * each
        if request.gpus and used != request.gpus:
            message = f"the ranks of a node use {counted(used, 'GPU')}, and the placement has {request.gpus}"
            yield Refusal(message, hint="-g is the number of GPUs of each rank, 1 by default")


def _option(request: Request, names: str) -> int:
    """The last value of an option; 1 where it is not given."""
    given = re.findall(rf"(?:^| )(?:{names})[ =]?([0-9]{{1,3}})(?= |$)", " ".join(request.arguments))
    return int(given[-1]) if given else 1


SUITE = _NcclTests(
    name="nccl_tests",
    title="nccl-tests",
    banner=Banner(("nThread ", '{"version":'), re.compile(f"{_BEGIN.pattern}|{_JSON.pattern}"), above=_ABOVE),
    parse=parse,
    programs="(?:all_gather|all_reduce|alltoallv?|broadcast|gather|hypercube|reduce|reduce_scatter|scatter|sendrecv)_perf(?:_mpi)?",
    sources=Sources(
        spack="nccl-tests or rccl-tests",
        modules="NCCL-tests",
        address="https://github.com/NVIDIA/nccl-tests",
    ),
    whole=(r"^# Out of bounds values *: 0 OK", "^# Avg bus bandwidth"),
    end="# Avg bus bandwidth",
    benchmarks={f"{name}_perf": {"program": f"{name}_perf", "provider": "path"} for name in _COLLECTIVES},
    metrics={
        "bandwidth": ColumnMetric("bus bandwidth", BANDWIDTH, headline=True),
        "algorithm_bandwidth": ColumnMetric("algorithm bandwidth", BANDWIDTH),
        "cpu_time": ColumnMetric("CPU time", TIME),
    },
)
