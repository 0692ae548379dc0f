"""Which candidate leads at each message size, and where the repeats show it.

A ranking is of one number of each run: the maximum over all sizes, or the value at one. At other sizes the
order may be the reverse. A lead is shown where every value of the one is better than each of all others, by
1 % or more. Sizes of one run depend on each other, so whole runs are exchanged between two candidates: the
chance is the share of exchanges that are as far apart at any size; that of the hardest of the others counts,
times the number of candidates, each of whom might lead: at most 5 % (``bench/verdicts.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from math import comb
from typing import NamedTuple

from mpicampaign.compare.metrics import curve
from mpicampaign.questions.ranking.find import Contestant, Ranking
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.medians import median
from mpicampaign.verdicts.compare import TIE

FEWEST_SIZES = 3
Curves = dict[int, list[float]]  # by size, ascending: the values of each run
Gains = Mapping[int, tuple[float, float]]  # by size: how many times better, and the chance of as much


class SizeLeader(NamedTuple):
    """Who has the best median at a size (B), how many times better than the next; whether it is shown."""

    size: int
    name: str
    factor: float
    shown: bool


def leaders_by_size(ranking: Ranking) -> list[SizeLeader]:
    """At each size that all printed; none of a single candidate, of few sizes, or of shares of a baseline."""
    curves = {one.name: by_size(one) for one in ranking.contestants}
    both = [(pair.better.name, pair.worse.name) for pair in ranking.pairs if pair.verdict.tested]
    if len(curves) < 2 or ranking.metric.baseline:
        return []
    return leaders_of(curves, [*both, *((b, a) for a, b in both)], bool(ranking.metric.lower_is_better))


def by_size(one: Contestant) -> Curves:
    """The values of its repeats at each size that all of them printed."""
    curves = [curve(series, one.cell.metric.column) for _, series in one.row.curves]
    sizes = set(curves[0]).intersection(*curves) if curves else set()
    return {size: [values[size] for values in curves] for size in sorted(sizes)}


def leaders_of(
    curves: Mapping[str, Curves], tested: Sequence[tuple[str, str]], lower_is_better: bool
) -> list[SizeLeader]:
    """Of candidates by name; ``tested``: the pairs that may be tested, in both orders."""
    sizes = sorted(set.intersection(*map(set, curves.values())))
    gains = {
        (a, b): _gains(curves[a], curves[b], sizes, lower_is_better)
        for a, b in permutations(curves, 2)
        if (a, b) in tested
    }
    found = []
    for size in sizes:
        medians = {name: median(curves[name][size]) for name in curves}
        best, second = sorted(medians, key=medians.__getitem__, reverse=not lower_is_better)[:2]
        low, high = sorted((medians[best], medians[second]))
        chances = [gains.get((best, name), {}).get(size, (0.0, 1.0))[1] for name in curves if name != best]
        if low > 0:
            found.append(SizeLeader(size, best, high / low, max(chances) * len(curves) <= LEVEL))
    return found if len(found) >= FEWEST_SIZES else []


def _gains(curves: Curves, others: Curves, sizes: Sequence[int], lower_is_better: bool) -> Gains:
    """At sizes where all runs are better."""
    gains: dict[int, float] = {}
    largest: dict[frozenset[int], float] = {}  # by runs that are better than all the rest at some size
    values, runs = list[float](), 0  # of each size as many
    for size in sizes:
        values, runs = [*curves[size], *others[size]], len(curves[size])
        order = sorted(range(len(values)), key=values.__getitem__, reverse=not lower_is_better)
        better, worse = ([values[run] for run in half] for half in (order[:runs], order[runs:]))
        low, high = sorted((median(better), median(worse)))
        if low <= 0 or high < low * (1 + TIE) or better[-1] == worse[0]:
            continue
        first = frozenset(order[:runs])
        largest[first] = max(high / low, largest.get(first, 0.0))
        if first == {*range(runs)}:
            gains[size] = high / low
    exchanges = comb(len(values), runs)
    return {
        size: (gain, sum(other >= gain for other in largest.values()) / exchanges)
        for size, gain in gains.items()
    }
