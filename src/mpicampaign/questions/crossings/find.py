"""Where curves over message size cross: at which sizes another candidate beats all that may be the best.

A ranking is of one number of each run: the maximum over all sizes, or the value at one. At other sizes the
order may be the reverse. It is told where it is so in all repeats: every value of the one is better than each
of theirs, by 1 % or more. Sizes of one run depend on each other, so whole runs are exchanged between two
candidates: the chance is the share of exchanges that are as far apart at any size, at most 5 % over all
candidates (``bench/verdicts.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.metrics import curve
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.medians import median
from mpicampaign.verdicts.compare import TIE

if TYPE_CHECKING:
    from mpicampaign.questions.ranking.find import Contestant, Ranking

Curves = dict[int, list[float]]  # by size, ascending: the values of each run


class Crossing(NamedTuple):
    """Neighbouring sizes (B), from ``low`` to ``high``, at which ``name`` beats all leaders in all repeats.

    ``least``, ``most``: how many times better its median is than the best of theirs.
    """

    name: str
    low: int
    high: int
    least: float
    most: float


def crossings(ranking: Ranking) -> tuple[Crossing, ...]:
    """Those of all whom the leaders lead, in the order of the ranking."""
    if not ranking.behind or ranking.metric.baseline:
        return ()
    curves = {one.name: by_size(one) for one in ranking.contestants if one.judged}
    return tuple(crossings_of(curves, ranking.leaders, bool(ranking.metric.lower_is_better)))


def by_size(one: Contestant) -> Curves:
    """The values of its repeats at each size that all of them printed."""
    curves = [curve(series, one.cell.metric.column) for _, series in one.row.curves]
    sizes = set(curves[0]).intersection(*curves) if curves else set()
    return {size: [values[size] for values in curves] for size in sorted(sizes)}


def crossings_of(
    curves: Mapping[str, Curves], leaders: Sequence[str], lower_is_better: bool
) -> Iterator[Crossing]:
    """Where one curve beats those of all leaders; ``curves``: of all that are judged."""
    shared = set.intersection(*(set(curves[name]) for name in leaders))
    others = [name for name in curves if name not in leaders]
    for name in others:
        sizes = [size for size in curves[name] if size in shared]
        pairs = [_gains(curves[name], curves[leader], sizes, lower_is_better) for leader in leaders]
        shown = [
            {size for size, (_, chance) in pair.items() if chance * len(others) <= LEVEL} for pair in pairs
        ]
        ahead = set.intersection(*shown)
        yield from _stretches(
            name, {size: min(pair[size][0] for pair in pairs) if size in ahead else 0.0 for size in sizes}
        )


def _gains(
    curves: Curves, others: Curves, sizes: Sequence[int], lower_is_better: bool
) -> dict[int, tuple[float, float]]:
    """By size at which all runs are better: how many times, and the chance of so much at any size."""
    gains: dict[int, float] = {}
    largest: dict[frozenset[int], float] = {}  # by runs that are better than all the rest at some size
    exchanges = 1
    for size in sizes:
        values, runs = [*curves[size], *others[size]], len(curves[size])
        exchanges = comb(len(values), runs)
        order = sorted(range(len(values)), key=values.__getitem__, reverse=not lower_is_better)
        better, worse = ([values[run] for run in half] for half in (order[:runs], order[runs:]))
        low, high = sorted((median(better), median(worse)))
        if low <= 0 or high < low * (1 + TIE) or better[-1] == worse[0]:
            continue
        first = frozenset(order[:runs])
        largest[first] = max(high / low, largest.get(first, 0.0))
        if first == {*range(runs)}:
            gains[size] = high / low
    return {
        size: (gain, sum(other >= gain for other in largest.values()) / exchanges)
        for size, gain in gains.items()
    }


def _stretches(name: str, gains: Mapping[int, float]) -> Iterator[Crossing]:
    """Neighbouring sizes with a gain."""
    stretch: dict[int, float] = {}
    for size, gain in (*gains.items(), (0, 0.0)):
        if gain:
            stretch[size] = gain
        elif stretch:
            yield Crossing(name, min(stretch), max(stretch), min(stretch.values()), max(stretch.values()))
            stretch = {}
