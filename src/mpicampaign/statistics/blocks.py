"""Few candidates measured side by side in blocks: which differ, by exchanging their values within each block.

What disturbs a block, such as its nodes or the hour, disturbs all its candidates alike and drops out. A value
becomes a score: its logarithm less the median of its block, ranked over all blocks (aligned ranks: Hodges and
Lehmann 1962), among the candidates of the set in question. If they are alike, each exchange of their scores
within blocks is as likely as the observed one: all exchanges are tried, or `DRAWS` random ones, always the
same. The statistic is the sum of squares of the candidates' sums, less their mean: the largest distance from
a reference would miss one between a better and a worse candidate.

Each question is closed (Marcus, Peritz, Gabriel): two candidates differ if every set of candidates with both
of them differs. Against a reference those are the sets that hold it, each at the full level: 6 blocks can
show something. For all pairs disjoint sets may each be alike, so that a set of m of k is tested at 1 - (1 -
level)^(m / k), as in `mpicampaign.statistics.comparisons`: 7 blocks for up to six candidates, 8 beyond. More
candidates than `MOST` have too many sets: there Holm's steps on the tests of the pairs.

How often each errs, and what it finds, was simulated: ``bench/blocks.py``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpicampaign.expectation import MOST_IN_SETS as MOST
from mpicampaign.statistics.comparisons import FAMILY_WISE, LEVEL, Family, holm, share_of_level
from mpicampaign.statistics.median_along import median_along
from mpicampaign.statistics.medians import Interval, difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from mpicampaign.statistics.comparisons import Pair

    Array = npt.NDArray[np.float64]

DRAWS = 20_000  # exchanges that are tried where there are more
_MOST_SIGNS = 16  # blocks of two candidates, of which all exchanges are tried
_ROUNDING = 1e-9


def against_reference(costs: Array, level: float = LEVEL) -> dict[Pair, float]:
    """The probability of each candidate with the first, the reference, closed over all of them.

    Those above ``level`` may be larger than what is returned.

    Parameters
    ----------
    costs : blocks x candidates, logarithms of what should be low; infinite where a run met its time limit
    """
    pairs = [(0, other) for other in range(1, costs.shape[1])]
    return _by_holm(costs, pairs) if costs.shape[1] > MOST else _closed(costs, pairs, level, (0,))


def all_pairs(costs: Array, level: float = LEVEL) -> dict[Pair, float]:
    """The probability of each pair of candidates, closed over all of them; as `against_reference`."""
    pairs = list(combinations(range(costs.shape[1]), 2))
    return _by_holm(costs, pairs) if costs.shape[1] > MOST else _closed(costs, pairs, level)


@lru_cache(maxsize=1000)  # a ranking and the statements over all host groups compare the same
def compare_in_blocks(groups: tuple[tuple[float, ...], ...]) -> Family:
    """As `compare_pairs`, of positive groups whose n-th values are from one block.

    Nothing is shown of two of which the one with the larger median is the smaller one in most blocks.
    """
    logs = np.log(groups).T
    medians = median_along(logs)
    of_pairs = all_pairs(logs)
    answers = {}
    for (a, b), closed in of_pairs.items():
        alone, unpaired = probability(aligned_ranks(logs[:, (a, b)])), difference(groups[a], groups[b])
        leads = median_along(logs[:, b] - logs[:, a]) * (medians[b] - medians[a]) > 0
        p = max(closed, alone) if leads else 1.0
        in_blocks = replace(unpaired, p=alone, corrected=p, comparisons=len(of_pairs), significant=p <= LEVEL)
        answers[a, b] = in_blocks
    return Family(FAMILY_WISE, answers)


def _by_holm(costs: Array, pairs: Sequence[Pair]) -> dict[Pair, float]:
    corrected = holm({pair: probability(aligned_ranks(costs[:, pair])) for pair in pairs})
    return {pair: corrected[pair] for pair in pairs}


def _closed(
    costs: Array, pairs: Sequence[Pair], level: float, in_all: tuple[int, ...] = ()
) -> dict[Pair, float]:
    """The largest probability of the sets that hold each pair; larger sets come first, and may decide.

    ``in_all``: what every set holds, so that no two are disjoint.
    """
    k = costs.shape[1]
    largest = dict.fromkeys(pairs, 0.0)
    others = [each for each in range(k) if each not in in_all]
    for m in range(k, 1, -1):
        for chosen in combinations(others, m - len(in_all)):
            members = (*in_all, *chosen)
            still = [pair for pair in pairs if largest[pair] <= level and {*pair} <= {*members}]
            if not still:
                continue
            p = probability(aligned_ranks(costs[:, members]))
            if not in_all:
                p = 1 - (1 - p) ** (1 / share_of_level(m, k, 2 / k))
            largest |= {pair: max(largest[pair], p) for pair in still}
    return largest


def aligned_ranks(costs: Array) -> Array:
    """Ranks over all blocks of the values less the median of their block; equal ones share a rank."""
    if np.isfinite(costs).all():
        middle = median_along(costs, axis=1)
    else:
        finite = (block[np.isfinite(block)] for block in costs)
        middle = np.array([median_along(block) if len(block) else 0.0 for block in finite])
    aligned = costs - middle[:, None]
    ordered = np.sort(aligned, axis=None)
    return np.asarray((ordered.searchsorted(aligned) + ordered.searchsorted(aligned, "right") + 1) / 2)


def probability(scores: Array) -> float:
    """How often exchanges within blocks bring the candidates' sums of scores as far apart as they are.

    Parameters
    ----------
    scores : blocks x candidates
    """
    if scores.shape[1] == 2:
        differences = scores[:, 1] - scores[:, 0]
        few = len(scores) <= _MOST_SIGNS
        return _share((_signed_sums(differences) if few else _drawn_sums(differences)) ** 2)
    return _share(((exchanged_sums(scores) - scores.sum() / scores.shape[1]) ** 2).sum(axis=0))


def one_sided(scores: Array) -> float:
    """How often exchanges bring the second of two candidates as far above the first as it is."""
    return _share(_signed_sums(scores[:, 1] - scores[:, 0]))


def _share(values: Array) -> float:
    """Of those as large as the first, which is the observed one."""
    return float(np.mean(values >= values[0] - _ROUNDING * np.abs(values).max()))


def _signed_sums(differences: Array) -> Array:
    """The sums with all signs."""
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate([sums + each, sums - each])
    return sums


def _drawn_sums(differences: Array) -> Array:
    """The sums with drawn signs; a threaded product of BLAS would wait for its threads."""
    return np.asarray(np.einsum("b,be->e", differences, _drawn_signs(len(differences))))


@cache
def _drawn_signs(n: int) -> Array:
    """Blocks x exchanges of two candidates: -1 where they change places."""
    first, second = _draws(n, 2).transpose(2, 1, 0)
    return np.where(second < first, -1.0, 1.0)


def exchanged_sums(scores: Array) -> Array:
    """Candidates x exchanges: the sums over blocks after each exchange; the first are as observed.

    Those of the first candidate are what the others leave of all ranks.
    """
    exchanges = _exchanges(*scores.shape)[:, 1:]
    others = np.asarray(sum(map(np.take, scores, exchanges)))
    return np.vstack([scores.sum() - others.sum(axis=0), others])


@cache
def _exchanges(n: int, m: int) -> npt.NDArray[np.int8]:
    """Blocks x candidates x exchanges: all of them, or `DRAWS`; the first leaves everything in its place."""
    if math.factorial(m) ** n <= DRAWS:
        every = list(permutations(range(m)))
        drawn = np.array(list(product(every, repeat=n)))
    else:
        drawn = np.argsort(_draws(n, m), axis=2)
    return np.ascontiguousarray(drawn.transpose(1, 2, 0), dtype=np.int8)


def _draws(n: int, m: int) -> Array:
    """Exchanges x blocks x candidates: numbers whose order is that of the candidates; as observed first."""
    drawn = np.random.default_rng([n, m]).random((DRAWS, n, m))
    drawn[0] = np.arange(m)
    return drawn


class Ratio(NamedTuple):
    """How many times the reference's cost a candidate has, within blocks; ``interval``: of the median."""

    median: float
    interval: Interval | None


