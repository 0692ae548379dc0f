"""An interval of the factor between two groups of repeats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpicampaign.statistics.change_points import rank_tail
from mpicampaign.statistics.medians import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

COVERAGE = 0.95


def ratio_interval(
    before: Sequence[float], after: Sequence[float], coverage: float = COVERAGE
) -> Interval | None:
    """The factors by which ``before`` may be multiplied so that the exact rank test sees no difference.

    It holds the true factor with at least this probability if the two groups differ by a factor alone (Hodges
    and Lehmann). ``None`` where the repeats are too few, or a value is not positive.
    """
    if min(*before, *after) <= 0:
        return None
    tail = rank_tail(len(before), len(after), (1 - coverage) / 2)
    if not tail:
        return None
    ratios = sorted(b / a for a in before for b in after)
    cut = len(tail) - 1
    return Interval(ratios[cut], ratios[-1 - cut], 1 - 2 * tail[-1]) if math.isfinite(ratios[-1]) else None
