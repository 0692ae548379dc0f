"""Many comparisons at once: levels of sets, and corrected probabilities, with one stated error for all.

`FAMILY_WISE`: the chance that any pair is wrongly called different is at most 5 %. The procedure is that of
Ryan, Einot, Gabriel and Welsch: two groups differ if every set of groups with both of them differs. A set of
m of the k groups is tested at 1 - (1 - level)^W. Disjoint sets may each be alike, and their errors add up, so
that the W of disjoint sets must not exceed 1 together: W = m / k, and 1 for sets of k - 1 groups. For odd k
pairs may have up to 2 / (k - 1) instead, since a set of one group is not a hypothesis; see `share_of_level`.
With 5 repeats even complete separation has p = 0.0079; that is enough among up to 13 groups. Beyond `MOST`
groups there are too many sets. Where not all pairs can be tested there are no sets: then Holm's steps.

`FALSE_SHARE`: of the pairs called different, at most about 5 % are expected to be wrong, by the steps of
Benjamini and Hochberg. They show nothing unless enough pairs are separated: 16 % of them with 5 repeats, 57 %
with 4.

How often each errs, and what it finds, was simulated: ``tests/test_slow_members.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import TypeVar

FAMILY_WISE = "family-wise error"
FALSE_SHARE = "false share"
MOST = 16  # groups of which all sets are tested (65,536 sets)
FEWEST = 4  # repeats of a group that is tested
LEVEL = 0.05

Key = TypeVar("Key")


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


def share_of_pairs(k: int, least: float, level: float) -> float:
    """W of pairs: as much as the ``least`` probability of a pair needs, if there is so much."""
    even = 2 / k
    needed = math.log1p(-least) / math.log1p(-level)
    return needed if k % 2 and even < needed <= 2 / (k - 1) else even


def holm(probabilities: Mapping[Key, float]) -> dict[Key, float]:
    """The probabilities, corrected by Holm's steps over all of them."""
    in_order = sorted(probabilities, key=probabilities.__getitem__)
    steps = (min(1.0, probabilities[key] * (len(in_order) - place)) for place, key in enumerate(in_order))
    return dict(zip(in_order, accumulate(steps, max), strict=True))


def by_steps(alone: Mapping[Key, float]) -> dict[Key, float]:
    """Each probability among all of them, by the steps of Benjamini and Hochberg."""
    corrected: dict[Key, float] = {}
    smallest = 1.0
    in_order = sorted(alone, key=alone.__getitem__)
    for place in range(len(in_order), 0, -1):
        pair = in_order[place - 1]
        smallest = min(smallest, alone[pair] * len(alone) / place)
        corrected[pair] = smallest
    return corrected
