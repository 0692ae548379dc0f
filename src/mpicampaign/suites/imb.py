"""The Intel MPI Benchmarks: IMB-MPI1, -NBC, -RMA, -EXT, -IO, -MT, -P2P, 3.2 to 2021.

An output is a header (version, calling sequence, message lengths, list of benchmarks), one table for each
benchmark and number of processes, and a closing line. Launchers, schedulers and MPI libraries print above,
below and in between. A line that may be a damaged row is refused.
"""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.suites.reading import (
    MEGABYTE,
    MICROSECOND,
    OutputError,
    ParsedOutput,
    check_column_count,
    check_no_row_above,
    check_order,
    check_row_count,
    column,
    integer,
    is_whole_row,
    looks_like_row,
    measured_time,
    missing,
    numbered_lines,
    out_of_step,
    printed_date,
    row_tokens,
    shown,
)
from mpicampaign.suites.suite import ROOTED, Active, Banner, Request, Sends, Sources, Suite

# ---- the benchmarks of IMB-MPI1, 2017 to 2021.11: the names that src_cpp/MPI1/*.cpp declare; the program
# lists those of the others

_COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"),
    *("gatherv", "reduce", "reduce_scatter", "scatter", "scatterv"),
)
_BLOCKING = tuple(name.capitalize() for name in _COLLECTIVES)
MPI1 = (
    *("PingPong", "PingPongSpecificSource", "PingPongAnySource"),
    *("PingPing", "PingPingSpecificSource", "PingPingAnySource"),
    *("Sendrecv", "Exchange", "Uniband", "Biband", "Reduce_local", "Reduce_scatter_block", *_BLOCKING),
)
_PROGRAMS = ("IMB-MPI1", "IMB-P2P", "IMB-RMA", "IMB-EXT", "IMB-IO", "IMB-NBC", "IMB-MPI4", "IMB-MT")

# ---- the lines

_GIVEN_UP = ("time-out", "out-of-mem", "int-overflow")  # printed instead of values
_TITLE = "MPI Benchmark"
_BANNER = re.compile(
    r"#\s+Intel ?\((?:R|TM)\) MPI Benchmark(?:s| Suite) V?(.{1,40}?), (?:IMB-|MPI-)?(\w+) part"
)
_END = "# All processes entering MPI_Finalize"
_BENCHMARKING = re.compile(r"# Benchmarking (\S+(?: \([0-9x ]+\))?)\s*$")
_PROCESSES = re.compile(r"# #processes = ([0-9]{1,9})\b(?:.*\(threads: ([0-9]{1,6})\))?")
_GROUPS = re.compile(r"# \( ([0-9]{1,9}) groups of ([0-9]{1,9}) processes each")
_MODE = re.compile(r"#\s+MODE: (NON-AGGREGATE|AGGREGATE)\s*$")
_WINDOW = re.compile(r"# window_size = ([0-9]{1,9})\s*$")
_INVALID = re.compile(r"# !! Benchmark (\S+) (?:is )?invalid for ([0-9]+) processes !!")
_LENGTH = re.compile(r"# (Minimum|Maximum) (?:message length|io portion) in bytes:\s+([0-9]{1,18})\s*$")
_KEY = re.compile(
    r"# (Date|Machine|System|Release|MPI Version|MPI_Datatype(?: for reductions)?)\s*: \s*(\S.*)$"
)
_DEFECT = "CHECK FAILURES"
_FAILURES = (_DEFECT, "Invalid benchmark name")
_NO_RUN = "# NO SUCCESSFUL EXECUTIONS"  # IMB-MT, in place of a table
_NO_HEADER = "the header of the Intel MPI Benchmarks is missing: empty, cut or another program's"
_HEADINGS = re.compile(r"\s*(?:Group\s+)?#(?:bytes|repetitions)\b")
_COLUMN = "%13s"  # right-aligned
_PLAIN_ROW = re.compile(r"(?: +[0-9]+(?:\.[0-9]+)?)+")
_COUNTS = ("#bytes", "#repetitions", "Group", "Msg/sec")


