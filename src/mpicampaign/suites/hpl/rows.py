"""One row of HPL's results, what must hold between its values, and the check of its residual."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from mpicampaign.suites.reading import (
    OutputError,
    agree,
    check_column_count,
    decimal,
    half_digit,
    integer,
    row_tokens,
    scientific,
    shown,
    token_ends,
)

GIGA = 1e9
# Process mapping, depth, broadcast, recursive factorisation with its divisions, panel factorisation with its
# smallest width, such as WR11R2C4. AMD's has a broadcast X, HybBcast.
_PANELS = r"[0-9]{1,3}[0-9X][LCR][0-9]{1,2}[LCR][0-9]{1,3}"
_ROW = re.compile(r"W[RC][RC]?[0-9]")
_COLUMNS = ("N", "NB", "P", "Q", "Time", "Gflops")
_PER_GPU = re.compile(r"(?<! ) +\( *(per GPU|[0-9][0-9.e+]{0,20})\)\s*$", re.ASCII)


class _Build(NamedTuple):
    """How the table of one build differs: a row's first tokens and how wide they usually are."""

    first: re.Pattern[str]
    width: int  # characters; a variant of more digits moves the columns


_USUAL = _Build(re.compile(rf"W[RC]{_PANELS}", re.ASCII), 8)
# NVIDIA's passes over most parameters, and names what is left of the variant.
_NVIDIA = _Build(re.compile(rf"W[RC](?:0|{_PANELS})", re.ASCII), 8)
# AMD's names storage and swapping too, such as WRC11C2R4o 002.
_AMD = _Build(re.compile(rf"W[RC][RC]{_PANELS}[a-z] [0-9]{{3}}", re.ASCII), 14)


class _Layout(NamedTuple):
    """What a heading says of the rows below it: the build, and the columns in which its last words end."""

    build: _Build
    headings: list[str]
    ends: list[int]


_HEADING = re.compile(r"T/V(?P<swap>\s+SWP)?\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops(?P<gpu>\s+\(\s*per GPU\))?\s*$")


@dataclass(slots=True)
class HplRow:
    """Matrix order, block size, process grid, time (s) and rate (Gflop/s = 10^9 flop/s)."""

    line: int
    variant: str
    order: int
    block: int
    grid: tuple[int, int]
    time: float
    gflops: float
    rounds: bool  # whether the build rounds orders down to whole blocks
    passed: int = 0  # residual checks below it
    fault: str = ""  # of one that did not pass

    @property
    def qualifiers(self) -> dict[str, str]:
        """What distinguishes the row from others of the same call."""
        grid = f"{self.grid[0]} x {self.grid[1]}"
        return {"N": str(self.order), "NB": str(self.block), "grid": grid}


def operations(order: int) -> float:
    """Floating-point operations that HPL counts for a matrix of this order, whatever it really does."""
    return 2 / 3 * order**3 + 3 / 2 * order**2


def is_row(line: str) -> bool:
    """Whether a line begins like a row of results, even a damaged one."""
    return _ROW.match(line) is not None


def is_heading(line: str) -> bool:
    """Whether a line is the heading of a table of results."""
    return _HEADING.match(line) is not None


def read_row(number: int, line: str, heading: str) -> HplRow:
    """The row, checked against its heading and in itself.

    Raises
    ------
    OutputError
        when it is damaged, or when time and rate contradict the matrix order.
    """
    build, headings, expected = _layout(heading)
    per_gpu = _take_per_gpu(number, line) if build is _NVIDIA else ""
    line = line.removesuffix(per_gpu)
    tokens = row_tokens(line, number)
    check_column_count(tokens, headings, number)
    variant = " ".join(tokens[: -len(_COLUMNS)])
    if not build.first.fullmatch(variant):
        raise OutputError(f"line {number}: unknown HPL variant {shown(variant)}")
    shift = max(0, len(variant) - build.width)
    if [end - shift for end in _last_ends(line)] != expected:  # each value below the end of its heading
        raise OutputError(f"line {number}: the row's columns are not where the header's are: garbled")
    printed = dict(zip(_COLUMNS, tokens[-len(_COLUMNS) :], strict=True))
    order, block, rows, columns = (integer(printed[name], number, name) for name in _COLUMNS[:4])
    _check_rate(number, order, printed)
    if per_gpu:
        _check_per_gpu(number, per_gpu.strip(" ()"), printed["Gflops"], rows * columns)
    time, gflops = float(printed["Time"]), float(printed["Gflops"])
    return HplRow(number, variant, order, block, (rows, columns), time, gflops, rounds=build is _NVIDIA)


@lru_cache(maxsize=16)  # all rows of an output have the same heading
def _layout(heading: str) -> _Layout:
    printed = _PER_GPU.sub("", heading)
    return _Layout(_build(heading), printed.split(), _last_ends(printed))


def _last_ends(line: str) -> list[int]:
    return token_ends(line)[-len(_COLUMNS) :]


def _build(heading: str) -> _Build:
    match = _HEADING.match(heading)
    if match and match["gpu"]:
        return _NVIDIA
    return _AMD if match and match["swap"] else _USUAL


def _take_per_gpu(number: int, line: str) -> str:
    match = _PER_GPU.search(line)
    if not match:
        raise OutputError(f"line {number}: the rate per GPU is missing: cut")
    return match[0]


def _check_rate(number: int, order: int, printed: dict[str, str]) -> None:
    """Refuse a row whose time and rate contradict its matrix order."""
    took, rate = printed["Time"], printed["Gflops"]
    time, gflops = decimal(took, number, "Time"), scientific(rate, number, "Gflops")
    if not agree(operations(order) / GIGA, time, half_digit(took), gflops, half_digit(rate)):
        raise OutputError(f"line {number}: order {order} in {took} s is not {rate} Gflop/s")


def _check_per_gpu(number: int, share: str, rate: str, ranks: int) -> None:
    """Each process has one GPU; the rate of each is printed in brackets behind the whole one."""
    value = scientific(share, number, "Gflops per GPU")
    if abs(value - float(rate) / ranks) > half_digit(share) + half_digit(rate) / ranks:
        raise OutputError(f"line {number}: {rate} Gflop/s of {ranks} GPUs are not {share} of each")


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
    residual, said = match.groups()
    if said != "PASSED":
        raise OutputError(f"line {number}: the solution did not pass: {line.strip()[:120]}")
    if not _NUMBER.fullmatch(residual):
        raise OutputError(
            f"line {number}: the residual {residual} is not a number, but the program says {said}"
        )
    if _NUMBER.fullmatch(threshold) and float(residual) >= float(threshold):
        raise OutputError(
            f"line {number}: the residual {residual} is not below {threshold}, but the program says {said}"
        )
    return True
