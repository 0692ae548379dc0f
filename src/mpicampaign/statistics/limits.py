"""A limit from past values, whose rate of false alarms ranks give exactly.

If nothing has changed, past and new values come in any order with the same probability, whatever their
distribution. So the rate is an average over histories: that of one history is not known. It holds for values
that are exchangeable, which `dependence` tests. Equal values make it smaller.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mpicampaign.base.expectation import AlarmRule
from mpicampaign.statistics.change_points import TOO_SHORT

SINGLE, RETESTED = AlarmRule(1, 1), AlarmRule(3, 3)
POWER = 0.9  # with which the smallest change is seen
LEVEL = 0.05  # of either test of `dependence`
_PERMUTATIONS = 999


class PastLimit(NamedTuple):
    """The ``place``-th worst of ``n`` past values.

    ``rate``: of false alarms by the rule. ``change``: the smallest factor by which new values are worse that
    the rule sees with probability `POWER`, if they scatter as the past ones do.
    """

    value: float
    place: int
    n: int
    rule: AlarmRule
    rate: float
    change: float


def false_alarm_rate(rule: AlarmRule, n: int, place: int = 1) -> float:
    """The probability that a rule is met though nothing has changed.

    So many new values are beyond the ``place``-th worst of ``n`` past ones if and only if as many are among
    the ``rule.beyond + place - 1`` worst of all.
    """
    worst = rule.beyond + place - 1
    numbers = range(rule.beyond, min(rule.of, worst) + 1)
    ways = sum(math.comb(rule.of, new) * math.comb(n, worst - new) for new in numbers)
    return ways / math.comb(n + rule.of, worst)


@cache
def fewest(rule: AlarmRule, wish: float) -> int:
    """How many past values a limit needs: for its rate, and for a look at whether the history has changed."""
    return next(n for n in count(TOO_SHORT) if false_alarm_rate(rule, n) <= wish)


@cache
def _place(rule: AlarmRule, n: int, wish: float) -> int:
    """The last of the worst values that meets the wish: a nearer limit sees a smaller change."""
    return next(place for place in count(1) if false_alarm_rate(rule, n, place + 1) > wish)


def past_limit(
    values: Sequence[float], *, lower_is_better: bool, wish: float, rule: AlarmRule = RETESTED
) -> PastLimit:
    """The limit for at least `fewest` positive values. Its place depends on their number alone.

    A place or rule that was chosen by the values would make more alarms than the ranks say.
    """
    worst_first, n = sorted(values, reverse=lower_is_better), len(values)
    place = _place(rule, n, wish)
    limit, seen = worst_first[place - 1], worst_first[_needed(rule, n) - 1]
    change = limit / seen if lower_is_better else seen / limit
    return PastLimit(limit, place, n, rule, false_alarm_rate(rule, n, place), change)


@cache
def _needed(rule: AlarmRule, n: int) -> int:
    """How many of n values have to be beyond a limit so that values like them meet the rule with `POWER`."""
    return next(needed for needed in range(1, n + 1) if _met(rule, needed / n) >= POWER)


def _met(rule: AlarmRule, p: float) -> float:
    ways = range(rule.beyond, rule.of + 1)
    return sum(math.comb(rule.of, hits) * p**hits * (1 - p) ** (rule.of - hits) for hits in ways)


# ---- new values


def is_beyond(value: float, limit: float, *, lower_is_better: bool) -> bool:
    """Whether a value is worse than the limit."""
    return value > limit if lower_is_better else value < limit


def is_met(rule: AlarmRule, beyond: Sequence[bool]) -> bool:
    """Whether enough of the newest values are beyond the limit."""
    return sum(beyond[-rule.of :]) >= rule.beyond


def retests(rule: AlarmRule, beyond: Sequence[bool]) -> int:
    """How many further values, all of them beyond the limit, meet the rule."""
    return next(more for more in range(rule.of + 1) if is_met(rule, [*beyond, *[True] * more]))


# ---- whether past values are exchangeable


class Dependence(NamedTuple):
    """The p of a trend, and of neighbours that are alike: each of a permutation test of the ranks."""

    trend: float
    neighbours: float


def dependence(values: Sequence[float]) -> Dependence:
    """Whether the order of the values says anything about them."""
    ordered = sorted(values)
    ranks = np.array([bisect_left(ordered, value) + bisect_right(ordered, value) for value in values], float)
    orders = _orders(len(values))
    permuted = (ranks - ranks.mean())[orders]
    trends = np.abs(permuted @ (np.arange(len(values)) - (len(values) - 1) / 2))
    products = (permuted[:, 1:] * permuted[:, :-1]).sum(axis=1)
    return Dependence(
        *(
            float(np.mean(statistic >= statistic[0] - 1e-9 * abs(statistic[0])))
            for statistic in (trends, products)
        )
    )


@lru_cache(maxsize=8)
def _orders(n: int) -> npt.NDArray[np.int32]:
    """The order in which the values came, and others at random, always the same ones."""
    permutations = np.tile(np.arange(n, dtype=np.int32), (_PERMUTATIONS + 1, 1))
    permutations[1:] = np.random.default_rng(n).permuted(permutations[1:], axis=1)
    return permutations
