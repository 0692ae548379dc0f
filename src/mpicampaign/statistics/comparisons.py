"""All pairs of a family of groups: which differ, with one stated error for the whole family.

A family is one ranking: the placements of one host group, or the host groups in one placement, in one metric.
Each pair must pass two tests, since each fails where the other does not: the exact Mann-Whitney test (Welch's
is misled by repeats in several modes) and Welch's test of the logarithms (ranks are misled by unequal
spreads). Which error is controlled depends on the number of groups and repeats:

`FAMILY_WISE`: the chance that any pair is wrongly called different is at most 5 %. The procedure is that of
Ryan, Einot, Gabriel and Welsch with rank tests: two groups differ if every set of groups with both of them
differs (Kruskal and Wallis; for two groups Mann and Whitney). A set of m of the k groups is tested at 1 - (1
- level)^W. Disjoint sets may each be alike, and their errors add up, so that the W of disjoint sets must not
exceed 1 together: W = m / k, and 1 for sets of k - 1 groups. For odd k pairs may have up to 2 / (k - 1)
instead, since a set of one group is not a hypothesis; see `share_of_level`. With 5 repeats even complete
separation has p = 0.0079; that is enough among up to 13 groups. Beyond `MOST` groups there are too many sets.

`FALSE_SHARE`: of the pairs called different, at most about 5 % are expected to be wrong. The steps of
Benjamini and Hochberg on the probabilities of each test; both must agree. They show nothing unless enough
pairs are separated: 16 % of them with 5 repeats, 57 % with 4.

Where pairs are left out since no test of them is valid, there are no sets. Then Holm's steps on the larger
probability of both tests control the family-wise error over the pairs that remain; where so few repeats
cannot pass the first step, those of Benjamini and Hochberg the false share.

How often each errs, and what it finds, was simulated: ``tests/test_many_groups.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mpicampaign.statistics.distributions import chi_squared_tail
from mpicampaign.statistics.medians import difference
from mpicampaign.statistics.welch import welch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from mpicampaign.statistics.medians import Difference

FAMILY_WISE = "family-wise error"
FALSE_SHARE = "false share"
MOST = 16  # groups of which all sets are tested (65,536 sets)
FEWEST = 4  # repeats of a group that is tested
LEVEL = 0.05
_ROUNDING = 1e-12

Probability = TypeVar("Probability", float, "npt.NDArray[np.float64]")
Key = TypeVar("Key")
Pair = tuple[int, int]  # positions of two groups, the smaller first
_NONE: Mapping[Pair, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Family:
    """Every pair of a family, and which error is controlled over all of them."""

    error: str
    differences: Mapping[Pair, Difference]


def compare_pairs(
    groups: Sequence[Sequence[float]], level: float = LEVEL, left_out: Mapping[Pair, str] = _NONE
) -> Family:
    """Every pair of the groups, with its probability among all of them.

    Groups of fewer than `FEWEST` repeats are neither tested nor part of the family.

    Parameters
    ----------
    groups : the values of every group, one for each repeat
    level : the chance of any false difference, or the expected share of false ones
    left_out : pairs of which no test is valid, with the reason
    """
    pairs = list(combinations(range(len(groups)), 2))
    alone = {(a, b): difference(groups[a], groups[b], level) for a, b in pairs}
    tested = [index for index, group in enumerate(groups) if len(group) >= FEWEST]
    members = [groups[index] for index in tested]
    ranks = {pair: alone[tested[pair[0]], tested[pair[1]]].p for pair in combinations(range(len(tested)), 2)}
    valid = {(a, b): p for (a, b), p in ranks.items() if (tested[a], tested[b]) not in left_out}
    known = {pair: p for pair, p in valid.items() if p is not None}
    means = {(a, b): welch(members[a], members[b]) for a, b in known}
    whole = len(valid) == len(ranks)
    reach = _sets_reach if whole else partial(_steps_reach, known)
    error = FAMILY_WISE if reach(list(map(len, members)), level) else FALSE_SHARE
    if error == FALSE_SHARE:
        found = _by_share(known, means)
    else:
        found = _by_sets(members, known, means, level) if whole else _by_holm(known, means)
    corrected = {(tested[a], tested[b]): p for (a, b), p in found.items()}
    answers = {}
    for pair in pairs:
        a, b = (len(groups[index]) for index in pair)
        few = "" if min(a, b) >= FEWEST else f"{a} and {b} repeats: a test needs {FEWEST} of each"
        reason = alone[pair].reason or few or left_out.get(pair, "")
        answers[pair] = _judged(alone[pair], corrected.get(pair), len(known), reason, level)
    return Family(error, answers)


def _judged(
    found: Difference, corrected: float | None, comparisons: int, reason: str, level: float
) -> Difference:
    """The difference among all that are tested; without an answer, but with the reason, where it is not."""
    if corrected is None:
        return replace(found, p=None, corrected=None, significant=None, reason=reason)
    significant = corrected <= level + _ROUNDING
    return replace(found, corrected=corrected, comparisons=comparisons, significant=significant)


# The chance of any false difference


def share_of_level(m: int, k: int, pair: float) -> float:
    """W of a set of m of the k groups of a family: it is tested at 1 - (1 - level)^W.

    Parameters
    ----------
    pair : W of two groups: 2 / k, or for odd k up to 2 / (k - 1). Then sets of an odd number have what the
        pairs leave: with j such sets the sum is j - (j - 1) k pair / 2, at most 1.
    """
    if m >= k - 1:
        return 1.0
    return 1 - (k - m) * pair / 2 if k % 2 and m % 2 else m * pair / 2


def share_of_pairs(k: int, fewest: int, level: float) -> float:
    """W of pairs: as much as complete separation needs with so few repeats, if there is so much."""
    even = 2 / k
    needed = math.log1p(-2 / math.comb(2 * fewest, fewest)) / math.log1p(-level)
    return needed if k % 2 and even < needed <= 2 / (k - 1) else even


def _scaled(p: Probability, share: float) -> Probability:
    """The level of the family at which a set with this probability and W is not alike."""
    result: Probability = 1 - (1 - p) ** (1 / share)
    return result


def _sets_reach(sizes: Sequence[int], level: float) -> bool:
    """Whether at least half of the pairs could be shown different if all groups were separated."""
    k = len(sizes)
    if k < 2 or k > MOST:
        return k < 2
    share = share_of_level(2, k, share_of_pairs(k, min(sizes), level))
    least = [2 / math.comb(a + b, a) for a, b in combinations(sizes, 2)]
    return 2 * sum(_scaled(p, share) <= level + _ROUNDING for p in least) >= len(least)


def _by_sets(
    groups: Sequence[Sequence[float]], ranks: Mapping[Pair, float], means: Mapping[Pair, float], level: float
) -> dict[Pair, float]:
    """The largest probability of both tests of a pair and of all sets with the pair, each scaled by its W."""
    k = len(groups)
    of_pairs = share_of_pairs(k, min(map(len, groups)), level) if k > 2 else 1.0
    share = share_of_level(2, k, of_pairs)
    corrected = {pair: _scaled(max(ranks[pair], means[pair]), share) for pair in ranks}
    if k > 2:
        member, p = _sets(k), _set_probabilities(groups, of_pairs)
        for a, b in corrected:
            with_both = member[:, a] & member[:, b]
            corrected[a, b] = max(corrected[a, b], float(p[with_both].max()))
    return corrected


@cache
def _sets(k: int) -> npt.NDArray[np.bool_]:
    """Which groups each set of three groups or more has: sets x k."""
    numbers = np.arange(2**k)[:, None] >> np.arange(k)[None, :] & 1
    return np.asarray(numbers[numbers.sum(axis=1) > 2], dtype=bool)


def _set_probabilities(groups: Sequence[Sequence[float]], of_pairs: float) -> npt.NDArray[np.float64]:
    """Kruskal and Wallis' probability of each of the sets, scaled; the ranks come from pairs of groups."""
    k, member = len(groups), _sets(len(groups))
    sizes = np.array([len(group) for group in groups], dtype=float)
    above = np.array([[0.0 if a is b else _above(a, b) for b in groups] for a in groups])
    rank_sums = member @ above.T + sizes * (sizes + 1) / 2
    n = member @ sizes
    h = 12 / (n * (n + 1)) * ((rank_sums**2 / sizes) * member).sum(axis=1) - 3 * (n + 1)
    spread = 1 - _ties(groups, member) / (n**3 - n)
    h = np.divide(h, spread, out=np.zeros_like(h), where=spread > 0)
    found, m = np.zeros_like(h), member.sum(axis=1)
    for size in range(3, k + 1):
        found[m == size] = _scaled(
            chi_squared_tail(h[m == size], size - 1), share_of_level(size, k, of_pairs)
        )
    return np.asarray(found)


