"""Rankings of several host groups together: an order, and in how many of them it is supported.

``SHM-1 < SHM-2 < IBV < TCP`` in latency: the order is by the mean place of the medians over the host groups.
In each host group the comparison of a neighbouring pair (effect, exact test, corrected for all pairs of that
ranking) supports the order, reverses it, or shows no difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from mpicampaign.compare.ranking import PLACEMENTS, rank_placements
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Pair, Ranking
    from mpicampaign.compare.rows import Row


@dataclass(frozen=True, slots=True)
class Step:
    """Two neighbours of the order, with the scopes (host groups) of each answer.

    ``leaning``: the medians are reversed, but the repeats do not support that.
    """

    better: str
    worse: str
    supported: tuple[str, ...]
    reversed: tuple[str, ...]
    leaning: tuple[str, ...]
    unclear: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mixed:
    """A placement that is left out: its repeats have several modes in so many of its host groups."""

    placement: str
    several: int
    host_groups: int


@dataclass(frozen=True, slots=True)
class StatedRanking:
    """The placements in one metric over all host groups.

    ``order``: best first. ``steps``: its neighbours. ``against``: other pairs that are reversed somewhere, at
    least by their medians. ``scopes``: those with two contestants or more. ``whole``: those of them that
    support every step they can compare. ``alone``: contestants that no scope ranks. ``mixed``: placements
    left out because their repeats have several modes in most host groups.
    """

    metric: Metric
    order: tuple[str, ...]
    steps: tuple[Step, ...]
    against: tuple[Step, ...]
    scopes: tuple[str, ...]
    whole: tuple[str, ...]
    alone: tuple[str, ...]
    mixed: tuple[Mixed, ...] = ()

    @property
    def tells(self) -> bool:
        """Whether the repeats show any difference between any two, in any scope."""
        return any(step.supported or step.reversed for step in (*self.steps, *self.against))


def stated_rankings(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[StatedRanking, ...]:
    """One statement for each headline metric and number of ranks in which any host group has two placements.

    A placement whose repeats have several modes in most host groups (unbound ranks, sometimes on one socket,
    sometimes on two) has no single place in the order. It is left out where two others remain.
    """
    mixed = _mixed(rows)
    plain = [row for row in rows if row.case.placement not in mixed]
    if len({row.case.placement for row in plain if row.ranked}) < 2:
        mixed, plain = {}, list(rows)
    found = state(rank_placements(plain, metrics))
    return tuple(replace(stated, mixed=tuple(mixed.values())) for stated in found)


def _mixed(rows: Sequence[Row]) -> dict[str, Mixed]:
    """Placements with several modes in most of their host groups."""
    found = {}
    for placement in dict.fromkeys(row.case.placement for row in rows):
        own = [row for row in rows if row.case.placement == placement and row.ranked]
        several = sum(row.has_modes for row in own)
        if 2 * several > len(own):
            found[placement] = Mixed(visible(placement), several, len(own))
    return found


def state(rankings: Iterable[Ranking]) -> tuple[StatedRanking, ...]:
    """One statement for each metric and number of ranks of these rankings of placements."""
    groups: dict[tuple[Metric, int | None], list[Ranking]] = {}
    for ranking in rankings:
        if ranking.kind == PLACEMENTS:
            groups.setdefault((ranking.metric, ranking.ranks), []).append(ranking)
    found = (_stated(metric, members) for (metric, _), members in groups.items())
    return tuple(stated for stated in found if stated is not None)


def _stated(metric: Metric, rankings: Sequence[Ranking]) -> StatedRanking | None:
    ranked = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    if not ranked:
        return None
    order = _order(ranked)
    pairs = {ranking.scope: {frozenset(_names(p)): p for p in ranking.pairs} for ranking in ranked}
    steps = tuple(_step(better, worse, ranked, pairs) for better, worse in pairwise(order))
    apart = [pair for pair in combinations(order, 2) if pair not in set(pairwise(order))]
    against = tuple(step for pair in apart if _differs(step := _step(*pair, ranked, pairs)))
    scopes = tuple(ranking.scope for ranking in ranked)
    alone = dict.fromkeys(c.name for ranking in rankings for c in ranking.contestants if c.name not in order)
    whole = tuple(ranking.scope for ranking in ranked if _holds(ranking, order, pairs[ranking.scope]))
    return StatedRanking(metric, order, steps, against, scopes, whole, tuple(alone))


def _order(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    """The contestants by the share of the others that they beat by median, on average over the rankings."""
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        beaten = len(ranking.contestants) - 1
        for place, contestant in enumerate(ranking.contestants):
            shares.setdefault(contestant.name, []).append(place / beaten)
    return tuple(sorted(shares, key=lambda name: sum(shares[name]) / len(shares[name])))


def _differs(step: Step) -> bool:
    return bool(step.reversed or step.leaning)


def _names(pair: Pair) -> tuple[str, str]:
    return pair.better.name, pair.worse.name


def _step(
    better: str, worse: str, rankings: Sequence[Ranking], pairs: dict[str, dict[frozenset[str], Pair]]
) -> Step:
    found = {r.scope: pairs[r.scope].get(frozenset((better, worse))) for r in rankings}

    def scopes(holds: Callable[[Pair | None], bool]) -> tuple[str, ...]:
        return tuple(scope for scope, pair in found.items() if holds(pair))

    return Step(
        better,
        worse,
        supported=scopes(lambda pair: _supports(pair, better)),
        reversed=scopes(lambda pair: _supports(pair, worse)),
        leaning=scopes(lambda pair: _unclear(pair) and _is_better(pair, worse)),
        unclear=scopes(lambda pair: _unclear(pair) and not _is_better(pair, worse)),
        absent=scopes(lambda pair: pair is None),
    )


def _supports(pair: Pair | None, better: str) -> bool:
    return pair is not None and bool(pair.difference.significant) and _is_better(pair, better)


def _unclear(pair: Pair | None) -> bool:
    return pair is not None and not pair.difference.significant


def _is_better(pair: Pair | None, name: str) -> bool:
    """Whether the contestant has the better median; of equal ones neither has."""
    return pair is not None and pair.better.name == name and pair.better.median != pair.worse.median


def _holds(ranking: Ranking, order: Sequence[str], pairs: dict[frozenset[str], Pair]) -> bool:
    """Whether the ranking's own contestants are in that order, each step supported."""
    own = {contestant.name for contestant in ranking.contestants}
    present = [name for name in order if name in own]
    return all(_supports(pairs.get(frozenset(step)), step[0]) for step in pairwise(present))
