"""Which of many groups may truly be the best: those that nothing excludes.

A group is excluded when `needed` others lie wholly beyond it, each of them different by Welch's test at
`WELCH`. If all groups were alike, one group would be that far behind with a chance of at most 5 %. With 5
repeats and more a group is also excluded when it lies wholly on the worse side of a gap that no group spans,
and one such other is on the better side. The true best is among the rest with 95 % confidence (simulated in
``tests/test_many_groups.py``: excluded in at most 6 % of the cases, for the most unequal spreads).
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from mpicampaign.statistics.comparisons import FEWEST, LEVEL
from mpicampaign.statistics.welch import welch

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

WELCH = 0.01
_GAP = 5  # repeats from which a gap excludes
_STEPS = 4000  # of the integral


def may_be_best(groups: Sequence[Sequence[float]], lower_is_better: bool) -> list[int]:
    """The positions of the groups that may be the best; those of fewer than `FEWEST` repeats always may.

    Parameters
    ----------
    groups : the values of every group, one for each repeat
    """
    signed = [[-value for value in group] if lower_is_better else list(group) for group in groups]
    tested = [index for index, values in enumerate(signed) if len(values) >= FEWEST]
    fewest = min((len(signed[index]) for index in tested), default=0)
    gaps = _gaps([signed[index] for index in tested]) if fewest >= _GAP else []
    kept = [index for index in range(len(signed)) if index not in tested]
    for index in tested:
        own = signed[index]
        beyond = [other for other in tested if min(signed[other]) > max(own)]
        ahead = [signed[other] for other in beyond if welch(groups[other], groups[index]) <= WELCH]
        behind_gap = any(max(own) <= gap < min(other) for gap in gaps for other in ahead)
        if not behind_gap and len(ahead) < needed(len(own), fewest, len(tested) - 1):
            kept.append(index)
    return sorted(kept)


def _gaps(groups: Sequence[Sequence[float]]) -> list[float]:
    """The largest values of groups which no other group spans."""
    ends = sorted((min(group), max(group)) for group in groups)
    return [high for _, high in ends if all(other <= high or low > high for low, other in ends)]


@cache
def needed(n: int, fewest: int, others: int) -> int:
    """How many of the others, alike and of ``fewest`` repeats, lie wholly beyond one of n by chance at 5 %.

    The largest of n values is at the quantile u with density n u^(n - 1), and all repeats of another lie
    beyond it with the chance (1 - u)^fewest. One more than there are others: no number is enough.
    """
    u = (np.arange(_STEPS) + 0.5) / _STEPS
    density, beyond = n * u ** (n - 1), (1 - u) ** fewest
    for count in range(1, others + 1):
        if (density * at_least(count, others, beyond)).mean() <= LEVEL:
            return count
    return others + 1


def at_least(count: int, of: int, chance: Array) -> Array:
    """The chance of so many successes or more, for each chance of one."""
    return 1 - sum((comb(of, i) * chance**i * (1 - chance) ** (of - i) for i in range(count)), 0 * chance)