@dataclass(slots=True)
class _ImbTable:
    """One table as printed. ``stopped``: line -> (row's first tokens, why there are no values)."""

    line: int
    benchmark: str
    ranks: int | None = None
    groups: int = 1  # how many process groups ran it at the same time
    qualifiers: dict[str, str] = field(default_factory=dict)
    headings: tuple[str, ...] = ()
    layout: str = ""  # of the row of headings, where that is as IMB lays it out
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    stopped: dict[int, tuple[list[str], str]] = field(default_factory=dict)
    foreign: int = 0  # first line inside that is not a row
    closed: bool = False
    fault: str = ""  # why its rows end early
    cut: dict[str, int] = field(default_factory=dict)  # group -> the first size (B) that is missing then
    values: dict[str, list[float]] = field(default_factory=dict)  # of columns that were asked for

    @property
    def base_name(self) -> str:
        """The name as in the list of benchmarks: without ``Multi-`` and process grid."""
        return self.benchmark.removeprefix("Multi-").split(" ")[0]

    @property
    def sized(self) -> bool:
        return "#bytes" in self.headings

    def leave_out(self, reason: str) -> None:
        """Drop the rows; the first reason is kept."""
        self.fault = self.fault or reason
        self.rows.clear()
        self.stopped.clear()

    def column(self, heading: str) -> list[float]:
        """The printed values under a heading; asked for when all rows are there."""
        if heading not in self.values:
            place = self.headings.index(heading)
            printed, lines = [tokens[place] for _, tokens in self.rows], (number for number, _ in self.rows)
            self.values[heading] = column(printed, lines, heading, counts=heading in _COUNTS)
        return self.values[heading]

    def take_row(self, number: int, line: str) -> None:
        """What follows a damaged one is not read."""
        check_row_count(self.rows, number)
        self.closed = False
        try:
            if not self.fault:
                self._row(number, line)
        except OutputError as error:
            self.fault = str(error)

    def _row(self, number: int, line: str) -> None:
        tokens = row_tokens(line, number)
        for position, token in enumerate(tokens[1:3] if "-" in line else (), start=1):
            if token.startswith(_GIVEN_UP):
                self.stopped[number] = (tokens[:position], " ".join(tokens[position:])[:100])
                return
        check_column_count(tokens, self.headings, number)
        if self.layout and self.layout % (*tokens,) != line.rstrip():
            raise OutputError(f"line {number}: the row's columns are not where the header's are: garbled")
        self.rows.append((number, tokens))


@dataclass(slots=True)
class _ImbReader:
    """The state while the lines go by."""

    version: str = ""
    part: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    minimum: int = 0
    maximum: int | None = None
    user_lengths: bool = False
    section: str = ""  # "calling" or "list" while inside these parts of the header
    calling: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    invalid: dict[str, str] = field(default_factory=dict)
    tables: list[_ImbTable] = field(default_factory=list)
    table: _ImbTable | None = None  # the one whose rows may follow
    ended: bool = False
    faults: list[str] = field(default_factory=list)  # outside of tables
    row_above: int = 0  # the line of a row above the header

    def read(self, number: int, line: str) -> None:
        if not line or line.isspace():
            if self.table and self.table.rows:
                self.table.closed = True
        elif "#" in line and _HEADINGS.match(line):
            self._heading(number, line)
        elif self.table and self.table.headings and _PLAIN_ROW.fullmatch(line):
            self.table.take_row(number, line)
        elif line.startswith("#"):
            self._comment(number, line)
        else:
            self._other(number, line)

    def _heading(self, number: int, line: str) -> None:
        if not self.version:
            raise OutputError(_NO_HEADER)
        if self.table is None or self.table.headings:
            raise OutputError(f"line {number}: table without a benchmark's name above: garbled")
        self.table.headings = tuple(row_tokens(line, number))
        layout = _COLUMN * len(self.table.headings)
        self.table.layout = layout if layout % self.table.headings == line.rstrip() else ""

    def _other(self, number: int, line: str) -> None:
        if line.lstrip().startswith(_FAILURES):
            self.faults.append(f"line {number}: {line.strip()[:80]}")
            if self.tables and line.lstrip().startswith(_DEFECT):
                self.tables[-1].leave_out(self.faults[-1])
        if not self.version and is_whole_row(line):
            self.row_above = number
        if self.table is None or not self.table.headings:
            return
        if looks_like_row(line):
            self.table.take_row(number, line)
        else:
            self.table.foreign = self.table.foreign or number

    def _comment(self, number: int, line: str) -> None:
        if _TITLE in line and (banner := _BANNER.match(line)):
            if self.version or self.tables:
                raise OutputError(f"line {number}: a second header: two outputs in one file")
            check_no_row_above(self.row_above)
            self.version, self.part = banner[1].strip(), banner[2]
        elif line.startswith(_END):
            if self.ended:
                raise OutputError(f"line {number}: a second closing line: two outputs in one file")
            self.ended, self.table = True, None
        elif self.version and line.startswith("# Benchmarking"):
            self._begin_table(number, line)
        elif invalid := _INVALID.match(line):
            self.invalid[invalid[1]] = f"{invalid[1]} invalid for {invalid[2]} processes"
        elif self.table is None:
            self._header(line)
        elif self.table.headings:
            self.table.closed, self.table = True, None
        else:
            self._describe(self.table, line)

    def _begin_table(self, number: int, line: str) -> None:
        match = _BENCHMARKING.match(line)
        if not match:
            raise OutputError(f"line {number}: {shown(line)} names no benchmark: garbled")
        if self.ended:
            raise OutputError(f"line {number}: a table after the closing line: two outputs in one file")
        self.section, self.table = "", _ImbTable(line=number, benchmark=match[1])
        self.tables.append(self.table)

    def _describe(self, table: _ImbTable, line: str) -> None:
        if match := _PROCESSES.match(line):
            table.ranks = int(match[1])
            table.qualifiers |= {"threads": match[2]} if match[2] else {}
        elif match := _GROUPS.match(line):
            table.groups, table.ranks = int(match[1]), int(match[2])
        elif match := _MODE.match(line):
            table.qualifiers["mode"] = match[1].lower()
        elif match := _WINDOW.match(line):
            table.qualifiers["window_size"] = match[1]
        elif line.startswith(_NO_RUN):
            table.leave_out(f"line {table.line}: {table.benchmark}: {line[2:].strip()}")

    def _header(self, line: str) -> None:
        text = line[1:].strip()
        if text.startswith("Calling sequence was"):
            self.section = "calling"
        elif text.startswith("List of Benchmarks to run"):
            self.section = "list"
        elif match := _LENGTH.match(line):
            self.section = ""
            if match[1] == "Minimum":
                self.minimum = int(match[2])
            else:
                self.maximum = int(match[2])
        elif text.endswith("lengths were user defined"):
            self.section, self.user_lengths = "", True
        elif self.section == "calling" and text:
            self.calling.append(text)
        elif self.section == "list" and line.startswith("# ") and line[2:3].strip() and " " not in text:
            self.listed.append(text.removeprefix("(Multi-)"))  # before 2019, called with -multi
        elif match := _KEY.match(line):
            self.metadata.setdefault(match[1].lower().replace(" ", "_"), match[2].strip())


