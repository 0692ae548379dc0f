"""Takes an IMB output apart, line by line: header, tables, closing line.

For speed, rows in IMB's own layout are taken all at once, and lines without a meaning are remembered.
All others are checked one by one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from mpicampaign.suites.imb import GIVEN_UP
from mpicampaign.suites.imb.tables import ImbTable
from mpicampaign.suites.reading import (
    OutputError,
    aborted,
    check_column_count,
    check_no_nul,
    check_no_row_above,
    check_row_count,
    is_aborted,
    is_whole_row,
    looks_like_row,
    row_tokens,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_TITLE = "MPI Benchmark"
_BANNER = re.compile(
    r"#\s+Intel ?\((?:R|TM)\) MPI Benchmark(?:s| Suite) V?(.{1,40}?), (?:IMB-|MPI-)?(\w+) part"
)
_END = "# All processes entering MPI_Finalize"
_BEGIN = "# Benchmarking"
_BENCHMARKING = re.compile(r"# Benchmarking (\S+(?: \([0-9x ]+\))?)\s*$")
_PROCESSES = re.compile(r"# #processes = ([0-9]{1,9})\b(?:.*\(threads: ([0-9]{1,6})\))?")
_GROUPS = re.compile(r"# \( ([0-9]{1,9}) groups of ([0-9]{1,9}) processes each")
_MODE = re.compile(r"#\s+MODE: (NON-AGGREGATE|AGGREGATE)\s*$")
_WINDOW = re.compile(r"# window_size = ([0-9]{1,9})\s*$")
_INVALID = re.compile(r"# !! Benchmark (\S+) (?:is )?invalid for ([0-9]+) processes !!")
_LENGTH = re.compile(r"# (Minimum|Maximum) (?:message length|io portion) in bytes:\s+([0-9]{1,18})\s*$")
_KEY = re.compile(r"# ([A-Z][A-Za-z_ ]{2,30}?)\s*: (.*)$")
_DEFECT = "CHECK FAILURES"
_FAILURES = (_DEFECT, "Invalid benchmark name")
NO_HEADER = "the header of the Intel MPI Benchmarks is missing: empty, cut or another program's"
_HEADINGS = re.compile(r"\s*(?:Group\s+)?#(?:bytes|repetitions)\b")
_KEPT_KEYS = (
    "Date",
    "Machine",
    "System",
    "Release",
    "MPI Version",
    "MPI_Datatype",
    "MPI_Datatype for reductions",
)
_COLUMN_WIDTH = 13  # characters; right-aligned
_MOST_AT_ONCE = 10_000  # rows
_LONGEST_KNOWN = 200  # characters of a line that is remembered

_CALLING, _LIST, _OWN_LENGTHS = (
    "Calling sequence was",
    "List of Benchmarks to run",
    "lengths were user defined",
)


@dataclass(slots=True)
class Reader:
    """The state while the lines go by."""

    version: str = ""
    part: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    minimum: int | None = None
    maximum: int | None = None
    user_lengths: bool = False
    section: str = ""  # "calling" or "list" while inside these parts of the header
    calling: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    invalid: dict[str, str] = field(default_factory=dict)
    tables: list[ImbTable] = field(default_factory=list)
    table: ImbTable | None = None  # the one whose rows may follow
    ended: bool = False
    faults: list[str] = field(default_factory=list)  # outside of tables
    row_above: int = 0  # the line of a row above the header

    def read(self, number: int, line: str) -> None:
        if not line or line.isspace():
            self._blank()
        elif _HEADINGS.match(line):
            self._heading(number, line)
        elif line.startswith("#"):
            self._comment(number, line)
        else:
            self._other(number, line)

    def take_rows(self, number: int, lines: Sequence[str]) -> int:
        """Take the rows below line ``number`` where all are laid out as the table; the last line.

        Only those directly below a table's headings.
        """
        table = self.table
        if table is None or table.rows or table.fault or not table.fixed_width:
            return number
        width, most = _COLUMN_WIDTH * len(table.headings), min(len(lines), number + _MOST_AT_ONCE)
        end = next((k for k in range(number, most) if len(lines[k]) != width), most)
        text = "".join(lines[number:end])
        tokens = text.split()
        if _is_laid_out(text, tokens):
            table.take(number + 1, tokens)
        return number + len(table.rows)

    def _blank(self) -> None:
        if self.table and self.table.rows:
            self.table.closed = True

    def _heading(self, number: int, line: str) -> None:
        if not self.version:
            raise OutputError(NO_HEADER)
        if self.table is None or self.table.headings:
            raise OutputError(f"line {number}: table without a benchmark's name above: garbled")
        self.table.headings = tuple(row_tokens(line, number))
        self.table.fixed_width = _joined(self.table.headings) == line.rstrip()

    def _other(self, number: int, line: str) -> None:
        if line.lstrip().startswith(_FAILURES):
            self.faults.append(f"line {number}: {line.strip()[:80]}")
            if self.tables and line.lstrip().startswith(_DEFECT):
                self.tables[-1].leave_out(self.faults[-1])
        elif not self.ended and is_aborted(line):
            self.faults.append(aborted(line, number))
        if not self.version and is_whole_row(line):
            self.row_above = number
        if self.table is None or not self.table.headings:
            return
        if looks_like_row(line):
            _take_row(self.table, number, line)
        else:
            self.table.foreign = self.table.foreign or number

    def _comment(self, number: int, line: str) -> None:
        if _TITLE in line and (banner := _BANNER.match(line)):
            self._banner(number, banner)
        elif line.startswith(_END):
            self._end(number)
        elif self.version and line.startswith(_BEGIN):
            self._begin_table(number, line)
        elif invalid := _INVALID.match(line):
            self.invalid[invalid[1]] = f"{invalid[1]} invalid for {invalid[2]} processes"
        elif self.table is not None and not self.table.headings:
            self._describe_table(self.table, line)
        elif self.table is not None:
            self.table.closed = True
            self.table = None
        else:
            self._header(line)

    def _banner(self, number: int, banner: re.Match[str]) -> None:
        if self.version or self.tables:
            raise OutputError(f"line {number}: a second header: two outputs in one file")
        check_no_row_above(self.row_above)
        self.version, self.part = banner[1].strip(), banner[2]

    def _end(self, number: int) -> None:
        if self.ended:
            raise OutputError(f"line {number}: a second closing line: two outputs in one file")
        self.ended = True
        self.table = None

    def _begin_table(self, number: int, line: str) -> None:
        match = _BENCHMARKING.match(line)
        if not match:
            raise OutputError(f"line {number}: {shown(line)} names no benchmark: garbled")
        if self.ended:
            raise OutputError(f"line {number}: a table after the closing line: two outputs in one file")
        self.section = ""
        self.table = ImbTable(line=number, benchmark=match[1])
        self.tables.append(self.table)

    def _describe_table(self, table: ImbTable, line: str) -> None:
        if found := _PROCESSES.match(line):
            table.ranks = int(found[1])
            if found[2]:
                table.qualifiers["threads"] = found[2]
        elif found := _GROUPS.match(line):
            table.groups, table.ranks = int(found[1]), int(found[2])
        elif found := _MODE.match(line):
            table.qualifiers["mode"] = found[1].lower()
        elif found := _WINDOW.match(line):
            table.qualifiers["window_size"] = found[1]

    def _header(self, line: str) -> None:
        text = line[1:].strip()
        if text.startswith(_CALLING):
            self.section = "calling"
        elif text.startswith(_LIST):
            self.section = "list"
        elif found := _LENGTH.match(line):
            self.section = ""
            self._length(found[1], int(found[2]))
        elif text.endswith(_OWN_LENGTHS):
            self.section = ""
            self.user_lengths = True
        elif self.section == "calling" and text:
            self.calling.append(text)
        elif self.section == "list" and line.startswith("# ") and line[2:3].strip() and " " not in text:
            self.listed.append(text)
        elif found := _KEY.match(line):
            self._key(found[1], found[2].strip())

    def _length(self, which: str, size: int) -> None:
        if which == "Minimum":
            self.minimum = size
        else:
            self.maximum = size

    def _key(self, key: str, value: str) -> None:
        if key in _KEPT_KEYS and value:
            self.metadata.setdefault(key.lower().replace(" ", "_"), value)


def _take_row(table: ImbTable, number: int, line: str) -> None:
    """Take a row; what follows a damaged one is not read."""
    check_row_count(table.rows, number)
    table.closed = False
    try:
        if not table.fault:
            _row(table, number, line)
    except OutputError as error:
        table.fault = str(error)


def _row(table: ImbTable, number: int, line: str) -> None:
    tokens = row_tokens(line, number)
    for position, token in enumerate(tokens[1:3], start=1):
        if token.startswith(GIVEN_UP):
            table.stopped[number] = (tokens[:position], " ".join(tokens[position:])[:100])
            return
    check_column_count(tokens, table.headings, number)
    if table.fixed_width and _joined(tokens) != line.rstrip():
        raise OutputError(f"line {number}: the row's columns are not where the header's are: garbled")
    table.rows.append((number, tokens))
    table.read.clear()


def _joined(tokens: tuple[str, ...] | list[str]) -> str:
    """The line as IMB lays it out: every column 13 wide, right-aligned."""
    return "".join(f"{token:>{_COLUMN_WIDTH}}" for token in tokens)


def _is_laid_out(text: str, tokens: list[str]) -> bool:
    """Whether each column of joined rows, as `_joined` lays them out, is a blank and a number."""
    printed = "".join(tokens)
    digits = printed.replace(".", "")
    return (
        len(tokens) * _COLUMN_WIDTH == len(text) == len(printed) + text.count(" ")
        and text[::_COLUMN_WIDTH].isspace()
        and text[_COLUMN_WIDTH - 1 :: _COLUMN_WIDTH].isdigit()
        and digits.isascii()
        and digits.isdigit()
        and " ." not in " ".join(tokens)
    )


def read_lines(text: str) -> Reader:
    """All lines of an output; tables may still lack rows.

    Raises
    ------
    OutputError
        at a line that shows that something is damaged, mixed in or wrong.
    """
    check_no_nul(text)
    reader = Reader()
    *lines, rest = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if reader.table is not None:
            reader.read(number, line)
            number = reader.take_rows(number, lines)
        elif reader.section or len(line) > _LONGEST_KNOWN or not _is_meaningless(line):
            reader.read(number, line)
    if rest:
        _read_rest(reader, number + 1, rest.rstrip("\r"))
    return reader


def _read_rest(reader: Reader, number: int, line: str) -> None:
    """The last line, without a newline."""
    if reader.table and (looks_like_row(line) or line.isspace()):
        reader.table.fault = reader.table.fault or f"ends inside line {number}: cut"
    else:
        reader.read(number, line)


@lru_cache(maxsize=4000)  # headers and job scripts of many outputs have most lines in common
def _is_meaningless(line: str) -> bool:
    """Whether a line outside of tables has no meaning: blank, of other programs, or decoration."""
    if _HEADINGS.match(line):
        return False
    if line.startswith("#"):
        return not (_begins_or_ends(line) or _of_header(line))
    return not (line.lstrip().startswith(_FAILURES) or is_aborted(line) or is_whole_row(line))


def _begins_or_ends(line: str) -> bool:
    marks = line.startswith((_END, _BEGIN))
    return marks or _BANNER.match(line) is not None or _INVALID.match(line) is not None


def _of_header(line: str) -> bool:
    text = line[1:].strip()
    marks = text.startswith((_CALLING, _LIST)) or text.endswith(_OWN_LENGTHS)
    key = _KEY.match(line)
    return marks or _LENGTH.match(line) is not None or (key is not None and key[1] in _KEPT_KEYS)
