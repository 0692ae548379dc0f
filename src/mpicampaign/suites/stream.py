"""STREAM in C, Fortran and with MPI, the logs of stream-scaling; BabelStream, and STREAM in CUDA.

A run has a row for each function: its best rate, which is what it moves divided by its shortest time. STREAM
closes with "Solution Validates"; the others print only failures. Source: stream.c 5.9 and 5.10, stream.f 5.6,
stream-scaling, and main.cpp of BabelStream 1 to 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.base.records import Series
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    agree,
    check_column_count,
    check_order,
    half_digit,
    numbered_lines,
    row_tokens,
    scientific,
)
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

_TITLE = re.compile(r" ?STREAM [Vv]ersion \$Revision: *(\S{1,20}) *\$")
_CSV = "function,num_times,"
_CUDA = "STREAM Benchmark implementation in "
_UNCHECKED_TITLE = re.compile(rf"(?:Babel|GPU-)(?i:stream)\s*$| ?{_CUDA}\w+|{_CSV}")
_RULE = re.compile(r" ?-{40,}\s*\n")
_MOVED = {"Copy": 2, "Scale": 2, "Mul": 2, "Add": 3, "Triad": 3, "Dot": 2, "Nstream": 4}  # arrays
_PREFIX = {"M": 1e6, "Mi": 2.0**20, "G": 1e9, "Gi": 2.0**30}
_TIMES = {"avg": "time", "average": "time", "min": "time_min", "max": "time_max"}

_HEADING = re.compile(r" ?Function +(?:Best )?(?:Rate )?\(?([MG]i?)B(?:ytes)?/s(?:ec)?\)?(.{0,80})")
_CSV_RATE = re.compile(r"max_([mg]i?)bytes(?=_per_sec)")
_TIME = re.compile("|".join(_TIMES), re.IGNORECASE)
_ROW = re.compile(rf" ?({'|'.join(_MOVED)})(?:\s*:|[\s,])\s*([0-9.].*)")
_VALID = re.compile(r" ?Solution Validates")
_FAILED = re.compile(r" ?(?:Failed Validation on|(?:FAILED v|V)alidation (?:of|failed on))( sum)?\b.{0,120}")
_ELEMENTS = re.compile(
    r" ?(?:(?:Total Aggregate )?Array size|Number of elements) *[=:] *([0-9]{1,18})(?: \(elements\)|,|\s*$)"
)
_WORD = re.compile(r".{0,40} ([48]) bytes per (?:array element|DOUBLE PRECISION word)")
_SETTINGS = {
    "threads": re.compile(r" ?Number of Threads(?: requested| counted)? *= *([0-9]{1,7})"),
    "ranks": re.compile(r" ?Data is distributed across ([0-9]{1,9}) MPI ranks"),
    "precision": re.compile(r"Precision: (float|double)"),
    "implementation": re.compile(r"Implementation: (\S.{0,39})"),
    "array": re.compile(r" ?Array size(?: \(double precision\) =|:) ([0-9]{1,12}(?:\.[0-9]{1,6})? [MG]i?B)"),
    "gpu": re.compile(r"Using \w+ device (\S.{0,79})"),
    "version": re.compile(r"Version: ([0-9]\S{0,19})\s*$"),
}
_FACTS = {
    "threads": _SETTINGS["threads"],
    "gpu": _SETTINGS["gpu"],
    "array": re.compile(f"{_SETTINGS['array'].pattern}|{_ELEMENTS.pattern}"),
}


@dataclass(slots=True)
class _StreamTable:
    """One table. ``columns``: behind the names of its rows; ``factor``: of its rates; ``rows``: in SI."""

    columns: list[str]
    factor: float
    threads: str
    rows: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    failed: str = ""

    @property
    def functions(self) -> list[str]:
        return [name for name, _ in self.rows]


@dataclass(slots=True)
class _StreamReader:
    """The state while the lines go by; ``elements``, ``word``: of an array, and bytes of each; 0: unknown."""

    titles: int = 0
    validates: bool = False  # whether it says so
    valid: int = 0
    elements: int = 0
    word: int = 0
    array: tuple[float, float] = (0.0, 0.0)  # its bytes as printed, and half of the last digit
    wrong_sum: bool = False  # what Dot computes; the arrays are checked by themselves
    metadata: dict[str, str] = field(default_factory=dict)
    tables: list[_StreamTable] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def read(self, number: int, line: str) -> None:
        if title := _TITLE.match(line):
            self.titles += 1
            self.validates, self.metadata["version"] = True, title[1]
        elif _UNCHECKED_TITLE.match(line):
            self.titles += not (self.titles and line.startswith(_CSV))  # below the title of others
            self._table(line)
        elif self.titles and (row := _ROW.match(line)):
            self._row(number, row[1], row[2])
        elif _VALID.match(line):
            self.valid += 1
        elif failed := _FAILED.match(line):
            self._failed(f"line {number}: {failed[0].strip()}", of_sum=bool(failed[1]))
        elif self.titles:
            self._table(line)
            self._setting(line)

    def _table(self, line: str) -> None:
        threads = self.metadata.get("threads", "")
        if heading := _HEADING.match(line):
            columns = [_TIMES[name.lower()] for name in _TIME.findall(heading[2])]
            self.tables.append(_StreamTable(["rate", *columns], _PREFIX[heading[1]], threads))
        elif line.startswith(_CSV) and (unit := _CSV_RATE.search(line)):
            named = {f"{unit[0]}_per_sec": "rate", **{f"{name}_runtime": _TIMES[name] for name in _TIMES}}
            columns = [named.get(name, name) for name in line.strip().split(",")[1:]]
            if "rate" in columns:
                self.tables.append(_StreamTable(columns, _PREFIX[unit[1].capitalize()], threads))

    def _row(self, number: int, name: str, rest: str) -> None:
        if not self.tables:
            raise OutputError(f"line {number}: a row above the table: of another output")
        table = self.tables[-1]
        try:
            tokens = row_tokens(rest, number) if " " in rest.strip() else rest.split(",")
            table.rows.append((name, self._values(table, name, tokens, number)))
        except OutputError as error:
            self.faults.append(str(error))

    def _values(self, table: _StreamTable, name: str, tokens: list[str], number: int) -> dict[str, float]:
        check_column_count(tokens, table.columns, number)
        printed = dict(zip(table.columns, tokens, strict=True))
        values = {what: scientific(token, number, f"{name}, {what}") for what, token in printed.items()}
        slack = {what: half_digit(token) for what, token in printed.items()}
        times = {what: value for what, value in values.items() if what.startswith("time")}
        if self.validates and len({slack[what] for what in times}) > 1:  # STREAM has fixed formats
            raise OutputError(f"line {number}: {name}: times with unlike decimals: damaged")
        if len(times) == 3:
            check_order(times["time_min"], times["time"], times["time_max"], number, slack=0)
        elements, word = values.get("n_elements", self.elements), values.get("sizeof", self.word)
        array, digit = (elements * word, 0.0) if elements * word else self.array
        least, rate = times.get("time_min", 0.0), values["rate"]
        around = slack["rate"] + rate * digit / max(array, 1.0)
        moved = _MOVED[name] * array / table.factor
        if array and "time_min" in times and not agree(moved, least, slack["time_min"], rate, around):
            wrong = "rate, time and array size contradict each other: damaged"
            raise OutputError(f"line {number}: {name}: {wrong}")
        return {"bandwidth": values["rate"] * table.factor, **times}

    def _failed(self, reason: str, *, of_sum: bool) -> None:
        if of_sum:
            self.wrong_sum = True
            self.faults.append(reason)
            return
        if not self.tables:
            raise OutputError(reason)
        self.tables[-1].failed = self.tables[-1].failed or reason

    def _setting(self, line: str) -> None:
        if elements := _ELEMENTS.match(line):
            self.elements, self.metadata["array"] = int(elements[1]), f"{elements[1]} elements"
        elif word := _WORD.match(line):
            self.word = int(word[1])
        for name, pattern in _SETTINGS.items():
            if (setting := pattern.match(line)) and not (self.validates and name == "version"):
                self.metadata[name] = setting[1].strip()
                if name == "array":
                    size, unit = setting[1].split()
                    old = self.metadata.get("version", "").startswith(("0.", "1."))  # prints MiB as MB
                    scale = _PREFIX["Mi" if old else unit[:-1]]
                    self.array = float(size) * scale, half_digit(size) * scale


def _parse(text: str) -> ParsedOutput:
    """A series for each function, in the logs of stream-scaling for all numbers of threads."""
    reader = _StreamReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.titles:
        raise OutputError("the title of STREAM is missing: empty, cut or another program's")
    if reader.titles > 1:
        raise OutputError(f"{reader.titles} titles: two outputs in one, or several ranks at once")
    lacks, series = _lacks(reader, text), tuple(_series(reader))
    version = reader.metadata.pop("version", "")
    return ParsedOutput(version, reader.metadata, series, "; ".join(lacks))


def _lacks(reader: _StreamReader, text: str) -> list[str]:
    sound = [table for table in reader.tables if table.rows and not table.failed]
    reasons = [table.failed for table in reader.tables if table.failed] + reader.faults
    if reader.validates and not reader.valid and not reasons:
        reasons.append("ends without the line 'Solution Validates': cut")
    if not sound or (reader.validates and not reader.valid):
        raise OutputError("; ".join(reasons) or "no rows")
    if absent := _absent(reader, sound[0].functions):
        reasons.append(f"no row of {' and '.join(absent)}")
    if not text.endswith("\n") and not reader.validates and not _ends_like_row_above(text):
        reasons.append("ends inside a line: cut")
        _drop_last_value(sound[-1], text)
    return reasons


def _ends_like_row_above(text: str) -> bool:
    """Whether the last line is a row with as many decimals as the one above: whole, but for its newline."""
    rows = [line for line in text.split("\n")[-2:] if _ROW.match(line) and "," not in line]
    return len({line.rstrip()[::-1].find(".") for line in rows}) == 1 and len(rows) == 2


def _drop_last_value(table: _StreamTable, text: str) -> None:
    """Leave out a value that may have had more digits."""
    name, values = table.rows[-1]
    if (cut := _ROW.match(text.rpartition("\n")[2])) and cut[1] == name:
        values.pop(table.columns[-1], None)


def _absent(reader: _StreamReader, functions: list[str]) -> list[str]:
    """Functions without a row; programs other than STREAM may be asked for one of them alone."""
    expected = ["Copy", "Mul" if "Mul" in functions else "Scale", "Add", "Triad"]
    if "implementation" in reader.metadata and reader.metadata.get("version", "0")[0] >= "3":
        expected.append("Dot")
    alone = len(functions) == 1 and not reader.validates
    return [name for name in expected if name not in functions and not alone]


def _series(reader: _StreamReader) -> Iterator[Series]:
    ranks = int(reader.metadata["ranks"]) if "ranks" in reader.metadata else None
    tables = [table for table in reader.tables if table.rows]
    several = len(tables) > 1
    twice = any(len({*table.functions}) < len(table.rows) for table in tables)
    if twice or len({table.threads for table in tables}) < len(tables):
        raise OutputError("a function has two rows: two outputs in one, or several ranks at once")
    if several:
        reader.metadata.pop("threads", "")
    for table in tables:
        for name, values in table.rows if not table.failed else ():
            if reader.wrong_sum and name == "Dot":
                continue
            columns: dict[str, list[float | None]] = {what: [value] for what, value in values.items()}
            yield Series(name, ranks, columns, {"threads": table.threads} if several else {})


# ---- the suites


class _Stream(Suite):
    options = ("array", "threads", "precision", "implementation")

    def names(self, text: str, program: str) -> tuple[str, str]:
        return ("CUDA-STREAM" if _CUDA in text else self.called), program

    def facts(self, text: str) -> Mapping[str, str]:
        """What is alike in all outputs of a text."""
        lines = text.split("\n")
        printed = {
            name: {match[match.lastindex or 0].strip() for line in lines if (match := pattern.match(line))}
            for name, pattern in _FACTS.items()
        }
        return {name: values.pop() for name, values in printed.items() if len(values) == 1}


class _BabelStream(_Stream):
    closing_line: ClassVar[bool] = False

    def proves_end(self, text: str, tables: Sequence[Series], largest: int | None) -> bool:
        """By the row of Dot, the last one since 2.0."""
        return bool(tables) and tables[-1].benchmark == "Dot"


_METRICS = {
    "bandwidth": ColumnMetric("best rate", BANDWIDTH, headline=True),
    "time": ColumnMetric("average time", TIME),
    "time_min": ColumnMetric("shortest time", TIME),
    "time_max": ColumnMetric("longest time", TIME),
}
SUITE = (
    _Stream(
        name="stream",
        title="STREAM",
        banner=Banner("STREAM ", _TITLE, above=_RULE),
        parse=_parse,
        programs=r"stream(?:_c|_f|_mpi|_omp)?(?:\.exe)?",
        sources=Sources(spack="stream", modules="STREAM", address="https://www.cs.virginia.edu/stream/"),
        whole=("^ ?Solution Validates",),
        end="Solution Validates",
        metrics=_METRICS,
    ),
    _BabelStream(
        name="babelstream",
        title="BabelStream",
        banner=Banner(("Stream", "STREAM", _CSV), _UNCHECKED_TITLE),
        parse=_parse,
        programs=r"[a-z0-9]+-stream",
        sources=Sources(spack="babelstream", address="https://github.com/UoB-HPC/BabelStream"),
        whole=("^(?:Triad|Dot)[ ,:]",),
        metrics=_METRICS,
    ),
)
