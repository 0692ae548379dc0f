"""HPL, the High-Performance Linpack benchmark, 1.0 to 2.3, and Intel's, NVIDIA's and AMD's builds.

Solvers in mixed precision may print the same tables: theirs is the benchmark HPL-MxP, not compared with HPL.

An output is a header, the parameters to run, for each combination of them a table of one row and the check of
its solution, then a count of the tests and a closing line. A row whose check passed proves itself, whatever
became of the others. What launchers and schedulers print around is passed over, and so are the lines of
progress in between (``Column=... Gflops=...``): they are not results.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

from mpicampaign.base.dimension import DURATION, FLOPS, FRACTION
from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.base.units import format_duration
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    agree,
    check_column_count,
    decimal,
    half_digit,
    integer,
    measured_time,
    missing,
    numbered_lines,
    row_tokens,
    scientific,
    shown,
    token_ends,
)
from mpicampaign.suites.suite import Banner, ColumnMetric, Refusal, Request, Sources, Suite

GIGA = 1e9
MIXED_PRECISION = "HPL-MxP"
FLOP_RATES = {
    "flops": ColumnMetric("flop rate", FLOPS, headline=True),
    "hpl_flops_per_process": ColumnMetric("flop rate per process", FLOPS),
    "mxp_flops_per_process": ColumnMetric("flop rate per process", FLOPS),  # no share of the peak
    "hpl_peak": ColumnMetric("fraction of peak, an estimate", FRACTION),
    "time": ColumnMetric("time", DURATION),  # of the whole calculation: the rate in other terms
}
_OPTIONS = ("pmap", "pfact", "nbmin", "ndiv", "rfact", "bcast", "depth", "swap", "l1", "u", "equil", "align")


def operations(order: int) -> float:
    """Floating-point operations that HPL counts for a matrix of this order, whatever it really does."""
    return 2 / 3 * order**3 + 3 / 2 * order**2


# ---- the linear system: its parameters, what is wrong with them, and the input file that they make, which
# HPCC reads, too. Sources: HPL_pdinfo.c of HPL 2.3, and HPL's advice to use 80 % of the memory (A. Petitet et
# al., HPL, 2018)

_DOUBLE = 8  # B
_MEMORY = "80 %"
_RATE_PER_RANK = 10 * GIGA  # flop/s; a typical core of the last ten years, for the estimate of the time
_PERCENT = re.compile(r"([0-9]{1,2}|100)(?:\.[0-9]{1,3})? ?%")

_DEFAULTS = {"NB": 192, "pmap": 0, "pfact": 1, "nbmin": 4, "ndiv": 2, "rfact": 2, "bcast": 1, "depth": 1}
_DEFAULTS |= {"swap": 2, "swap_threshold": 64, "l1": 0, "u": 0, "equil": 1, "align": 8}
_WHOLE_NUMBERS = ("N", "P", "Q", *_DEFAULTS)
# For other values HPL takes its own and says nothing, or HPCC a matrix of its own.
_LEAST = {"N": 1, "P": 1, "Q": 1, "NB": 1, "nbmin": 1, "ndiv": 2, "align": 1}
_MOST = {"pmap": 1, "pfact": 2, "rfact": 2, "bcast": 5, "swap": 2, "l1": 1, "u": 1, "equil": 1}


class LinearSystemSuite(Suite):
    """A suite whose program reads the linear system from a file; one of the campaign takes its place."""

    parameters = (*_WHOLE_NUMBERS, "memory", "threshold")
    declares = ("scaling",)
    peak = ("hpl_flops_per_process", "hpl_peak")
    input_name: ClassVar[str]
    input_below: ClassVar[str] = ""
    """What stands below HPL's lines in it."""

    def refuses(self, request: Request) -> Iterator[Refusal]:
        """Why HPL would not run, or not prove its result."""
        if self.input_name in request.files:
            return
        parameters = request.parameters
        faulty = list(_faulty_values(parameters))
        yield from faulty
        if faulty:
            return
        if "N" in parameters and "memory" in parameters:
            order = "the order N of the matrix is given, too"
            yield Refusal(order, "memory", parameters["memory"], "give one of them")
        if "N" not in parameters and request.memory is None:
            order = "the order of the matrix follows from the memory of a node, which is unknown"
            yield Refusal(order, "N", "", "give N, or node_memory of the host group")
            return
        yield from _misfits(request)

    def warns(self, request: Request) -> Iterator[str]:
        """A time that is not likely to suffice."""
        order = 0 if self.input_name in request.files else _order(request)
        seconds = operations(order) / (_RATE_PER_RANK * request.ranks)
        if request.time_limit and seconds > request.time_limit:
            rate = f"{_RATE_PER_RANK / GIGA:.0f} Gflop/s for each rank"
            yield (
                f"HPL of order {order} takes about {format_duration(seconds)} at {rate} (an estimate); "
                f"time_limit is {format_duration(request.time_limit)}"
            )

    def inputs(self, request: Request) -> Mapping[str, str]:
        """``HPL.dat`` of a request that is not refused."""
        if self.input_name in request.files:
            return {}
        rows, columns = _grid(request)
        values = {name: int(request.parameters.get(name, usual)) for name, usual in _DEFAULTS.items()}
        values |= {"N": _order(request), "P": rows, "Q": columns}
        threshold = request.parameters.get("threshold", "16.0")
        return {self.input_name: _template().format(**values, threshold=threshold) + self.input_below}


