"""Welch's test of two groups of repeats: are their means equal, whatever their spreads?"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import fmean, variance
from typing import TYPE_CHECKING

from mpicampaign.statistics.distributions import t_two_sided

if TYPE_CHECKING:
    from collections.abc import Sequence


def welch(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability of Welch's test on the logarithms; on the values where one is not positive.

    Noise of run times and bandwidths is relative, so logarithms have like spreads. Two groups without any
    spread differ for sure if their values differ.

    Parameters
    ----------
    a, b : two or more values each
    """
    logs = min(*a, *b) > 0
    return welch_of(*([math.log(value) for value in side] if logs else side for side in (a, b)))


def welch_of(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability of Welch's test on the values as they are."""
    (mean_a, of_a), (mean_b, of_b) = _moments(tuple(a)), _moments(tuple(b))
    apart = mean_a - mean_b
    both = of_a + of_b
    if both == 0:
        return float(apart == 0)
    freedom = both**2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    return t_two_sided(apart / math.sqrt(both), freedom)


@lru_cache(maxsize=1000)
def _moments(values: tuple[float, ...]) -> tuple[float, float]:
    """The mean and its variance: exact, which takes most of a test, and the same in all pairs of a group."""
    return fmean(values), variance(values) / len(values)