def _read_lines(text: str) -> _ImbReader:
    """All lines of an output; tables may still lack rows."""
    reader, cut = _ImbReader(), 0 if text.endswith("\n") else text.count("\n") + 1
    for number, line in numbered_lines(text):
        table = reader.table if number == cut else None
        if table and (looks_like_row(line) or line.isspace()):
            table.fault = table.fault or f"ends inside line {number}: cut"
        else:
            reader.read(number, line)
    if not reader.version:
        raise OutputError(_NO_HEADER)
    return reader


# ---- whether all rows are there

_ELEMENTS = {"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_INT": 4, "MPI_FLOAT": 4, "MPI_DOUBLE": 8}
_EXT = ("2", "EXT")  # IMB-EXT calls itself the MPI-2 part
_EXT_ELEMENT = 4  # its windows hold MPI_FLOAT, whatever the header names
_ONE_SIZE = ("Fetch_and_op", "Compare_and_swap")
_REDUCTIONS = ("reduce", "accumulate")
_LARGEST_ELEMENT = 16  # bytes of the largest data type


class _Lengths(NamedTuple):
    """The message sizes that the header announces: ``requested`` one by one, or doubling to ``maximum``.

    ``first`` is the smallest asked for that is not 0. No message is smaller than one element:
    ``element`` bytes, ``reduced_element`` in reductions; ``None`` where the data type is not known.
    """

    minimum: int
    first: int
    maximum: int | None
    requested: list[int] | None
    element: int | None
    reduced_element: int | None

    def element_of(self, table: _ImbTable) -> int | None:
        reduces = any(part in table.base_name.lower() for part in _REDUCTIONS)
        return self.reduced_element if reduces else self.element


def _lengths(reader: _ImbReader) -> _Lengths:
    """The message lengths, by the header and the calling sequence that it repeats."""
    options = dict(pairwise(" ".join(reader.calling).split()))
    low = options.get("-msglog", "").rpartition(":")[0]
    first = 1 << int(low) if low.isascii() and low.isdigit() and len(low) < 3 else 1
    requested = options.get("-msgsize", "").split(",") if "-msgsize" in options else None
    element = _ELEMENTS.get(reader.metadata.get("mpi_datatype", "MPI_BYTE"))
    return _Lengths(
        minimum=reader.minimum,
        first=max(first, reader.minimum),
        maximum=None if reader.user_lengths else reader.maximum,
        requested=[int(size) for size in requested if size.isdecimal()] if requested else None,
        element=_EXT_ELEMENT if reader.part in _EXT else element,
        reduced_element=_ELEMENTS.get(reader.metadata.get("mpi_datatype_for_reductions", "MPI_FLOAT")),
    )


