"""HPL-MxP, NVIDIA's build: a dense linear system solved in low precision, then refined to double precision.

A test prints its settings, its progress and a block "HPL MxP Result": the check of the solution, the problem,
and two rates, of which the first counts and the second leaves out the refinement. Builds that print HPL's
tables are read as HPL is (`mpicampaign.suites.hpl`), under the same name of the benchmark. Sources: outputs
of HPL-MxP-NVIDIA 24.3 and 26.2 in public repositories; the program's source is not public.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import FLOPS
from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.suites.hpl import GIGA, MIXED_PRECISION, check_residual
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    half_digit,
    missing,
    numbered_lines,
    scientific,
)
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TITLE = re.compile(r"HPL-MxP-NVIDIA ([0-9]\S{0,20})\s+--")
_BLOCK = re.compile(r" {0,4}\*{6} HPL MxP Result\s")
_SETTING = re.compile(r"\s*(?:--)?(nb?) += ([0-9]{1,12})\s*$")
_TEST = re.compile(r" {0,4}\*{6} test (loop )?[0-9]{1,6} of ([0-9]{1,6}) starts")
_THRESHOLD = re.compile(r"\s*Threshold[ .]{1,60}=\s*(\S{1,20})\s*$")
_PROBLEM = re.compile(
    r"\s*N = ([0-9]{1,12}), NB = ([0-9]{1,9}), NPROW = ([0-9]{1,9}), NPCOL = ([0-9]{1,9}),"
    r" SLOPPY-TYPE = (\w{1,12})\s*$"
)
_RATE = re.compile(r"\s*(LU )?GFLOPS = (\S{1,20}), per GPU = +(\S{1,20})(?:\s|$)")
_COLUMNS = {"": "flops", "LU ": "lu_flops"}


@dataclass(slots=True)
class _Result:
    """A block, between two lines of its title. ``rates``: in Gflop/s, by column; ``fault``: why none."""

    line: int
    threshold: str = ""
    passed: bool = False
    order: int = 0
    block: int = 0
    grid: tuple[int, int] = (0, 0)
    precision: str = ""
    rates: dict[str, float] = field(default_factory=dict)
    fault: str = ""

    def read(self, number: int, line: str) -> None:
        if match := _THRESHOLD.match(line):
            self.threshold = match[1]
        elif match := _PROBLEM.match(line):
            self.order, self.block, *grid = map(int, match.groups()[:4])
            self.grid, self.precision = (grid[0], grid[1]), match[5]
        elif match := _RATE.match(line):
            self._rate(number, _COLUMNS[match[1] or ""], match[2], match[3])
        else:
            self.passed |= check_residual(number, line.strip(), self.threshold)

    def _rate(self, number: int, column: str, printed: str, share: str) -> None:
        """Each process has one GPU."""
        rate, of_each = scientific(printed, number, "GFLOPS"), scientific(share, number, "GFLOPS per GPU")
        ranks = math.prod(self.grid)
        if abs(of_each * ranks - rate) > half_digit(share) * ranks + half_digit(printed):
            raise OutputError(f"line {number}: {printed} Gflop/s of {ranks} GPUs are not {share} of each")
        self.rates[column] = rate

    def end(self, asked: Mapping[str, set[int]]) -> None:
        """Name what the block does not say, or says against the settings above it."""
        parts = {"check of the solution": self.passed, "problem": self.order, "rates": len(self.rates) == 2}
        if lost := [name for name, there in parts.items() if not there]:
            self.fault = self.fault or f"line {self.line}: the result lacks its {' and '.join(lost)}"
        for name, value in {"n": self.order, "nb": self.block}.items():
            if value not in asked.get(name, {value}):
                self.fault = self.fault or f"line {self.line}: {name} = {value} is not among the settings"


@dataclass(slots=True)
class _Reader:
    """The state while the lines go by. ``counts``: of tests, and of loops of each."""

    version: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    asked: dict[str, set[int]] = field(default_factory=dict)  # the settings, by name
    open: _Result | None = None
    results: list[_Result] = field(default_factory=list)

    def read(self, number: int, line: str) -> None:
        if title := _TITLE.match(line):
            if self.version:
                raise OutputError(f"line {number}: a second title: two outputs in one file")
            self.version = title[1]
        elif _BLOCK.match(line):
            if self.open:
                self.open.end(self.asked)
                self.results.append(self.open)
            self.open = None if self.open else _Result(number)
        elif setting := _SETTING.match(line):
            self.asked.setdefault(setting[1], set()).add(int(setting[2]))
        elif test := _TEST.match(line):
            self.counts[test[1] or ""] = int(test[2])
        elif self.open and not self.open.fault:
            try:
                self.open.read(number, line)
            except OutputError as error:
                self.open.fault = str(error)


def _parse(text: str) -> ParsedOutput:
    """A series for each test whose solution was checked."""
    reader = _Reader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.version:
        raise OutputError("the title of HPL-MxP is missing: empty, cut or another program's")
    sound = [result for result in reader.results if not result.fault]
    total = max(math.prod(reader.counts.values()), len(reader.results))
    reasons = [result.fault for result in reader.results]
    if len(reader.results) < total:
        reasons.append(f"ends after {counted(len(reader.results), 'result')}")
    lacks = missing(total - len(sound), total, "test", reasons) if total > len(sound) else ""
    if not sound:
        raise OutputError(lacks)
    types = dict.fromkeys(result.precision for result in sound)
    return ParsedOutput(reader.version, {"sloppy_type": ", ".join(types)}, tuple(_series(sound)), lacks)


def _series(results: list[_Result]) -> Iterator[Series]:
    seen: Counter[str] = Counter()
    for result in results:
        grid = f"{result.grid[0]} x {result.grid[1]}"
        qualifiers = {"N": str(result.order), "NB": str(result.block), "grid": grid}
        seen[key := str(qualifiers)] += 1
        qualifiers |= {"table": str(seen[key])} if seen[key] > 1 else {}
        columns: dict[str, list[float | None]] = {name: [rate * GIGA] for name, rate in result.rates.items()}
        ranks = math.prod(result.grid)
        columns["hpl_flops_per_process"] = [result.rates["flops"] * GIGA / ranks]
        yield Series(MIXED_PRECISION, ranks, columns, qualifiers)


class _HplMxp(Suite):
    only_imported = True
    options = ("sloppy_type",)
    closing_line = False

    def names(self, text: str, program: str) -> tuple[str, str]:
        return MIXED_PRECISION, program

    def proves_end(self, text: str, tables: Sequence[Series], largest: int | None) -> bool:
        """By the number of its tests, if it was printed."""
        return bool(tables) and any(map(_TEST.match, text.split("\n")))


SUITE = _HplMxp(
    name="hpl_mxp",
    title="HPL-MxP",
    banner=Banner("HPL-MxP-NVIDIA ", _TITLE),
    parse=_parse,
    programs=r"xhpl[-_](?:mxp|ai)\w*",
    sources=Sources(address="https://docs.nvidia.com/nvidia-hpc-benchmarks/"),
    whole=(r"^ *\*+ HPL MxP Result",),
    metrics={
        "flops": ColumnMetric("flop rate", FLOPS, headline=True),
        "hpl_flops_per_process": ColumnMetric("flop rate per process", FLOPS),
        "lu_flops": ColumnMetric("flop rate without the refinement", FLOPS),
    },
)
