"""Tables of the Intel MPI Benchmarks: columns, units, and what must hold between their values."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING

from mpicampaign.base.records import Series
from mpicampaign.suites.reading import (
    MEGABYTE,
    MICROSECOND,
    OutputError,
    check_order,
    decimals,
    integer,
    integers,
    missing,
    out_of_step,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_COUNTS = ("#bytes", "#repetitions", "Group", "Msg/sec")

# Messages that each process sends and receives in the printed time: bandwidth = factor * size / time
# (IMB user guide, "Throughput calculation"). The others have one factor for each table.
FACTORS = {"PingPong": 1.0, "PingPing": 1.0, "Sendrecv": 2.0, "Exchange": 4.0}

# What a row measures, so that it is missing where the row gave up.
_MEASURED = {"time", "time_min", "time_max", "bandwidth", "message_rate"}

_ONE_SIZE = ("Fetch_and_op", "Compare_and_swap")
_ROUNDING = 0.011  # two values printed with two decimals
_REDUCTIONS = ("reduce", "accumulate")
_LARGEST_ELEMENT = 16  # bytes of the largest data type


@dataclass(slots=True)
class ImbTable:
    """One table as printed. ``stopped``: line -> (row's first tokens, why there are no values)."""

    line: int
    benchmark: str
    ranks: int | None = None
    groups: int = 1  # how many process groups ran it at the same time
    qualifiers: dict[str, str] = field(default_factory=dict)
    headings: tuple[str, ...] = ()
    fixed_width: bool = False
    rows: list[tuple[int, Sequence[str]]] = field(default_factory=list)
    stopped: dict[int, tuple[list[str], str]] = field(default_factory=dict)
    foreign: int | None = None  # first line inside that is not a row
    closed: bool = False
    fault: str = ""  # why its rows end early
    cut: dict[str, int] = field(default_factory=dict)  # group -> the first size (B) that is missing then
    read: dict[str, list[float]] = field(default_factory=dict)  # columns that were asked for

    @property
    def base_name(self) -> str:
        """The name as in the list of benchmarks: without ``Multi-`` and process grid."""
        return self.benchmark.removeprefix("Multi-").split(" ")[0]

    @property
    def sized(self) -> bool:
        return "#bytes" in self.headings

    def leave_out(self, reason: str) -> None:
        """Without its rows."""
        self.fault = self.fault or reason
        self.rows.clear()
        self.stopped.clear()

    def end_above(self, line: int, reason: str) -> None:
        """With its rows above a line."""
        self.fault = self.fault or reason
        self.rows = [row for row in self.rows if row[0] < line]
        self.read.clear()

    def take(self, line: int, tokens: Sequence[str]) -> None:
        """Take the first rows, from a line on, where all tokens are numbers of digits and dots."""
        columns = len(self.headings)
        with suppress(ValueError):  # such as 1.2.3
            self.read = {
                heading: [*map(int if heading in _COUNTS else float, tokens[place::columns])]
                for place, heading in reversed([*enumerate(self.headings)])  # of two alike, the first counts
            }
            self.rows = [*enumerate(zip(*[iter(tokens)] * columns, strict=True), start=line)]
            self.closed = False

    def column(self, heading: str) -> list[float]:
        """The printed values under a heading; asked for when all rows are there."""
        if heading not in self.read:
            position = self.headings.index(heading)
            lines = [number for number, _ in self.rows]
            tokens = [tokens[position] for _, tokens in self.rows]
            self.read[heading] = [*(integers if heading in _COUNTS else decimals)(tokens, lines, heading)]
        return self.read[heading]


@dataclass(frozen=True, slots=True)
class Lengths:
    """The message sizes that the header announces: ``requested`` one by one, or doubling to ``maximum``.

    ``first`` is the smallest asked for that is not 0. No message is smaller than one element:
    ``element`` bytes, ``reduced_element`` in reductions; ``None`` where the data type is not known.
    """

    minimum: int
    first: int
    maximum: int | None
    requested: tuple[int, ...] | None
    element: int | None
    reduced_element: int | None


def check_sizes(table: ImbTable, lengths: Lengths) -> None:
    """Refuse a table with rows missing; where only its last ones are, its `fault` says so.

    Raises
    ------
    OutputError
        naming the line at which rows are missing.
    """
    groups = _groups(table)
    if "Group" in table.headings:
        _check_groups(table, groups)
    lost = 0
    for group in groups:
        lines, sizes = _sizes_of(table, group)
        if not table.sized:
            if len(lines) != 1:
                raise OutputError(f"line {table.line}: {len(lines)} rows for {table.benchmark}, not one")
        elif lengths.requested is not None:
            _check_requested(table, sizes, lengths.requested)
        elif lengths.maximum is not None and table.base_name not in _ONE_SIZE:
            _check_doubling(lines, sizes)
            _check_first(table, sizes, lengths)
            lost += _check_last(table, group, lines, sizes, lengths)
    if lost:
        table.fault = missing(lost, len(table.rows) + lost, "size", [table.fault])


def _check_groups(table: ImbTable, groups: list[str]) -> None:
    known = [*map(str, range(table.groups))]
    reason = f"line {table.line}: rows of {len(groups)} groups, not of 0 to {table.groups - 1}"
    if not set(groups) <= set(known):
        raise OutputError(reason)
    if len(groups) != table.groups:
        table.fault = table.fault or reason


def series_of(table: ImbTable, unit: float | None) -> list[Series]:
    """The table in SI units, one series for each process group.

    Raises
    ------
    OutputError
        at an unknown heading, a damaged value, or values that contradict each other.
    """
    for heading in table.headings:
        if heading not in _COLUMNS and heading != "Group":
            raise OutputError(f"line {table.line}: unknown heading {shown(heading)} of {table.benchmark}")
    printed = {heading: table.column(heading) for heading in table.headings}
    _check_rows(table, printed)
    return [_series(table, group, printed, unit) for group in _groups(table)]


def _series(table: ImbTable, group: str, printed: dict[str, list[float]], unit: float | None) -> Series:
    chosen = [not group or tokens[0] == group for _, tokens in table.rows]
    columns: dict[str, list[float | None]] = {}
    for heading in table.headings:
        if heading == "Group":
            continue
        name, factor = _COLUMNS[heading]
        if name == "bandwidth" and unit is not None:
            factor = unit
        columns[name] = [value * factor for value in compress(printed[heading], chosen)]
    _leave_out_zeros(table, columns)
    for size in _stopped_sizes(table, group):
        for name, values in columns.items():
            values.append(size if name == "size" else None)
    qualifiers = table.qualifiers | ({"group": group} if group else {})
    return Series(table.benchmark, table.ranks, columns, qualifiers)


def _leave_out_zeros(table: ImbTable, columns: dict[str, list[float | None]]) -> None:
    """No message of some bytes takes no time: that row gave up. A bandwidth of 0.00 is too small to print."""
    sizes, times = columns.get("size", []), columns.get("time_max", columns.get("time", []))
    for row, (size, time) in enumerate(zip(sizes, times, strict=False)):
        if size and not time and "time_overall" not in columns:
            for name in columns.keys() & _MEASURED:
                columns[name][row] = None
        elif size and "bandwidth" in columns and not columns["bandwidth"][row]:
            columns["bandwidth"][row] = _rate_of(table.base_name, size, time)


def _rate_of(benchmark: str, size: float | None, time: float | None) -> float | None:
    """Bandwidth (B/s) by size (B) and time (s); ``None`` where IMB's factor or either of them is unknown."""
    factor = FACTORS.get(benchmark)
    return factor * size / time if factor and size and time else None


def _groups(table: ImbTable) -> list[str]:
    """The process groups of a -multi 1 table; a single "" where there are none."""
    if "Group" not in table.headings:
        return [""]
    rows = [tokens for _, tokens in table.rows] + [where for where, _ in table.stopped.values()]
    return list(dict.fromkeys(tokens[0] for tokens in rows))


def _stopped_sizes(table: ImbTable, group: str) -> list[int]:
    """Where the program, or what ended it, left larger sizes without values: a maximum may be among them."""
    if group in table.cut:
        return [table.cut[group]]
    return [
        integer(where[-1], number, "size")
        for number, (where, _) in table.stopped.items()
        if not group or where[0] == group
    ]


def _sizes_of(table: ImbTable, group: str) -> tuple[list[int], list[int]]:
    """Lines and sizes of a group's rows, those that give a reason instead of values among them."""
    chosen = [not group or tokens[0] == group for _, tokens in table.rows]
    lines = [number for number, _ in compress(table.rows, chosen)]
    if not table.sized:
        return lines, []
    sizes = [int(size) for size in compress(table.column("#bytes"), chosen)]
    stops = [number for number, (where, _) in table.stopped.items() if not group or where[0] == group]
    return lines + stops, sizes + _stopped_sizes(table, group)


def _check_requested(table: ImbTable, sizes: list[int], requested: tuple[int, ...]) -> None:
    if len(sizes) == len(requested) or table.stopped:
        return
    reason = f"line {table.line}: {len(sizes)} rows for {table.benchmark}, not {len(requested)}"
    if sizes != [*requested[: len(sizes)]]:
        raise OutputError(reason)
    table.fault = table.fault or reason


def _check_doubling(lines: list[int], sizes: list[int]) -> None:
    for number, before, size in zip(lines[1:], sizes, sizes[1:], strict=False):
        follows = size == 2 * before if before else size > 0
        if not follows:
            raise out_of_step(size, before, number)


def _check_first(table: ImbTable, sizes: list[int], lengths: Lengths) -> None:
    if lengths.minimum == 0 and sizes[:1] != [0]:
        raise OutputError(f"line {table.line}: the row of 0 B of {table.benchmark} is missing")
    positive = [size for size in sizes if size]
    element = _element(table, lengths)
    earliest, latest = max(lengths.first, element or 1), max(lengths.first, element or _LARGEST_ELEMENT)
    if positive and not earliest <= positive[0] <= latest:
        raise OutputError(f"line {table.line}: {table.benchmark} starts at {positive[0]} B, not {earliest} B")


def _check_last(table: ImbTable, group: str, lines: list[int], sizes: list[int], lengths: Lengths) -> int:
    """How many of the last sizes are missing."""
    if table.stopped or lengths.maximum is None or (sizes and sizes[-1] == lengths.maximum):
        return 0
    element = _element(table, lengths) or _LARGEST_ELEMENT
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


def _element(table: ImbTable, lengths: Lengths) -> int | None:
    reduces = any(part in table.base_name.lower() for part in _REDUCTIONS)
    return lengths.reduced_element if reduces else lengths.element


def _check_rows(table: ImbTable, printed: dict[str, list[float]]) -> None:
    lines = [number for number, _ in table.rows]
    if {"t_min[usec]", "t_avg[usec]", "t_max[usec]"} <= printed.keys():
        ordered = zip(*(printed[f"t_{name}[usec]"] for name in ("min", "avg", "max")), lines, strict=True)
        for low, middle, high, number in ordered:
            check_order(low, middle, high, number, _ROUNDING)
    for number, overlap in zip(lines, printed.get("overlap[%]", ()), strict=False):
        if overlap > 100:
            raise OutputError(f"line {number}: overlap of {overlap} %")
    for number, defects in zip(lines, printed.get("defects", ()), strict=False):
        if defects:
            raise OutputError(f"line {number}: the data check found defects: {defects}")
