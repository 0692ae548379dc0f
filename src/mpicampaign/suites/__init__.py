"""Parsers: text that a benchmark printed -> figures in SI units, or a reason why there are none.

Pure functions of text. A truncated, empty or garbled output raises `OutputError`, never yields a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.errors import did_you_mean
from mpicampaign.suites.detection import detect_suite
from mpicampaign.suites.hpcc.parser import parse_hpcc
from mpicampaign.suites.hpl.parser import parse_hpl
from mpicampaign.suites.imb.parser import parse_imb
from mpicampaign.suites.kernels.parser import parse_kernel
from mpicampaign.suites.osu.parser import parse_osu
from mpicampaign.suites.reading import OutputError, ParsedOutput

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PARSERS", "OutputError", "ParsedOutput", "detect_suite", "parse"]

PARSERS: dict[str, Callable[[str], ParsedOutput]] = {
    "imb": parse_imb,
    "osu": parse_osu,
    "hpl": parse_hpl,
    "hpcc": parse_hpcc,
    "kernel": parse_kernel,
}


def parse(suite: str, text: str, expected_max: int | None = None) -> ParsedOutput:
    """Read the output of one program of a suite (a key of ``PARSERS``).

    ``expected_max`` is the largest message size (B) that was asked for. OSU prints no end mark, so that
    an output cut exactly between two lines shows only against it; the other suites prove by themselves
    that they are complete, and for them it is one more check.

    Raises
    ------
    OutputError
        when the output is incomplete, contradicts itself, or is not an output of that suite.
    """
    parser = PARSERS.get(suite)
    if parser is None:
        raise OutputError(f"no parser for suite {suite!r}; {did_you_mean(suite, PARSERS)}")
    parsed = parser(text)
    if expected_max is not None:
        _check_largest_size(parsed, expected_max)
    return parsed


def _check_largest_size(parsed: ParsedOutput, expected: int) -> None:
    sized = [series for series in parsed.series if "size" in series.columns]
    for series in sized:
        largest = max((size for size in series.columns["size"] if size is not None), default=0)
        if largest != expected:
            raise OutputError(f"{series.label} ends at {largest:.0f} B; {expected} B was asked for")
