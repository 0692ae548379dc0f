"""Outputs of HPL, the High-Performance Linpack benchmark, 1.0 to 2.3, and Intel's, NVIDIA's and AMD's builds.

An output is a header, the parameters to run, for each combination of them a table of one row and the check of
its solution, then a count of the tests and a closing line. What launchers and schedulers print around is
passed over, and so are the lines of progress in between (``Column=... Gflops=...``): they are not results.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from mpicampaign.records import Series
from mpicampaign.suites.hpl import OPTIONS
from mpicampaign.suites.hpl.rows import GIGA, THRESHOLD, HplRow, check_residual, is_heading, read_row
from mpicampaign.suites.reading import OutputError, ParsedOutput, check_no_abort, integer, numbered_lines

_BANNER = re.compile(r"HPLinpack ([0-9]\S{0,20})\s+--\s+High-Performance Linpack")
_PARAMETERS = "The following parameter values will be used"
_KEY = re.compile(rf"({'|'.join(OPTIONS).upper()})\s*:\s*(.{{1,200}}?)\s*$")
_LIST = re.compile(r"(N|NB|P|Q)\s*:((?:\s+[0-9]{1,9}){1,8})\s*$")
_MORE = re.compile(r"(?:\s+[0-9]{1,9}){1,8}\s*$")
_LISTED = ("N", "NB", "P", "Q")
_ROW = re.compile(r"W[RC][RC]?[0-9]")
_FINISHED = re.compile(r"Finished\s+([0-9]{1,9}) tests with the following results")
_COUNT = re.compile(
    r"\s*([0-9]{1,9}) tests (completed and passed|completed and failed|skipped|completed without checking)"
)
_ERROR = re.compile(r"\s*>>> (.{1,200}?) <<<")
_END = "End of Tests."
_NO_HEADER = "the header of HPL is missing: empty, cut or another program's"


@dataclass(slots=True)
class _HplReader:
    """The state while the lines go by."""

    version: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    threshold: str = ""
    listed: dict[str, list[int]] = field(default_factory=dict)  # the parameters to run
    in_parameters: bool = False
    last_list: str = ""
    heading: str = ""
    rows: list[HplRow] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    finished: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    ended: bool = False

    def read(self, number: int, line: str) -> None:
        if line.startswith("Column="):
            return
        if self._banner(number, line) or self._parameter(line):
            return
        if _ROW.match(line):
            self._row(number, line)
        elif is_heading(line):
            self.heading = line
        elif line.startswith("||Ax-b||"):
            self._check(number, line)
        elif line.startswith(_END):
            self._end(number)
        else:
            self._other(number, line)

    def _banner(self, number: int, line: str) -> bool:
        match = _BANNER.match(line)
        if match and self.version:
            raise OutputError(f"line {number}: a second header: two outputs in one file")
        if match:
            self.version = match[1]
        return match is not None

    def _parameter(self, line: str) -> bool:
        if line.startswith(_PARAMETERS):
            self.in_parameters = bool(self.version)
        elif not self.in_parameters:
            return False
        elif line.startswith("-----"):
            self.in_parameters = False
        elif match := _LIST.match(line):
            self.last_list = match[1]
            self.listed[match[1]] = [int(token) for token in match[2].split()]
        elif self.last_list and _MORE.match(line):
            self.listed[self.last_list] += [int(token) for token in line.split()]
        elif match := _KEY.match(line):
            self.last_list = ""
            self.metadata[match[1].lower()] = match[2]
        else:
            return False
        return True

    def _row(self, number: int, line: str) -> None:
        if not self.heading:
            raise OutputError(f"line {number}: a row above the table's header: garbled")
        if self.ended:
            raise OutputError(f"line {number}: a row after the closing line: two outputs in one file")
        self.check_last_row()
        self.rows.append(read_row(number, line, self.heading))

    def _check(self, number: int, line: str) -> None:
        if check_residual(number, line, self.threshold) and self.rows:
            self.rows[-1].passed = True

    def check_last_row(self) -> None:
        """Refuse a row whose solution was not checked."""
        if self.rows and not self.rows[-1].passed:
            raise OutputError(f"line {self.rows[-1].line}: no check of the solution below the row")

    def _end(self, number: int) -> None:
        if self.ended:
            raise OutputError(f"line {number}: a second closing line: two outputs in one file")
        self.ended = True

    def _other(self, number: int, line: str) -> None:
        if match := THRESHOLD.match(line):
            self.threshold = match[1]
        elif match := _FINISHED.match(line):
            self.finished = integer(match[1], number, "the number of tests")
        elif match := _COUNT.match(line):
            self.counts[match[2]] += int(match[1])
        elif match := _ERROR.match(line):
            self.errors.append(f"line {number}: {match[1]}")
        elif not self.ended:
            check_no_abort(line, number)


def parse_hpl(text: str) -> ParsedOutput:
    """Read the output of one call of HPL: a series for each row.

    Raises
    ------
    OutputError
        when it is incomplete, when a solution was wrong or not checked, or when values contradict each other.
    """
    reader = _HplReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    _check_complete(reader)
    for row in reader.rows:
        _check_listed(row, reader.listed)
    return ParsedOutput(reader.version, _metadata(reader), tuple(_series(reader.rows)))


def _check_complete(reader: _HplReader) -> None:
    if not reader.version:
        raise OutputError("; ".join(reader.errors) or _NO_HEADER)
    if not reader.ended:
        raise OutputError(f"ends after {len(reader.rows)} rows; the closing line is missing")
    if reader.counts["completed without checking"]:
        raise OutputError("the solutions were not checked (threshold not above 0): nothing proves them right")
    if reader.counts["completed and failed"]:
        raise OutputError(f"{reader.counts['completed and failed']} tests failed the residual check")
    if not reader.rows:
        raise OutputError("; ".join(reader.errors) or "no rows")
    reader.check_last_row()
    _check_counts(reader)


def _check_counts(reader: _HplReader) -> None:
    passed, skipped = reader.counts["completed and passed"], reader.counts["skipped"]
    if reader.finished is None:
        raise OutputError("the count of the tests is missing")
    if passed != len(reader.rows) or reader.finished != passed + skipped:
        raise OutputError(
            f"{len(reader.rows)} rows, but {reader.finished} tests counted, {passed} of them passed"
            f" and {skipped} skipped: rows are missing"
        )


def _check_listed(row: HplRow, listed: dict[str, list[int]]) -> None:
    for name, value in zip(_LISTED, (row.order, row.block, row.grid[0], row.grid[1]), strict=True):
        asked = listed.get(name, [])
        if row.rounds and name == "N":
            asked = [order - order % row.block for order in asked if row.block]
        if value not in asked:
            raise OutputError(f"line {row.line}: {name} = {value} is not among the parameters to run")


def _metadata(reader: _HplReader) -> dict[str, str]:
    metadata = dict(reader.metadata)
    if skipped := reader.counts["skipped"]:
        why = f": {'; '.join(reader.errors)}" if reader.errors else ""
        metadata["not_measured"] = f"{skipped} tests skipped{why}"
    return metadata


def _series(rows: list[HplRow]) -> list[Series]:
    plain = Counter(str(row.qualifiers) for row in rows)
    with_variant = [
        row.qualifiers | ({"variant": row.variant} if plain[str(row.qualifiers)] > 1 else {}) for row in rows
    ]
    seen: Counter[str] = Counter()
    return [_one(row, named, seen) for row, named in zip(rows, with_variant, strict=True)]


def _one(row: HplRow, qualifiers: dict[str, str], seen: Counter[str]) -> Series:
    """A combination that HPL.dat names twice is run twice; the second row is marked."""
    seen[str(qualifiers)] += 1
    again = seen[str(qualifiers)]
    named = qualifiers | ({"table": str(again)} if again > 1 else {})
    columns: dict[str, list[float | None]] = {
        "flops": [row.gflops * GIGA],
        "hpl_flops_per_process": [row.gflops * GIGA / (row.grid[0] * row.grid[1])],
        "time": [row.time or None],  # 0.00: shorter than what is printed
    }
    return Series("HPL", row.grid[0] * row.grid[1], columns, named)
