"""Statistics over repeats: medians with order-statistic intervals.

The unit of replication is one launch, so every function takes one value per repeat. No distribution is
assumed. Where the repeats are too few, the answer is ``None``, never a misleading number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

COVERAGE = 0.95  # of intervals


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of the median and its true confidence, such as 0.969."""

    low: float
    high: float
    coverage: float

    def divided(self, by: float) -> Interval:
        """The interval of the median divided by a positive number."""
        return Interval(self.low / by, self.high / by, self.coverage)


@dataclass(frozen=True, slots=True)
class Summary:
    """The values of the repeats, summarised. ``interval`` is ``None`` for a single repeat."""

    n: int
    median: float
    interval: Interval | None
    mean: float
    minimum: float
    maximum: float


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones.

    Raises
    ------
    ValueError
        when there is no value.
    """
    ordered = _checked(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return ordered[half - 1] + (ordered[half] - ordered[half - 1]) / 2


def order_statistic_interval(values: Sequence[float], coverage: float = COVERAGE) -> Interval | None:
    """The narrowest symmetric interval of order statistics that contains the median with ``coverage``.

    The interval from the k-th smallest to the k-th largest of n values contains the median of their
    distribution with probability 1 - 2 P(Binomial(n, 1/2) < k), for any distribution. If even minimum to
    maximum has less (n of 5 or less at 95 %), that interval is returned with its true coverage: 93.75 % for
    5, 50 % for 2. One value has no interval: ``None``.
    """
    ordered = _checked(values)
    n = len(ordered)
    if n == 1:
        return None
    coverages = _coverages(n)
    rank = sum(covered >= coverage for covered in coverages) or 1  # they decrease with rank
    return Interval(ordered[rank - 1], ordered[n - rank], coverages[rank - 1])


def summarise(values: Sequence[float]) -> Summary:
    """Median with interval, mean and range of one value per repeat.

    Raises
    ------
    ValueError
        when there is no value, or one is not finite.
    """
    ordered = _checked(values)
    return Summary(
        n=len(ordered),
        median=median(ordered),
        interval=order_statistic_interval(ordered),
        mean=math.fsum(ordered) / len(ordered),
        minimum=ordered[0],
        maximum=ordered[-1],
    )


def _checked(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    if not all(map(math.isfinite, ordered)):
        raise ValueError("a value is not finite")
    return ordered


@lru_cache(maxsize=256)
def _coverages(n: int) -> list[float]:
    """Coverages of the intervals from the k-th smallest to the k-th largest of n values, k = 1 to n // 2."""
    outside = accumulate(math.comb(n, k) for k in range(n // 2))
    return [1 - 2 * count / 2**n for count in outside]
