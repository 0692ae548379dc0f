"""One group against each of the others: which may be the best of all, and which differ from it.

Each pair has the probability of its own test: the larger of Mann and Whitney's and of Welch's, two-sided, as
in `mpicampaign.statistics.comparisons`. With two groups that is the only test. Of more groups, the pairs with
one in common depend on each other positively, so that these steps keep 5 %:

- *May it be the best?* Of its m pairs those count in which the other is better. The r-th smallest p of them,
  times m / 2r, is the chance of r so far ahead ((m + 1) / 2r for one and two pairs); the smallest of these
  chances counts (Simes). Groups are excluded by the steps of Benjamini and Hochberg on it. The true best is
  excluded in at most 5 % of cases; so is any group if all are alike.
- *Which differ?* Those of the r-th smallest p if it is at most 5 % / (m - r + 1), and all smaller ones
  (Hochberg).

How often each errs, and what it finds, was simulated: ``bench/statistics_errors.py``.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from mpicampaign.statistics.comparisons import LEVEL, by_steps, compare_pairs
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROUNDING = 1e-12


def may_be_best(groups: Sequence[Sequence[float]], lower_is_better: bool) -> list[int]:
    """The positions of the groups that may be the best; those of too few repeats for tests always may.

    Parameters
    ----------
    groups : the values of every group, one for each repeat
    """
    of_pairs = {(a, b): alone(groups[a], groups[b]) for a, b in combinations(range(len(groups)), 2)}
    of_pairs |= {(b, a): p for (a, b), p in of_pairs.items()}
    medians = [median(group) * (-1 if lower_is_better else 1) for group in groups]
    chances = ((place, _chance(medians, of_pairs, place)) for place in range(len(groups)))
    excluded = by_steps({place: chance for place, chance in chances if chance is not None})
    return [place for place in range(len(groups)) if excluded.get(place, 1) > LEVEL + _ROUNDING]


def _chance(
    medians: Sequence[float], of_pairs: Mapping[tuple[int, int], float | None], place: int
) -> float | None:
    """The chance that others are as far ahead of the group; ``None`` where none is ahead."""
    others = (other for other in range(len(medians)) if other != place)
    tested = [(other, p) for other in others if (p := of_pairs[place, other]) is not None]
    better = sorted(p for other, p in tested if medians[other] > medians[place])
    m = max(len(tested), min(len(tested) + 1, 3))
    return min((p * m / (2 * r) for r, p in enumerate(better, start=1)), default=None)


def differ_from(one: Sequence[float], others: Sequence[Sequence[float]]) -> list[bool | None]:
    """Whether each of the others differs from the one.

    ``None``: too few repeats for a test; or it differs as a pair alone, but among so many that may be chance.
    """
    known = [alone(one, other) for other in others]
    in_order = sorted(p for p in known if p is not None)
    m = len(in_order)
    passed = [p for r, p in enumerate(in_order) if p * (m - r) <= LEVEL + _ROUNDING]
    largest = passed[-1] if passed else -1.0
    return [None if p is None or largest < p <= LEVEL else p <= largest for p in known]


def alone(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The probability of the pair's test; ``None`` for too few repeats."""
    return compare_pairs([one, other]).differences[0, 1].corrected