def _steps_reach(pairs: Iterable[Pair], sizes: Sequence[int], level: float) -> bool:
    """Whether at least half of the pairs could pass the first step of Holm."""
    least = [2 / math.comb(sizes[a] + sizes[b], sizes[a]) for a, b in pairs]
    return 2 * sum(p * len(least) <= level + _ROUNDING for p in least) >= len(least)


def _by_holm(ranks: Mapping[Pair, float], means: Mapping[Pair, float]) -> dict[Pair, float]:
    """The larger probability of both tests of each pair, by the steps of Holm."""
    return holm({pair: max(ranks[pair], means[pair]) for pair in ranks})


def holm(probabilities: Mapping[Key, float]) -> dict[Key, float]:
    """The probabilities, corrected by Holm's steps over all of them."""
    in_order = sorted(probabilities, key=probabilities.__getitem__)
    steps = (min(1.0, probabilities[key] * (len(in_order) - place)) for place, key in enumerate(in_order))
    return dict(zip(in_order, accumulate(steps, max), strict=True))


def _above(a: Sequence[float], b: Sequence[float]) -> float:
    """Mann and Whitney's U: pairs of values in which that of a is larger; equal ones count half."""
    apart = np.sign(np.subtract.outer(a, b))
    return float((1 + apart).sum() / 2)


def _ties(groups: Sequence[Sequence[float]], member: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The sum of t^3 - t over the values of each set, t: how often the value is in it."""
    values = np.array(sorted({value for group in groups for value in group}), dtype=float)
    counts = np.array([np.equal.outer(values, group).sum(axis=1) for group in groups], dtype=float)
    tied = member @ counts[:, counts.sum(axis=0) > 1]
    return np.asarray((tied**3 - tied).sum(axis=1))


# The expected share of false differences


def _by_share(ranks: Mapping[Pair, float], means: Mapping[Pair, float]) -> dict[Pair, float]:
    """The larger of each pair's probabilities by the steps of Benjamini and Hochberg."""
    by_ranks, by_means = by_steps(ranks), by_steps(means)
    return {pair: max(by_ranks[pair], by_means[pair]) for pair in ranks}


def by_steps(alone: Mapping[Key, float]) -> dict[Key, float]:
    """Each probability among all of them, by the steps of Benjamini and Hochberg."""
    corrected: dict[Key, float] = {}
    smallest = 1.0
    in_order = sorted(alone, key=alone.__getitem__)
    for place in range(len(in_order), 0, -1):
        pair = in_order[place - 1]
        smallest = min(smallest, alone[pair] * len(in_order) / place)
        corrected[pair] = smallest
    return corrected
