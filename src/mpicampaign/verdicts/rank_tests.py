"""The tests of alike candidates: within rows by signed and aligned ranks, else by ranks of all values.

Bets are a test that may be read after each row: for repeats that were added after a report. Each row bets on
the sign of its difference, the more the larger it is among those so far. If two candidates are alike no
strategy of betting gains: the product of all bets reaches 20 with a chance of at most 1 in 20, whenever one
looks and for whatever reason one stops (Ville 1939; Ramdas 2023). The order within rows must be even.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul
from statistics import fmean, median, variance

import numpy as np

from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.distributions import Array, chi_squared_tail, t_two_sided

# Differences of two, and values of both, of which the exact distribution is computed
_EXACT, _EXACT_SUM = 100, 40


def signed_ranks(differences: Sequence[float] | Array) -> float:
    """Two-sided probability of Wilcoxon's test, exact; equal sizes share a rank, and a zero has no sign.

    Parameters
    ----------
    differences : within each row; those of two infinite costs are 0
    """
    sizes = np.abs(np.asarray(differences, dtype=float))
    doubled = 2 * midranks(sizes[None, :])[0]
    signed = doubled * np.sign(differences)
    ranks = doubled[sizes > 0].astype(int)
    observed = abs(float(signed.sum()))
    if len(ranks) > _EXACT:
        spread = math.sqrt(float((ranks.astype(float) ** 2).sum()))
        return math.erfc(observed / spread / math.sqrt(2))
    return _as_far(tuple(sorted(ranks.tolist())), round(observed))


@lru_cache(maxsize=4096)
def _as_far(ranks: tuple[int, ...], observed: int) -> float:
    """How often a sum with all signs is as far from 0."""
    total = sum(ranks)
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks:  # the sum of those with a plus sign
        ways[rank:] = (ways[rank:] + ways[: total + 1 - rank]) / 2
        ways[:rank] /= 2
    sums = 2 * np.arange(total + 1) - total
    return float(min(1.0, ways[np.abs(sums) >= observed].sum()))


def rank_sum_and_welch(a: Sequence[float], b: Sequence[float]) -> float:
    """The larger probability of Mann and Whitney's test and of Welch's: both must agree.

    Welch's is misled by repeats in several modes, ranks by unequal spreads. Infinite costs have ranks alone.
    Too few values to show anything have 1.
    """
    if 2 / math.comb(len(a) + len(b), len(a)) > LEVEL:
        return 1.0
    return max(rank_sum(a, b), welch(a, b)) if all(map(math.isfinite, (*a, *b))) else rank_sum(a, b)


def rank_sum(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability of Mann and Whitney's test; exact, ties included, for up to 40 values in all."""
    ranks, n, chosen = doubled_midranks([*a, *b]), len(a) + len(b), len(a)
    centre = 2 * chosen * (n + 1)
    observed = abs(2 * sum(ranks[:chosen]) - centre)
    if n > _EXACT_SUM:
        variance = sum((rank - n - 1) ** 2 for rank in ranks) * chosen * (n - chosen) / (n * (n - 1))
        return math.erfc(observed / 2 / math.sqrt(2 * variance)) if variance else 1.0
    counts = _rank_sum_counts(tuple(sorted(ranks)), chosen)
    extreme = sum(count for total, count in counts.items() if abs(2 * total - centre) >= observed)
    return extreme / math.comb(n, chosen)


def doubled_midranks(values: Sequence[float]) -> list[int]:
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


def welch(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability of Welch's test: are the means equal, whatever the spreads?

    Two groups without any spread differ for sure if their values differ.

    Parameters
    ----------
    a, b : two or more values each
    """
    (mean_a, of_a), (mean_b, of_b) = _moments(tuple(a)), _moments(tuple(b))
    both = of_a + of_b
    if both == 0:
        return float(mean_a == mean_b)
    freedom = both**2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    return t_two_sided((mean_a - mean_b) / math.sqrt(both), freedom)


@lru_cache(maxsize=1000)
def _moments(values: tuple[float, ...]) -> tuple[float, float]:
    """The mean and its variance: exact, which takes most of a test, and the same in all pairs of a group."""
    return fmean(values), variance(values) / len(values)


def aligned_ranks(rows: Array) -> Array:
    """Probability that candidates are alike, by the ranks of costs less the mean of their row.

    Parameters
    ----------
    rows : sets x rows x candidates

    Returns
    -------
    of each set
    """
    sets, n, m = rows.shape
    if np.isfinite(rows).all():
        aligned = rows - rows.mean(axis=2, keepdims=True)
    else:
        finite = np.isfinite(rows)
        means = np.where(finite, rows, 0.0).sum(axis=2) / np.maximum(finite.sum(axis=2), 1)
        aligned = rows - means[:, :, None]
    ranks = midranks(aligned.reshape(sets, n * m)).reshape(sets, n, m)
    centred = ranks - ranks.mean(axis=2, keepdims=True)
    scatter = (centred**2).sum(axis=(1, 2))
    between = (m - 1) * (centred.sum(axis=1) ** 2).sum(axis=1)
    return chi_squared_tail(_divided(between, scatter), m - 1)


def plain_ranks(values: Array, sizes: Sequence[int]) -> Array:
    """Probability that candidates are alike, by the ranks of all their costs (Kruskal and Wallis).

    Parameters
    ----------
    values : sets x costs, those of one candidate after those of another
    sizes : how many costs each candidate has

    Returns
    -------
    of each set
    """
    ranks = midranks(values)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    sums = np.add.reduceat(centred, np.cumsum([0, *sizes[:-1]]), axis=1)
    between = (values.shape[1] - 1) * (sums**2 / np.asarray(sizes)).sum(axis=1)
    return chi_squared_tail(_divided(between, (centred**2).sum(axis=1)), len(sizes) - 1)


def _divided(above: Array, below: Array) -> Array:
    """The quotient; 0 if ``below`` is 0, as all values are equal."""
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=below > 0))


def midranks(values: Array) -> Array:
    """The ranks of the values of each line, from 1; equal ones share their mean rank."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    place = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.ones(values.shape, dtype=bool)
    ends[:, :-1] = new[:, 1:]
    backwards = np.where(ends, place, values.shape[1])[:, ::-1]
    last = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks


# Bets


_STAKE = 0.8


def probability_at_any_time(differences: Sequence[float]) -> float:
    """The largest chance that of two alike candidates either one gains as much as the better one here did.

    Parameters
    ----------
    differences : within each row, in the order of time; those of two infinite costs are 0
    """
    middle = median(differences)
    towards = differences if middle > 0 else [-difference for difference in differences]
    return min(1.0, 2 / max(gains(towards))) if middle else 1.0


def gains(differences: Sequence[float]) -> list[float]:
    """After each row what a stake of 1 became that bets on differences above 0.

    The bet on a row is the share of rows so far whose difference is not larger, whatever its sign.
    """
    ordered: list[float] = []
    stakes: list[float] = []
    for difference in differences:
        insort(ordered, abs(difference))
        share = bisect_right(ordered, abs(difference)) / len(ordered)
        sign = (difference > 0) - (difference < 0)
        stakes.append(1 + _STAKE * share * sign)
    return list(accumulate(stakes, mul))
