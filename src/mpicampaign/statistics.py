"""Statistics over repeats: medians with order-statistic intervals, modes, and differences.

The unit of replication is one launch, so every function takes one value per repeat. Nothing here
assumes a distribution; where too few repeats say nothing, the answer is ``None`` or a reason, never
a number that looks like knowledge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# A gap between two groups counts when it exceeds this many pooled standard deviations of the groups,
# by the number of values. Chosen so that `modes` splits some 2 % of unimodal samples; see there.
_GAP_THRESHOLDS = {4: 14.0, 5: 9.5, 6: 8.0, 7: 7.0, 8: 6.5}
_GAP_THRESHOLD_FROM_9 = 6.0

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
class Mode:
    """A band of values: its median, and the positions of its values in the sequence given."""

    median: float
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """How values ``b`` differ from values ``a``.

    ``ratio``: median of b / median of a (``None`` where that of a is 0). ``effect``: Cliff's delta,
    P(b > a) - P(b < a), from -1 to 1. ``p``: two-sided Mann-Whitney probability, ``None`` where the
    repeats are too few to tell; ``reason`` then says so.
    """

    ratio: float | None
    effect: float
    p: float | None
    significant: bool | None
    reason: str = ""


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
    rank = max((k for k in range(1, n // 2 + 1) if _coverage(n, k) >= coverage), default=1)
    return Interval(ordered[rank - 1], ordered[n - rank], _coverage(n, rank))


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


def modes(values: Sequence[float], minimum_gap: float = 0.05, resolution: float = 0.0) -> tuple[Mode, ...]:
    """The bands into which the values fall, lowest first; a single one where nothing speaks for more.

    The sorted values are split at the gap that is largest in pooled standard deviations of the two
    sides, if it passes a threshold for that many values, exceeds ``minimum_gap`` of the value below
    it and twice the ``resolution`` with which the values were printed (two neighbouring printed
    values are no bands). Each side is then examined again. A band has at least two members: a lone
    value far away is an outlier, which the range shows, and fewer than four values show no bands.
    Three evenly spaced bands may stay one: the test errs on that side.

    False alarms on unimodal samples of 4 to 30 values (normal, uniform, exponential, log-normal with
    sigma 0.5 and 1.0; ``minimum_gap`` 0, so worst case): at most 3 % in any of them, below 2 % in
    most. Measured by ``tests/test_statistics.py::test_false_alarms_of_modes`` (marked full).
    """
    _checked(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    bands = _split([(values[index], index) for index in order], minimum_gap, resolution)
    return tuple(
        Mode(median([value for value, _ in band]), tuple(sorted(index for _, index in band)))
        for band in bands
    )


def difference(a: Sequence[float], b: Sequence[float], level: float = 0.05) -> Difference:
    """Compare two groups of repeats by ranks; exact, ties included, up to 40 values in all.

    Where not even a complete separation of the two groups could reach ``level`` (3 against 3 repeats:
    p is 0.1 at best), no probability is given but the reason.
    """
    base = median(a)
    ratio = median(b) / base if base else None
    wins = sum((y > x) - (y < x) for x in a for y in b)
    effect = wins / (len(a) * len(b))
    attainable = 2 / math.comb(len(a) + len(b), len(a))
    if attainable > level:
        reason = f"{len(a)} and {len(b)} repeats cannot show a difference: p is {attainable:.2g} at best"
        return Difference(ratio, effect, None, None, reason)
    p = _rank_probability(a, b)
    return Difference(ratio, effect, p, p <= level)


def _checked(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    if not all(math.isfinite(value) for value in ordered):
        raise ValueError("a value is not finite")
    return ordered


def _coverage(n: int, rank: int) -> float:
    outside = sum(math.comb(n, k) for k in range(rank))
    return float(1 - 2 * outside / 2**n)


def _split(
    band: list[tuple[float, int]], minimum_gap: float, resolution: float
) -> list[list[tuple[float, int]]]:
    values = [value for value, _ in band]
    scores = {k: _gap_score(values, k, minimum_gap, resolution) for k in range(2, len(values) - 1)}
    best = max(scores, key=scores.__getitem__, default=None)
    if best is None or scores[best] <= _GAP_THRESHOLDS.get(len(values), _GAP_THRESHOLD_FROM_9):
        return [band]
    low, high = band[:best], band[best:]
    return _split(low, minimum_gap, resolution) + _split(high, minimum_gap, resolution)


def _gap_score(values: list[float], k: int, minimum_gap: float, resolution: float) -> float:
    gap = values[k] - values[k - 1]
    if gap <= max(minimum_gap * abs(values[k - 1]), 2 * resolution):
        return 0.0
    squares = _squared_deviations(values[:k]) + _squared_deviations(values[k:])
    spread = math.sqrt(squares / (len(values) - 2))
    return gap / spread if spread else math.inf


def _squared_deviations(values: list[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _rank_probability(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability of a rank sum as far from its mean, under exchange of the labels."""
    ranks = _doubled_midranks([*a, *b])
    observed = abs(2 * sum(ranks[: len(a)]) - 2 * len(a) * (len(ranks) + 1))
    if len(ranks) > _EXACT_LIMIT:
        return _normal_probability(ranks, len(a), observed)
    counts = _rank_sum_counts(ranks, len(a))
    centre = 2 * len(a) * (len(ranks) + 1)
    extreme = sum(count for total, count in counts.items() if abs(2 * total - centre) >= observed)
    return extreme / math.comb(len(ranks), len(a))


def _doubled_midranks(values: list[float]) -> list[int]:
    """Twice the rank of each value, equal values sharing their mean rank: whole numbers throughout."""
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, value in enumerate(sorted(values), start=1):
        first.setdefault(value, rank)
        last[value] = rank
    return [first[value] + last[value] for value in values]


def _rank_sum_counts(ranks: list[int], chosen: int) -> dict[int, int]:
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