class _Group(NamedTuple):
    """The processes of a table with this number, all of them where it is empty.

    ``rows``: the places of its rows in the table. ``stops``: the sizes at which it gave up, by line.
    """

    number: str
    rows: list[int]
    stops: dict[int, int]


def _groups(table: _ImbTable) -> list[_Group]:
    """The groups of a -multi 1 table; else all its rows as one."""
    grouped = "Group" in table.headings
    places: dict[str, list[int]] = {} if grouped else {"": []}
    for place, (_, tokens) in enumerate(table.rows):
        places.setdefault(tokens[0] if grouped else "", []).append(place)
    stops: dict[str, dict[int, int]] = {}
    for number, (tokens, _) in table.stopped.items():
        of_group = stops.setdefault(tokens[0] if grouped else "", {})
        of_group[number] = integer(tokens[-1], number, "size")
    numbers = dict.fromkeys([*places, *stops])
    return [_Group(number, places.get(number, []), stops.get(number, {})) for number in numbers]


def _check_rows_there(table: _ImbTable, lengths: _Lengths) -> None:
    """Refuse a table with rows missing; where only its last ones are, its `fault` says so."""
    if table.ranks is None:
        raise OutputError(f"line {table.line}: no number of processes for {table.benchmark}")
    if not table.headings or not (table.rows or table.stopped):
        raise OutputError(f"line {table.line}: no rows for {table.benchmark} on {table.ranks} processes")
    groups = _groups(table)
    if "Group" in table.headings:
        reason = f"line {table.line}: rows of {len(groups)} groups, not of 0 to {table.groups - 1}"
        if not {group.number for group in groups} <= {*map(str, range(table.groups))}:
            raise OutputError(reason)
        if len(groups) != table.groups:
            table.fault = table.fault or reason
    lost = 0
    for group in groups:
        if not table.sized:
            if len(group.rows) != 1:
                raise OutputError(f"line {table.line}: {len(group.rows)} rows for {table.benchmark}, not one")
            continue
        lines = [*(table.rows[place][0] for place in group.rows), *group.stops]
        sizes = [*(int(table.column("#bytes")[place]) for place in group.rows), *group.stops.values()]
        if lengths.requested is not None:
            _check_requested(table, sizes, lengths.requested)
        elif lengths.maximum is not None and table.base_name not in _ONE_SIZE:
            for number, (before, size) in zip(lines[1:], pairwise(sizes), strict=True):
                if not (size == 2 * before if before else size > 0):
                    raise out_of_step(size, before, number)
            _check_first(table, sizes, lengths)
            lost += _lost_at_end(table, group.number, lines, sizes, lengths)
    if lost:
        table.fault = missing(lost, len(table.rows) + lost, "size", [table.fault])


def _check_requested(table: _ImbTable, sizes: list[int], requested: list[int]) -> None:
    if len(sizes) == len(requested) or table.stopped:
        return
    reason = f"line {table.line}: {len(sizes)} rows for {table.benchmark}, not {len(requested)}"
    if sizes != requested[: len(sizes)]:
        raise OutputError(reason)
    table.fault = table.fault or reason


def _check_first(table: _ImbTable, sizes: list[int], lengths: _Lengths) -> None:
    if lengths.minimum == 0 and sizes[:1] != [0]:
        raise OutputError(f"line {table.line}: the row of 0 B of {table.benchmark} is missing")
    positive = [size for size in sizes if size]
    element = lengths.element_of(table)
    earliest, latest = max(lengths.first, element or 1), max(lengths.first, element or _LARGEST_ELEMENT)
    if positive and not earliest <= positive[0] <= latest:
        raise OutputError(f"line {table.line}: {table.benchmark} starts at {positive[0]} B, not {earliest} B")


