"""Multiple comparisons: probabilities corrected for all pairs of one ranking.

The family is one ranking: all pairs of the placements of one host group (or of the host groups in one
placement) in one metric. The probability of any false difference in it stays below the level. The best group
is chosen from the same data, so its pairs alone would not be a valid smaller family. Other rankings are other
questions; statements about several host groups together count them (`mpicampaign.compare.consensus`).

Up to `CLOSED` groups the procedure is that of Ryan, Einot, Gabriel and Welsch with rank tests: two groups
differ if every set of groups with both of them differs (Kruskal and Wallis; for two groups the exact
Mann-Whitney test). A set of m of the k groups is tested at 1 - (1 - level)^(m/k), sets of k and k - 1 groups
at the level itself: disjoint sets may each be homogeneous, and their errors add up to the level. Holm's steps
are simpler. But with 5 repeats each, where no pair has less than p = 0.0079, they could not distinguish 5
groups (10 pairs, 0.079) nor the 7 host groups of the STFC report (21 pairs, 0.17); this procedure gives 0.020
and 0.028. Beyond `CLOSED` groups there are too many sets, and Holm's steps apply.

``tests/test_comparisons.py`` (marked full) measures the probability of any false difference.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, islice
from typing import TYPE_CHECKING

from mpicampaign.statistics.medians import doubled_midranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.statistics.medians import Difference

CLOSED = 8  # most groups of which all sets are tested (256 sets)


def corrected_differences(
    groups: Sequence[Sequence[float]],
    differences: Mapping[tuple[int, int], Difference],
    level: float = 0.05,
) -> dict[tuple[int, int], Difference]:
    """The differences with their probabilities corrected for the number of comparisons.

    Parameters
    ----------
    groups : the values of every group of the family
    differences : by the positions of the two groups: of all pairs, or of those that are shown
    level : the allowed probability of any false difference in the family
    """
    alone = {pair: found.p for pair, found in differences.items() if found.p is not None}
    corrected = _by_sets(groups, alone) if len(groups) <= CLOSED else _by_steps(len(groups), alone)
    return {
        pair: _judged(found, corrected[pair], groups, pair, level) if pair in corrected else found
        for pair, found in differences.items()
    }


def _by_sets(
    groups: Sequence[Sequence[float]], alone: Mapping[tuple[int, int], float]
) -> dict[tuple[int, int], float]:
    """The largest probability of any set with the pair, each scaled by the level of its set."""
    k = len(groups)
    corrected = {pair: scaled(p, 2, k) for pair, p in alone.items()}
    for m in range(3, k + 1):
        for members in combinations(range(k), m):
            p = scaled(kruskal_wallis([groups[index] for index in members]), m, k)
            for pair in combinations(members, 2):
                if pair in corrected and corrected[pair] < p:
                    corrected[pair] = p
    return corrected


def _by_steps(k: int, alone: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """Holm's steps; if only some pairs are given, the others may come first, and no step is saved."""
    everything = math.comb(k, 2)
    corrected, largest = {}, 0.0
    for step, pair in enumerate(sorted(alone, key=alone.__getitem__)):
        left = everything - step if len(alone) == everything else everything
        largest = max(largest, min(1.0, alone[pair] * left))
        corrected[pair] = largest
    return corrected


def scaled(p: float, m: int, k: int) -> float:
    """The level of the family at which a set of m of k groups with this probability is not homogeneous."""
    return p if m >= k - 1 else 1 - (1 - p) ** (k / m)


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> float:
    """Probability that groups of one distribution differ as much in their ranks (chi-squared)."""
    ranks = doubled_midranks([value for group in groups for value in group])
    n, following = len(ranks), iter(ranks)
    spread = 1 - sum(count**3 - count for count in Counter(ranks).values()) / (n**3 - n)
    if spread <= 0:
        return 1.0
    squares = math.fsum((sum(islice(following, len(group))) / 2) ** 2 / len(group) for group in groups)
    return chi_squared_tail((12 * squares / (n * (n + 1)) - 3 * (n + 1)) / spread, len(groups) - 1)


def chi_squared_tail(x: float, freedom: int) -> float:
    """Probability of more than ``x``, by the finite sums for whole degrees of freedom."""
    if x <= 0:
        return 1.0
    half = x / 2
    if freedom % 2 == 0:
        term = total = math.exp(-half)
        for k in range(1, freedom // 2):
            term *= half / k
            total += term
        return min(total, 1.0)
    total = math.erfc(math.sqrt(half))
    term = math.exp(-half) * math.sqrt(half) / math.gamma(1.5)
    for k in range(1, (freedom + 1) // 2):
        total += term
        term *= half / (k + 0.5)
    return min(total, 1.0)


def _judged(
    found: Difference,
    corrected: float,
    groups: Sequence[Sequence[float]],
    pair: tuple[int, int],
    level: float,
) -> Difference:
    """The difference with its significance; None where so few repeats cannot show one among so many pairs."""
    pairs = math.comb(len(groups), 2)
    judged = replace(found, corrected=corrected, comparisons=pairs, significant=corrected <= level)
    sizes = [len(groups[index]) for index in pair]
    if corrected <= level or found.p is None or found.p > level or _attainable(sizes, len(groups)) <= level:
        return judged
    how = "complete separation" if abs(found.effect) == 1 else f"p = {found.p:.2g} alone"
    repeats = " and ".join(str(size) for size in dict.fromkeys(sizes))
    reason = f"{how}, but {pairs} comparisons are too many for {repeats} repeats"
    return replace(judged, significant=None, reason=reason)


def _attainable(sizes: Sequence[int], k: int) -> float:
    """The smallest corrected probability that complete separation of two groups can have."""
    least = 2 / math.comb(sum(sizes), sizes[0])
    return scaled(least, 2, k) if k <= CLOSED else least * math.comb(k, 2)
