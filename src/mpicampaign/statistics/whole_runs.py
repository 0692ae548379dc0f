"""Runs that differ as a whole: over the sweep, but at no single size by enough to be an outlier.

The distance of a run is the mean over the sizes of the logarithms of its values divided by the medians of all
repeats. Runs whose distance is an outlier among those of all repeats are named, by the generalised extreme
Studentized deviate test (B. Rosner, Technometrics 25 (1983) 165), if they are off by a tenth and more. Rates
of false alarms: ``tests/test_whole_runs.py``.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from mpicampaign.statistics.distributions import t_two_sided
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 8  # repeats; with fewer, modes and outliers find what can be found
LEVEL = 0.01  # of sound cases with normal distances
_FURTHER = math.log(1.1)
_MOST = 10  # one run of so many may be off


def runs_off(rows: Sequence[Sequence[float]]) -> list[int]:
    """The positions of the repeats that are off.

    Parameters
    ----------
    rows : the repeats' values at each size, in the order of the repeats; sizes with a value of 0 are left out
    """
    ratios = [[math.log(value / median(row)) for value in row] for row in rows if min(row, default=0) > 0]
    if not ratios or len(ratios[0]) < FEWEST:
        return []
    distances = [fmean(of_run) for of_run in zip(*ratios, strict=True)]
    middle = median(distances)
    return sorted(p for p in extremes(distances) if abs(distances[p] - middle) >= _FURTHER)


def extremes(values: Sequence[float]) -> list[int]:
    """The positions of the values that are outliers, the furthest first."""
    left, order, found = dict(enumerate(values)), [], 0
    for removed in range(-(-len(values) // _MOST)):
        middle, spread = fmean(left.values()), stdev(left.values())
        furthest = max(left, key=lambda position: abs(left[position] - middle))
        if spread == 0:
            break
        order.append(furthest)
        if abs(left.pop(furthest) - middle) / spread > _critical(len(values) - removed):
            found = removed + 1
    return order[:found]


@cache
def _critical(n: int) -> float:
    """The distance of the furthest of n normal values in standard deviations, exceeded with `LEVEL`."""
    t = _t_quantile(LEVEL / n, n - 2)
    return (n - 1) * t / math.sqrt((n - 2 + t * t) * n)


def _t_quantile(p: float, freedom: int) -> float:
    """The t that is exceeded on either side with probability ``p``."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_two_sided(middle, freedom) > p else (low, middle)
    return low
