"""Few candidates measured side by side in blocks: which differ, by exchanging their values within each block.

What disturbs a block, such as its nodes or the hour, disturbs all its candidates alike and drops out. A value
becomes a score: its logarithm less the median of its block, ranked over all blocks (aligned ranks), among the
candidates of the set in question. If they are alike, each exchange of their scores within blocks is as likely
as the observed one: all exchanges are tried, or `DRAWS` random ones, always the same.

Each question is closed (Marcus, Peritz, Gabriel): two candidates differ if every set of candidates with both
of them differs. Against a reference those are the sets that hold it, each at the full level: 6 blocks can
show something. For all pairs disjoint sets may each be alike, so that a set of m of k is tested at 1 - (1 -
level)^(m / k), as in `mpicampaign.statistics.comparisons`: 7 blocks for up to six candidates, 8 beyond. More
candidates than `MOST` have too many sets: there Holm's steps on the tests of the pairs.

How often each errs, and what it finds, was simulated: ``bench/blocks.py``.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from mpicampaign.statistics.comparisons import LEVEL, holm, share_of_level
from mpicampaign.statistics.medians import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from mpicampaign.statistics.comparisons import Pair

    Array = npt.NDArray[np.float64]

DRAWS = 20_000  # exchanges that are tried where there are more
MOST = 8  # candidates whose sets are all tested
_ROUNDING = 1e-9

Key = TypeVar("Key")


def fewest_blocks(candidates: int, all_pairs: bool = False, level: float = LEVEL) -> int:
    """The least number of blocks that can show a difference of two candidates among so many."""
    if candidates > MOST:
        needed = level / (math.comb(candidates, 2) if all_pairs else candidates - 1)
    else:
        share = share_of_level(2, candidates, 2 / candidates) if all_pairs and candidates > 2 else 1.0
        needed = 1 - (1 - level) ** share
    return math.ceil(1 - math.log2(needed))


def against_reference(costs: Array, level: float = LEVEL) -> list[float]:
    """The probability of each candidate but the first, the reference, closed over all of them.

    Those above ``level`` may be larger than what is returned.

    Parameters
    ----------
    costs : blocks x candidates, logarithms of what should be low; infinite where a run met its time limit
    """
    others = range(1, costs.shape[1])
    if costs.shape[1] > MOST:
        return list(_by_holm(costs, [(0, other) for other in others]).values())
    sets = [(0, *chosen) for size in range(len(others), 0, -1) for chosen in combinations(others, size)]
    found = _closed(costs, sets, {other: (0, other) for other in others}, level, reference=True)
    return [found[other] for other in others]


def all_pairs(costs: Array, level: float = LEVEL) -> dict[Pair, float]:
    """The probability of each pair of candidates, closed over all of them; as `against_reference`."""
    k = costs.shape[1]
    if k > MOST:
        return _by_holm(costs, combinations(range(k), 2))
    sets = [chosen for size in range(k, 1, -1) for chosen in combinations(range(k), size)]
    return _closed(costs, sets, {pair: pair for pair in combinations(range(k), 2)}, level, reference=False)


def _by_holm(costs: Array, pairs: Iterable[Pair]) -> dict[Pair, float]:
    found = holm({pair: probability(aligned_ranks(costs[:, pair]), reference=False) for pair in pairs})
    return {pair: found[pair] for pair in sorted(found)}


def _closed(
    costs: Array,
    sets: Iterable[tuple[int, ...]],
    questions: Mapping[Key, Pair],
    level: float,
    reference: bool,
) -> dict[Key, float]:
    """The largest probability of the sets that hold each pair; larger sets come first, and may decide."""
    k = costs.shape[1]
    found = dict.fromkeys(questions, 0.0)
    for chosen in sets:
        open_ = [key for key, pair in questions.items() if found[key] <= level and {*pair} <= {*chosen}]
        if not open_:
            continue
        p = probability(aligned_ranks(costs[:, chosen]), reference)
        if not reference:
            p = 1 - (1 - p) ** (1 / share_of_level(len(chosen), k, 2 / k))
        found |= {key: max(found[key], p) for key in open_}
    return found


def aligned_ranks(costs: Array) -> Array:
    """Ranks over all blocks of the values less the median of their block; equal ones share a rank."""
    finite = np.where(np.isfinite(costs), costs, np.nan)
    finite[np.isnan(finite).all(axis=1)] = 0.0
    middle = np.nanmedian(finite, axis=1)
    _, place, counts = np.unique(costs - middle[:, None], return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place].reshape(costs.shape))


def probability(scores: Array, reference: bool) -> float:
    """How often exchanges within blocks bring two sums of scores as far apart as any two are.

    Parameters
    ----------
    scores : blocks x candidates
    reference : only the first candidate is compared with the others
    """
    n, m = scores.shape
    if m == 2:
        return _of_signs(scores[:, 1] - scores[:, 0])
    sums = sum(block[places] for block, places in zip(scores, _exchanges(n, m), strict=True))
    far = np.abs(sums[1:] - sums[0]).max(axis=0) if reference else np.ptp(sums, axis=0)
    return float(np.mean(far >= far[0] * (1 - _ROUNDING)))


def _of_signs(differences: Array) -> float:
    """Two-sided, over all signs of the differences of two candidates."""
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate([sums + each, sums - each])
    far = np.abs(sums)
    return float(np.mean(far >= far[0] * (1 - _ROUNDING)))


@cache
def _exchanges(n: int, m: int) -> npt.NDArray[np.int8]:
    """Blocks x candidates x exchanges: all of them, or `DRAWS`; the first leaves everything in its place."""
    if math.factorial(m) ** n <= DRAWS:
        every = list(permutations(range(m)))
        drawn = np.array(list(product(every, repeat=n)))
    else:
        drawn = np.argsort(np.random.default_rng([n, m]).random((DRAWS, n, m)), axis=2)
        drawn[0] = np.arange(m)
    return np.ascontiguousarray(drawn.transpose(1, 2, 0), dtype=np.int8)


class Ratio(NamedTuple):
    """How many times the reference's cost a candidate has, within blocks; ``interval``: of the median."""

    median: float
    interval: Interval | None


def ratio(costs: Array, coverage: float = 0.95) -> Ratio:
    """Of the second candidate to the first; ``None`` where so few blocks have no interval.

    The interval holds the factors that the signed ranks allow (Hodges and Lehmann).

    Parameters
    ----------
    costs : blocks x 2, as in `against_reference`; two that are infinite are alike
    """
    with np.errstate(invalid="ignore"):
        logs = np.nan_to_num(costs[:, 1] - costs[:, 0], nan=0.0, posinf=math.inf, neginf=-math.inf)
    means = np.sort([0.0 if a == -b else (a + b) / 2 for a, b in combinations_with_replacement(logs, 2)])
    cut, covered = _signed_ranks(len(logs), (1 - coverage) / 2)
    interval = Interval(math.exp(means[cut]), math.exp(means[-1 - cut]), covered) if covered else None
    return Ratio(
        math.exp(sorted(logs)[len(logs) // 2] if np.isinf(logs).any() else np.median(logs)), interval
    )


@cache
def _signed_ranks(n: int, tail: float) -> tuple[int, float]:
    """The largest sum of signed ranks with at most this tail, and the coverage; 0 where there is none."""
    ways = np.ones(1)
    for rank in range(1, n + 1):
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    below = np.cumsum(ways) / 2**n
    cut = int(np.searchsorted(below, tail + _ROUNDING, side="right")) - 1
    return (cut, 1 - 2 * float(below[cut])) if cut >= 0 else (0, 0.0)
