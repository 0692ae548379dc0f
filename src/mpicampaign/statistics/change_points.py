"""Change points in a series of single values, looked for after each new point.

The last k values are compared with up to 100 before them, for several k. A change needs two tests to agree:

1. the exact Mann-Whitney test, which assumes no distribution, but independent points;
2. a test of the shift of location which allows for correlation from point to point (AR(1)), and for noise of
   two levels.

The windows say that there is a change; two levels fitted to the values say where. The series restarts at
each change. bench/change_points.py measures false alarms and delays for eight kinds
of noise; docs/statistics.md has its table.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import NormalDist
from typing import NamedTuple

from mpicampaign.statistics.distributions import rank_sum_tail, t_quantile, t_two_sided
from mpicampaign.statistics.medians import median

ALPHA = 1e-4
WINDOWS = (3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25)
REFERENCE = 100  # values before a window, at most
_FEWEST = 10  # at least
LASTING = 8  # points of a change whose smallest size is told
_POWER, _MARGIN = 0.84, 1.1  # the normal quantile of 8 of 10 cases; for the first test, which must agree
_RATE = 0.05  # of false ones among the changes that are reported
_MAD_SIGMA = 1.4826  # of a normal distribution: sigma / median absolute deviation
_WINSORISED = 2.5  # MAD-sigma
_MOST_CORRELATION = 0.97
_LEAST_FREEDOM = 3.0
# Noise of two levels: their distance (MAD-sigma), values and visits of the rarer one, length of its visits
_GAP, _MINORITY, _RUNS, _RUN_LENGTH = 5.0, 4, 3, 1.8
_NORMAL = NormalDist()

# Series that cannot be judged
TOO_SHORT = 15  # points
_CORRELATED = 0.7  # over `REFERENCE` points
_SAME_LEVEL = 0.25  # of a change

# Where a change may lie: what such a split loses in log-likelihood against the best one, at most (about 95 %)
_PLAUSIBLE = 3.0

NOT_POSITIVE = "not positive"
SHORT = "too short"
CORRELATED = "correlated"
ALTERNATING = "alternating"


class PossibleChange(NamedTuple):
    """A change that the last value completes.

    ``first``: the index of the first value after it, as it fits best; it may be any from ``earliest`` to
    ``latest``.
    """

    first: int
    p: float
    earliest: int
    latest: int


def latest_change(values: Sequence[float], start: int = 0) -> PossibleChange | None:
    """The change that the last value completes; ``None`` where every p is `ALPHA` or more.

    Parameters
    ----------
    values : one per point, positive and finite
    start : index of the first value after the last change that was found

    Raises
    ------
    ValueError
        when a value is not positive and finite.
    """
    if not _are_positive(values[start:][-REFERENCE - WINDOWS[-1] :]):
        raise ValueError("values must be positive and finite")
    least, window = ALPHA, 0
    for k in WINDOWS:
        index = len(values) - k
        reference = values[max(start, index - REFERENCE) : max(start, index)]
        if len(reference) < max(_FEWEST, k):
            break
        p = _mann_whitney(sorted(reference), values[index:])
        if p < ALPHA:
            p = max(p, _shift_test(reference, values[index:]))
        if p < least:
            least, window = p, k
    return _located(values[start:], window, start, least) if window else None


def _located(values: Sequence[float], window: int, start: int, p: float) -> PossibleChange:
    """The change where two levels fit best; a value far from both weighs no more than `_WINSORISED` sigma."""
    near = values[max(0, len(values) - window - REFERENCE) :]
    first = len(near) - window
    before, after = median(near[:first]), median(near[first:])
    rest = [value - before for value in near[:first]] + [value - after for value in near[first:]]
    sigma = _mad_sigma(rest) or abs(after - before) * 1e-9 or 1.0
    gains = (_misfit((value - after) / sigma) - _misfit((value - before) / sigma) for value in near)
    sums = list(accumulate(gains, initial=0.0))  # of the values before each split
    splits = range(max(_FEWEST, first - WINDOWS[-1]), len(near) - WINDOWS[0] + 1)
    best = max(splits, key=lambda split: (sums[split], -abs(split - first)))
    plausible = [split for split in splits if sums[split] >= sums[best] - _PLAUSIBLE]
    offset = start + len(values) - len(near)
    return PossibleChange(offset + best, p, offset + plausible[0], offset + plausible[-1])


def _misfit(deviation: float) -> float:
    """What a value loses in log-likelihood by its distance (sigma) from a level."""
    return min(abs(deviation), _WINSORISED) ** 2 / 2


def why_not_judged(values: Sequence[float], changes: Sequence[int] = ()) -> str:
    """Why no change can be looked for; empty if it can.

    ``changes``: indices of the first values after the changes found so far, in their order.
    """
    if not _are_positive(values):
        return NOT_POSITIVE
    if len(values) < TOO_SHORT:
        return SHORT
    last = values[changes[-1] if changes else 0 :][-REFERENCE:]
    if len(last) == REFERENCE and _correlation(_scores(last)) + 2 / REFERENCE > _CORRELATED:
        return CORRELATED
    levels = [median(values[a:b]) for a, b in zip((0, *changes), (*changes, len(values)), strict=True)]
    return ALTERNATING if _alternates(levels) else ""


def smallest_change(values: Sequence[float], tested: int) -> float | None:
    """The smallest change, as a fraction, that is found in about 8 of 10 cases if it lasts `LASTING` points.

    By the noise of a series without changes; in more cases of few correlated points. ``tested``: among how
    many series. ``None`` of too few points, or where all are equal.
    """
    if len(values) < TOO_SHORT:
        return None
    near = values[-REFERENCE - LASTING :]
    error, freedom = _error_of_shift(near[:-LASTING], near[-LASTING:])
    level = min(ALPHA, _limit(1, tested))
    return _MARGIN * (t_quantile(level, freedom) + _POWER) * error / median(near) or None


def _are_positive(values: Sequence[float]) -> bool:
    return all(0 < value < math.inf for value in values)


def _alternates(levels: Sequence[float]) -> bool:
    """Whether the same two levels came a third time: A, B, A, B."""
    back = [
        abs(after - before) <= _SAME_LEVEL * abs(after - between)
        for before, between, after in zip(levels, levels[1:], levels[2:], strict=False)
    ]
    return any(first and second for first, second in pairwise(back))


def false_discoveries_controlled(p: Sequence[float], tested: int) -> list[bool]:
    """Which changes stand among many series: Benjamini and Yekutieli's procedure, for any dependence.

    Parameters
    ----------
    p : of the candidates; it is the smallest of several windows, hence a factor of 4
    tested : how many series were tested, those without a candidate included
    """
    limits = (_limit(rank, tested) for rank in range(1, len(p) + 1))
    passed = [value for value, limit in zip(sorted(p), limits, strict=True) if value <= limit]
    return [bool(passed) and value <= passed[-1] for value in p]


def _limit(rank: int, tested: int) -> float:
    harmonic = sum(1 / number for number in range(1, tested + 1))
    return rank * _RATE / (4 * tested * harmonic)


# ---- the first test


def _mann_whitney(ordered: Sequence[float], window: Sequence[float]) -> float:
    """The two-sided p, 1 where it is not in the tail; with ties, U is rounded away from significance."""
    doubled = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in window)
    n, k = len(ordered), len(window)
    least = min(doubled, 2 * n * k - doubled)
    # rounded up: towards the middle of the distribution, so that ties never help
    u, tail = -(-least // 2), rank_sum_tail(n, k, ALPHA)
    return min(1.0, 2 * tail[u]) if u < len(tail) else 1.0


# ---- the second test


def _shift_test(reference: Sequence[float], window: Sequence[float]) -> float:
    """The p of a shift of location in noise that is correlated from point to point."""
    shift = abs(median([b - a for a in reference for b in window]))
    error, freedom = _error_of_shift(reference, window)
    if error == 0:
        return 0.0 if shift else 1.0
    return t_two_sided(shift / error, freedom)


def _error_of_shift(reference: Sequence[float], window: Sequence[float]) -> tuple[float, float]:
    """The standard error of a shift, and its degrees of freedom."""
    n, k = len(reference), len(window)
    middle, last = median(reference), median(window)
    rest = [value - middle for value in reference] + [value - last for value in window]
    correlation = _corrected(_correlation(_scores(rest)), n + k)
    sigma = _spread(_winsorised(rest), correlation, n, k)
    level = _level_correlation(reference)
    if level is not None:
        correlation = max(correlation, level)
        sigma = max(_spread(rest, correlation, n, k), _spread(_winsorised(rest), correlation, n, k))
    error = sigma * math.sqrt(_variance_of_mean(n, correlation) + _variance_of_mean(k, correlation))
    freedom = max(_LEAST_FREEDOM, (n + k) * (1 - correlation) / (1 + correlation) - 2)
    return error, freedom


def _scores(values: Sequence[float]) -> list[float]:
    """Normal scores: what a normal sample of this size would have in their places."""
    ordered = sorted(values)
    count = len(values) + 0.25
    ranks = ((bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / 2 for value in values)
    return [_NORMAL.inv_cdf((rank - 0.375) / count) for rank in ranks]


def _correlation(values: Sequence[float]) -> float:
    """The correlation of neighbours, of values around 0."""
    squares = sum(value * value for value in values)
    products = sum(a * b for a, b in pairwise(values))
    return products / squares if squares else 0.0


def _corrected(correlation: float, count: int) -> float:
    """Without its bias (Kendall's, for a middle on either side), and half a standard error more."""
    unbiased = (correlation + 2 / count) / (1 - 4 / count)
    raised = unbiased + 0.5 * math.sqrt(max(0.0, 1 - unbiased * unbiased) / count)
    return min(max(raised, 0.0), _MOST_CORRELATION)


def _winsorised(values: Sequence[float]) -> list[float]:
    """Values beyond 2.5 sigma (by the median absolute deviation) count as that."""
    limit = _WINSORISED * _mad_sigma(values)
    return [min(max(value, -limit), limit) for value in values] if limit else list(values)


def _mad_sigma(values: Sequence[float]) -> float:
    return _MAD_SIGMA * median([abs(value) for value in values])


def _spread(rest: Sequence[float], correlation: float, n: int, k: int) -> float:
    """The standard deviation of one value, from those about the middle of either side."""
    lost = n * _variance_of_mean(n, correlation) + k * _variance_of_mean(k, correlation)
    share_left = max(1 - lost / (n + k), 0.1)
    return math.sqrt(sum(value * value for value in rest) / (n + k) / share_left)


@lru_cache(maxsize=4096)
def _variance_of_mean(count: int, correlation: float) -> float:
    """The variance of the mean of ``count`` values of an AR(1) process with variance 1."""
    r = correlation
    factor = (1 + r) / (1 - r) - 2 * r * (1 - r**count) / (count * (1 - r) ** 2)
    return factor / count


def _level_correlation(values: Sequence[float]) -> float | None:
    """How strongly noise of two levels stays at one; ``None`` where there are not two levels."""
    split = _otsu(values)
    upper = [value > split for value in values]
    high, low = sum(upper), len(values) - sum(upper)
    if min(high, low) < _MINORITY:
        return None
    above, below = (
        sorted(v for v, up in zip(values, upper, strict=True) if up is side) for side in (True, False)
    )
    rest = [v - median(above) for v in above] + [v - median(below) for v in below]
    if above[0] - below[-1] < _GAP * _mad_sigma(rest):
        return None
    starts = [upper[0], *(b for a, b in pairwise(upper) if a != b)]
    visits = sum(side is (high < low) for side in starts)
    if len(starts) < _RUNS or min(high, low) < _RUN_LENGTH * visits:
        return None
    share = high / len(values)
    return min(max(_correlation([up - share for up in upper]), 0.0), _MOST_CORRELATION)


def _otsu(values: Sequence[float]) -> float:
    """The value up to which the lower of two groups reaches, by the largest variance between the groups."""
    ordered = sorted(values)
    total, count, summed = sum(ordered), len(ordered), 0.0
    best, split = -1.0, ordered[0]
    for number, value in enumerate(ordered[:-1], start=1):
        summed += value
        if value == ordered[number]:
            continue
        between = (total * number - summed * count) ** 2 / (number * (count - number))
        if between > best:
            best, split = between, value
    return split
