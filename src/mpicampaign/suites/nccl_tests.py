"""nccl-tests and rccl-tests, whose outputs are tables.

A table has a row for each size, with values out of place and in place; datatypes, operations, roots and
cycles (``-N``) follow each other. The closing line has the mean of all bus bandwidths, by which missing and
damaged rows show. Source: common.cu and util.cu of nccl-tests 2017 to 2.19, common.cu of rccl-tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import fsum, inf
from typing import ClassVar, NamedTuple

from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.suites.reading import (
    MICROSECOND,
    OutputError,
    ParsedOutput,
    between,
    check_column_count,
    check_row_count,
    half_digit,
    integer,
    numbered_lines,
    rates,
    row_tokens,
    scientific,
)
from mpicampaign.suites.suite import Banner, ColumnMetric, Refusal, Request, Sources, Suite

_COLLECTIVES = (
    *("all_gather", "all_reduce", "alltoall", "broadcast", "gather", "hypercube", "reduce"),
    *("reduce_scatter", "scatter", "sendrecv"),
)
_BEGIN = re.compile(
    r"(?:# )?nThread +([0-9]{1,6}) +nGpus +([0-9]{1,6}) +minBytes +([0-9]{1,20}) +maxBytes +([0-9]{1,20}) "
)
_JSON = re.compile(r'\s{0,20}\{"version": ?[0-9]{1,4}, ?"start_time":')
_GB = 1e9
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
_ABOUT = {"type": "datatype", "redop": "redop", "op": "redop", "root": "root"}
_PLACES = ("out-of-place", "in-place")


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


# ---- what an output says of its program, devices, hosts and libraries

_PROGRAM = re.compile(r"^# Collective test (?:starting|concluded): *(\w{1,60})", re.MULTILINE)
_DEVICE = re.compile(
    r"^#? +Rank +([0-9]{1,7})(?: +Group +([0-9]{1,7}))?(?: +Pid +[0-9]{1,10})? +on +(\S{1,255})"
    r" +device +[0-9]{1,4} +\[[^\]\n]{1,40}\] +(\S[^\n]{0,99})",
    re.MULTILINE,
)
_LIBRARY = re.compile(r"nccl-library=([0-9]{4,6})|\b[NR]CCL version *:? *([0-9][0-9.]{0,20})")


def _printed_program(text: str) -> str:
    """The program's name that the output gives; else empty."""
    return next(iter(_PROGRAM.findall(text)), "")


def _facts(text: str) -> dict[str, str]:
    """By the names of facts of imports, and ``ranks``; an empty value where one is unknown."""
    devices, library, begin = _DEVICE.findall(text), _LIBRARY.search(text), _BEGIN.search(text)
    version = (_dotted(library[1] or "") or library[2].rstrip(".")) if library else ""
    facts = _device_facts(devices) | {"nccl": version}
    of_process = int(begin[1]) * int(begin[2]) if begin else 1
    numbers = {int(rank) for rank, *_ in devices}
    if numbers != {*range(len(devices))} or len(devices) % max(of_process, 1):  # lines are missing
        facts.pop("ranks", "")
    return facts


def _device_facts(devices: Sequence[Sequence[str]]) -> dict[str, str]:
    """Of devices as their rank, group, host and name; ``ranks``: those of the first communicator."""
    if not devices:
        return {}
    _, groups, hosts, names = zip(*devices, strict=True)
    on_host = {*Counter(hosts).values()}
    return {
        "ranks": str(groups.count(groups[0])),
        "gpus": str(len(devices)),
        "gpus_per_node": str(*on_host) if len(on_host) == 1 else "",
        "gpu": ", ".join(dict.fromkeys(name.strip() for name in names)),
        "hosts": " ".join(dict.fromkeys(hosts)),
        "nodes": str(len(set(hosts))),
    }


def _dotted(code: str) -> str:
    """``2.7.8`` for 2708, ``2.28.9`` for 22809: from 2.9 on the number has a digit more."""
    if not code.isascii() or not code.isdecimal():
        return ""
    major, minor = divmod(int(code), 1000 if len(code) == 4 else 10000)
    return f"{major}.{minor // 100}.{minor % 100}"


# ---- tables