def _faulty_values(parameters: Mapping[str, str]) -> Iterator[Refusal]:
    for name in (name for name in _WHOLE_NUMBERS if name in parameters):
        value, least, most = parameters[name], _LEAST.get(name, 0), _MOST.get(name)
        if not re.fullmatch("[0-9]{1,9}", value) or not least <= int(value) <= (most or 10**9):
            limits = f"from {least} to {most}" if most else f"of at least {least}"
            yield Refusal(f"must be a whole number {limits}", name, value)
    threshold, share = parameters.get("threshold", "16.0"), parameters.get("memory", _MEMORY)
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", threshold) or float(threshold) == 0:
        message = "must be above 0: without a threshold HPL does not check its solution"
        yield Refusal(message, "threshold", threshold)
    if not _PERCENT.fullmatch(share) or _share(share) == 0:
        yield Refusal(f"must be a share such as {_MEMORY}", "memory", share)


def _misfits(request: Request) -> Iterator[Refusal]:
    """A grid that is not that of the ranks, and a matrix that does not fit their nodes."""
    rows, columns = _grid(request)
    if rows * columns != request.ranks:
        needs = f"P × Q = {rows} × {columns} needs {rows * columns} ranks"
        name = "P" if "P" in request.parameters else "Q"
        hint = "without P and Q the grid follows from the ranks"
        yield Refusal(f"{needs}; the placement has {request.ranks}", name, request.parameters[name], hint)
    order, memory = _order(request), (request.memory or 0) * request.nodes
    if order < 1:
        block = request.parameters.get("NB", "")
        yield Refusal("the memory of the nodes holds no block of the matrix", "NB", block)
    if request.memory is not None and _DOUBLE * order**2 > memory:
        nodes = "1 node has" if request.nodes == 1 else f"{request.nodes} nodes have"
        takes = f"a matrix of order {order} takes {_gib(_DOUBLE * order**2)}"
        hint = f"{_largest_order(request, _MEMORY)} takes {_MEMORY}"
        yield Refusal(f"{takes}; {nodes} {_gib(memory)}", "N", str(order), hint)


