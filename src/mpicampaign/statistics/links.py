"""Links between nodes, from rounds of disjoint pairs: which switch, which node, and which link is slow.

The logarithm of a pair's cost is the sum of what the round, the class of distance, both nodes and the link
add. Switches come first, then nodes, then links, each without what was found before: the pairs of a slow
leaf switch are a class of their own, and the effect of a node is the median over its partners. Switches and
nodes take part in every round of the sweeps, so all of these confirm, at one look. Links are suspects after
the sweeps, as in `mpicampaign.statistics.slow_members`; fresh rounds hold suspects and controls of one
class, all disjoint.

What it finds, and how often it errs, was simulated: ``bench/slow_links.py``.
"""

from __future__ import annotations

import math
import random
import warnings
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean, median
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mpicampaign.statistics.against_controls import Drawn, Round
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.slow_members import (
    CONTROLS,
    FEW,
    NORMAL_QUARTILE,
    SUSPECT,
    TOLERANCE,
    Limits,
    Search,
    confirmed,
    everyone,
    spread_of,
)

Pair = tuple[str, str]  # two nodes, in order of their names
_POLISH = 8  # steps towards what nodes and rounds add
_GAP = 6  # standard errors of a pair's mean between two classes
_MEASURED = 0.5  # of all pairs: with fewer no single link is judged


class PairRound(NamedTuple):
    """A stretch of time in which disjoint pairs were measured side by side; ``costs`` as in `Round`."""

    number: int
    costs: Mapping[Pair, float]

    def less(self, shift: float) -> PairRound:
        """The round with lower costs."""
        return PairRound(self.number, {pair: cost - shift for pair, cost in self.costs.items()})


class LinkSearch(NamedTuple):
    """Members of ``links`` are written ``a+b``. ``switches``: ``None`` where fewer than two are known.

    ``classes``: of distance.
    """

    nodes: Search = Search()
    links: Search = Search()
    switches: Search | None = None
    classes: Mapping[Pair, str] = MappingProxyType({})


def search_links(
    rounds: Sequence[PairRound],
    screen: int,
    leaves: Mapping[str, str] = MappingProxyType({}),
    tolerance: float = TOLERANCE,
    level: float = LEVEL,
) -> LinkSearch:
    """What the rounds say so far. ``links.confirm`` has the pairs due in each round after the sweeps.

    Parameters
    ----------
    rounds : numbered from 1
    screen : how many of the first are the two sweeps over all pairs
    leaves : the leaf switch of each node, where it is known
    level : the chance that any switch, node or link is named wrongly
    """
    sweeps = [stretch for stretch in rounds if stretch.number <= screen]
    pairs = sorted({pair for stretch in sweeps for pair in stretch.costs})
    classes = _by_leaf(pairs, leaves) if leaves else _by_gaps(sweeps, pairs)
    level /= 3 if leaves else 2
    switches = None
    if len({*leaves.values()}) > 1:
        rest = _without(sweeps, classes)
        by_leaf = _of_switches(_of_partners(rest, _effects(rest)), leaves)
        switches = _all_compared(by_leaf, screen, tolerance, level)
        classes = _refined(classes, leaves, {switch.member for switch in switches.named})
    rest = _without(sweeps, classes)
    effects = _effects(rest)
    nodes = _all_compared(_of_partners(rest, effects), screen, tolerance, level)
    links = Search()
    if nodes.looks and len(pairs) >= _MEASURED * math.comb(len(effects), 2):
        links = _links(_of_links(rest, effects), rounds, effects, classes, screen, tolerance, level)
    return LinkSearch(nodes, links, switches, classes)


# Classes of distance


def _by_leaf(pairs: Iterable[Pair], leaves: Mapping[str, str]) -> dict[Pair, str]:
    class_of = {}
    for a, b in pairs:
        known = a in leaves and b in leaves
        class_of[a, b] = ("same leaf" if leaves[a] == leaves[b] else "other leaf") if known else "unknown"
    return class_of


def _refined(
    classes: Mapping[Pair, str], leaves: Mapping[str, str], slow: Collection[str]
) -> dict[Pair, str]:
    """The pairs of a slow leaf are a class of their own."""
    class_of = {}
    for pair, name in classes.items():
        slow_leaves = sorted({leaves[node] for node in pair if node in leaves} & {*slow})
        class_of[pair] = ", ".join([name, *slow_leaves])
    return class_of


