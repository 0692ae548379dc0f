"""The smallest difference that repeats find in 8 of 10 cases, from the spread at hand.

It is 1.1 (t + 0.84) s / sqrt(n): t Student's quantile at the largest probability that the test can have
within the level of a pair, s the spread of a difference of two runs, 1.1 for ranks in place of values. A
spread of few repeats is off by a third and more, so that one digit is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from statistics import NormalDist, fmean, median
from typing import NamedTuple

from mpicampaign.base.expectation import FEW_CANDIDATES, FEWEST_REPEATS, WITHIN, WITHIN_MANY
from mpicampaign.statistics.comparisons import FAMILY_WISE, LEVEL, MOST, share_of_level, share_of_pairs
from mpicampaign.statistics.distributions import Array, rank_sum_ways, t_quantile
from mpicampaign.verdicts.compare import OfRows, Verdict
from mpicampaign.verdicts.looks import differences
from mpicampaign.verdicts.rows import is_even

_FOUND = NormalDist().inv_cdf(0.8)
_RANKS = 1.1
_EXACT = 30  # repeats up to which only some probabilities are possible
MOST_REPEATS = 1000  # larger numbers are not shown


class Sight(NamedTuple):
    """What repeats of some candidates can see, by their spreads: of differences, of logarithms.

    ``in_rows``: within rows; ``None`` where their order is not even. ``of_values``: of any two runs.
    ``steps``: pairs that share the level by steps; 0: all pairs, by sets. ``blocks``: of any number, all are
    ranked within.
    """

    candidates: int
    repeats: int
    in_rows: float | None
    of_values: float
    steps: int = 0
    blocks: bool = False

    @property
    def difference(self) -> float | None:
        """The smallest that is seen, such as 0.02; ``None`` where the repeats can show nothing."""
        return self.at(self.repeats)

    def at(self, repeats: int) -> float | None:
        """The smallest difference that another number of repeats sees."""
        rows = WITHIN if self.candidates <= FEW_CANDIDATES else WITHIN_MANY
        within = self.in_rows is not None and (self.blocks or repeats >= rows)
        spread = self.in_rows if within and self.in_rows is not None else self.of_values
        return smallest_difference(repeats, spread, self._level(repeats, within), within)

    def repeats_for(self, difference: float) -> int | None:
        """The fewest repeats that see it; ``None``: more than `MOST_REPEATS`."""
        spread = min(self.of_values, self.in_rows or math.inf)
        normal = NormalDist().inv_cdf(1 - LEVEL / 2) + _FOUND  # Student's is larger
        fewest = int((_RANKS * normal * spread / math.log1p(difference)) ** 2)
        counts = range(max(fewest, FEWEST_REPEATS), MOST_REPEATS + 1)
        return next((n for n in counts if (seen := self.at(n)) is not None and seen <= difference), None)

    def _level(self, repeats: int, within: bool) -> float:
        """The level of the test of one pair."""
        k = self.candidates
        if self.steps or k > MOST:
            return LEVEL / (self.steps or math.comb(k, 2))
        if k == 2:
            return LEVEL
        share = share_of_level(2, k, share_of_pairs(k, _least(repeats, within), LEVEL))
        return -math.expm1(share * math.log1p(-LEVEL))


def smallest_seen(verdict: OfRows) -> Sight | None:
    """What the repeats could have seen; ``None`` where nothing is tested or nothing scatters.

    The spread is that of those that may be the best, where they are several: others may be far noisier. Costs
    are logarithms. Repeats that were added after a report find less than those before it: they do not count.
    """
    all_tested = {both: pair for both, pair in verdict.pairs.items() if pair.tested}
    best = set(verdict.may_be_best)
    tested = {both: pair for both, pair in all_tested.items() if best.issuperset(both)} or all_tested
    if not tested:
        return None
    question, k = verdict.question, len(verdict.judged)
    rows = {both: question.rows(both) for both in tested}
    of_values = fmean(
        math.sqrt(2) * spread_of(run.cost for run in question.candidates[who])
        for both in tested
        for who in both
    )
    in_rows = None
    if all(map(is_even, rows.values())):
        in_rows = fmean(spread_of(a.cost - b.cost for a, b in row_pairs) for row_pairs in rows.values())
    repeats = min(
        pair.added.reported if pair.added else min(map(len, question.compared_values(both, rows[both])))
        for both, pair in tested.items()
    )
    has_sets = len(question.rows(tuple(sorted(verdict.judged)))) >= FEWEST_REPEATS  # else Holm's steps
    by_sets = verdict.error == FAMILY_WISE and len(all_tested) == math.comb(k, 2) and has_sets
    sight = Sight(k, repeats, in_rows, of_values, 0 if by_sets else len(all_tested))
    return sight if sight.difference else None


def seen_in_blocks(costs: Array, verdict: Verdict) -> Sight | None:
    """What blocks could have seen, by the pairs of which nothing is shown; ``None`` where there are none."""
    pairs = [both for both, pair in verdict.pairs.items() if pair.shown is False]
    if not pairs:
        return None
    spread = fmean(spread_of(differences(costs[:, b], costs[:, a]).tolist()) for a, b in pairs)
    k, added = costs.shape[1], verdict.pairs[pairs[0]].added
    n = added.reported if added else len(costs)
    of_all = len(verdict.pairs) == math.comb(k, 2)  # else those with the first, each at the level of all
    steps = len(verdict.pairs) if k > MOST else 0
    sight = Sight(k if of_all else 2, n, spread, spread, steps, blocks=True)
    return sight if sight.difference else None


def spread_of(values: Iterable[float]) -> float:
    """A standard deviation by the mean distance from the median, which single runs move little."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return 0.0
    middle = median(finite)
    return 1.25 * fmean(abs(value - middle) for value in finite) * len(finite) / (len(finite) - 1)


def smallest_difference(repeats: int, spread: float, level: float, within: bool) -> float | None:
    """What a test of two at a level sees; ``None`` where it can show nothing.

    Parameters
    ----------
    spread : of differences within rows, or of any two runs
    """
    p = attainable(repeats, within, level)
    if p is None:
        return None
    freedom = repeats - 1 if within else 2 * repeats - 2
    return math.expm1(_RANKS * (t_quantile(p, freedom) + _FOUND) * spread / math.sqrt(repeats))


def _least(repeats: int, within: bool) -> float:
    """The probability of complete agreement."""
    return 2.0 ** (1 - repeats) if within else 2 / math.comb(2 * repeats, repeats)


def attainable(repeats: int, within: bool, level: float) -> float | None:
    """The largest probability up to a level that a test of two can have; ``None``: none is so small.

    Parameters
    ----------
    within : by signed ranks within rows; else by the rank sum of as many values of each
    """
    if repeats > _EXACT:
        return level
    small = [p for p in probabilities(repeats, within) if p <= level]
    return max(small, default=None)


@cache
def probabilities(repeats: int, within: bool) -> tuple[float, ...]:
    """The probabilities that the exact test can have, without ties."""
    if within:  # the sets of ranks by their sum
        ways = [1, *[0] * (repeats * (repeats + 1) // 2)]
        for rank in range(1, repeats + 1):
            ways = [count + (ways[total - rank] if total >= rank else 0) for total, count in enumerate(ways)]
    else:  # the choices of as many of twice as many ranks by their sum, less the smallest
        ways = rank_sum_ways(repeats, repeats, repeats * repeats + 1)
    all_ways, probabilities, below = sum(ways), [], 0
    for count in ways[: (len(ways) + 1) // 2]:
        below += count
        probabilities.append(min(1.0, 2 * below / all_ways))
    return tuple(probabilities)
