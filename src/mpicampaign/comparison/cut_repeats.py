"""Repeats of OSU whose table ends at a smaller message than that of others: they may be cut.

Only OSU prints no closing line; of the other suites an output that is not whole has no figures at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.comparison.rows import NOT_PRINTED, Note
from mpicampaign.grouping import grouped
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.records import Record, Series


def cut_repeats(curves: Iterable[tuple[Record, Series]]) -> dict[int, int]:
    """The repeats that end before the longest one, each with its last size (B)."""
    ends = {run.repeat: _end(series) for run, series in curves if run.suite == "osu"}
    last = max(ends.values(), default=0)
    return {repeat: end for repeat, end in ends.items() if end < last}


def cut_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """One note for each size at which such repeats end."""
    ends = cut_repeats(curves)
    words = "it may be cut, and gives no maximum"
    return [
        Note(NOT_PRINTED, f"sizes above {format_size(end)}: {words}", tuple(repeats))
        for end, repeats in grouped(ends, ends.__getitem__).items()
    ]


def _end(series: Series) -> int:
    return max((int(size) for size in series.columns.get("size", ()) if size is not None), default=0)