def _grid(request: Request) -> tuple[int, int]:
    """P and Q: as given, or as square as the ranks allow, with P ≤ Q."""
    rows, columns = (int(request.parameters.get(name, "0")) for name in "PQ")
    if not rows and not columns:
        rows = next(side for side in range(math.isqrt(request.ranks), 0, -1) if request.ranks % side == 0)
    return rows or max(1, request.ranks // columns), columns or max(1, request.ranks // rows)


def _order(request: Request) -> int:
    """N: as given, or the largest multiple of NB whose matrix takes the share of the nodes' memory."""
    share = request.parameters.get("memory", _MEMORY)
    return int(request.parameters.get("N", "0")) or _largest_order(request, share)


def _largest_order(request: Request, share: str) -> int:
    memory = (request.memory or 0) * request.nodes
    order = math.isqrt(int(_share(share) * memory) // _DOUBLE)
    return order - order % int(request.parameters.get("NB", _DEFAULTS["NB"]))


def _share(text: str) -> float:
    return float(text.removesuffix("%")) / 100


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


@cache
def _template() -> str:
    return Path(__file__).with_name("HPL.dat.template").read_text(encoding="utf-8")


# ---- a row of results, and the check of its residual

# Process mapping, depth, broadcast, recursive factorisation with its divisions, panel factorisation with its
# smallest width, such as WR11R2C4. AMD's has a broadcast X, HybBcast.
_PANELS = r"[0-9]{1,3}[0-9X][LCR][0-9]{1,2}[LCR][0-9]{1,3}"
_ROW = re.compile(r"W[RC][RC]?[0-9]")
_PRINTED = ("N", "NB", "P", "Q", "Time", "Gflops")
_PER_GPU = re.compile(r"(?<! ) +\( *(per GPU|[0-9][0-9.e+]{0,20})\)\s*$", re.ASCII)
_HEADING = re.compile(r"T/V(?P<swap>\s+SWP)?\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops(?P<gpu>\s+\(\s*per GPU\))?\s*$")


class _Build(NamedTuple):
    """How the table of one build differs: a row's first tokens and how wide they usually are.

    ``whole``: the order that it takes for one of HPL.dat, by the block size and what a round of blocks spans.
    """

    first: re.Pattern[str]
    width: int  # characters; a variant of more digits moves the columns
    whole: Callable[[int, int, int], int] = lambda order, _block, _span: order


_USUAL = _Build(re.compile(rf"W[RC]{_PANELS}", re.ASCII), 8)
# NVIDIA's passes over most parameters, and names what is left of the variant.
_NVIDIA = _Build(
    re.compile(rf"W[RC](?:0|{_PANELS})", re.ASCII), 8, lambda order, block, _span: order - order % block
)
# AMD's names storage and swapping too, such as WRC11C2R4o 002.
_AMD = _Build(re.compile(rf"W[RC][RC]{_PANELS}[a-z] [0-9]{{3}}", re.ASCII), 14)

# Its rocHPL-MxP names the broadcast alone, below the title and heading of HPL (src/hplmxp_ptest.cpp).
_MIXED = _Build(re.compile("W[RC][0-5]"), 8, lambda order, _block, span: -(-order // span) * span)


class RowLayout(NamedTuple):
    """What a heading says of the rows below it: the build, and the columns in which its last words end."""

    build: _Build
    names: list[str]
    ends: list[int]


@dataclass(slots=True)
class HplRow:
    """Matrix order, block size, process grid, time (s; 0: unknown) and rate (Gflop/s = 10^9 flop/s)."""

    line: int
    variant: str = ""
    order: int = 0
    block: int = 0
    grid: tuple[int, int] = (0, 0)
    time: float = 0.0
    gflops: float = 0.0
    build: _Build = _USUAL
    passed: int = 0  # residual checks below it
    fault: str = ""  # of one that did not pass

    @property
    def qualifiers(self) -> dict[str, str]:
        """What distinguishes the row from others of the same call."""
        grid = f"{self.grid[0]} x {self.grid[1]}"
        return {"N": str(self.order), "NB": str(self.block), "grid": grid}


def read_heading(line: str) -> RowLayout | None:
    """The heading of a table of results; None for any other line."""
    match = _HEADING.match(line)
    if not match:
        return None
    printed = _PER_GPU.sub("", line)
    build = _NVIDIA if match["gpu"] else _AMD if match["swap"] else _USUAL
    return RowLayout(build, printed.split(), token_ends(printed)[-len(_PRINTED) :])


def read_row(number: int, line: str, heading: RowLayout) -> HplRow:
    """The row, checked against its heading and in itself.

    Raises
    ------
    OutputError
        when it is damaged, or when time and rate contradict the matrix order.
    """
    per_gpu = _PER_GPU.search(line) if heading.build is _NVIDIA else None
    if heading.build is _NVIDIA and not per_gpu:
        raise OutputError(f"line {number}: the rate per GPU is missing: cut")
    line = line.removesuffix(per_gpu[0]) if per_gpu else line
    tokens = row_tokens(line, number)
    check_column_count(tokens, heading.names, number)
    variant = " ".join(tokens[: -len(_PRINTED)])
    build = _MIXED if heading.build is _USUAL and _MIXED.first.fullmatch(variant) else heading.build
    if not build.first.fullmatch(variant):
        raise OutputError(f"line {number}: unknown HPL variant {shown(variant)}")
    shift = max(0, len(variant) - build.width)
    ends = [end - shift for end in token_ends(line)[-len(_PRINTED) :]]
    if ends != heading.ends:  # each value below the end of its heading
        raise OutputError(f"line {number}: the row's columns are not where the header's are: garbled")
    took, rate = tokens[-2:]
    integers = zip(_PRINTED, tokens[-len(_PRINTED) : -2], strict=False)
    order, block, rows, columns = (integer(token, number, name) for name, token in integers)
    time, gflops = decimal(took, number, "Time"), scientific(rate, number, "Gflops")
    if not agree(operations(order) / GIGA, time, half_digit(took), gflops, half_digit(rate)):
        raise OutputError(f"line {number}: order {order} in {took} s is not {rate} Gflop/s")
    if per_gpu:  # each process has one
        share, ranks = per_gpu[0].strip(" ()"), rows * columns
        value = scientific(share, number, "Gflops per GPU")
        if abs(value - gflops / ranks) > half_digit(share) + half_digit(rate) / ranks:
            raise OutputError(f"line {number}: {rate} Gflop/s of {ranks} GPUs are not {share} of each")
    return HplRow(number, variant, order, block, (rows, columns), time, gflops, build)


THRESHOLD = re.compile(r"- Computational tests pass if scaled residuals are less than\s{1,40}(\S{1,20})\s*$")
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|_oo.{1,120}=\s{0,40}(\S{1,40})\s+\.\.\.\.\.\. (\S{1,20})\s*$")
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?")


def check_residual(number: int, line: str, threshold: str) -> bool:
    """Whether a line is a check that passed: other lines about the residual are not.

    ``threshold``: as printed; empty where none was.

    Raises
    ------
    OutputError
        when the check did not pass, or when its residual is not below the threshold, whatever the program
        says.
    """
    match = _RESIDUAL.match(line)
    if not match:
        return False
    residual, result = match.groups()
    if result != "PASSED":
        raise OutputError(f"line {number}: the solution did not pass: {line.strip()[:120]}")
    wrong = "" if _NUMBER.fullmatch(residual) else "a number"
    if not wrong and _NUMBER.fullmatch(threshold) and float(residual) >= float(threshold):
        wrong = f"below {threshold}"
    if wrong:
        raise OutputError(
            f"line {number}: the residual {residual} is not {wrong}, but the program says {result}"
        )
    return True


# ---- the whole output

_BANNER = re.compile(
    r"(?:HPLinpack|HPL-AI Mixed-Precision Benchmark) v?([0-9]\S{0,20})\s+--\s+(?:High-Performance Linpack)?"
)
_MIXED_LINE = re.compile(r"^(?:HPL-(?:AI|MxP)[- ]|HPLMXP_|HPLAI_)", re.MULTILINE)
_PARAMETERS = "The following parameter values will be used"
_KEY = re.compile(rf"({'|'.join(_OPTIONS).upper()})\s*:\s*(.{{1,200}}?)\s*$")
_LIST = re.compile(r"(N|NB|P|Q)\s*:((?:\s+[0-9]{1,9}){1,8})\s*$")
_MORE = re.compile(r"(?:\s+[0-9]{1,9}){1,8}\s*$")
_SWEPT = ("pfact", "nbmin", "ndiv", "rfact", "bcast", "depth")  # each combination is a setting
_NUMBERED_CHECK = re.compile(r"\s*[1-9]\) \|\|Ax-b\|\|")  # HPL 1.0 has three for each row
_ADJUSTED = re.compile(
    r"adjust|round(?:ed|ing)|reduc|chang(?:ed|ing)|increas|decreas|truncat|padd|instead", re.IGNORECASE
)
_REMARK = re.compile(
    rf"{_ADJUSTED.pattern}|\b(?:NB?|problem size|block(?:ing)? (?:size|factor))\b", re.IGNORECASE
)
_FINISHED = re.compile(r"Finished\s+([0-9]{1,9}) tests with the following results")
_PASSED, _FAILED, _SKIPPED = "completed and passed", "completed and failed", "skipped"
_UNCHECKED = "completed without checking"
_COUNT = re.compile(rf"\s*([0-9]{{1,9}}) tests ({_PASSED}|{_FAILED}|{_SKIPPED}|{_UNCHECKED})")
_ERROR = re.compile(r"\s*>>> (.{1,200}?) <<<")
_NUMBER_IN_TEXT = re.compile(r"(?<![0-9.])[0-9]{1,9}(?![0-9.])", re.ASCII)
_LONGEST = 300  # characters of a remark that are read
_END = "End of Tests."
_NO_HEADER = "the header of HPL is missing: empty, cut or another program's"


@dataclass(slots=True)
class _HplReader:
    """The state while the lines go by."""

    version: str = ""
    mixed: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    threshold: str = ""
    listed: dict[str, list[int]] = field(default_factory=dict)  # the parameters to run
    in_parameters: bool = False
    last_list: str = ""
    heading: RowLayout | None = None
    checks: int = 0  # of each row, where they are numbered
    row: HplRow | None = None  # the one whose check may follow
    rows: list[HplRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # of damaged rows
    adjusted: dict[str, set[int]] = field(default_factory=dict)  # what HPL said of it -> its numbers
    errors: list[str] = field(default_factory=list)
    finished: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    ended: bool = False

    def read(self, number: int, line: str) -> None:
        if line.startswith("Column=") or not (line.strip("-=") or self.in_parameters):
            return
        self.mixed = self.mixed or _MIXED_LINE.match(line) is not None
        if match := _BANNER.match(line):
            if self.version:
                raise OutputError(f"line {number}: a second header: two outputs in one file")
            self.version = match[1]
        elif self._parameter(line):
            return
        elif _ROW.match(line):
            self._row(number, line)
        elif heading := read_heading(line):
            self.heading, self.row = heading, None
        elif line.startswith("||Ax-b||"):
            self._check(number, line)
        elif line.startswith(_END):
            if self.ended:
                raise OutputError(f"line {number}: a second closing line: two outputs in one file")
            self.ended = True
        else:
            self._other(number, line)

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
        if self.row:
            try:
                self.row.passed += check_residual(number, line, self.threshold)
            except OutputError as error:
                self.row.fault = str(error)

    def _other(self, number: int, line: str) -> None:
        if match := THRESHOLD.match(line):
            self.threshold = match[1]
        elif match := _FINISHED.match(line):
            self.finished = int(match[1])
        elif match := _COUNT.match(line):
            self.counts[match[2]] += int(match[1])
        elif match := _ERROR.match(line):
            self.errors.append(f"line {number}: {match[1]}")
        elif _NUMBERED_CHECK.match(line):
            self.checks += 1
        elif not self.ended and self.version and len(line) < _LONGEST and _REMARK.search(line):
            self.adjusted[line.strip()] = {int(token) for token in _NUMBER_IN_TEXT.findall(line)}

    def why_not(self, row: HplRow) -> str:
        """Why a row does not count; empty where it does."""
        if row.build is _MIXED and not self.mixed:
            return f"line {row.line}: unknown HPL variant {shown(row.variant)}"
        unchecked = row.passed < max(1, self.checks)
        return row.fault or (f"line {row.line}: no check of the solution below the row" if unchecked else "")

    @property
    def variants(self) -> int:
        return math.prod(len(self.metadata[name].split()) for name in _SWEPT if name in self.metadata)

    @property
    def settings(self) -> int:
        """How many HPL was to measure: as it counted them itself, else by its parameters; 0 where unknown."""
        if self.finished is not None:
            return self.finished - self.counts[_SKIPPED]
        return math.prod(len(self.listed.get(name, ())) for name in ("N", "NB", "P")) * self.variants


def _parse(text: str) -> ParsedOutput:
    """A series for each row that proves itself."""
    reader = _HplReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    proven = [row for row in reader.rows if not reader.why_not(row)]
    lacks = _lacks(reader, len(proven))
    if not reader.version:
        raise OutputError("; ".join(reader.errors) or _NO_HEADER)
    if reader.counts[_UNCHECKED]:
        raise OutputError("the solutions were not checked (threshold not above 0): nothing proves them right")
    if not proven:
        raise OutputError(lacks or "; ".join(reader.errors) or "no rows")
    _check_counts(reader, len(proven))
    changed = {value for row in proven for value in _changed(row, reader)}
    metadata = dict(reader.metadata)
    if skipped := reader.counts[_SKIPPED]:
        why = f": {'; '.join(reader.errors)}" if reader.errors else ""
        metadata["not_measured"] = f"{skipped} tests skipped{why}"
    said = [line for line, numbers in reader.adjusted.items() if numbers & changed or _ADJUSTED.search(line)]
    metadata |= {"adjusted": "; ".join(said)} if said else {}
    name = MIXED_PRECISION if reader.mixed else "HPL"
    series = series_of(name, proven, _listed_alike(reader) if lacks else None)
    return ParsedOutput(reader.version, metadata, tuple(series), lacks)


def _lacks(reader: _HplReader, proven: int) -> str:
    """How many settings are missing, and why; empty for a whole output."""
    reasons = [*filter(None, map(reader.why_not, reader.rows)), *reader.faults]
    if not reader.ended:
        reasons.append(f"ends after {counted(len(reader.rows), 'row')}; the closing line is missing")
    elif reader.finished is None:
        reasons.append("the count of the tests is missing")
    elif not reasons and proven < reader.settings:
        reasons.append("rows are missing")
    return missing(reader.settings - proven, reader.settings, "setting", reasons) if reasons else ""


def _check_counts(reader: _HplReader, proven: int) -> None:
    """Refuse more rows than HPL counts, or than there are settings: they are of another output."""
    total = reader.settings
    passed, failed, skipped = (reader.counts[name] for name in (_PASSED, _FAILED, _SKIPPED))
    if reader.finished is not None:
        contradicts = proven > passed or passed + failed + skipped != reader.finished
    else:
        contradicts = bool(total) and len(reader.rows) > total
    if contradicts:
        raise OutputError(
            f"{counted(proven, 'row')} passed, but {counted(reader.finished or total, 'test')} counted, "
            f"{passed} of them passed, {failed} failed, {skipped} skipped"
        )


def _changed(row: HplRow, reader: _HplReader) -> Iterator[int]:
    """The parameters that were not to run; refused unless HPL says that it took others."""
    adjusted = set().union(*reader.adjusted.values())
    span = row.block * math.lcm(*row.grid)
    for name, value in {"N": row.order, "NB": row.block, "P": row.grid[0], "Q": row.grid[1]}.items():
        asked = reader.listed.get(name, [])
        if name == "N" and span:
            asked = [row.build.whole(order, row.block, span) for order in asked]
        if value not in asked and value not in adjusted:
            raise OutputError(f"line {row.line}: {name} = {value} is not among the parameters to run")
        if value not in asked:
            yield value


def _listed_alike(reader: _HplReader) -> Counter[str]:
    """How often a whole output would have had each row's order, block size and grid."""
    order, block, rows, columns = (reader.listed.get(name, []) for name in ("N", "NB", "P", "Q"))
    grids = [*zip(rows, columns, strict=False)]
    number: Counter[str] = Counter()
    for row in reader.rows:
        alike = order.count(row.order) * block.count(row.block) * grids.count(row.grid)
        number[str(row.qualifiers)] = alike * reader.variants
    return number


def series_of(name: str, rows: list[HplRow], alike: Counter[str] | None = None) -> Iterator[Series]:
    """A series for each row; ``alike``: of a cut output, whose rows are named as in a whole one."""
    alike = (alike or Counter()) | Counter(str(row.qualifiers) for row in rows)
    seen: Counter[str] = Counter()
    for row in rows:
        ranks, qualifiers = row.grid[0] * row.grid[1], row.qualifiers
        if alike[str(qualifiers)] > 1:
            qualifiers["variant"] = row.variant
        seen[key := str(qualifiers)] += 1
        if seen[key] > 1:  # a combination that HPL.dat names twice is run twice
            qualifiers["table"] = str(seen[key])
        columns: dict[str, list[float | None]] = {
            "flops": [row.gflops * GIGA],
            f"{'hpl' if name == 'HPL' else 'mxp'}_flops_per_process": [row.gflops * GIGA / ranks],
            "time": [row.time or None],  # 0.00: shorter than what is printed
        }
        yield Series(name, ranks, columns, qualifiers)


# ---- the suite

_NOT_STARTED = re.compile(r"^HPL ERROR [^\n]{1,200}\n>>> ([^\n]{1,120}?) <<<", re.MULTILINE)


class _Hpl(LinearSystemSuite):
    input_name = "HPL.dat"
    refused = "^HPL ERROR "
    options = _OPTIONS

    def names(self, text: str, program: str) -> tuple[str, str]:
        return MIXED_PRECISION if _MIXED_LINE.search(text) else "HPL", program

    def no_output(self, text: str) -> str:
        """HPL reports errors of its input before its header."""
        error = _NOT_STARTED.search(text)
        remedy = "correct HPL.dat or the number of ranks and run it again"
        return f"HPL did not start: it reports {error[1]!r}; {remedy}" if error else ""

    def least_time(self, tables: Iterable[Series]) -> float:
        return measured_time(tables)


SUITE = _Hpl(
    name="hpl",
    title="HPL",
    banner=Banner(
        ("HPLinpack ", "HPL-AI Mixed-Precision "),
        _BANNER,
        above=re.compile(r"HPL-(?:\w+-)?NVIDIA |(?<=-- NVIDIA\n)={40,}\s*\n"),
    ),
    parse=_parse,
    programs=r"xhpl\w*",
    benchmarks={"HPL": {"program": "xhpl", "provider": "path"}},
    sources=Sources(
        spack="hpl",
        modules="HPL",
        debian="hpcc (as benchmark HPCC)",
        address="https://www.netlib.org/benchmark/hpl/",
    ),
    whole=("^W[RC][RC]?[0-9]", r"^End of Tests\."),
    end=_END,
    metrics=FLOP_RATES,
    published={"HPL": "HPL"},
)
