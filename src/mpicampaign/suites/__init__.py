"""Suites: of each one file or folder holds all that is known of it, and ends in one ``SUITE``.

Another package brings its own as entry points of the group ``mpicampaign.suites``. No I/O: parsers are pure
functions of text. A truncated, empty or garbled output raises `OutputError`, or says what it lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import did_you_mean
from mpicampaign.suites.detection import (
    above_banner,
    detect_suite,
    program_names,
    program_of,
    suite_of,
)
from mpicampaign.suites.line_labels import without_labels
from mpicampaign.suites.parts import Part, parts
from mpicampaign.suites.reading import OutputError, ParsedOutput, UnreadError
from mpicampaign.suites.room import SUITES, benchmarks, is_baseline, printed_resolution, sends

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "SUITES",
    "OutputError",
    "ParsedOutput",
    "Part",
    "UnreadError",
    "above_banner",
    "benchmarks",
    "detect_suite",
    "is_baseline",
    "parse",
    "parts",
    "printed_resolution",
    "program_names",
    "program_of",
    "sends",
    "suite_of",
    "without_labels",
]


def parse(
    suite: str,
    text: str,
    expected_max: int | None = None,
    reading: Mapping[str, Any] | None = None,
    *,
    in_part: bool = False,
) -> ParsedOutput:
    """Read the output of one program of a suite.

    ``reading``: how outputs of users' own programs are read. ``in_part``: of an output that lacks something,
    what proves itself is read.

    ``expected_max`` is the largest message size (B) that was asked for. Where a suite prints no closing
    line, only this shows a cut between two lines; for others it is one more check.

    Raises
    ------
    OutputError
        when the output is incomplete, contradicts itself, or is not an output of that suite.
    """
    known = SUITES.get(suite)
    if known is None:
        raise OutputError(f"no parser for suite {suite!r}; {did_you_mean(suite, list(SUITES))}")
    parsed = known.parse_by(text, reading) if reading else known.parse(text)
    if parsed.lacks and not in_part:
        raise OutputError(parsed.lacks)
    if expected_max is not None:
        _check_largest_size(parsed, expected_max)
    return parsed


def _check_largest_size(parsed: ParsedOutput, expected: int) -> None:
    sized = [series for series in parsed.series if "size" in series.columns]
    for series in sized:
        largest = max((size for size in series.columns["size"] if size is not None), default=0)
        if largest != expected:
            raise OutputError(f"{series.label} ends at {largest:.0f} B; {expected} B was asked for")
