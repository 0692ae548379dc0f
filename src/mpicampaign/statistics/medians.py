"""Statistics over repeats: medians with order-statistic intervals, and differences.

The unit of replication is one launch, so every function takes one value per repeat. No distribution is
assumed. Where the repeats are too few, the answer is ``None`` or a reason, never a misleading number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXACT_LIMIT = 40  # most values in both groups for which the exact distribution is computed


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


@dataclass(frozen=True, slots=True)
class Difference:
    """How values ``b`` differ from values ``a``.

    ``ratio``: median of b / median of a (``None`` if that of a is 0). ``effect``: Cliff's delta, P(b > a) -
    P(b < a), from -1 to 1. ``p``: two-sided Mann-Whitney probability of this pair alone. ``corrected``: the
    same among ``comparisons`` pairs (see `compare_pairs`); ``significant`` depends on it. Both
    probabilities are ``None`` if the repeats are too few for a test. ``significant`` is ``None`` if the
    repeats are too few alone or for so many comparisons; ``reason`` then says so.
    """

    ratio: float | None
    effect: float
    p: float | None
    significant: bool | None
    reason: str = ""
    corrected: float | None = None
    comparisons: int = 1


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


def order_statistic_interval(values: Sequence[float], coverage: float = 0.95) -> Interval | None:
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
    rank = sum(each >= coverage for each in coverages) or 1  # they decrease with rank
    return Interval(ordered[rank - 1], ordered[n - rank], coverages[rank - 1])


def summarise(values: Sequence[float], coverage: float = 0.95) -> Summary:
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
        interval=order_statistic_interval(ordered, coverage),
        mean=math.fsum(ordered) / len(ordered),
        minimum=ordered[0],
        maximum=ordered[-1],
    )


def difference(a: Sequence[float], b: Sequence[float], level: float = 0.05) -> Difference:
    """Compare two groups of repeats by ranks; exact, ties included, for up to 40 values in total.

    If even complete separation of the groups cannot reach ``level`` (3 and 3 repeats: p is 0.1 at best), the
    result has a reason in place of a probability.
    """
    base = median(a)
    ratio = median(b) / base if base else None
    ranks = doubled_midranks([*a, *b])
    # pairs with the larger value in b minus pairs with the larger value in a, from the rank sum
    wins = len(a) * (len(ranks) + 1) - sum(ranks[: len(a)])
    effect = wins / (len(a) * len(b))
    attainable = 2 / math.comb(len(a) + len(b), len(a))
    if attainable > level:
        reason = f"{len(a)} and {len(b)} repeats cannot show a difference: p is {attainable:.2g} at best"
        return Difference(ratio, effect, None, None, reason)
    p = _rank_probability(ranks, len(a))
    return Difference(ratio, effect, p, p <= level, corrected=p)


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


def _rank_probability(ranks: list[int], chosen: int) -> float:
    """Two-sided probability of a rank sum as far from its mean, under permutation of the labels.

    ``ranks``: doubled ranks, first those of one group, which has ``chosen`` values.
    """
    centre = 2 * chosen * (len(ranks) + 1)
    observed = abs(2 * sum(ranks[:chosen]) - centre)
    if len(ranks) > _EXACT_LIMIT:
        return _normal_probability(ranks, chosen, observed)
    counts = _rank_sum_counts(tuple(sorted(ranks)), chosen)
    extreme = sum(count for total, count in counts.items() if abs(2 * total - centre) >= observed)
    return extreme / math.comb(len(ranks), chosen)


def doubled_midranks(values: list[float]) -> list[int]:
    """Twice the rank of each value; equal values share their mean rank, so all results are integers."""
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, value in enumerate(sorted(values), start=1):
        first.setdefault(value, rank)
        last[value] = rank
    return [first[value] + last[value] for value in values]


@lru_cache(maxsize=256)
def _rank_sum_counts(ranks: tuple[int, ...], chosen: int) -> dict[int, int]:
    """The number of ways to choose so many of the ranks, by their sum."""
    ways: list[dict[int, int]] = [{0: 1}] + [{} for _ in range(chosen)]
    for rank in ranks:
        for size in range(chosen, 0, -1):
            for total, count in ways[size - 1].items():
                ways[size][total + rank] = ways[size].get(total + rank, 0) + count
    return ways[chosen]


def _normal_probability(ranks: list[int], chosen: int, observed: int) -> float:
    """The same by the normal approximation; the variance is that of the tied ranks."""
    n = len(ranks)
    mean = n + 1
    variance = sum((rank - mean) ** 2 for rank in ranks) * chosen * (n - chosen) / (n * (n - 1))
    if variance == 0:
        return 1.0
    return math.erfc(observed / 2 / math.sqrt(2 * variance))
