"""HPL-MxP, NVIDIA's build: a dense linear system solved in low precision, then refined to double precision.

A test prints its settings, its progress and a block "HPL MxP Result": the check of the solution, the problem
and the rate; another rate, without the refinement, is passed over. Builds that print HPL's tables are read as
HPL is, under the same name of the benchmark. Sources: outputs of HPL-MxP-NVIDIA 24.3 and 26.2 in public
repositories; the program's source is not public.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpicampaign.base.text import counted
from mpicampaign.suites.hpl import FLOP_RATES, MIXED_PRECISION, HplRow, check_residual, series_of
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    half_digit,
    missing,
    numbered_lines,
    scientific,
)
from mpicampaign.suites.suite import Banner, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.base.records import Series

_TITLE = re.compile(r"HPL-MxP-NVIDIA ([0-9]\S{0,20})\s+--")
_BLOCK = re.compile(r" {0,4}\*{6} HPL MxP Result\s")
_SETTING = re.compile(r"\s*(?:--)?(nb?) += ([0-9]{1,12})\s*$")
_TEST = re.compile(r" {0,4}\*{6} test (loop )?[0-9]{1,6} of ([0-9]{1,6}) starts")
_THRESHOLD = re.compile(r"\s*Threshold[ .]{1,60}=\s*(\S{1,20})\s*$")
_PROBLEM = re.compile(
    r"\s*N = ([0-9]{1,12}), NB = ([0-9]{1,9}), NPROW = ([0-9]{1,9}), NPCOL = ([0-9]{1,9}),"
    r" SLOPPY-TYPE = (\w{1,12})\s*$"
)
_RATE = re.compile(r"\s*GFLOPS = (\S{1,20}), per GPU = +(\S{1,20})(?:\s|$)")


def _read(row: HplRow, number: int, line: str, threshold: str) -> None:
    """A line of a block; each process has one GPU."""
    if match := _PROBLEM.match(line):
        row.order, row.block, *grid = map(int, match.groups()[:4])
        row.grid, row.variant = (grid[0], grid[1]), match[5]
    elif match := _RATE.match(line):
        row.gflops, share = scientific(match[1], number, "GFLOPS"), scientific(match[2], number, "per GPU")
        ranks = math.prod(row.grid)
        if abs(share * ranks - row.gflops) > half_digit(match[2]) * ranks + half_digit(match[1]):
            raise OutputError(f"line {number}: {match[1]} Gflop/s of {ranks} GPUs are not {match[2]} of each")
    else:
        row.passed += check_residual(number, line.strip(), threshold)


@dataclass(slots=True)
class _Reader:
    """The state while the lines go by. ``counts``: of tests, and of their loops; ``asked``: the settings."""

    version: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    asked: dict[str, set[int]] = field(default_factory=dict)
    threshold: str = ""
    block: HplRow | None = None  # the one that is being read
    results: list[HplRow] = field(default_factory=list)

    def read(self, number: int, line: str) -> None:
        if title := _TITLE.match(line):
            if self.version:
                raise OutputError(f"line {number}: a second title: two outputs in one file")
            self.version = title[1]
        elif _BLOCK.match(line):  # it begins and ends one
            if self.block:
                self.block.fault = self.block.fault or self._lost(self.block)
                self.results.append(self.block)
            self.block = None if self.block else HplRow(number)
        elif setting := _SETTING.match(line):
            self.asked.setdefault(setting[1], set()).add(int(setting[2]))
        elif test := _TEST.match(line):
            self.counts[test[1] or ""] = int(test[2])
        elif threshold := _THRESHOLD.match(line):
            self.threshold = threshold[1]
        elif self.block and not self.block.fault:
            try:
                _read(self.block, number, line, self.threshold)
            except OutputError as error:
                self.block.fault = str(error)

    def _lost(self, row: HplRow) -> str:
        """What a block does not say, or says against the settings above it."""
        there = {"check of the solution": row.passed, "problem": row.order, "rate": row.gflops}
        if lost := [name for name, value in there.items() if not value]:
            return f"line {row.line}: the result lacks its {' and '.join(lost)}"
        asked = {"n": row.order, "nb": row.block}.items()
        other = [f"{name} = {value}" for name, value in asked if value not in self.asked.get(name, {value})]
        return f"line {row.line}: {' and '.join(other)} is not among the settings" if other else ""


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
    types = dict.fromkeys(result.variant for result in sound)
    series = tuple(series_of(MIXED_PRECISION, sound))
    return ParsedOutput(reader.version, {"sloppy_type": ", ".join(types)}, series, lacks)


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
    metrics=FLOP_RATES,
)