_CHECKS = ("#wrong", "error", "res")  # until 2022 the largest difference, in which * marks too large ones
_SIZES = ("size", "bytes")
_SETTING = re.compile(r"((?:warmup |agg )?iters|graph|unalign): ([0-9]{1,9})")
_VERSION = re.compile(r"(?:# nccl-tests version|rccl-tests: Version) (\S{1,60})")
_ROW = re.compile(r"\s*[0-9]{1,20}\s+[0-9]{1,20}\s+(?:u?int\w*|char|half|b?float\w*|double|fp?8\w*)\s")
_BOUNDS = re.compile(r"(?:# | )Out of bounds values *: *([0-9]{1,18}) ")
_MEAN = re.compile(r"(?:# | )Avg bus bandwidth *: *(\S{1,40})")
# Why a program measures nothing, below its title: hypercube.cu, alltoall.cu, alltoallv.cu, common.cu.
_NOT_RUN = re.compile(
    r"nRanks \d+ is not |NCCL \S+ or later is needed |This test requires |Device ?[Ii]mplementation "
    r"|Incompatible NCCL |(?:Invalid|Unable to \w+) alltoallv |-b and -e options |maxBytes \(-e\) "
    r"|Invalid number of GPUs"
)


@dataclass(slots=True)
class _NcclReader:
    """What a text holds. ``faults``: of damaged rows and aborted programs.

    ``starts``: where the values of each place begin in a row.
    """

    version: str = ""
    threads: int = 1
    one_size: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    rows: list[_Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    out_of_bounds: int = 0
    mean: _Number | None = None
    begun: int = 0
    places: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    stamped: bool = False  # whether a date and a time end each row

    def read(self, number: int, line: str) -> None:
        if begin := _BEGIN.match(line):
            self._begin(number, line, begin)
        elif version := _VERSION.match(line):
            self.version = version[1]
        elif bounds := _BOUNDS.match(line):
            self.out_of_bounds = int(bounds[1])
        elif mean := _MEAN.match(line):
            if self.mean:
                raise OutputError(f"line {number}: a second mean of the bandwidths: two outputs in one")
            if self.rows or "nan" not in mean[1]:  # the mean of nothing
                self.mean = _number(mean[1], number, "the mean bus bandwidth")
        elif line.startswith("# "):
            self._heading(number, line)
        elif self.begun and _ROW.match(line):
            self._row(number, line)
        elif self.begun and not self.rows and _NOT_RUN.match(line):  # each rank says it
            self.faults = [f"measures nothing: {line.strip()[:160]}"]

    def _begin(self, number: int, line: str, begin: re.Match[str]) -> None:
        if self.begun:
            again = f"line {number}: the first line of line {self.begun} again"
            raise OutputError(f"{again}: two outputs in one, or each rank started alone, without MPI")
        self.begun = number
        self.threads, self.one_size = int(begin[1]), begin[3] == begin[4]
        self.metadata |= {name.replace(" ", "_"): value for name, value in _SETTING.findall(line)}

    def _heading(self, number: int, line: str) -> None:
        """The places stand above the headings."""
        names = line[1:].split()
        if places := [name for name in names if name in _PLACES]:
            self.places = places
        if places or names[:1] not in ([name] for name in _SIZES):
            return
        if self.rows:
            raise OutputError(f"line {number}: a second header of one table: two outputs in one")
        self.headings, self.stamped = (
            [name for name in names if name != "timestamp"],
            names[-1] == "timestamp",
        )
        self.starts = [place for place, name in enumerate(self.headings) if name in ("time", "cputime")]
        if len(self.starts) != len(self.places):
            counts = f"{len(self.starts)} times in the header, {len(self.places)} places"
            raise OutputError(f"line {number}: {counts}: damaged")
        if any(not {*_RATES} <= {*names} for _, names in self._halves(self.headings)) or not self.starts:
            raise OutputError(f"line {number}: the header names no size or no bandwidths: damaged")

    def _halves(self, tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
        """The tokens of each place."""
        for place, (start, end) in zip(self.places, pairwise([*self.starts, len(tokens)]), strict=True):
            yield place, tokens[start:end]

    def _row(self, number: int, line: str) -> None:
        if not self.headings or self.mean:
            raise OutputError(f"line {number}: a row outside of the table: of another output")
        check_row_count(self.rows, number)
        try:
            self.rows.append(self._values(number, line))
        except OutputError as error:
            self.faults.append(str(error))

    def _values(self, number: int, line: str) -> _Row:
        """The values of a row; hypercube leaves its operation blank, as alltoall did until 2022."""
        tokens = row_tokens(line, number)[: -2 if self.stamped else None]
        if "redop" in self.headings and len(tokens) == len(self.headings) - 1:
            place = self.headings.index("redop")
            tokens[place:place] = [] if tokens[place].isalpha() else ["none"]
        check_column_count(tokens, self.headings, number)
        front = dict(zip(self.headings[: self.starts[0]], tokens, strict=False))
        size = integer(next(front[name] for name in _SIZES if name in front), number, "size")
        if (count := integer(front.get("count", "0"), number, "count")) and size % count:
            raise OutputError(f"line {number}: {size} B are not {count} elements: damaged")
        about = {_ABOUT[name]: token for name, token in front.items() if name in _ABOUT}
        printed = zip(self._halves(self.headings), self._halves(tokens), strict=True)
        halves = [
            _half(place, dict(zip(names, values, strict=True)), number, "bytes" in front)
            for (place, names), (_, values) in printed
        ]
        return _Row(f"line {number}", size, about, halves)


def _half(place: str, printed: Mapping[str, str], number: int, old: bool) -> _Half:
    """``old``: of 2017 and 2018, whose times are in ms."""
    values = {
        heading: _number(token, number, heading, 1000 if old and heading == "time" else 1)
        for heading, token in printed.items()
        if heading in _COLUMNS
    }
    check = next((name for name in _CHECKS if name in printed), "")
    token = printed.get(check, "N/A")
    wrong = "wrong values" if token.endswith("*") else ""
    if check == "#wrong" and token != "N/A" and scientific(token.rstrip("*"), number, check) > 0:
        wrong = f"{token} wrong values"
    return _Half(place, values, token != "N/A", wrong)


def _number(token: str, line: int, what: str, scale: float = 1) -> _Number | None:
    if token == "N/A":
        return None
    return _Number(scientific(token, line, what) * scale, half_digit(token) * scale)


def _read_tables(text: str) -> _NcclReader:
    reader = _NcclReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.begun:
        raise OutputError("the first line of nccl-tests is missing: empty, cut or another program's")
    return reader


# ---- what must hold

_Shares = list[tuple[float, float]]  # of a rate, from and to


def _shares(ranks: int, program: str) -> tuple[_Shares, _Shares]:
    """What bandwidths count: the algorithm's of the size, the bus's of the algorithm's; 0 ranks: unknown.

    Some operations leave out the part of one rank; the bus of an all-reduce carries almost twice the size.
    Alltoallv prints the size of all ranks with the bandwidth of one.
    """
    part = (ranks - 1) / ranks if ranks else 0.0
    algorithm: _Shares = [(1, 1), (part, part)] if ranks else [(0.5, 1)]
    bus: _Shares = [(1, 1), (part, part), (2 * part, 2 * part)] if ranks else [(0, 2)]
    return [(0, inf)] if program.startswith("alltoallv") else algorithm, bus


def _contradiction(row: _Row, of_algorithm: _Shares, of_bus: _Shares) -> str:
    """How the size, time and bandwidths of a row contradict each other; empty where they agree."""
    for half in row.halves:
        time, algorithm, bus = (half.values.get(name) for name in ("time", *_RATES))
        fits = True
        if algorithm and time:
            fits = _fits(algorithm, rates(row.size / 1000, *time), of_algorithm)
        if algorithm and bus:
            span = (algorithm.value - algorithm.slack, algorithm.value + algorithm.slack)
            fits &= _fits(bus, span, of_bus)
        if not fits:
            return f"{row.where}: size, time and bandwidths contradict each other {half.place}: damaged"
    return ""


def _fits(rate: _Number, span: tuple[float, float], shares: _Shares) -> bool:
    """Whether a rate is one of the shares of another, known from low to high."""
    low, high = span
    return any(between(*rate, low * least, high * most) for least, most in shares)


def _check_complete(output: _NcclReader, wrong: Sequence[str]) -> None:
    if output.out_of_bounds and not wrong:
        raise OutputError(f"{output.out_of_bounds} values are out of bounds; no row says which")
    if output.mean is None:
        output.faults.append(f"ends after {counted(len(output.rows), 'row')}; the closing line is missing")
    elif not output.faults:
        if output.threads == 1:  # it prints all that it averages
            _check_mean(output.rows, output.mean)
        if len({len(sweep) for sweep in _sweeps(output)}) > 1:
            raise OutputError("datatypes, operations, roots or cycles have other sizes: damaged")


def _check_mean(rows: Sequence[_Row], mean: _Number) -> None:
    printed = [value for row in rows for half in row.halves if (value := half.values["busbw"])]
    average = fsum(value.value for value in printed) / max(len(printed), 1)
    slack = fsum(value.slack for value in printed) / max(len(printed), 1) + mean.slack
    if not between(mean.value, slack, average, average):
        differ = f"the mean bus bandwidth is {average:.6g} GB/s, the closing line says {mean.value:g} GB/s"
        raise OutputError(f"{differ}: rows are missing or damaged")


# ---- series


def _parse(text: str) -> ParsedOutput:
    """A series for each place, datatype, operation, root and cycle."""
    output = _read_tables(text)
    facts, programs = _facts(text), list(dict.fromkeys(_PROGRAM.findall(text)))
    if len(programs) > 1:
        raise OutputError(f"starts as {programs[0]}, is concluded as {programs[1]}: two outputs in one")
    ranks = int(facts.get("ranks", 0))
    shares = _shares(ranks, _printed_program(text))
    contradictions = [_contradiction(row, *shares) for row in output.rows]
    output.rows = [row for row, damage in zip(output.rows, contradictions, strict=True) if not damage]
    output.faults += filter(None, contradictions)
    halves = [(row, half) for row in output.rows for half in row.halves]
    wrong = [f"{row.size} B {half.place}: {half.wrong}" for row, half in halves if half.wrong]
    if len(wrong) == len(halves):
        raise OutputError("; ".join([*output.faults, *wrong]) or "no rows")
    _check_complete(output, wrong)
    unchecked = {half.place for _, half in halves if not half.checked}
    metadata = output.metadata | _common(output.rows)
    metadata |= {"unchecked": ", ".join(filter(unchecked.__contains__, _PLACES))} if unchecked else {}
    metadata |= {name: facts[name] for name in ("nccl", "gpu", "gpus") if facts.get(name)}
    metadata |= {"not_measured": "; ".join(wrong)} if wrong else {}
    return ParsedOutput(
        output.version, metadata, tuple(_series(output, ranks or None)), "; ".join(output.faults)
    )


def _common(rows: Sequence[_Row]) -> dict[str, str]:
    """What all rows have in common of datatype, operation and root."""
    return {
        name: value for name, value in rows[0].about.items() if {row.about[name] for row in rows} == {value}
    }


def _sweeps(output: _NcclReader) -> Iterator[list[_Row]]:
    """Rows of one datatype, operation and root, up to where the sizes begin again."""
    sweep = output.rows[:1]
    for before, row in pairwise(output.rows):
        if row.about != before.about or row.size < before.size or output.one_size:
            yield sweep
            sweep = []
        sweep.append(row)
    yield sweep


def _series(output: _NcclReader, ranks: int | None) -> Iterator[Series]:
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
        columns[name] = [
            value.value * factor if value and (value.value or heading not in _RATES) else None
            for value in values
        ]
    return columns


# ---- the suite


class _NcclTests(Suite):
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e7, "algorithm_bandwidth": 1e7}  # two decimals
    options = ("datatype", "redop", "root", "warmup_iters", "iters", "agg_iters", "graph", "unalign")

    def names(self, text: str, program: str) -> tuple[str, str]:
        """The program by the output; else by the job script."""
        named = _printed_program(text) or program
        return named.removesuffix("_mpi"), named

    def no_output(self, text: str) -> str:
        return "the JSON of nccl-tests (-J): import the text of that run" if _JSON.match(text) else ""

    def facts(self, text: str) -> Mapping[str, str]:
        return {name: value for name, value in _facts(text).items() if value and name != "ranks"}

    def lacks(self, request: Request) -> str:
        return "" if request.gpus else "the placement has no gpus_per_node"

    def refuses(self, request: Request) -> Iterator[Refusal]:
        """A process uses its threads × its GPUs, from the number of its local rank on."""
        of_rank = _option(request, "-t|--nthreads") * _option(request, "-g|--ngpus")
        used = request.ranks_per_node * of_rank
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
    banner=Banner(
        needle="nThread ",
        line=_BEGIN,
        above=re.compile(r"# (?:nccl-tests version|Collective test starting)"),
    ),
    parse=_parse,
    programs=rf"(?:{'|'.join(_COLLECTIVES)}|alltoallv)_perf(?:_mpi)?",
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