def _lost_at_end(table: _ImbTable, group: str, lines: list[int], sizes: list[int], lengths: _Lengths) -> int:
    """How many of the last sizes are missing."""
    if table.stopped or lengths.maximum is None or (sizes and sizes[-1] == lengths.maximum):
        return 0
    element = lengths.element_of(table) or _LARGEST_ELEMENT
    if sizes == [0] and lengths.maximum < element:
        return 0
    last = f"ends at {sizes[-1]} B" if sizes else "has no rows"
    where = lines[-1] if lines else table.line
    reason = f"line {where}: {table.benchmark} {last}, not {lengths.maximum} B"
    if not sizes or sizes[-1] > lengths.maximum:
        raise OutputError(reason)
    following = 2 * sizes[-1] or max(lengths.first, element)
    table.cut[group] = following
    table.fault = table.fault or reason
    return (lengths.maximum // following).bit_length()


def _qualify_repeated_tables(reader: _ImbReader) -> None:
    """A benchmark named twice on the command line has two tables; any other second table is a mix-up."""
    seen: dict[tuple[object, ...], int] = {}
    for table in reader.tables:
        key = (table.benchmark, table.ranks, *sorted(table.qualifiers.items()))
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > max(1, reader.listed.count(table.base_name)):
            again = f"line {table.line}: a second table of {table.benchmark}"
            raise OutputError(f"{again}: two outputs in one file")
        if seen[key] > 1:
            table.qualifiers["table"] = str(seen[key])


def _check_equal_sizes(reader: _ImbReader) -> None:
    """Where the lengths are not printed (IMB-MT, own lengths) all tables must have equally many rows."""
    if reader.maximum is not None:
        return
    sized = [table for table in reader.tables if table.sized and not table.stopped]
    for table in sized:
        if table.foreign:  # the rows above it count
            reason = f"line {table.foreign}: neither row nor comment, in a table of unknown length"
            table.fault = table.fault or reason
            table.rows = [row for row in table.rows if row[0] < table.foreign]
            table.values.clear()
    runs = [
        (table, [table.column("#bytes")[place] for place in group.rows])
        for table in sized
        for group in _groups(table)
    ]
    longest = max((sizes for _, sizes in runs), key=len, default=[])
    for table, sizes in runs:
        if len(sizes) < len(longest):
            reason = f"line {table.line}: {len(sizes)} rows, others have {len(longest)}: some are missing"
            table.fault = table.fault or reason
            if sizes != longest[: len(sizes)]:
                table.leave_out(reason)


# ---- values

# heading -> column and factor to SI; the factor of bandwidth depends on the version
_COLUMNS: dict[str, tuple[str, float]] = {
    "#bytes": ("size", 1),
    "#repetitions": ("repetitions", 1),
    "t[usec]": ("time", MICROSECOND),
    "t_min[usec]": ("time_min", MICROSECOND),
    "t_max[usec]": ("time_max", MICROSECOND),
    "t_avg[usec]": ("time", MICROSECOND),
    "t_ovrl[usec]": ("time_overall", MICROSECOND),
    "t_pure[usec]": ("time", MICROSECOND),
    "t_CPU[usec]": ("time_compute", MICROSECOND),
    "overlap[%]": ("overlap", 0.01),
    "Mbytes/sec": ("bandwidth", MEGABYTE),
    "Msg/sec": ("message_rate", 1),
    "defects": ("defects", 1),
}

# Messages that each process sends and receives in the printed time: bandwidth = factor * size / time
# (IMB user guide, "Throughput calculation"). The others have one factor for each table.
_FACTORS = {"PingPong": 1.0, "PingPing": 1.0, "Sendrecv": 2.0, "Exchange": 4.0}

# What a row measures, so that it is missing where the row gave up.
_MEASURED = {"time", "time_min", "time_max", "bandwidth", "message_rate"}
_UNRELATED = ("UniBandMT", "BiBandMT")  # rate and bandwidth of these come from different times
_HALF_DIGIT = 0.005  # times and bandwidths are printed with two decimals
_HALF_COUNT = 0.5  # message rates are printed with none
_TWO_ROUNDED = 0.011  # two values printed with two decimals
_ROUNDING = 1e-9  # of the arithmetic here, relative
_MEBIBYTE = 2.0**20
_FIRST_DECIMAL_YEAR = 2018  # from then on a printed megabyte is 10^6 bytes, before 2^20


def _unit(version: str, tables: list[_ImbTable]) -> float | None:
    """What a printed megabyte is, in bytes; ``None`` where no bandwidth is printed.

    The version decides, unless its unit contradicts the rows and the other one fits them all.
    """
    printed = [table for table in tables if "Mbytes/sec" in table.headings]
    if not printed:
        return None
    match = re.match(r"(20[0-9]{2})\b|[34]\.[0-9]", version)
    decimal_year = match and match[1] and int(match[1]) >= _FIRST_DECIMAL_YEAR
    stated = (MEGABYTE if decimal_year else _MEBIBYTE) if match else None
    if stated and not _contradiction(printed, stated):
        return stated
    reasons = {unit: _contradiction(printed, unit) for unit in (MEGABYTE, _MEBIBYTE)}
    fitting = [unit for unit, reason in reasons.items() if not reason]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise OutputError(f"unit of bandwidth unknown: neither rows nor version {shown(version)} show it")
    raise OutputError(reasons[stated or MEGABYTE])


def _contradiction(tables: list[_ImbTable], unit: float) -> str:
    """Which row cannot have its bandwidth in this unit; empty where all can."""
    for table in tables:
        times = [name for name in ("t[usec]", "t_max[usec]") if name in table.headings]
        reason = ""
        if table.base_name in _UNRELATED or not table.sized:
            continue
        if "Msg/sec" in table.headings:
            reason = _rate_contradiction(table, unit)
        elif times:
            reason = _time_contradiction(table, times[0], unit)
        if reason:
            return reason
    return ""


def _rate_contradiction(table: _ImbTable, unit: float) -> str:
    rows = zip(table.rows, *map(table.column, ("#bytes", "Mbytes/sec", "Msg/sec")), strict=True)
    for (number, _), size, bandwidth, rate in rows:
        expected = rate * size / unit
        slack = _HALF_DIGIT + _HALF_COUNT * size / unit + expected * _ROUNDING
        if abs(bandwidth - expected) > slack:
            return f"line {number}: {rate:.0f} messages/s of {size} B are not {bandwidth} Mbytes/sec"
    return ""


def _time_contradiction(table: _ImbTable, heading: str, unit: float) -> str:
    """Each row bounds the factor by its print rounding; the bounds of all rows must leave one."""
    low, high = 0.0, float("inf")
    if table.base_name in _FACTORS:
        low = high = _FACTORS[table.base_name]
    rows = zip(table.rows, *map(table.column, ("#bytes", heading, "Mbytes/sec")), strict=True)
    for (number, _), size, time, bandwidth in rows:
        if size and (time or bandwidth):  # 0.00 twice: it gave up
            scale = unit * MICROSECOND / size
            least = (bandwidth - _HALF_DIGIT) * (time - _HALF_DIGIT) * scale * (1 - _ROUNDING)
            most = (bandwidth + _HALF_DIGIT) * (time + _HALF_DIGIT) * scale * (1 + _ROUNDING)
            low, high = least if least > low else low, most if most < high else high
        if low > high or (bandwidth and not size):
            return f"line {number}: {size} B in {time} us are not {bandwidth} Mbytes/sec"
    return ""


def _series_of(table: _ImbTable, unit: float | None) -> list[Series]:
    """The table in SI units, one series for each process group."""
    for heading in table.headings:
        if heading not in _COLUMNS and heading != "Group":
            raise OutputError(f"line {table.line}: unknown heading {shown(heading)} of {table.benchmark}")
    printed = {heading: table.column(heading) for heading in table.headings}
    _check_values([number for number, _ in table.rows], printed)
    return [_series(table, group, printed, unit) for group in _groups(table)]


def _check_values(lines: list[int], printed: dict[str, list[float]]) -> None:
    times = [printed.get(f"t_{name}[usec]", []) for name in ("min", "avg", "max")]
    for low, middle, high, number in zip(*times, lines, strict=False):
        check_order(low, middle, high, number, _TWO_ROUNDED)
    for number, overlap in zip(lines, printed.get("overlap[%]", ()), strict=False):
        if overlap > 100:
            raise OutputError(f"line {number}: overlap of {overlap} %")
    for number, defects in zip(lines, printed.get("defects", ()), strict=False):
        if defects:
            raise OutputError(f"line {number}: the data check found defects: {defects}")


def _series(table: _ImbTable, group: _Group, printed: dict[str, list[float]], unit: float | None) -> Series:
    columns: dict[str, list[float | None]] = {}
    for heading in table.headings:
        if heading != "Group":
            name, factor = _COLUMNS[heading]
            factor = unit if name == "bandwidth" and unit is not None else factor
            columns[name] = [printed[heading][place] * factor for place in group.rows]
    _leave_out_zeros(table.base_name, columns)
    # larger sizes without values: a maximum may be among them
    for size in [table.cut[group.number]] if group.number in table.cut else group.stops.values():
        for name, values in columns.items():
            values.append(size if name == "size" else None)
    qualifiers = table.qualifiers | ({"group": group.number} if group.number else {})
    return Series(table.benchmark, table.ranks, columns, qualifiers)


def _leave_out_zeros(benchmark: str, columns: dict[str, list[float | None]]) -> None:
    """No message of some bytes takes no time: that row gave up. A bandwidth of 0.00 is too small to print."""
    sizes, times = columns.get("size", []), columns.get("time_max", columns.get("time", []))
    factor = _FACTORS.get(benchmark)
    for row, (size, time) in enumerate(zip(sizes, times, strict=False)):
        if size and not time and "time_overall" not in columns:
            for name in columns.keys() & _MEASURED:
                columns[name][row] = None
        elif size and "bandwidth" in columns and not columns["bandwidth"][row]:
            columns["bandwidth"][row] = factor * size / time if factor and time else None


# ---- the whole output


def _parse(text: str) -> ParsedOutput:
    """Of each table the rows up to where it is cut; none of one that contradicts itself."""
    reader = _read_lines(text)
    _qualify_repeated_tables(reader)
    lengths = _lengths(reader)
    for table in reader.tables:
        try:
            _check_rows_there(table, lengths)
            for heading in table.headings:
                table.column(heading)
        except OutputError as error:
            table.leave_out(str(error))
    _check_equal_sizes(reader)
    tables = [table for table in reader.tables if table.rows or table.stopped]
    if not any(table.rows for table in tables):
        raise OutputError(_without_values(reader))
    unit = _unit(reader.version, tables)
    series: list[Series] = []
    for table in tables:
        try:
            series += _series_of(table, unit)
        except OutputError as error:
            table.leave_out(str(error))
    return ParsedOutput(reader.version, _metadata(reader), tuple(series), _lacks(reader))


def _without_values(reader: _ImbReader) -> str:
    lacks, stopped = _lacks(reader), _metadata(reader).get("not_measured", "")
    if reader.tables or reader.invalid or not reader.ended:
        return lacks or (f"no values: {stopped}" if reader.tables else stopped)
    return f"no table; listed to run: {', '.join(reader.listed)} (too few processes?)"


def _lacks(reader: _ImbReader) -> str:
    """Which tables are missing or cut, and why; empty for a whole output. IMB-MT has no closing line."""
    reasons = [table.fault for table in reader.tables if table.fault] + reader.faults
    threaded = reader.part == "MT"
    if not (reader.tables[-1].closed if threaded and reader.tables else reader.ended):
        rows = sum(len(table.rows) for table in reader.tables)
        inside = "ends inside a table; the blank line after it is missing"
        end = f"ends after {counted(rows, 'row')}; the closing line is missing"
        reasons.append(inside if threaded else end)
    without = _without_rows(reader)
    printed = {table.base_name for table in reader.tables}
    reasons += [f"{name} was to run but has no table" for name in without if name not in printed]
    return missing(len(without), len(reader.listed), "benchmark", reasons) if reasons else ""


def _without_rows(reader: _ImbReader) -> list[str]:
    """The listed benchmarks without sound rows; IMB prints nothing where one process is too few."""
    present = {table.base_name for table in reader.tables if table.rows or table.stopped}
    if max((table.ranks or 0 for table in reader.tables), default=0) == 1:
        return []
    return [name for name in reader.listed if name not in present and name not in reader.invalid]


def _metadata(reader: _ImbReader) -> dict[str, str]:
    metadata = reader.metadata | {"part": reader.part}
    if reader.calling:
        metadata["calling_sequence"] = " ".join(" ".join(reader.calling).split())
    not_measured = [
        *reader.invalid.values(),
        *(
            f"{table.benchmark} {' '.join(where)} {why}"
            for table in reader.tables
            for where, why in table.stopped.values()
        ),
    ]
    return metadata | ({"not_measured": "; ".join(not_measured)} if not_measured else {})


# ---- the suite

# With the newline above: a search for that is many times as fast as one for the begin of a line.
_BENCHMARK = re.compile(r"\n# Benchmarking (\S+)")
_CALL = re.compile(r"\n# (?:\S*/)?(IMB-\w+(?:-GPU)?)(?: |$)", re.MULTILINE)
_ON_GPU = re.compile(r"^# (?:\S*/)?IMB-\w+-GPU(?: .*-mem_alloc_type +(\w{1,20}))?", re.MULTILINE)
_DATE = re.compile(r"\n# Date +: (.{1,40})$", re.MULTILINE)
_LONGEST_NAME = 64  # characters that a label may have
_BUILT_IN = (
    *("PingPong", "PingPing", "Sendrecv", "Exchange", "Uniband", "Biband"),
    *("Gather", "Allreduce", "Alltoall"),
)
_OPERATIONS = {"PingPong", "Reduce_scatter_block", *_BLOCKING}
_FIXED_ROOT = re.compile(r"20(?:1[7-9]|[2-9][0-9])")  # versions before 2017 change the root, without barriers


class _Imb(Suite):
    refused = "^Invalid benchmark name"  # said of unknown options, too, but not by IMB-P2P
    ends_early = True
    given_up = _GIVEN_UP
    gathers: ClassVar = {"Gather": "IMB Gather"}
    options = ("mpi_datatype", "mpi_datatype_for_reductions")
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e4}  # two decimals of a µs and of a MB/s

    def warns(self, request: Request) -> Iterable[str]:
        unasked = request.program.endswith("-GPU") and not request.gpus
        return (f"{request.program} without GPUs: the placement has no gpus_per_node",) if unasked else ()

    def offers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Those of IMB-MPI1, and the programs; a GPU version is one by its program only."""
        yield from self.benchmarks.items()
        entry = {"provider": "wheel", "ranks_minimum": 2}
        for name in MPI1:
            yield name, {**entry, "program": "IMB-MPI1", "arguments": name}
        for program in (*_PROGRAMS, "IMB-MPI1-GPU", "IMB-RMA-GPU"):
            yield program, {**entry, "program": program}

    def quick(self, program: str) -> str:
        """At least 0.2 s, for shorter runs are not judged; IMB-P2P and IMB-MT have other options."""
        return "" if program in ("IMB-P2P", "IMB-MT") else "-iter 5000,250 -time 1 -msglog 0:22"

    def names(self, text: str, program: str) -> tuple[str, str]:
        """All benchmarks that were measured (the program where their names are too long), and the program."""
        lines = f"\n{text}"
        called = _CALL.search(lines)
        program = called[1] if called else program
        names = "+".join(dict.fromkeys(_BENCHMARK.findall(lines)))
        return names if len(names) <= _LONGEST_NAME else program or names, program

    def facts(self, text: str) -> Mapping[str, str]:
        """Where the buffers of a GPU version are: on the device, unless its call says otherwise."""
        called = "-GPU" in text and _ON_GPU.search(text)
        return {"buffers": called[1] or "device"} if called else {}

    def operation(self, series: str, metadata: Mapping[str, str]) -> str:
        """Not of a rooted one whose root changes, or that overlaps the next: then no rank waits for all."""
        arguments = metadata.get("calling_sequence", "").split()
        fixed = _FIXED_ROOT.match(metadata.get("version", "")) and not {"-root_shift", "-sync"} & {*arguments}
        return series if series in _OPERATIONS and (fixed or series not in ROOTED) else ""

    def proves_end(self, text: str, tables: Sequence[Series], largest: int | None) -> bool:
        return f"\n{_END}" in text  # IMB-MT prints no such line

    def least_time(self, tables: Iterable[Series]) -> float:
        """A PingPong takes twice the time that is printed, and warm-ups are not counted."""
        return measured_time(tables, "repetitions")

    row = r" +([0-9]{1,18}) +[0-9]+ +[0-9]+\.[0-9]"

    def counts(self, table: Series, arguments: Sequence[str]) -> Iterable[float | None]:
        return [(1 + (table.benchmark == "PingPong")) * (n or 0) for n in super().counts(table, arguments)]

    def printed_times(self, output: str, offset: int) -> Iterator[float]:
        """The date of the header, in the local time of rank 0."""
        date = _DATE.search(f"\n{output}")
        if date and (moment := printed_date(date[1])):
            yield timegm(moment.timetuple()) - offset


SUITE = _Imb(
    name="imb",
    title="IMB",
    banner=Banner(_TITLE, re.compile(r"#\s+Intel ?\((?:R|TM)\) MPI Benchmark(?:s| Suite) ")),
    parse=_parse,
    programs=r"IMB-\w+(?:-GPU)?",
    sources=Sources(
        wheel="impi-rt",  # see pyproject.toml
        spack="intel-mpi-benchmarks",
        modules="IMB",
        address="https://github.com/intel/mpi-benchmarks",
    ),
    # IMB-MT has no such closing line.
    whole=("^ +[0-9]+ ", "^# All processes entering MPI_Finalize|, MT part"),
    end=_END,
    benchmarks={
        name: {"program": "IMB-MPI1", "provider": "wheel", "arguments": name, "ranks_minimum": 2}
        for name in _BUILT_IN
    },
    sends={
        "PingPong": Sends(Active.FIRST_TWO, one_way=True),
        "PingPing": Sends(Active.FIRST_TWO, one_way=True),
        "Sendrecv": Sends(Active.ALL, directions=2),
        "Exchange": Sends(Active.ALL, directions=2),
        "Uniband": Sends(Active.HALVES, windows=True),
        "Biband": Sends(Active.HALVES, directions=2, windows=True),
    },
    published={"PingPong": "PingPong"},
)
