"""Rankings of several host groups together: an order, and in how many of them it is supported.

``SHM-1 < SHM-2 < IBV < TCP`` in latency: the order is by the mean place of the medians over the host groups
that have every placement of it. A host group supports the order if in each pair of it the better one leads
clearly (`mpicampaign.compare.ranking`). Neighbours of which neither leads clearly in any host group are equal
in it: ``SHM = IBV > TCP``. Where many host groups have some placements only, there are two statements: of the
longest order, and of the one that most of them have. Placements that few host groups have are in neither.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from mpicampaign.compare.ranking import PLACEMENTS, rank_placements
from mpicampaign.grouping import grouped
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Pair, Ranking
    from mpicampaign.compare.rows import Row

SEVERAL = 3  # scopes of a statement on more placements than most scopes have


@dataclass(frozen=True, slots=True)
class Step:
    """Two of the order, with the scopes (host groups) of each answer.

    ``leaning``: the medians are reversed, but the lead is not clear.
    """

    better: str
    worse: str
    supported: tuple[str, ...]
    reversed: tuple[str, ...]
    leaning: tuple[str, ...]
    unclear: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether neither leads clearly anywhere."""
        return not self.supported and not self.reversed


@dataclass(frozen=True, slots=True)
class Mixed:
    """A placement that is left out: its repeats have several modes in so many of its host groups."""

    placement: str
    several: int
    host_groups: int


@dataclass(frozen=True, slots=True)
class StatedRanking:
    """The placements in one metric over the host groups that have all of them.

    ``order``: best first. ``steps``: its neighbours. ``against``: other pairs that are reversed somewhere, at
    least by their medians. ``scopes``: those with every placement of the order. ``whole``: those of them that
    support it. ``rare``: placements in no statement, because too few scopes have them; ``lacking``: how many
    scopes have some placements of the order, but not all. ``mixed``: placements left out because their
    repeats have several modes in most host groups. ``in_turn``: whether any lead is not tested. ``library``:
    the MPI library of all scopes, where their systems have several.
    """

    metric: Metric
    ranks: int | None
    order: tuple[str, ...]
    steps: tuple[Step, ...]
    against: tuple[Step, ...]
    scopes: tuple[str, ...]
    whole: tuple[str, ...]
    rare: tuple[str, ...]
    lacking: int
    mixed: tuple[Mixed, ...] = ()
    in_turn: bool = False
    library: str = ""

    @property
    def tells(self) -> bool:
        """Whether the repeats show any difference between any two, in any scope."""
        return any(step.supported or step.reversed for step in (*self.steps, *self.against))