def _by_gaps(sweeps: Sequence[PairRound], pairs: Sequence[Pair]) -> dict[Pair, str]:
    """Classes by gaps between the means of pairs; smaller groups are no class, but slow links."""
    rest = _level(sweeps)
    of_pairs = _by_pair(_of_links(rest, effects := _effects(rest)))
    means = {pair: fmean(values) for pair, values in of_pairs.items()}
    known = sorted((mean, pair) for pair, mean in means.items() if math.isfinite(mean))
    ordered = np.array([mean for mean, _ in known])
    # the standard error of a pair's mean, from the differences between its sweeps
    both = [values for values in of_pairs.values() if len(values) > 1]
    half_differences = [
        abs(first - second) / 2 for first, second, *_ in both if math.isfinite(first + second)
    ]
    error = float(np.median(half_differences)) / NORMAL_QUARTILE if half_differences else math.inf
    edges, fewest = [0], len(effects) // 2
    for place in np.flatnonzero(np.diff(ordered) > _GAP * error) + 1:
        if place - edges[-1] >= fewest and len(known) - place >= fewest:
            edges.append(int(place))
    sizes = np.diff([*edges, len(known)])
    class_of = dict.fromkeys(pairs, f"distance {int(np.argmax(sizes)) + 1}")
    return class_of | {
        pair: f"distance {bisect_right(edges, place)}" for place, (_, pair) in enumerate(known)
    }


def _level(rounds: Sequence[PairRound]) -> list[PairRound]:
    """Costs without what their rounds add, by pairs of any class that several rounds have."""
    levelled = list(rounds)
    for _ in range(_POLISH):
        means = {pair: fmean(costs) for pair, costs in _by_pair(levelled).items()}
        shifts = [_median(cost - means[pair] for pair, cost in stretch.costs.items()) for stretch in levelled]
        levelled = [stretch.less(shift) for stretch, shift in zip(levelled, shifts, strict=True)]
    return levelled


# What is left


def _without(rounds: Sequence[PairRound], classes: Mapping[Pair, str]) -> list[PairRound]:
    """Costs less the median of the class, then of the round."""
    by_class = defaultdict[str, list[float]](list)
    for stretch in rounds:
        for pair, cost in stretch.costs.items():
            by_class[classes.get(pair, "")].append(cost)
    typical = {name: _median(costs) for name, costs in by_class.items()}
    rest = []
    for stretch in rounds:
        costs = {pair: cost - typical[classes.get(pair, "")] for pair, cost in stretch.costs.items()}
        rest.append(PairRound(stretch.number, costs).less(_median(costs.values())))
    return rest


def _median(costs: Iterable[float]) -> float:
    """The median of the runs that did not fail; 0 if all failed."""
    known = [cost for cost in costs if math.isfinite(cost)]
    return median(known) if known else 0.0


def _effects(rounds: Sequence[PairRound]) -> dict[str, float]:
    """What each node adds: by medians over its partners, without what these add."""
    nodes = sorted({node for stretch in rounds for pair in stretch.costs for node in pair})
    place = {node: index for index, node in enumerate(nodes)}
    costs = np.full((len(rounds), len(nodes)), np.nan)
    partners = np.zeros(costs.shape, dtype=np.int64)
    for row, others, stretch in zip(costs, partners, rounds, strict=True):
        for (a, b), cost in stretch.costs.items():
            row[[place[a], place[b]]] = cost
            others[[place[a], place[b]]] = place[b], place[a]
    effects = np.zeros(len(nodes))
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a node whose partners all fail has no effect: NaN
        for _ in range(_POLISH if rounds else 0):
            effects = np.nanmedian(costs - effects[partners], axis=0)
    return dict(zip(nodes, effects.tolist(), strict=True))


def _of_partners(rounds: Sequence[PairRound], effects: Mapping[str, float]) -> list[Round]:
    """The cost of a node in a round is that of its pair, without what its partner adds."""
    rounds_of_nodes = []
    for stretch in rounds:
        both = [(*ends, cost) for pair, cost in stretch.costs.items() for ends in (pair, pair[::-1])]
        costs = {node: cost - effects[other] for node, other, cost in both if math.isfinite(effects[other])}
        rounds_of_nodes.append(Round(stretch.number, costs))
    return rounds_of_nodes


def _of_switches(rounds: Iterable[Round], leaves: Mapping[str, str]) -> list[Round]:
    """The cost of a leaf switch in a round is the median of its nodes; small leaves have none."""
    sizes, rounds_of_switches = Counter(leaves.values()), []
    for stretch in rounds:
        of_leaves = defaultdict[str, list[float]](list)
        for node, cost in stretch.costs.items():
            if sizes.get(leaves.get(node, ""), 0) > 2:
                of_leaves[leaves[node]].append(cost)
        rounds_of_switches.append(
            Round(stretch.number, {leaf: median(costs) for leaf, costs in of_leaves.items()})
        )
    return rounds_of_switches


