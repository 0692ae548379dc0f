"""Outputs of the OSU Micro-Benchmarks 5 to 7: point-to-point, collective, one-sided, start-up.

An output is a title with the version, some remarks (pairs, window, datatype), and one table, or one for each
datatype. There is no end mark: that the sizes double without a gap and that the last line is whole is all
that an output proves of its completeness; the caller's ``expected_max`` proves the rest. A damaged row ends
its table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mpicampaign.base.records import Series
from mpicampaign.suites.osu.sizes import largest_size
from mpicampaign.suites.osu.tables import OsuTable, WindowProfile, read_headings, series_of
from mpicampaign.suites.osu.titles import buffers_of, program_of_title
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    aborted,
    check_column_count,
    check_no_row_above,
    check_order,
    check_row_count,
    is_aborted,
    is_whole_row,
    looks_like_row,
    numbered_lines,
    row_tokens,
    token_ends,
)

_MILLISECOND = 1e-3
_TITLE = re.compile(r"# OSU (\S.{0,78}?) Test(?: v([0-9][0-9A-Za-z.\-]{0,20}))?\s*$")
_PAIRS = re.compile(r"# \[ pairs: ([0-9]{1,9}) \] \[ window size: ([0-9]{1,9}|varied) \]")
_DATATYPE = re.compile(r"# Datatype: (\w{1,40})\.?\s*$")
_REMARK = re.compile(r"# (Window creation|Synchronization|Number of [A-Za-z ]+): (.{1,80}?)\s*$")
_START_UP = re.compile(
    r"nprocs: ([0-9]{1,9}), min: ([0-9]{1,12})(?: ms)?, max: ([0-9]{1,12})(?: ms)?, avg: ([0-9]{1,12})"
)
_HELLO = re.compile(r"This is a test with [0-9]+ processes")
# What no row has: letters, or brackets and the like, but for the results of validation.
_WORD = re.compile(r"(?!(?:Pass|Fail|-?nan|-?inf)(?!\S))\S*[A-Za-z()/<>]")
_CUT_VALUE = re.compile(r"[0-9]+(?:\.[0-9]?)?")
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
    tables: list[OsuTable] = field(default_factory=list)
    start_up: Series | None = None
    windows: WindowProfile | None = None
    ended: str = ""  # why nothing more is read
    above: str = ""  # what a report above the title says of the program's end
    last: int = 0  # number of the last line that was a row
    row_above: int = 0  # the line of a row above the title

    def read(self, number: int, line: str) -> None:
        if not line or (line.startswith("#") and self._remark(number, line)) or self.ended:
            return
        if line.lstrip().startswith(_INVALID_DATA):
            self.ended = f"line {number}: {line.strip()[:120]}"
        elif is_aborted(line):
            self._aborted(aborted(line, number))
        elif not self.title:
            self._untitled(number, line)
        elif self.windows is not None:
            self._window_line(self.windows, number, line)
        elif headings := read_headings(line, number):
            self._begin_table(number, line, headings)
        else:
            self._row_or_other(number, line)

    def _remark(self, number: int, line: str) -> bool:
        if found := _TITLE.match(line):
            self._title(number, line, found[1], found[2] or "")
        elif found := _PAIRS.match(line):
            self._pairs(int(found[1]), found[2])
        elif found := _DATATYPE.match(line):
            self._datatype(found[1])
        elif buffers := buffers_of(line):
            self.metadata["buffers"] = buffers
        elif found := _REMARK.match(line):
            self.metadata[found[1].lower().replace(" ", "_")] = found[2]
        else:
            return False
        return True

    def _title(self, number: int, line: str, title: str, version: str) -> None:
        if self.title:
            raise OutputError(f"line {number}: a second title: two outputs in one file")
        check_no_row_above(self.row_above)
        self.program = program_of_title(line)
        self.title, self.version = title, version

    def _datatype(self, name: str) -> None:
        """Of the table below; 7.2 prints it below the headings."""
        if self.tables and not self.tables[-1].rows:
            self.tables[-1].datatype = name
        else:
            self.datatype = name

    def _pairs(self, pairs: int, window: str) -> None:
        self.pairs = pairs
        self.metadata |= {"pairs": str(pairs), "window_size": window}
        if window == "varied":
            self.windows = WindowProfile(self.title, 2 * pairs)

    def _aborted(self, reason: str) -> None:
        """Below the title nothing more is read; LSF reports the end of its job above."""
        if self.title:
            self.ended = reason
        else:
            self.above = reason

    def _untitled(self, number: int, line: str) -> None:
        """osu_init of series 5 prints its values without a title."""
        if is_whole_row(line):
            self.row_above = number
        if _START_UP.match(line):
            self.title = "MPI Init"
            self._row_or_other(0, line)

    def _window_line(self, windows: WindowProfile, number: int, line: str) -> None:
        try:
            if not windows.fault and windows.read(number, line):
                self.last = number
        except OutputError as error:
            windows.fault = str(error)

    def _begin_table(self, number: int, line: str, headings: tuple[str, ...]) -> None:
        if self.tables and (not self.tables[-1].rows or self.tables[-1].datatype == self.datatype):
            raise OutputError(f"line {number}: a second header of one table: two outputs in one file")
        self.tables.append(OsuTable(number, headings, self.datatype, fixed_width="  " in line.strip()))

    def _row_or_other(self, number: int, line: str) -> None:
        if found := _START_UP.match(line):
            self._start_up(number, *map(int, found.groups()))
        elif _HELLO.match(line):
            raise OutputError(f"OSU {self.title} prints no values")
        elif looks_like_row(line):
            if not self.tables:
                raise OutputError(f"line {number}: a row above the table's header: garbled")
            if not _is_text(line, self.tables[-1]):
                self._take_row(self.tables[-1], number, line)

    def _take_row(self, table: OsuTable, number: int, line: str) -> None:
        check_row_count(table.rows, number)
        try:
            if not table.fault:
                self._row(table, number, line)
        except OutputError as error:
            table.fault = str(error)

    def _start_up(self, number: int, ranks: int, low: int, high: int, mean: int) -> None:
        if self.start_up is not None:
            raise OutputError(f"line {number}: a second line of values: two outputs in one file")
        check_order(low, mean, high, number, slack=0)
        times = {"time": mean, "time_min": low, "time_max": high}
        columns: dict[str, list[float | None]] = {name: [ms * _MILLISECOND] for name, ms in times.items()}
        self.start_up = Series(self.title, ranks, columns)
        self.last = number

    def _row(self, table: OsuTable, number: int, line: str) -> None:
        tokens = row_tokens(line, number)
        check_column_count(tokens, table.headings, number)
        counts = table.headings[-1] in ("Iterations", "Transmit Size")
        if not table.rows and not counts and _CUT_VALUE.fullmatch(tokens[-1]):
            raise OutputError(f"line {number}: {tokens[-1]} lacks its two decimals: cut")
        ends = token_ends(line)[1:] if table.sized else []
        if table.fixed_width and table.rows and ends != table.ends:
            raise OutputError(f"line {number}: the row's columns are not where those above are: garbled")
        table.ends = ends
        table.rows.append((number, tokens))
        self.last = number

    def drop_last(self, reason: str) -> None:
        """Leave out the last row, which is cut."""
        if self.start_up or not (self.windows or self.tables):
            raise OutputError(reason)
        last = self.windows.last if self.windows else self.tables[-1]
        del last.rows[-1:]
        self.ended = self.ended or reason

    @property
    def reasons(self) -> list[str]:
        """Why tables end early, or may."""
        faults = [table.fault for table in self.tables] + ([self.windows.fault] if self.windows else [])
        return [*filter(None, [*faults, self.ended, self.above])]


def parse_osu(text: str) -> ParsedOutput:
    """Read the output of one OSU program: of each table the rows above the first that is damaged or wrong.

    Raises
    ------
    OutputError
        when there are none, rows in between are missing, values contradict each other, or it is not of OSU.
    """
    reader = _OsuReader()
    number = 0
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.title:
        raise OutputError("the title of an OSU benchmark is missing: empty, cut or another program's")
    if reader.last == number and not text.endswith("\n"):
        _end_inside(reader, number)
    elif reader.ended and not (reader.tables and reader.tables[-1].has_whole_row):
        reader.drop_last(reader.ended)
    series = tuple(_series(reader))
    return ParsedOutput(reader.version, _metadata(reader), series, "; ".join(reader.reasons))


def _is_text(line: str, table: OsuTable) -> bool:
    """Whether a line below rows begins like one and is text of a job's end: ``2 nodes were used``, ``0``.

    Not where it begins with the size of the next row, for then it is that row, damaged or cut.
    """
    tokens, size = line.split(), table.last_size
    following = "" if size is None else str(2 * size or 1)
    if not table.rows or following == tokens[0]:
        return False
    if line.strip().isdecimal():
        return not following.startswith(tokens[0])
    return any(map(_WORD.match, tokens))


def _end_inside(reader: _OsuReader, number: int) -> None:
    """Leave out a last row without newline, unless it is whole; note one of another than the usual size."""
    if not reader.tables or not reader.tables[-1].has_whole_row:
        reader.drop_last(f"ends inside line {number}: cut")
        return
    size = reader.tables[-1].last_size
    if size is not None and size != largest_size(reader.program, (), 2 * (reader.pairs or 1)):
        reader.ended = reader.ended or f"ends with line {number}, without a newline: rows may be missing"


def _series(reader: _OsuReader) -> list[Series]:
    if reader.start_up is not None:
        return [reader.start_up]
    if reader.windows is not None:
        return reader.windows.series()
    if not reader.tables:
        raise OutputError(reader.ended or f"OSU {reader.title} printed no table")
    for table in reader.tables:
        table.end_at_failure()
    if not any(table.rows for table in reader.tables):
        raise OutputError("; ".join(reader.reasons))
    several = len(reader.tables) > 1
    ranks = 2 * reader.pairs if reader.pairs is not None else None
    tables = [table for table in reader.tables if table.rows]
    return [series_of(table, reader.title, ranks, with_datatype=several) for table in tables]


def _metadata(reader: _OsuReader) -> dict[str, str]:
    metadata = dict(reader.metadata)
    if len(reader.tables) == 1 and reader.tables[0].datatype:
        metadata["datatype"] = reader.tables[0].datatype
    return metadata
