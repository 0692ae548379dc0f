"""The tables that nccl-tests print, by their headings.

A table has a row for each size, with values out of place and in place; datatypes, operations, roots and
cycles (``-N``) follow each other. Source: common.cu and util.cu of nccl-tests 2017 to 2.19, common.cu of
rccl-tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.suites.nccl_tests import BEGIN
from mpicampaign.suites.nccl_tests.rows import ABOUT, COLUMNS, PLACES, RATES, Half, Number, Output, Row
from mpicampaign.suites.reading import (
    OutputError,
    aborted,
    check_column_count,
    check_row_count,
    half_digit,
    integer,
    is_aborted,
    numbered_lines,
    row_tokens,
    scientific,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CHECKS = ("#wrong", "error", "res")  # until 2022 the largest difference, in which * marks too large ones
_SIZES = ("size", "bytes")
_SETTING = re.compile(r"((?:warmup |agg )?iters|graph|unalign): ([0-9]{1,9})")
_VERSION = re.compile(r"(?:# nccl-tests version|rccl-tests: Version) (\S{1,60})")
_ROW = re.compile(r"\s*[0-9]{1,20}\s+[0-9]{1,20}\s+(?:u?int\w*|char|half|b?float\w*|double|fp?8\w*)\s")
_BOUNDS = re.compile(r"(?:# | )Out of bounds values *: *([0-9]{1,18}) ")
_MEAN = re.compile(r"(?:# | )Avg bus bandwidth *: *(\S{1,40})")


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

    def row(self, number: int, line: str) -> Row:
        tokens = self._tokens(number, line)
        front = dict(zip(self.front, tokens, strict=False))
        size = integer(next(front[name] for name in _SIZES if name in front), number, "size")
        if (count := integer(front.get("count", "0"), number, "count")) and size % count:
            raise OutputError(f"line {number}: {size} B are not {count} elements: damaged")
        about = {ABOUT[name]: token for name, token in front.items() if name in ABOUT}
        rest = iter(tokens[len(front) :])
        printed = [(place, {name: next(rest) for name in names}) for place, names in self.halves]
        return Row(
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
    if any(not {*RATES} <= {*half} for half in halves) or not {*_SIZES} & {*headings}:
        raise OutputError(f"line {number}: the header names no size or no bandwidths: damaged")
    timestamp = line.rstrip().endswith("timestamp")
    return _Layout(headings[: starts[0]], list(zip(places, halves, strict=True)), timestamp)


def _half(place: str, printed: Mapping[str, str], number: int, old: bool) -> Half:
    """``old``: of 2017 and 2018, whose times are in ms."""
    values = {
        heading: _number(token, number, heading, 1000 if old and heading == "time" else 1)
        for heading, token in printed.items()
        if heading in COLUMNS
    }
    check = next((name for name in _CHECKS if name in printed), "")
    token = printed.get(check, "N/A")
    wrong = "wrong values" if token.endswith("*") else ""
    if check == "#wrong" and token != "N/A" and scientific(token.rstrip("*"), number, check) > 0:
        wrong = f"{token} wrong values"
    return Half(place, values, token != "N/A", wrong)


def _number(token: str, line: int, what: str, scale: float = 1) -> Number | None:
    if token == "N/A":
        return None
    return Number(scientific(token, line, what) * scale, half_digit(token) * scale)


@dataclass(slots=True)
class _Reader:
    """The state while the lines go by."""

    output: Output = field(default_factory=Output)
    begun: int = 0
    places: list[str] = field(default_factory=list)
    layout: _Layout | None = None
    aborted: bool = False

    def read(self, number: int, line: str) -> None:
        if begin := BEGIN.match(line):
            self._begin(number, line, begin)
        elif version := _VERSION.match(line):
            self.output.version = version[1]
        elif bounds := _BOUNDS.match(line):
            self.output.out_of_bounds = int(bounds[1])
        elif mean := _MEAN.match(line):
            self._close(number, mean[1])
        elif line.startswith("# "):
            self._header(number, line)
        elif self.begun and _ROW.match(line):
            self._row(number, line)
        elif not self.aborted and is_aborted(line):  # each rank reports it, and where it was called
            self.aborted = True
            self.output.faults.append(aborted(line, number))

    def _begin(self, number: int, line: str, begin: re.Match[str]) -> None:
        if self.begun:
            again = f"line {number}: the first line of line {self.begun} again"
            raise OutputError(f"{again}: two outputs in one, or each rank started alone, without MPI")
        self.begun = number
        self.output.threads, self.output.one_size = int(begin[1]), begin[3] == begin[4]
        self.output.metadata |= {name.replace(" ", "_"): value for name, value in _SETTING.findall(line)}

    def _header(self, number: int, line: str) -> None:
        if places := [name for name in line[1:].split() if name in PLACES]:
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
        self.output.mean = _number(mean, number, "the mean bus bandwidth")


def read_tables(text: str) -> Output:
    """Read the tables of one program.

    Raises
    ------
    OutputError
        when the text is not of one program, or its header is damaged.
    """
    reader = _Reader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.begun:
        raise OutputError("the first line of nccl-tests is missing: empty, cut or another program's")
    return reader.output