def _of_links(rounds: Iterable[PairRound], effects: Mapping[str, float]) -> list[PairRound]:
    """Costs of pairs without what their nodes add."""
    rounds_of_links = []
    for stretch in rounds:
        of_nodes = {(a, b): effects.get(a, math.nan) + effects.get(b, math.nan) for a, b in stretch.costs}
        costs = {pair: stretch.costs[pair] - both for pair, both in of_nodes.items() if math.isfinite(both)}
        rounds_of_links.append(PairRound(stretch.number, costs))
    return rounds_of_links


def _by_pair(rounds: Iterable[PairRound]) -> dict[Pair, list[float]]:
    values = defaultdict[Pair, list[float]](list)
    for stretch in rounds:
        for pair, cost in stretch.costs.items():
            values[pair].append(cost)
    return values


# Searches


def _all_compared(rounds: Sequence[Round], count: int, tolerance: float, level: float) -> Search:
    """All members against each other, at one look after so many rounds."""
    members = sorted({member for stretch in rounds for member in stretch.costs})
    spread = spread_of(stretch.costs.values() for stretch in rounds)
    if spread is None:
        return Search()
    few = len(members) if len(members) <= FEW else 0
    limits = Limits(tolerance, spread, level, len(members), ((count, 1.0),), few)
    return confirmed(rounds, members, partial(everyone, members), 1, limits)


def link(pair: Pair) -> str:
    """The name of a pair as a member of a search."""
    return "+".join(pair)


def _links(
    swept: Sequence[PairRound],
    rounds: Sequence[PairRound],
    effects: Mapping[str, float],
    classes: Mapping[Pair, str],
    screen: int,
    tolerance: float,
    level: float,
) -> Search:
    """The links, after the sweeps; ``swept``: what the nodes leave of these."""
    means = {pair: fmean(values) for pair, values in _by_pair(swept).items()}
    suspects = {link(pair): pair for pair in sorted(means) if means[pair] > math.log1p(SUSPECT * tolerance)}
    fresh = _of_links((stretch for stretch in rounds if stretch.number > screen), effects)
    spread = spread_of(stretch.costs.values() for stretch in swept)
    if spread is None:
        return Search()
    # the standard error of what was taken off for both nodes of a link, over their partners
    shared = math.sqrt(2 / (len(effects) - 1)) * (spread_of([means.values()]) or 0.0)
    limits = Limits(tolerance, spread, level, len(suspects), shared=shared)
    draw = partial(_draw, suspects, classes)
    named = [
        Round(stretch.number, {link(pair): cost for pair, cost in stretch.costs.items()}) for stretch in fresh
    ]
    return confirmed(named, [*suspects], draw, screen + 1, limits)


def _draw(
    suspects: Mapping[str, Pair],
    classes: Mapping[Pair, str],
    due: Sequence[str],
    first: int,
    count: int,
) -> dict[int, Drawn]:
    """Rounds of one class each: suspects on up to half of the nodes, and on the others controls."""
    nodes = sorted({node for pair in classes for node in pair})
    by_class = defaultdict[str, list[Pair]](list)
    for suspect in due:
        by_class[classes[suspects[suspect]]].append(suspects[suspect])
    drawn: dict[int, Drawn] = {}
    for name, waiting in sorted(by_class.items()) * count:
        undrawn = waiting
        while undrawn:
            number = first + len(drawn)
            source = random.Random(f"0 {number}")
            chosen, undrawn = _disjoint(source.sample(undrawn, len(undrawn)), max(len(nodes) // 4, 1))
            free = [node for node in nodes if not any(node in pair for pair in chosen)]
            controls = _matched(source.sample(free, len(free)), name, classes)
            drawn[number] = Drawn([link(pair) for pair in chosen], [link(pair) for pair in controls])
    return drawn


def _disjoint(pairs: Sequence[Pair], most: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs without a common node, and those that are left."""
    chosen, remaining, busy = list[Pair](), list[Pair](), set[str]()
    for pair in pairs:
        fits = len(chosen) < most and busy.isdisjoint(pair)
        (chosen if fits else remaining).append(pair)
        busy |= {*pair} if fits else set()
    return chosen, remaining


def _matched(nodes: Sequence[str], name: str, classes: Mapping[Pair, str]) -> list[Pair]:
    """Disjoint pairs of a class, of nodes in random order; as many as there are at most controls."""
    free, matched = list(nodes), list[Pair]()
    while free and len(matched) < CONTROLS[1]:
        a = free.pop()
        pairs = ((min(a, b), max(a, b)) for b in free)
        pair = next((pair for pair in pairs if classes.get(pair) == name), None)
        if pair:
            free.remove(pair[0] if pair[1] == a else pair[1])
            matched.append(pair)
    return matched
