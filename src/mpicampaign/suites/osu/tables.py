"""Tables of the OSU Micro-Benchmarks: columns, units, and what must hold between their values.

osu_mbw_mr with varied window prints two of its own: one column for each window size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mpicampaign.base.records import Series
from mpicampaign.suites.reading import (
    MEGABYTE,
    MICROSECOND,
    OutputError,
    check_column_count,
    check_order,
    decimal,
    integer,
    looks_like_row,
    out_of_step,
    row_tokens,
    shown,
)

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

_ROUNDING = 0.011  # two values printed with two decimals


@dataclass(slots=True)
class OsuTable:
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
        return bool(self.rows) and re.fullmatch(r"[0-9]+\.[0-9]{2}", self.rows[-1][1][-1]) is not None

    def end_at_failure(self) -> None:
        """With the rows above the first whose data were wrong: those below are trusted no more."""
        for k, (number, tokens) in enumerate(self.rows if _VALIDATION in self.headings else ()):
            if (said := tokens[self.headings.index(_VALIDATION)]) != "Pass":
                self.fault = f"line {number}: validation of {tokens[0]} B: {shown(said)}"
                del self.rows[k:]
                break
        if not self.rows:
            self.fault = self.fault or f"line {self.line}: no rows below the header"


def read_headings(line: str, number: int) -> tuple[str, ...]:
    """The column headings in a header line; () for any other line.

    Raises
    ------
    OutputError
        naming an unknown heading in a header line.
    """
    if not _FIRST_HEADING.match(line) or len(line) > 500:
        return ()
    headings = tuple(found[0] for found in _HEADING.finditer(line.lstrip("# ")))
    for heading in headings:
        if heading not in _COLUMNS and heading != _VALIDATION and not _PERCENTILE.fullmatch(heading):
            raise OutputError(f"line {number}: unknown heading {shown(heading)}")
    return headings


def series_of(table: OsuTable, title: str, ranks: int | None, *, with_datatype: bool) -> Series:
    """The table in SI units.

    Raises
    ------
    OutputError
        when rows in between are missing, or a value is damaged or contradicts another.
    """
    if not table.sized and len(table.rows) != 1:
        raise OutputError(f"line {table.line}: {len(table.rows)} rows below the header, not one")
    printed = {
        heading: _column(table, k) for k, heading in enumerate(table.headings) if heading != _VALIDATION
    }
    _check_doubling(table, printed)
    _check_rows(table, printed)
    columns: dict[str, list[float | None]] = {}
    for heading, column in printed.items():
        name, factor = _meaning(heading)
        columns[name] = [value * factor for value in column]
    _leave_out_zeros(columns)
    return Series(title, ranks, columns, {"datatype": table.datatype} if with_datatype else {})


def _leave_out_zeros(columns: dict[str, list[float | None]]) -> None:
    """A bandwidth of 0.00 is too small to print: take it from the message rate, if printed."""
    if "bandwidth" not in columns:
        return
    rates = columns.get("message_rate", [None] * len(columns["bandwidth"]))
    for row, (size, rate) in enumerate(zip(columns.get("size", []), rates, strict=False)):
        if size and not columns["bandwidth"][row]:
            columns["bandwidth"][row] = size * rate if rate else None


def _meaning(heading: str) -> tuple[str, float]:
    match = _PERCENTILE.fullmatch(heading)
    if not match:
        return _COLUMNS[heading]
    if match[2]:
        return f"time_p{match[1]}", MICROSECOND
    return f"bandwidth_p{match[1]}", MEGABYTE


def _column(table: OsuTable, position: int) -> list[float]:
    heading = table.headings[position]
    read = integer if heading in _COUNTS else decimal
    return [read(tokens[position], number, heading) for number, tokens in table.rows]


def _check_doubling(table: OsuTable, printed: dict[str, list[float]]) -> None:
    sizes = printed.get("Size", [])
    for (number, _), before, size in zip(table.rows[1:], sizes, sizes[1:], strict=False):
        if size != (2 * before or 1):
            raise out_of_step(size, before, number)


def _check_rows(table: OsuTable, printed: dict[str, list[float]]) -> None:
    for kind, average in (("Latency", "Avg Latency(us)"), ("Comm.", "Pure Comm.(us)")):
        names = (f"Min {kind}(us)", average, f"Max {kind}(us)")
        if all(name in printed for name in names):
            ordered = zip(table.rows, *(printed[name] for name in names), strict=True)
            for (number, _), low, middle, high in ordered:
                check_order(low, middle, high, number, _ROUNDING)
    for heading in _TIMES & printed.keys() if table.sized else ():
        _check_time(table, printed["Size"], printed[heading])
    if {"Size", "MB/s", "Messages/s"} <= printed.keys() and "Transmit Size" not in printed:
        _check_rates(table, printed)


def _check_time(table: OsuTable, sizes: list[float], times: list[float]) -> None:
    for (number, _), size, time in zip(table.rows, sizes, times, strict=True):
        if size and not time:
            raise OutputError(f"line {number}: {size} B in 0.00 us")


def _check_rates(table: OsuTable, printed: dict[str, list[float]]) -> None:
    rows = zip(table.rows, printed["Size"], printed["MB/s"], printed["Messages/s"], strict=True)
    for (number, _), size, bandwidth, rate in rows:
        expected = rate * size / MEGABYTE
        if abs(bandwidth - expected) > _ROUNDING * (1 + size / MEGABYTE) + expected * 1e-9:
            raise OutputError(f"line {number}: {rate} messages/s of {size} B are not {bandwidth} MB/s")


_BANDWIDTH = "# Uni-directional Bandwidth"
_RATE = "# Message Rate Profile"


@dataclass(slots=True)
class _Table:
    windows: tuple[int, ...] = ()
    rows: list[tuple[int, list[float]]] = field(default_factory=list)  # size and values

    @property
    def sizes(self) -> list[int]:
        return [size for size, _ in self.rows]


@dataclass(slots=True)
class WindowProfile:
    """Reads the lines below "window size: varied"."""

    title: str
    ranks: int
    tables: dict[str, _Table] = field(default_factory=dict)
    current: str = ""
    fault: str = ""  # why its rows end early

    @property
    def last(self) -> _Table:
        """The table that was read last."""
        return self.tables.get(self.current, _Table())

    def read(self, number: int, line: str) -> bool:
        """Whether the line was a row of values: those stand below the window sizes."""
        if line.startswith((_BANDWIDTH, _RATE)):
            self._begin(number, "bandwidth" if line.startswith(_BANDWIDTH) else "message_rate")
        elif line.startswith("#") and self.current and not self.last.windows:
            windows = tuple(integer(token, number, "window size") for token in row_tokens(line[1:], number))
            self.last.windows = windows
        elif self.last.windows and looks_like_row(line):
            self._row(self.last, number, row_tokens(line, number))
            return True
        return False

    def series(self) -> list[Series]:
        """One series for each window size.

        Raises
        ------
        OutputError
            when one of the tables is missing, empty or shorter than the other.
        """
        bandwidth, rate = self.tables.get("bandwidth"), self.tables.get("message_rate")
        if not bandwidth or not bandwidth.rows:
            raise OutputError("no bandwidths below the header")
        if rate and (rate.sizes, rate.windows) != (bandwidth.sizes, bandwidth.windows):
            reason = "bandwidths and message rates are of different sizes: rows are missing"
            same = rate.windows in ((), bandwidth.windows)
            if not same or rate.sizes != bandwidth.sizes[: len(rate.sizes)]:
                raise OutputError(reason)
            self.fault, rate = self.fault or reason, None
        return [self._one(k, window, bandwidth, rate) for k, window in enumerate(bandwidth.windows)]

    def _begin(self, number: int, name: str) -> None:
        if name in self.tables:
            raise OutputError(f"line {number}: a second table of one kind: two outputs in one file")
        self.tables[name] = _Table()
        self.current = name

    def _row(self, table: _Table, number: int, tokens: list[str]) -> None:
        check_column_count(tokens, ["Size", *map(str, table.windows)], number)
        size = integer(tokens[0], number, "Size")
        if table.rows and size != (2 * table.rows[-1][0] or 1):
            raise out_of_step(size, table.rows[-1][0], number)
        table.rows.append((size, [decimal(token, number, self.current) for token in tokens[1:]]))

    def _one(self, k: int, window: int, bandwidth: _Table, rate: _Table | None) -> Series:
        columns: dict[str, list[float | None]] = {
            "size": [*bandwidth.sizes],
            "bandwidth": [values[k] * MEGABYTE for _, values in bandwidth.rows],
        }
        if rate:
            columns["message_rate"] = [values[k] for _, values in rate.rows]
        return Series(self.title, self.ranks, columns, {"window_size": str(window)})