def stated_rankings(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[StatedRanking, ...]:
    """Statements on each headline metric and number of ranks in which any host group has two placements.

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
    """The statements on each metric, number of ranks and MPI library, of judged rankings of placements."""
    judged = (ranking for ranking in rankings if ranking.kind == PLACEMENTS and ranking.judged)
    groups = grouped(judged, lambda ranking: (ranking.metric, ranking.ranks, ranking.library))
    return tuple(stated for key, members in groups.items() for stated in _of_metric(key[0], members))


def _of_metric(metric: Metric, rankings: Sequence[Ranking]) -> list[StatedRanking]:
    """The longest statement comes first, and says what no statement has."""
    every = dict.fromkeys(name for ranking in rankings for name in _judged(ranking))
    forms = _forms(rankings)
    rare = tuple(name for name in every if name not in forms[0]) if forms else ()
    statements = [_stated(metric, names, rankings) for names in forms]
    return [replace(one, rare=() if place else rare) for place, one in enumerate(statements)]


def _stated(metric: Metric, names: frozenset[str], rankings: Sequence[Ranking]) -> StatedRanking:
    ranked = [ranking for ranking in rankings if names <= set(_judged(ranking))]
    order = _order(names, ranked)
    pairs = {ranking.scope: {frozenset(_names(p)): p for p in ranking.pairs} for ranking in ranked}
    steps = tuple(_step(better, worse, pairs) for better, worse in pairwise(order))
    apart = [_step(*pair, pairs) for pair in combinations(order, 2) if pair not in set(pairwise(order))]
    against = tuple(step for step in apart if step.reversed or step.leaning)
    unequal = [step for step in (*steps, *apart) if not step.equal]
    whole = tuple(scope for scope in pairs if unequal and all(scope in step.supported for step in unequal))
    lacking = sum(1 < len(names.intersection(_judged(ranking))) < len(names) for ranking in rankings)
    in_turn = any(pair.in_turn for of in pairs.values() for both, pair in of.items() if both <= names)
    counts = tuple(pairs), whole, (), lacking
    library, ranks = rankings[0].library, rankings[0].ranks
    return StatedRanking(metric, ranks, order, steps, against, *counts, in_turn=in_turn, library=library)


def _forms(rankings: Sequence[Ranking]) -> list[frozenset[str]]:
    """The placements of each statement: as many as `SEVERAL` scopes have, and fewer that more scopes have.

    Of the most common placements. The shorter statement has the most steps in all scopes together.
    """
    held = [_judged(ranking) for ranking in rankings]
    every = dict.fromkeys(name for own in held for name in own)
    common = sorted(every, key=lambda name: -sum(name in own for own in held))
    first = [frozenset(common[:count]) for count in range(1, len(common) + 1)]
    scopes = {names: sum(names <= own for own in map(set, held)) for names in first}
    several = [names for names in first[1:] if scopes[names] >= SEVERAL]
    longest = several[-1] if several else _most_steps(first, scopes)
    shorter = [names for names in first if len(names) < len(longest) and scopes[names] > scopes[longest]]
    return [names for names in (longest, _most_steps(shorter, scopes)) if len(names) > 1]


def _most_steps(chosen: Iterable[frozenset[str]], scopes: Mapping[frozenset[str], int]) -> frozenset[str]:
    return max(chosen, key=lambda names: (len(names) - 1) * scopes[names], default=frozenset())


def _judged(ranking: Ranking) -> tuple[str, ...]:
    return tuple(one.name for one in ranking.contestants if one.judged)


def _order(names: frozenset[str], rankings: Sequence[Ranking]) -> tuple[str, ...]:
    """The placements by the sum of their places over the rankings."""
    places: Counter[str] = Counter()
    for ranking in rankings:
        in_order = (contestant.name for contestant in ranking.contestants if contestant.name in names)
        places.update({name: place for place, name in enumerate(in_order)})
    return tuple(sorted(names, key=lambda name: (places[name], name)))


def _names(pair: Pair) -> tuple[str, str]:
    return pair.better.name, pair.worse.name


def _step(better: str, worse: str, pairs: Mapping[str, Mapping[frozenset[str], Pair]]) -> Step:
    """In which scopes the order of two is supported, reversed and so on; every scope has the pair."""
    found = {scope: of_scope[frozenset((better, worse))] for scope, of_scope in pairs.items()}

    def scopes(holds: Callable[[Pair], bool]) -> tuple[str, ...]:
        return tuple(scope for scope, pair in found.items() if holds(pair))

    return Step(
        better,
        worse,
        supported=scopes(lambda pair: _supports(pair, better)),
        reversed=scopes(lambda pair: _supports(pair, worse)),
        leaning=scopes(lambda pair: not pair.clear and _is_better(pair, worse)),
        unclear=scopes(lambda pair: not pair.clear and not _is_better(pair, worse)),
    )


def _supports(pair: Pair, better: str) -> bool:
    return pair.clear and _is_better(pair, better)


def _is_better(pair: Pair, name: str) -> bool:
    """Whether the contestant has the better median; of equal ones neither has."""
    return pair.better.name == name and pair.better.median != pair.worse.median
