"""Which of several candidates is better, by blocks: each holds all of them once, on the same nodes.

The plan draws the order in each block, so that ranks within blocks are exact from the first number of blocks
that can show a difference. How often this errs, and what it finds: ``bench/verdicts.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from mpicampaign.base.expectation import fewest_blocks
from mpicampaign.statistics.comparisons import FAMILY_WISE, LEVEL
from mpicampaign.statistics.distributions import Array
from mpicampaign.statistics.medians import Interval
from mpicampaign.verdicts.compare import FEW_REPEATS, TIE, PairVerdict, Verdict, first_or_bets
from mpicampaign.verdicts.looks import REFERENCE, among_all, differences, lead
from mpicampaign.verdicts.rank_tests import probability_at_any_time, signed_ranks
from mpicampaign.verdicts.smallest import probabilities


def compare_blocks(costs: Array, *, with_reference: bool, looks: Sequence[int] = ()) -> Verdict:
    """Compare all pairs of candidates; the better one is so within blocks, wherever the medians lie.

    Parameters
    ----------
    costs : blocks that count x candidates, logarithms of what should be low; infinite where a run met its
        time limit
    with_reference : compare each other candidate with the first one alone
    looks : of each block, how many reports there were before it was planned; without, none
    """
    planned = np.array(looks or [0] * len(costs))
    answers = [
        _tested(costs[planned <= look], with_reference=with_reference)
        for look in sorted(set(planned.tolist())) or [0]
    ]
    pairs = first_or_bets(
        answers,
        lambda pair: probability_at_any_time(differences(costs[:, pair[1]], costs[:, pair[0]]).tolist()),
    )
    return Verdict(FAMILY_WISE, pairs, {pair.worse: pair.better for pair in pairs.values() if pair.clear})


def _tested(costs: Array, *, with_reference: bool) -> dict[tuple[int, int], PairVerdict]:
    n, k = costs.shape
    everybody = tuple(range(k))
    enough = n >= fewest_blocks(k, all_pairs=not with_reference)
    among = among_all(costs, everybody, LEVEL, with_reference=with_reference) if enough else {}
    pairs = [both for both in combinations(everybody, 2) if REFERENCE in both or not with_reference]
    return {both: _pair(costs, *both, among.get(both)) for both in pairs if n}


def _pair(costs: Array, a: int, b: int, p: float | None) -> PairVerdict:
    within, n, middle = differences(costs[:, b], costs[:, a]), len(costs), lead(costs, a, b)
    # equal values in most blocks leave the direction to the others
    better, worse = (a, b) if (middle, np.sign(within).sum()) >= (0, 0) else (b, a)
    alone = None if p is None else signed_ranks(within)
    small = abs(middle) < math.log1p(TIE)
    return PairVerdict(
        better, worse, (n, n), n, True, False, alone, p, FEW_REPEATS if p is None else "", small
    )


class Ratio(NamedTuple):
    """The median over blocks; ``interval``: the ratios that signed ranks do not reject."""

    median: float
    interval: Interval | None


def ratio(costs: Array) -> Ratio:
    """How many times the cost of the first candidate the second one has, within blocks.

    The interval is of order statistics of Walsh averages (Hodges and Lehmann); so few blocks that they allow
    any ratio have none.

    Parameters
    ----------
    costs : blocks x 2, as in `compare_blocks`
    """
    logs = differences(costs[:, 1], costs[:, 0])
    with np.errstate(invalid="ignore"):
        means = np.add.outer(logs, logs)[np.triu_indices(len(logs))] / 2
    means = np.sort(np.where(np.isnan(means), 0.0, means))
    outside = [p for p in probabilities(len(logs), within=True) if p <= LEVEL]
    middle = math.exp(lead(costs, 0, 1))
    if not outside:
        return Ratio(middle, None)
    low, high = means[len(outside) - 1], means[-len(outside)]
    return Ratio(middle, Interval(math.exp(low), math.exp(high), 1 - outside[-1]))
