"""Statistics over repeats: medians with order-statistic intervals, and differences.

The unit of replication is one launch, so every function takes one value per repeat. Nothing here
assumes a distribution; where too few repeats say nothing, the answer is ``None`` or a reason, never
a number that looks like knowledge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXACT_LIMIT = 40  # values in both groups up to which the exact distribution is computed


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of the median and the confidence that it really has, such as 0.969."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Summary:
    """One value per repeat, summarised. ``interval`` is ``None`` for a single repeat."""

    n: int
    median: float
    interval: Interval | None
    mean: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How values ``b`` differ from values ``a``.

    ``ratio``: median of b / median of a (``None`` where that of a is 0). ``effect``: Cliff's delta,
    P(b > a) - P(b < a), from -1 to 1. ``p``: two-sided Mann-Whitney probability of this pair alone;
    ``corrected``: the same among ``comparisons`` pairs (see `corrected_differences`), on which
    ``significant`` rests. Both are ``None`` where the repeats are too few for any answer. ``significant``
    is ``None`` where the repeats are too few to tell, alone or among so many; ``reason`` then says so.
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


def middle_gap(values: Sequence[float]) -> tuple[float, float] | None:
    """The two middle values of an even number of values; ``None`` for an odd number."""
    ordered = _checked(values)
    half = len(ordered) // 2
    return None if len(ordered) % 2 else (ordered[half - 1], ordered[half])


def order_statistic_interval(values: Sequence[float], coverage: float = 0.95) -> Interval | None:
    """The narrowest symmetric interval of order statistics that holds the median with ``coverage``.

    The interval from the k-th smallest to the k-th largest of n values holds the median of their
    distribution with probability 1 - 2 P(Binomial(n, 1/2) < k), whatever the distribution. Where even
    minimum to maximum falls short (n of 5 or less at 95 %), that is returned with the coverage that
    it has: 93.75 % for 5, 50 % for 2. One value has no interval: ``None``.
    """
    ordered = _checked(values)
    n = len(ordered)
    if n == 1:
        return None
    coverages = _coverages(n)
    rank = sum(each >= coverage for each in coverages) or 1  # they fall from rank to rank
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
    """Compare two groups of repeats by ranks; exact, ties included, up to 40 values in all.

    Where not even a complete separation of the two groups could reach ``level`` (3 against 3 repeats:
    p is 0.1 at best), no probability is given but the reason.
    """
    base = median(a)
    ratio = median(b) / base if base else None
    ranks = doubled_midranks([*a, *b])
    # how many pairs have the larger value in b, less those that have it in a: by the rank sum, exactly
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


def _coverages(n: int) -> list[float]:
    """Of the intervals from the k-th smallest to the k-th largest of n values, for k from 1 to n // 2."""
    outside = accumulate(math.comb(n, k) for k in range(n // 2))
    return [1 - 2 * count / 2**n for count in outside]


def _rank_probability(ranks: list[int], chosen: int) -> float:
    """Two-sided probability of a rank sum as far from its mean, under exchange of the labels.

    ``ranks``: doubled, those of the one group first, which are so many.
    """
    centre = 2 * chosen * (len(ranks) + 1)
    observed = abs(2 * sum(ranks[:chosen]) - centre)
    if len(ranks) > _EXACT_LIMIT:
        return _normal_probability(ranks, chosen, observed)
    counts = _rank_sum_counts(tuple(sorted(ranks)), chosen)
    extreme = sum(count for total, count in counts.items() if abs(2 * total - centre) >= observed)
    return extreme / math.comb(len(ranks), chosen)


def doubled_midranks(values: list[float]) -> list[int]:
    """Twice the rank of each value, equal values sharing their mean rank: whole numbers throughout."""
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, value in enumerate(sorted(values), start=1):
        first.setdefault(value, rank)
        last[value] = rank
    return [first[value] + last[value] for value in values]


@lru_cache(maxsize=256)
def _rank_sum_counts(ranks: tuple[int, ...], chosen: int) -> dict[int, int]:
    """How many ways there are to choose so many of the ranks, by their sum."""
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
