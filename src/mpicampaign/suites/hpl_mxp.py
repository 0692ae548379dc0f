"""HPL-MxP, NVIDIA's build: a dense linear system solved in low precision, then refined to double precision.

A test prints its settings, its progress and a block "HPL MxP Result": the check of the solution, the problem
and the rate; another rate, without the refinement, is passed over. Builds that print HPL's tables are read as
HPL is, under the same name of the benchmark. Sources: outputs of HPL-MxP-NVIDIA 24.3 and 26.2 in public
repositories; the program's source is not public.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from mpicampaign.base.records import Series
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

_TITLE = re.compile(r"HPL-MxP-NVIDIA ([0-9]\S{0,20})\s+--")
_BLOCK = re.compile(r" {0,4}\*{6} HPL MxP Result\s")
_TEST = re.compile(r" {0,4}\*{6} test (loop )?[0-9]{1,6} of ([0-9]{1,6}) starts")
_THRESHOLD = re.compile(r"\s*Threshold[ .]{1,60}=\s*(\S{1,20})\s*$")
_PROBLEM = re.compile(
    r"\s*N = ([0-9]{1,12}), NB = ([0-9]{1,9}), NPROW = ([0-9]{1,9}), NPCOL = ([0-9]{1,9}),"
    r" SLOPPY-TYPE = (\w{1,12})\s*$"
)
_RATE = re.compile(r"\s*GFLOPS = (\S{1,20}), per GPU = +(\S{1,20})(?:\s|$)")


def _parse(text: str) -> ParsedOutput:
    """A series for each test whose solution was checked."""
    lines = [line for _, line in numbered_lines(text)]
    titles = [(number, match[1]) for number, line in enumerate(lines, 1) if (match := _TITLE.match(line))]
    if not titles:
        raise OutputError("the title of HPL-MxP is missing: empty, cut or another program's")
    for number, _ in titles[1:]:
        raise OutputError(f"line {number}: a second title: two outputs in one file")
    marks = [place for place, line in enumerate(lines) if _BLOCK.match(line)]  # one begins, one ends a block
    results = [_result(lines, *block) for block in zip(marks[::2], marks[1::2], strict=False)]
    counts = {match[1]: int(match[2]) for line in lines if (match := _TEST.match(line))}
    total = max(math.prod(counts.values()), len(results))  # tests, and loops in each
    reasons = [result.fault for result in results]
    if len(results) < total:
        reasons.append(f"ends after {counted(len(results), 'result')}")
    sound = [result for result in results if not result.fault]
    lacks = missing(total - len(sound), total, "test", reasons) if total > len(sound) else ""
    if not sound:
        raise OutputError(lacks)
    types = dict.fromkeys(result.variant for result in sound)
    series = tuple(series_of(MIXED_PRECISION, sound))
    return ParsedOutput(titles[0][1], {"sloppy_type": ", ".join(types)}, series, lacks)


def _result(lines: Sequence[str], begin: int, end: int) -> HplRow:
    """A block, or why it does not count."""
    row, threshold = HplRow(begin + 1), ""
    try:
        for number, line in enumerate(lines[begin:end], begin + 1):
            if match := _THRESHOLD.match(line):
                threshold = match[1]
            else:
                _read(row, number, line, threshold)
    except OutputError as error:
        row.fault = str(error)
        return row
    values = {"check of the solution": row.passed, "problem": row.order, "rate": row.gflops}
    if lost := [name for name, value in values.items() if not value]:
        row.fault = f"line {row.line}: the result lacks its {' and '.join(lost)}"
    return row


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
