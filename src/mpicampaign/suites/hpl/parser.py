"""Outputs of HPL, the High-Performance Linpack benchmark, 1.0 to 2.3, and Intel's, NVIDIA's and AMD's builds.

An output is a header, the parameters to run, for each combination of them a table of one row and the check of
its solution, then a count of the tests and a closing line. A row whose check passed proves itself, whatever
became of the others. What launchers and schedulers print around is passed over, and so are the lines of
progress in between (``Column=... Gflops=...``): they are not results.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from math import prod

from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.suites.hpl import OPTIONS
from mpicampaign.suites.hpl.rows import GIGA, THRESHOLD, HplRow, check_residual, is_heading, is_row, read_row
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    aborted,
    integer,
    is_aborted,
    missing,
    numbered_lines,
)

_BANNER = re.compile(r"HPLinpack ([0-9]\S{0,20})\s+--\s+High-Performance Linpack")
_PARAMETERS = "The following parameter values will be used"
_KEY = re.compile(rf"({'|'.join(OPTIONS).upper()})\s*:\s*(.{{1,200}}?)\s*$")
_LIST = re.compile(r"(N|NB|P|Q)\s*:((?:\s+[0-9]{1,9}){1,8})\s*$")
_MORE = re.compile(r"(?:\s+[0-9]{1,9}){1,8}\s*$")
_LISTED = ("N", "NB", "P", "Q")
_SWEPT = ("pfact", "nbmin", "ndiv", "rfact", "bcast", "depth")  # each combination is a setting
_NUMBERED_CHECK = re.compile(r"\s*[1-9]\) \|\|Ax-b\|\|")  # HPL 1.0 has three for each row
_ADJUSTED = re.compile(r"adjust|round(?:ed|ing)|reduc|chang(?:ed|ing)|increas|decreas", re.IGNORECASE)
_FINISHED = re.compile(r"Finished\s+([0-9]{1,9}) tests with the following results")
_COUNT = re.compile(
    r"\s*([0-9]{1,9}) tests (completed and passed|completed and failed|skipped|completed without checking)"
)
_ERROR = re.compile(r"\s*>>> (.{1,200}?) <<<")
_INTEGER = re.compile(r"(?<![0-9.])[0-9]{1,9}(?![0-9.])", re.ASCII)
_LONGEST = 300  # characters of a remark that are read
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
    checks: int = 0  # of each row, where they are numbered
    row: HplRow | None = None  # the one whose check may follow
    rows: list[HplRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # of damaged rows and aborted programs
    adjusted: dict[str, set[int]] = field(default_factory=dict)  # what HPL said of it -> its numbers
    errors: list[str] = field(default_factory=list)
    finished: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    ended: bool = False

    def read(self, number: int, line: str) -> None:
        if line.startswith("Column=") or not (line.strip("-=") or self.in_parameters):
            return
        if self._banner(number, line) or self._parameter(line):
            return
        if is_row(line):
            self._row(number, line)
        elif is_heading(line):
            self.heading, self.row = line, None
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
        self.row = None
        try:
            self.row = read_row(number, line, self.heading)
            self.rows.append(self.row)
        except OutputError as error:
            self.faults.append(str(error))

    def _check(self, number: int, line: str) -> None:
        try:
            passed = check_residual(number, line, self.threshold)
        except OutputError as error:
            if self.row:
                self.row.fault = str(error)
        else:
            if self.row and passed:
                self.row.passed += 1

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
        elif _NUMBERED_CHECK.match(line):
            self.checks += 1
        elif not self.ended:
            self._foreign(number, line)

    def _foreign(self, number: int, line: str) -> None:
        if is_aborted(line):
            self.faults.append(aborted(line, number))
        elif self.version and len(line) < _LONGEST and _ADJUSTED.search(line):
            self.adjusted[line.strip()] = {int(token) for token in _INTEGER.findall(line)}

    @property
    def proven(self) -> list[HplRow]:
        """The rows whose checks all passed."""
        return [row for row in self.rows if not self.why_not(row)]

    def why_not(self, row: HplRow) -> str:
        """Why a row does not count; empty where it does."""
        unchecked = row.passed < max(1, self.checks)
        return row.fault or (f"line {row.line}: no check of the solution below the row" if unchecked else "")


def parse_hpl(text: str) -> ParsedOutput:
    """Read the output of one call of HPL: a series for each row that proves itself.

    Raises
    ------
    OutputError
        when no row does, or when values contradict each other.
    """
    reader = _HplReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    proven, lacks = reader.proven, _lacks(reader)
    _check_complete(reader, lacks)
    for row in proven:
        _check_listed(row, reader)
    alike = _listed_alike(reader) if lacks else {}
    return ParsedOutput(reader.version, _metadata(reader), tuple(_series(proven, alike)), lacks)


def _check_complete(reader: _HplReader, lacks: str) -> None:
    if not reader.version:
        raise OutputError("; ".join(reader.errors) or _NO_HEADER)
    if reader.counts["completed without checking"]:
        raise OutputError("the solutions were not checked (threshold not above 0): nothing proves them right")
    if not reader.proven:
        raise OutputError(lacks or "; ".join(reader.errors) or "no rows")
    _check_counts(reader)


def _check_counts(reader: _HplReader) -> None:
    """Refuse more rows than HPL counts, or than there are settings: they are of another output."""
    counts, total = reader.counts, _settings(reader)
    proven, failed = len(reader.proven), counts["completed and failed"]
    if reader.finished is not None:
        most = counts["completed and passed"]
        contradicts = proven > most or most + failed + counts["skipped"] != reader.finished
    else:
        contradicts = bool(total) and len(reader.rows) > total
    if contradicts:
        raise OutputError(
            f"{proven} rows passed, but {reader.finished or total} tests counted, "
            f"{counts['completed and passed']} of them passed, {failed} failed, {counts['skipped']} skipped"
        )


def _settings(reader: _HplReader) -> int:
    """How many HPL was to measure: as it counted them itself, else by its parameters; 0 where unknown."""
    if reader.finished is not None:
        return reader.finished - reader.counts["skipped"]
    sizes = [len(reader.listed.get(name, ())) for name in ("N", "NB", "P")]
    return prod(sizes) * _variants(reader)


def _variants(reader: _HplReader) -> int:
    return prod(len(reader.metadata[name].split()) for name in _SWEPT if name in reader.metadata)


def _lacks(reader: _HplReader) -> str:
    """How many settings are missing, and why; empty for a whole output."""
    reasons = [*filter(None, map(reader.why_not, reader.rows)), *reader.faults]
    total, proven = _settings(reader), len(reader.proven)
    if not reader.ended:
        reasons.append(f"ends after {counted(len(reader.rows), 'row')}; the closing line is missing")
    elif reader.finished is None:
        reasons.append("the count of the tests is missing")
    elif not reasons and proven < total:
        reasons.append("rows are missing")
    return missing(total - proven, total, "setting", reasons) if reasons else ""


def _check_listed(row: HplRow, reader: _HplReader) -> None:
    said = set().union(*reader.adjusted.values())
    for name, value in zip(_LISTED, (row.order, row.block, *row.grid), strict=True):
        asked = reader.listed.get(name, [])
        if row.rounds and name == "N":
            asked = [order - order % row.block for order in asked if row.block]
        if value not in asked and value not in said:
            raise OutputError(f"line {row.line}: {name} = {value} is not among the parameters to run")


def _listed_alike(reader: _HplReader) -> dict[str, int]:
    """How often a whole output would have had each row's order, block size and grid."""
    listed = reader.listed
    grids = Counter(zip(listed.get("P", ()), listed.get("Q", ()), strict=False))
    orders, blocks = Counter(listed.get("N", ())), Counter(listed.get("NB", ()))
    variants = _variants(reader)
    return {
        str(row.qualifiers): orders[row.order] * blocks[row.block] * grids[row.grid] * variants
        for row in reader.rows
    }


def _metadata(reader: _HplReader) -> dict[str, str]:
    metadata = dict(reader.metadata)
    if skipped := reader.counts["skipped"]:
        why = f": {'; '.join(reader.errors)}" if reader.errors else ""
        metadata["not_measured"] = f"{skipped} tests skipped{why}"
    if reader.adjusted:
        metadata["adjusted"] = "; ".join(reader.adjusted)
    return metadata


def _series(rows: list[HplRow], alike: dict[str, int]) -> list[Series]:
    """``alike``: of a cut output, whose rows are named as in a whole one."""
    plain = Counter(str(row.qualifiers) for row in rows) | Counter(alike)
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
