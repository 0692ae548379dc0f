"""The OSU Micro-Benchmarks 5 to 7: point-to-point, collective, one-sided, start-up.

An output is a title with the version, some remarks (pairs, window, datatype), and one table, or one for each
datatype. There is no end mark: that the sizes double without a gap and that the last line is whole is all
that an output proves of its completeness; the caller's ``expected_max`` proves the rest. A damaged row ends
its table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from mpicampaign.base.records import Series
from mpicampaign.base.units import format_size
from mpicampaign.suites.reading import (
    MEGABYTE,
    MICROSECOND,
    OutputError,
    ParsedOutput,
    check_column_count,
    check_no_row_above,
    check_order,
    check_row_count,
    decimal,
    integer,
    is_whole_row,
    looks_like_row,
    numbered_lines,
    out_of_step,
    row_tokens,
    shown,
    token_ends,
)
from mpicampaign.suites.suite import Active, Banner, Refusal, Request, Sends, Sources, Suite

# ---- the programs: their kinds, and the ranks and nodes that they need (``numprocs`` in each ``main``, and
# ``omb_neighborhood_create`` for the neighbourhoods)

_BLOCKING = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"),
)
_NEIGHBOURS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
_OF_KIND = {
    "pair": (
        *("osu_latency", "osu_latency_persistent", "osu_latency_mt", "osu_latency_mp"),
        *("osu_bw", "osu_bibw", "osu_bw_persistent", "osu_bibw_persistent"),
    ),
    "pairs": ("osu_multi_lat", "osu_mbw_mr"),
    "fan": ("osu_bw_fan_in", "osu_bw_fan_out"),
    "collective": (
        *(f"osu_{name}" for name in _BLOCKING),
        *(f"osu_i{name}" for name in _BLOCKING),
        *(f"osu_{name}_persistent" for name in _BLOCKING if name != "reduce_scatter_block"),
    ),
    "neighbourhood": (
        *(f"osu_neighbor_{name}" for name in _NEIGHBOURS),
        *(f"osu_ineighbor_{name}" for name in _NEIGHBOURS),
    ),
    "one-sided": (
        *("osu_put_latency", "osu_get_latency", "osu_acc_latency", "osu_get_acc_latency"),
        *("osu_fop_latency", "osu_cas_latency", "osu_put_bw", "osu_put_bibw", "osu_get_bw"),
    ),
    "start": ("osu_init",),
}
KINDS = {program: kind for kind, programs in _OF_KIND.items() for program in programs}
_SILENT = {"osu_hello": "osu_init measures the start"}
_XCCL = tuple(  # by NCCL or RCCL
    f"osu_xccl_{name}"
    for name in (
        *("latency", "bw", "bibw"),
        *("allgather", "allreduce", "alltoall", "bcast", "reduce", "reduce_scatter"),
    )
)
_TWO_RANKS = {*_OF_KIND["pair"], *_OF_KIND["one-sided"], *_XCCL[:3]}
_ON_DEVICES = re.compile(r"osu_(?:xccl|nccl|rccl)_\w+")

# ---- the options that say where a table ends and what a run needs

_LONG = {"m": "mes[a-z-]*", "d": "ac[a-z]*", "N": "nh[a-z]*", "i": "it[a-z]*"}
_FLAGS = "[cfhIlvVz]*"  # letters that may stand before another one in one argument
_SIZES = re.compile(r"(?=:?[0-9])(?:([0-9]{0,15}):)?([0-9]{0,15})")
_DEVICES = {"D", "M", "MD", "MH"}
_MIB = 2**20
_UNSIZED = ("osu_barrier", "osu_ibarrier", "osu_barrier_persistent")
_MEMORY_LIMIT = 512 * _MIB  # of a rank; collectives of many ranks stop before their largest size
_RANKS = re.compile(r"\s(?:-np|-n|--ntasks)[ =]?([0-9]{1,9})(?!\S)")


def _option(arguments: Sequence[str], letter: str) -> str:
    """The last value of an option, as getopt_long reads it; empty where it is not given."""
    pattern = rf"(?:^| )(?:-{_FLAGS}{letter} ?|--{_LONG[letter]}[ =])(\S+)"
    return next(reversed(re.findall(pattern, " ".join(arguments))), "")


def _name(program: str) -> str:
    """The name of a program, without its folder."""
    return program.rsplit("/", 1)[-1]


def largest_size(program: str, arguments: Sequence[str], ranks: int) -> int | None:
    """The last size in bytes, or None where program and options (``-m [MIN:]MAX``) do not show it."""
    low, high = _ends(program, arguments)
    if not high or (KINDS[_name(program)] == "collective" and high * ranks > _MEMORY_LIMIT):
        return None
    least = max(1, low)
    return least << ((high // least).bit_length() - 1) if high >= least else None


def _ends(program: str, arguments: Sequence[str]) -> tuple[int, int]:
    """The smallest and the largest size that are asked for; zeros where they are not known."""
    kind = KINDS.get(_name(program), "")
    if kind not in ("pair", "pairs", "collective") or _name(program) in _UNSIZED:
        return 0, 0
    default = _MIB if kind == "collective" else 4 * _MIB
    match = _SIZES.fullmatch(_option(arguments, "m") or f":{default}")
    return (int(match[1] or 0), int(match[2] or default)) if match else (0, 0)


# ---- the title, by which the program shows where job scripts start several, or are lost; series 3 to 7

_TITLE = re.compile(
    r"^# OSU (?:One Sided )?(MPI|[NR]CCL)([-_ ]\S.{0,78}?) Test(?: v\S{1,21})?\s*$", re.MULTILINE
)
# Other programs measure something else under like headings: c/openshmem, c/upc, c/upcxx, java, python.
_OTHER = re.compile(
    r"^# (?:OSU (?!(?:One Sided )?MPI(?! Java)|[NR]CCL)|(?=OMB[- ]Py))(\S.{0,78}?) Test\b", re.MULTILINE
)
_BUFFERS = re.compile(
    r"^# Send Buffer on [A-Z ]{4,20}\((\w{1,2})\) and Receive Buffer on [A-Z ]{4,20}\((\w{1,2})\)",
    re.MULTILINE,
)
_DEVICE = re.compile(r"-[A-Z]{3,}(?: MANAGED)?(?!\S)")  # "MPI-CUDA Latency", "MPI_Put-CUDA Latency"
_EXCHANGE = " personalized exchange"  # with all-to-all, but not in every series
_ALL_TO_ALL = {f"all-to-all{letter}": f"alltoall{letter}" for letter in ("", "v", "w")}
_COLLECTIVES = {
    **_ALL_TO_ALL,
    **{name: name for name in _BLOCKING if name not in ("bcast", *_ALL_TO_ALL.values())},
    "broadcast": "bcast",
}
_PROGRAMS = {
    "latency": "osu_latency",
    "bandwidth": "osu_bw",
    "bi-directional bandwidth": "osu_bibw",
    "latency persistent": "osu_latency_persistent",
    "bandwidth persistent": "osu_bw_persistent",
    "bi-directional bandwidth persistent": "osu_bibw_persistent",
    "multi latency": "osu_multi_lat",
    "multi-threaded latency": "osu_latency_mt",
    "multi-process latency": "osu_latency_mp",
    "multiple bandwidth / message rate": "osu_mbw_mr",
    "init": "osu_init",
    "hello world": "osu_hello",
    **{f"{title} latency": f"osu_{name}" for title, name in _COLLECTIVES.items()},
    **{f"non-blocking {title} latency": f"osu_i{name}" for title, name in _COLLECTIVES.items()},
    **{f"{title} persistent latency": f"osu_{name}_persistent" for title, name in _COLLECTIVES.items()},
    **{f"neighborhood {name} latency": f"osu_neighbor_{name}" for name in _NEIGHBOURS},
    "neighborhood all-to-allv latency": "osu_neighbor_alltoallv",
    **{f"non-blocking neighborhood {name} latency": f"osu_ineighbor_{name}" for name in _NEIGHBOURS},
    "put latency": "osu_put_latency",
    "put bandwidth": "osu_put_bw",
    "put bi-directional bandwidth": "osu_put_bibw",
    "get latency": "osu_get_latency",
    "get bandwidth": "osu_get_bw",
    "accumulate latency": "osu_acc_latency",
    "get_accumulate latency": "osu_get_acc_latency",
    "fetch_and_op latency": "osu_fop_latency",
    "compare_and_swap latency": "osu_cas_latency",
}


def _program_of_title(text: str) -> str:
    """The program's name; empty where the title is missing, or one that is not known.

    Raises
    ------
    OutputError
        when the title is of another family.
    """
    if other := _OTHER.search(text):
        raise OutputError(f"OSU program that is not known: {other[1]}")
    match = _TITLE.search(text)
    if not match:
        return ""
    title = _plain(match[2])
    program = _PROGRAMS.get(title, "")
    return program if match[1] == "MPI" else program.replace("osu_", "osu_xccl_")


def _plain(title: str) -> str:
    """A title without what differs between versions and builds, in lower case."""
    return _DEVICE.sub("", title).lower().replace(_EXCHANGE, "").lstrip("_ ")


def _buffers(text: str) -> str:
    """Where the buffers lie of sender and receiver, such as ``D H``; empty where none is printed."""
    buffers = _BUFFERS.search(text)
    return f"{buffers[1]} {buffers[2]}" if buffers else ""


# ---- tables

# heading -> column and factor to SI
_COLUMNS: dict[str, tuple[str, float]] = {
    "Size": ("size", 1),
    "Latency (us)": ("time", MICROSECOND),
    "Latency(us)": ("time", MICROSECOND),
    "Avg Latency(us)": ("time", MICROSECOND),
    "Min Latency(us)": ("time_min", MICROSECOND),
    "Max Latency(us)": ("time_max", MICROSECOND),
    "Iterations": ("repetitions", 1),
    "Bandwidth (MB/s)": ("bandwidth", MEGABYTE),
    "Bi-Bandwidth (MB/s)": ("bandwidth", MEGABYTE),
    "MB/s": ("bandwidth", MEGABYTE),
    "Messages/s": ("message_rate", 1),
    "Overall(us)": ("time_overall", MICROSECOND),
    "Compute(us)": ("time_compute", MICROSECOND),
    "Coll. Init(us)": ("time_init", MICROSECOND),
    "MPI_Test(us)": ("time_test", MICROSECOND),
    "MPI_Wait(us)": ("time_wait", MICROSECOND),
    "Pure Comm.(us)": ("time", MICROSECOND),
    "Min Comm.(us)": ("time_min", MICROSECOND),
    "Max Comm.(us)": ("time_max", MICROSECOND),
    "Overlap(%)": ("overlap", 0.01),
    "Transmit Size": ("transmit_size", 1),
}
_VALIDATION = "Validation"
# Of a whole message: no byte takes less than half a hundredth of a µs.
_TIMES = {"Latency (us)", "Latency(us)", "Avg Latency(us)"}
_COUNTS = ("Size", "Iterations", "Transmit Size")
_PERCENTILE = re.compile(r"P([0-9]{1,2}) Tail (?:Lat\((us)\)|BW\(MB/s\))")
_KNOWN = "|".join(re.escape(heading) for heading in sorted((*_COLUMNS, _VALIDATION), key=len, reverse=True))
_HEADING = re.compile(rf"(?:{_KNOWN}|{_PERCENTILE.pattern})(?!\S)|\S+")
_FIRST_HEADING = re.compile(rf"#\s*(?:{_KNOWN})(?!\S)|\s*Overall\(us\)")
_TWO_DECIMALS = re.compile(r"[0-9]+\.[0-9]{2}")
_CUT_VALUE = re.compile(r"[0-9]+(?:\.[0-9]?)?")
_ROUNDING = 0.011  # two values printed with two decimals
# What no row has: letters, or brackets and the like, but for the results of validation.
_WORD = re.compile(r"(?!(?:Pass|Fail|-?nan|-?inf)(?!\S))\S*[A-Za-z()/<>]")


@dataclass(slots=True)
class _OsuTable:
    """One table as printed; ``ends``: where the columns of the row before end."""

    line: int
    headings: tuple[str, ...]
    datatype: str
    fixed_width: bool
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    fault: str = ""  # why its rows end early

    @property
    def sized(self) -> bool:
        return self.headings[0] == "Size"

    @property
    def last_size(self) -> int | None:
        """The size in the last row; None where there is none that can be read."""
        token = self.rows[-1][1][0] if self.sized and self.rows else ""
        return int(token) if token.isascii() and token.isdecimal() else None

    @property
    def has_whole_row(self) -> bool:
        """Whether the last row ends where those above do, or as OSU prints values: nothing of it is cut."""
        if self.sized and self.fixed_width and len(self.rows) > 1:
            return True
        return bool(self.rows) and _TWO_DECIMALS.fullmatch(self.rows[-1][1][-1]) is not None

    def is_text(self, line: str) -> bool:
        """Whether a line that begins like a row is text of a job's end: ``2 nodes were used``, ``0``.

        Not where it begins with the size of the next row, for then it is that row, damaged or cut.
        """
        tokens, size = line.split(), self.last_size
        following = "" if size is None else str(2 * size or 1)
        if not self.rows or following == tokens[0]:
            return False
        if line.strip().isdecimal():
            return not following.startswith(tokens[0])
        return any(map(_WORD.match, tokens))

    def take_row(self, number: int, line: str) -> None:
        """The first row cannot be compared with one above."""
        tokens = row_tokens(line, number)
        check_column_count(tokens, self.headings, number)
        counts = self.headings[-1] in ("Iterations", "Transmit Size")
        if not self.rows and not counts and _CUT_VALUE.fullmatch(tokens[-1]):
            raise OutputError(f"line {number}: {tokens[-1]} lacks its two decimals: cut")
        ends = token_ends(line)[1:] if self.sized else []
        if self.fixed_width and self.rows and ends != self.ends:
            raise OutputError(f"line {number}: the row's columns are not where those above are: garbled")
        self.ends = ends
        self.rows.append((number, tokens))

    def end_at_failure(self) -> None:
        """With the rows above the first whose data were wrong: those below are trusted no more."""
        for k, (number, tokens) in enumerate(self.rows if _VALIDATION in self.headings else ()):
            if (validation := tokens[self.headings.index(_VALIDATION)]) != "Pass":
                self.fault = f"line {number}: validation of {tokens[0]} B: {shown(validation)}"
                del self.rows[k:]
                break
        if not self.rows:
            self.fault = self.fault or f"line {self.line}: no rows below the header"

    def column(self, place: int) -> list[float]:
        heading = self.headings[place]
        read = integer if heading in _COUNTS else decimal
        return [read(tokens[place], number, heading) for number, tokens in self.rows]


def _headings(line: str, number: int) -> tuple[str, ...]:
    """The column headings in a header line; () for any other line."""
    if not _FIRST_HEADING.match(line) or len(line) > 500:
        return ()
    headings = tuple(heading[0] for heading in _HEADING.finditer(line.lstrip("# ")))
    for heading in headings:
        if heading not in _COLUMNS and heading != _VALIDATION and not _PERCENTILE.fullmatch(heading):
            raise OutputError(f"line {number}: unknown heading {shown(heading)}")
    return headings


def _series_of(table: _OsuTable, title: str, ranks: int | None, *, with_datatype: bool) -> Series:
    """The table in SI units."""
    if not table.sized and len(table.rows) != 1:
        raise OutputError(f"line {table.line}: {len(table.rows)} rows below the header, not one")
    printed = {heading: table.column(k) for k, heading in enumerate(table.headings) if heading != _VALIDATION}
    _check_values([number for number, _ in table.rows], printed)
    columns: dict[str, list[float | None]] = {}
    for heading, values in printed.items():
        name, factor = _meaning(heading)
        columns[name] = [value * factor for value in values]
    bandwidths = columns.get("bandwidth", [])
    rates = columns.get("message_rate", [None] * len(bandwidths))
    for row, (size, bandwidth, rate) in enumerate(
        zip(columns.get("size", []), bandwidths, rates, strict=False)
    ):
        if size and not bandwidth:  # too small to print
            bandwidths[row] = size * rate if rate else None
    return Series(title, ranks, columns, {"datatype": table.datatype} if with_datatype else {})


def _meaning(heading: str) -> tuple[str, float]:
    """Column and factor to SI."""
    match = _PERCENTILE.fullmatch(heading)
    if not match:
        return _COLUMNS[heading]
    return (f"time_p{match[1]}", MICROSECOND) if match[2] else (f"bandwidth_p{match[1]}", MEGABYTE)


def _check_values(lines: list[int], printed: dict[str, list[float]]) -> None:
    """What must hold in a row, and between the sizes of two."""
    sizes = printed.get("Size", [])
    for number, (before, size) in zip(lines[1:], pairwise(sizes), strict=False):
        if size != (2 * before or 1):
            raise out_of_step(size, before, number)
    for kind, average in (("Latency", "Avg Latency(us)"), ("Comm.", "Pure Comm.(us)")):
        ordered = (printed.get(name, []) for name in (f"Min {kind}(us)", average, f"Max {kind}(us)"))
        for low, middle, high, number in zip(*ordered, lines, strict=False):
            check_order(low, middle, high, number, _ROUNDING)
    for heading in _TIMES & printed.keys():
        for number, size, time in zip(lines, sizes, printed[heading], strict=False):
            if size and not time:
                raise OutputError(f"line {number}: {size} B in 0.00 us")
    if "Transmit Size" in printed:
        return
    rows = zip(lines, sizes, printed.get("MB/s", []), printed.get("Messages/s", []), strict=False)
    for number, size, bandwidth, rate in rows:
        expected = rate * size / MEGABYTE
        if abs(bandwidth - expected) > _ROUNDING * (1 + size / MEGABYTE) + expected * 1e-9:
            raise OutputError(f"line {number}: {rate} messages/s of {size} B are not {bandwidth} MB/s")


# ---- the tables of osu_mbw_mr with varied window: one column for each window size

_PROFILES = ("# Uni-directional Bandwidth", "# Message Rate Profile")


def _windowed(tables: Sequence[_OsuTable], title: str, ranks: int) -> Iterator[Series]:
    """A series for each window size, without message rates where their table ends early."""
    bandwidth, *rates = tables
    rates = [] if bandwidth.fault else rates
    if not bandwidth.rows:
        raise OutputError(bandwidth.fault or "no bandwidths below the header")
    sizes = bandwidth.column(0)
    _check_values([number for number, _ in bandwidth.rows], {"Size": sizes})
    if rates and (rates[0].headings, rates[0].column(0)) != (bandwidth.headings, sizes):
        reason, [rate] = "bandwidths and message rates are of different sizes: rows are missing", rates
        other = rate.headings not in (("Size",), bandwidth.headings)
        if other or rate.column(0) != sizes[: len(rate.rows)]:
            raise OutputError(reason)
        rate.fault, rates = rate.fault or reason, []
    for place, window in enumerate(bandwidth.headings[1:], start=1):
        columns: dict[str, list[float | None]] = {"size": [*sizes]}
        columns["bandwidth"] = [value * MEGABYTE for value in bandwidth.column(place)]
        if rates:
            columns["message_rate"] = [*rates[0].column(place)]
        yield Series(title, ranks, columns, {"window_size": window})


# ---- the whole output

_MILLISECOND = 1e-3
_TITLE_LINE = re.compile(r"# (?:OSU |(?=OMB))(\S.{0,78}?) Test(?: v([0-9][0-9A-Za-z.\-]{0,20}))?\s*$")
_PAIRS = re.compile(r"# \[ pairs: ([0-9]{1,9}) \] \[ window size: ([0-9]{1,9}|varied) \]")
_DATATYPE = re.compile(r"# Datatype: (\w{1,40})\.?\s*$")
_REMARK = re.compile(r"# (Window creation|Synchronization|Number of [A-Za-z ]+): (.{1,80}?)\s*$")
_START_UP = re.compile(
    r"nprocs: ([0-9]{1,9}), min: ([0-9]{1,12})(?: ms)?, max: ([0-9]{1,12})(?: ms)?, avg: ([0-9]{1,12})"
)
_HELLO = re.compile(r"This is a test with [0-9]+ processes")
_INVALID_DATA = "DATA VALIDATION ERROR"


@dataclass(slots=True)
class _OsuReader:
    """The state while the lines go by."""

    title: str = ""
    program: str = ""
    version: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    datatype: str = ""
    pairs: int | None = None
    tables: list[_OsuTable] = field(default_factory=list)
    start_up: Series | None = None
    varied: bool = False  # a column for each window size
    ended: str = ""  # why nothing more is read
    last: int = 0  # number of the last line that was a row
    row_above: int = 0  # the line of a row above the title

    def read(self, number: int, line: str) -> None:
        if not line or (line.startswith("#") and self._remark(number, line)) or self.ended:
            return
        if line.lstrip().startswith(_INVALID_DATA):
            self.ended = f"line {number}: {line.strip()[:120]}"
        elif not self.title:
            self._untitled(number, line)
        elif self.varied:
            self._window_line(number, line)
        elif headings := _headings(line, number):
            self._begin_table(number, line, headings)
        else:
            self._row_or_other(number, line)

    def _remark(self, number: int, line: str) -> bool:
        if match := _TITLE_LINE.match(line):
            if self.title:
                raise OutputError(f"line {number}: a second title: two outputs in one file")
            check_no_row_above(self.row_above)
            self.program, self.title, self.version = _program_of_title(line), match[1], match[2] or ""
        elif match := _PAIRS.match(line):
            self.pairs = int(match[1])
            self.metadata |= {"pairs": match[1].lstrip("0") or "0", "window_size": match[2]}
            self.varied = match[2] == "varied"
        elif match := _DATATYPE.match(line):
            if self.tables and not self.tables[-1].rows:  # 7.2 prints it below the headings
                self.tables[-1].datatype = match[1]
            else:
                self.datatype = match[1]
        elif buffers := _buffers(line):
            self.metadata["buffers"] = buffers
        elif match := _REMARK.match(line):
            self.metadata[match[1].lower().replace(" ", "_")] = match[2]
        else:
            return False
        return True

    def _untitled(self, number: int, line: str) -> None:
        """osu_init of series 5 prints its values without a title."""
        if is_whole_row(line):
            self.row_above = number
        if _START_UP.match(line):
            self.title = "MPI Init"
            self._row_or_other(0, line)

    def _window_line(self, number: int, line: str) -> None:
        """Below the name of a table stand the window sizes, below these the rows."""
        last = self.tables[-1] if self.tables else None
        if line.startswith(_PROFILES):
            if not line.startswith(_PROFILES[len(self.tables) : len(self.tables) + 1]):
                raise OutputError(f"line {number}: a second table of one kind: two outputs in one file")
            self.tables.append(_OsuTable(number, ("Size",), "", fixed_width=True))
        elif last and line.startswith("#") and len(last.headings) == 1:
            windows = (integer(token, number, "window size") for token in row_tokens(line[1:], number))
            last.headings = ("Size", *map(str, windows))
        elif last and len(last.headings) > 1 and looks_like_row(line):
            self._take_row(last, number, line)

    def _begin_table(self, number: int, line: str, headings: tuple[str, ...]) -> None:
        if self.tables and (not self.tables[-1].rows or self.tables[-1].datatype == self.datatype):
            raise OutputError(f"line {number}: a second header of one table: two outputs in one file")
        for named, unit in (("latency", "MB/s"), ("bandwidth", "us)")):
            other = next((heading for heading in headings if unit in heading), "")
            if other and named in self.title.lower():
                raise OutputError(f"line {number}: {other} below the title {self.title}: two outputs in one")
        self.tables.append(_OsuTable(number, headings, self.datatype, fixed_width="  " in line.strip()))

    def _row_or_other(self, number: int, line: str) -> None:
        if start_up := _START_UP.match(line):
            self._start_up(number, *map(int, start_up.groups()))
        elif _HELLO.match(line):
            raise OutputError(f"OSU {self.title} prints no values")
        elif looks_like_row(line):
            if not self.tables:
                raise OutputError(f"line {number}: a row above the table's header: garbled")
            if not self.tables[-1].is_text(line):
                self._take_row(self.tables[-1], number, line)

    def _start_up(self, number: int, ranks: int, low: int, high: int, mean: int) -> None:
        if self.start_up is not None:
            raise OutputError(f"line {number}: a second line of values: two outputs in one file")
        check_order(low, mean, high, number, slack=0)
        times = {"time": mean, "time_min": low, "time_max": high}
        columns: dict[str, list[float | None]] = {name: [ms * _MILLISECOND] for name, ms in times.items()}
        self.start_up = Series(self.title, ranks, columns)
        self.last = number

    def _take_row(self, table: _OsuTable, number: int, line: str) -> None:
        check_row_count(table.rows, number)
        try:
            if not table.fault:
                table.take_row(number, line)
                self.last = number
        except OutputError as error:
            table.fault = str(error)

    def check_end(self, lines: int) -> None:
        """Leave out a last row that may be cut. ``lines``: their number, 0 where a newline ends the last."""
        inside = self.last == lines > 0
        if not (self.tables and self.tables[-1].has_whole_row):
            if inside or self.ended:
                self._drop_last(f"ends inside line {lines}: cut" if inside else self.ended)
        elif inside and self.tables[-1].last_size is not None:
            usual = largest_size(self.program, (), 2 * (self.pairs or 1))
            if self.tables[-1].last_size != usual:
                self.ended = self.ended or f"ends with line {lines}, without a newline: rows may be missing"

    def _drop_last(self, reason: str) -> None:
        if self.start_up or not self.tables:
            raise OutputError(reason)
        del self.tables[-1].rows[-1:]
        self.ended = self.ended or reason

    @property
    def reasons(self) -> list[str]:
        """Why tables end early, or may."""
        return [*filter(None, [*(table.fault for table in self.tables), self.ended])]

    def series(self) -> list[Series]:
        ranks = 2 * self.pairs if self.pairs is not None else None
        if self.start_up is not None:
            return [self.start_up]
        if not self.tables:
            raise OutputError(self.ended or f"OSU {self.title} printed no table")
        if self.varied:
            return [*_windowed(self.tables, self.title, ranks or 0)]
        for table in self.tables:
            table.end_at_failure()
        tables = [table for table in self.tables if table.rows]
        if not tables:
            raise OutputError("; ".join(self.reasons))
        several = len(self.tables) > 1
        return [_series_of(table, self.title, ranks, with_datatype=several) for table in tables]


def _parse(text: str) -> ParsedOutput:
    """The tables, each up to its first row that is damaged or wrong."""
    reader, number = _OsuReader(), 0
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.title:
        raise OutputError("the title of an OSU benchmark is missing: empty, cut or another program's")
    reader.check_end(0 if text.endswith("\n") else number)
    series = tuple(reader.series())
    datatype = reader.tables[0].datatype if len(reader.tables) == 1 else ""
    metadata = reader.metadata | ({"datatype": datatype} if datatype else {})
    return ParsedOutput(reader.version, metadata, series, "; ".join(reader.reasons))


# ---- the suite

# Its main ends without MPI_Finalize in version 7.4, and with it in 7.0.
_UNFINISHED = (
    "osu_latency_mt of OSU 7.4 ends without MPI_Finalize; launchers such as those of Intel MPI and MPICH "
    "report that as an abort, and the run fails: use another version"
)


class _Osu(Suite):
    closing_line = False
    ends_early = True
    silent = _SILENT
    latencies = "(?i:.*latency.*)"
    gathers: ClassVar = dict.fromkeys(("MPI Gather Latency", "MPI Gather Latency Test"), "osu_gather")
    options = ("window_size", "datatype", "buffers", "window_creation", "synchronization")
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e4}  # two decimals of a µs and of a MB/s

    def refuses(self, request: Request) -> Iterator[Refusal]:
        """Sizes that nobody can read: OSU takes 1K for 1, and only the last size proves an output whole."""
        sizes = _option(request.arguments, "m")
        if sizes and not _SIZES.fullmatch(sizes):
            yield Refusal("the value of -m must be [MIN:]MAX in bytes, such as 1:1024", "", f"-m {sizes}")

    def warns(self, request: Request) -> Iterable[str]:
        return (_UNFINISHED,) if _name(request.program) == "osu_latency_mt" else ()

    def lacks(self, request: Request) -> str:
        """Why a program ends without a table in this placement."""
        name, ranks, arguments = _name(request.program), request.ranks, request.arguments
        kind = KINDS.get(name, "")
        here = f"the placement has {ranks}"
        on_devices = _option(arguments, "d") or not _DEVICES.isdisjoint(arguments[-2:])
        if name in _SILENT:
            return f"{name} measures nothing; {_SILENT[name]}"
        if (on_devices or _ON_DEVICES.fullmatch(name)) and not request.gpus:
            return "device buffers: the placement has no gpus_per_node"
        if kind == "fan" and request.nodes < 2:
            return f"{name} needs at least 2 nodes; the placement has {request.nodes}"
        if name in _TWO_RANKS and ranks != 2:
            return f"{name} needs exactly 2 ranks; {here}"
        if name == "osu_multi_lat" and ranks % 2:
            return f"{name} needs an even number of ranks; {here}"
        in_a_ring = kind == "neighbourhood" and not _option(arguments, "N")
        least = 3 if in_a_ring else 1 if kind in ("", "start") else 2
        return f"{name} needs at least {least} ranks; {here}" if ranks < least else ""

    def largest_size(self, program: str, arguments: Sequence[str], ranks: int) -> int | None:
        return largest_size(program, arguments, ranks)

    def proves_end(self, text: str, tables: Sequence[Series], largest: int | None) -> bool:
        """By the last size that was asked for, else the usual one (c/util/osu_util.h of OSU 7.4).

        A table without sizes, or of atomic operations, has one row. Below several tables another may follow.
        """
        program = _program_of_title(text)
        usual = _MIB if KINDS.get(program) in ("collective", "neighbourhood") else 4 * _MIB
        ends = {table.columns["size"][-1] for table in tables if "size" in table.columns}
        last = program in ("osu_fop_latency", "osu_cas_latency") or ends <= {largest or usual}
        return bool(tables) and last and not any("datatype" in table.qualifiers for table in tables)

    def names(self, text: str, program: str) -> tuple[str, str]:
        """The fan programs print the title of osu_bw."""
        titled = _program_of_title(text)
        program = program if titled == "osu_bw" and KINDS.get(_name(program)) == "fan" else titled or program
        return program, program

    def facts(self, text: str) -> Mapping[str, str]:
        return {"buffers": _buffers(text)}

    def operation(self, series: str, metadata: Mapping[str, str]) -> str:
        """``Allgather`` for ``MPI Allgather Latency``; empty for all but blocking collectives and latency."""
        title = _plain(series.removeprefix("MPI").removesuffix(" Test"))
        name = _PROGRAMS.get(title, "").removeprefix("osu_")
        return "PingPong" if name == "latency" else name.capitalize() if name in _COLLECTIVES.values() else ""

    row = r"([0-9]{1,18}) +[0-9]+\.[0-9]"

    def counts(self, table: Series, arguments: Sequence[str]) -> list[float | None]:
        """Those of `-i`, else the usual ones, of osu_latency (half round trips) and blocking collectives."""
        program = _PROGRAMS.get(_plain(table.benchmark.removeprefix("MPI").removesuffix(" Test")), "")
        ways, large = (2, 1000) if program == "osu_latency" else (1, 100)
        options = {word[:2] for word in arguments if word.strip("0123456789:")} - {"-m", "-i", "-f"}
        given = _option(arguments, "i")
        if options or (ways == 1 and program.removeprefix("osu_") not in _BLOCKING):
            return []
        usual = (large if (size or 0) > 8192 else 10 * large for size in table.columns.get("size", ()))
        return [ways * (int(given) if given.isdecimal() else often) for often in usual]

    def doubt_of_end(
        self, facts: Mapping[str, str], arguments: Sequence[str] | None, tables: Iterable[Series]
    ) -> str:
        """Why the output may be cut.

        An early end is a failure of our own runs, whose sizes are known. It is a doubt in outputs of others:
        jobs may have asked for fewer sizes than usual, and their scripts may be lost.
        """
        sized = (table.columns["size"] for table in tables if table.columns.get("size"))
        ends = [max(filter(None, sizes), default=0) for sizes in sized]
        program = facts.get("program", "")
        match = _RANKS.search(facts.get("command", ""))  # collectives of many ranks end earlier
        count = match[1] if match else facts.get("directive.ntasks") or facts.get("directive.n", "")
        ranks = int(count) if count.isascii() and count.isdecimal() else 1
        last = largest_size(program, arguments or (), ranks)
        if not ends or last is None or min(ends) >= last:
            return ""
        usually = f"{program} usually ends at {format_size(last)}"
        expected = f"-m asked for {format_size(last)}" if _option(arguments or (), "m") else usually
        unknown = "without its job script it is unknown whether -m asked for that or the output was cut"
        doubt = f"OSU prints no closing line; the table ends at {format_size(int(min(ends)))}; {expected}"
        return f"{doubt}: {unknown if arguments is None else 'it may be cut'}"


SUITE = _Osu(
    name="osu",
    title="OSU",
    banner=Banner(("# OSU ", "# OMB"), re.compile(r"# (?:OSU \S|OMB[- ]Py).*? Test(?: v\S{1,21})?\s*$")),
    parse=_parse,
    programs=r"osu_\w+",
    sources=Sources(
        spack="osu-micro-benchmarks",
        modules="OSU-Micro-Benchmarks",
        address="https://mvapich.cse.ohio-state.edu/benchmarks/",
        folders=("libexec/osu-micro-benchmarks",),
    ),
    whole=("^ *[0-9]+[0-9.]*( |$)|^nprocs:|^This is a test with", "^# *OSU"),
    benchmarks={
        name: {"program": name, "provider": "path", "ranks_minimum": 1 if kind == "start" else 2}
        for name, kind in (KINDS | dict.fromkeys(_XCCL, "")).items()
    },
    sends={  # by the titles of the outputs
        "MPI Latency": Sends(Active.FIRST_TWO, one_way=True),
        "MPI Bandwidth": Sends(Active.FIRST_TWO),
        "MPI Bi-Directional Bandwidth": Sends(Active.FIRST_TWO, directions=2),
        "MPI Multiple Bandwidth / Message Rate": Sends(Active.HALVES, windows=True),
    },
)
