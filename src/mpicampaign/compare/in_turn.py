"""Whether imported repeats of two rows were measured one group after the other.

The tests assume that nothing but the two distinguishes their repeats. Own campaigns alternate between cases.
Imported groups that do not overlap in time also differ by all that changed meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.records import IMPORTED_FROM

if TYPE_CHECKING:
    from mpicampaign.compare.rows import Row


def in_turn(one: Row, other: Row) -> bool | None:
    """Whether all imported runs of one began before all of the other; ``None`` if it is unknown when."""
    runs = [[run for run, _ in row.curves] for row in (one, other)]
    if not all(group and all(IMPORTED_FROM in run.metadata for run in group) for group in runs):
        return False
    times = [[run.started for run in group] for group in runs]
    if not all(map(all, times)):
        return None
    return max(times[0]) < min(times[1]) or max(times[1]) < min(times[0])