def ratio(costs: Array, level: float = LEVEL) -> Ratio:
    """Of the second candidate to the first; the interval holds the factors that the test of two allows.

    Without an interval, so few blocks allow any factor.

    Parameters
    ----------
    costs : blocks x 2, as in `against_reference`; two that are infinite are alike
    """
    with np.errstate(invalid="ignore"):
        logs = np.nan_to_num(costs[:, 1] - costs[:, 0], nan=0.0, posinf=math.inf, neginf=-math.inf)
        means = np.add.outer(logs, logs)[np.triu_indices(len(logs))] / 2
    ends = np.unique(np.nan_to_num(means, nan=0.0, posinf=math.inf, neginf=-math.inf))
    middle = sorted(logs)[len(logs) // 2] if np.isinf(logs).any() else float(median_along(logs))
    interval = _allowed(logs, ends, level) if 2 ** (1 - len(logs)) <= level else None
    return Ratio(math.exp(middle), interval)


def _allowed(logs: Array, ends: Array, level: float) -> Interval:
    """The factors that are not rejected: p changes only at means of two logarithms (``ends``)."""
    finite = ends[np.isfinite(ends)]
    if not len(finite):
        return Interval(math.exp(ends[0]), math.exp(ends[-1]), 1 - float(2 ** (1 - len(logs))))
    beyond = [finite[0] - 1, *((finite[1:] + finite[:-1]) / 2).tolist(), finite[-1] + 1]

    def p(shift: float) -> float:
        apart = np.column_stack([np.full(len(logs), shift), logs])
        return probability(aligned_ranks(apart))

    middle = int(np.searchsorted(finite, median_along(logs[np.isfinite(logs)])))
    low = bisect_left(range(middle), True, key=lambda place: p(beyond[place]) > level)
    high = bisect_left(range(middle + 1, len(beyond)), True, key=lambda place: p(beyond[place]) <= level)
    high += middle + 1
    outside = [p(beyond[place]) for place in (low - 1, high) if 0 <= place < len(beyond)]
    return Interval(
        math.exp(finite[low - 1] if low else ends[0]),
        math.exp(finite[high - 1] if high < len(beyond) else ends[-1]),
        1 - max(outside, default=float(2 ** (1 - len(logs)))),
    )
