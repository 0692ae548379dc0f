"""Many members measured side by side in rounds, such as all nodes of a machine: which of them are slow.

Screen: two rounds of all. Whoever's mean deviation from the median is above `SUSPECT` of the tolerance is a
suspect; of up to `FEW` members all are. Only fresh rounds confirm: in each, the open suspects are compared
with controls, members that were drawn by the round's number. A suspect's score is the van der Waerden score
of its rank among them, after its cost was divided by 1 + tolerance: so the hypothesis is that it is slower
by no more than the tolerance. The sum over rounds has an exact distribution. Holm's steps go over all that
entered; `LOOKS` share the error. At a look those leave that are slow, or too near the others to be found.

The proof needs rounds that do not depend on each other: a member that is slow for an hour is slow in all
rounds of that hour. `Search.dependent` names such members.

How often it errs, and what it finds, was simulated: ``bench/slow_nodes.py``.
"""

from __future__ import annotations

import math
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain
from statistics import NormalDist, fmean
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mpicampaign.base.grouping import grouped
from mpicampaign.base.waves import ROUNDS
from mpicampaign.statistics.against_controls import Drawn, Round, SuspectEvidence
from mpicampaign.statistics.comparisons import LEVEL, holm
from mpicampaign.statistics.distributions import Array

TOLERANCE = 0.02
SCREEN = 2  # rounds of all
FEW = 24  # members of which all are suspects: there the first rounds confirm, too
SUSPECT = 0.75  # of the tolerance
LOOKS = ((6, 0.2), (10, 0.2), (16, 0.25), (24, 0.35))  # fresh rounds of a suspect, share of the error
CONTROLS = (30, 100)  # fewest and most; in between as many as suspects
POWER = 0.96  # by normal theory; about 0.9 after what the screen, the looks and the ranks lose
_LEAVES = 2.5  # standard errors below the smallest slow-down at which a suspect leaves
_NORMAL = NormalDist()
NORMAL_QUARTILE = _NORMAL.inv_cdf(0.75)


class SlowMember(NamedTuple):
    """A slow member, from its fresh rounds.

    ``slower``: the estimate, as a fraction. ``at_least``: its lower bound, for all named members and all
    looks together. ``p``: corrected for these, at most the level. ``in_rounds``: in how many of its
    ``rounds`` it was slower than the median of the controls.
    """

    member: str
    slower: float
    at_least: float
    p: float
    rounds: int
    in_rounds: int


class Undecided(NamedTuple):
    """A suspect after the last look; ``rounds_needed``: fresh ones that would show such an estimate."""

    member: str
    slower: float
    p: float
    rounds_needed: int | None


class Search(NamedTuple):
    """A search so far.

    ``suspects``: all that entered; ``open`` of them are in the rounds to come. ``dependent``: those of the
    named and undecided ones whose rounds depend on each other. ``smallest``: the slow-down that such noise
    lets one find in about nine of ten cases; ``None`` if nothing is known of it. ``confirm``: the members due
    in each round that confirms, also in those that are done.
    """

    suspects: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    named: tuple[SlowMember, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    dependent: tuple[str, ...] = ()
    smallest: float | None = None
    looks: int = 0
    confirm: Mapping[int, tuple[str, ...]] = MappingProxyType({})

    @property
    def not_decided(self) -> set[str]:
        """Those of whom more rounds would tell more."""
        return {*self.open, *(suspect.member for suspect in self.undecided)}

    def without(self, members: Collection[str]) -> Search:
        """Those of whom it is not decided are left to a later wave, which has them."""
        undecided = tuple(suspect for suspect in self.undecided if suspect.member not in members)
        return self._replace(
            open=tuple(node for node in self.open if node not in members), undecided=undecided
        )


# A stage: who is in which round, of open suspects, from a number on, so that each has so many rounds.
Draw = Callable[[Sequence[str], int, int], Mapping[int, Drawn]]


def search(
    rounds: Sequence[Round],
    tolerance: float = TOLERANCE,
    level: float = LEVEL,
    judged: Collection[str] | None = None,
) -> Search:
    """What the rounds say so far.

    Parameters
    ----------
    rounds : numbered from 1; the first `SCREEN` numbers are those of all members
    tolerance : members that are slower by no more than this are not slow
    level : the chance that any member is named wrongly
    judged : members that may be suspects; ``None``: all
    """
    screen = [stretch for stretch in rounds if stretch.number <= SCREEN]
    members, effects = _effects(screen)
    few = len(members) <= FEW
    first = [stretch for stretch in rounds if stretch.number <= (LOOKS[0][0] if few else SCREEN)]
    spread = spread_of(stretch.costs.values() for stretch in first)
    if spread is None or len({stretch.number for stretch in screen}) < SCREEN:
        return Search()
    may_be = members if judged is None else judged
    if few:
        suspects = [member for member in members if member in may_be]
        limits = Limits(tolerance, spread, level, len(suspects), beside=len(members))
        return confirmed(rounds, suspects, partial(everyone, members), 1, limits)
    far = effects > math.log1p(SUSPECT * tolerance)
    suspects = [member for member, is_far in zip(members, far, strict=True) if is_far and member in may_be]
    limits = Limits(tolerance, spread, level, len(suspects))
    return confirmed(rounds, suspects, partial(_draw, members), SCREEN + 1, limits)


def search_waves(
    rounds: Iterable[Round], of_all: int, tolerance: float = TOLERANCE, level: float = LEVEL
) -> Search:
    """What the rounds of several waves say: of members that are measured side by side, as they are free.

    Each judges who was not judged before, with the part of the error that so many members of all have; others
    are controls.
    """
    waves: list[Search] = []
    seen = Counter[str]()
    for wave, stretches in grouped(rounds, lambda measured: measured.number // ROUNDS).items():
        own = [measured._replace(number=measured.number - wave * ROUNDS) for measured in stretches]
        open_still = {member for found in waves for member in found.not_decided}
        made = Counter(member for measured in own if len(measured.costs) > 2 for member in measured.costs)
        judged = {member for member in made if seen[member] < SCREEN or member in open_still}
        searched = search(own, tolerance, level * max(len(judged), 1) / of_all, judged)
        confirm = {number + wave * ROUNDS: members for number, members in searched.confirm.items()}
        waves = [*(earlier.without(judged) for earlier in waves), searched._replace(confirm=confirm)]
        seen += made
    return _joined(waves) if waves else Search()


def _joined(waves: Sequence[Search]) -> Search:
    lists = ("suspects", "open", "named", "undecided", "dependent")
    joined = {name: tuple(chain(*(getattr(found, name) for found in waves))) for name in lists}
    smallest = max((found.smallest for found in waves if found.smallest), default=None)
    looks, confirm = max(found.looks for found in waves), ChainMap(*(dict(found.confirm) for found in waves))
    return Search(**joined, smallest=smallest, looks=looks, confirm=confirm)


def everyone(members: Sequence[str], _: Sequence[str], first: int, count: int) -> dict[int, Drawn]:
    """All members against each other."""
    return {number: Drawn(members, members) for number in range(first, first + count)}


def _draw(members: Sequence[str], suspects: Sequence[str], first: int, count: int) -> dict[int, Drawn]:
    """Controls from all members, as good as the machine; who is absent does not move others."""
    wanted = min(max(len(suspects), CONTROLS[0]), CONTROLS[1])
    drawn = {}
    for number in range(first, first + count):
        places = {member: blake2b(f"0 {number} {member}".encode()).digest() for member in members}
        drawn[number] = Drawn(suspects, sorted(members, key=places.__getitem__)[:wanted])
    return drawn


def _effects(rounds: Iterable[Round]) -> tuple[list[str], Array]:
    """The members, sorted, and the mean deviation of each from the median of its round.

    Of fewer than three members nothing is known.
    """
    of_members = defaultdict[str, list[float]](list)
    for stretch in rounds:
        middle = float(np.median([*stretch.costs.values()])) if len(stretch.costs) > 2 else math.inf
        for member, cost in stretch.costs.items() if math.isfinite(middle) else ():
            of_members[member].append(cost - middle)
    members = sorted(of_members)
    return members, np.array([fmean(of_members[member]) for member in members])


def spread_of(rounds: Iterable[Collection[float]]) -> float | None:
    """The standard deviation of the costs in a round that are not far off, by their median distance."""
    distances = [distance for costs in rounds if math.isfinite(distance := _distance(costs))]
    return float(np.median(distances)) / NORMAL_QUARTILE if distances else None


def _distance(costs: Collection[float]) -> float:
    values = np.array([cost for cost in costs if math.isfinite(cost)])
    if len(values) < 3:
        return math.inf
    factor = _OF_FEW.get(len(values), len(values) / (len(values) - 0.8))
    return factor * float(np.median(np.abs(values - np.median(values))))


# By how much the median distance of few values is too short: Croux and Rousseeuw, Time-efficient algorithms
# for two highly robust estimators of scale, 1992
_OF_FEW = {3: 1.495, 4: 1.363, 5: 1.206, 6: 1.2, 7: 1.14, 8: 1.129, 9: 1.107}


# Confirmation


class Limits(NamedTuple):
    """The limits of a search.

    ``spread``: standard deviation of the members' logarithms in a round. ``entered``: how many suspects.
    ``looks``: after how many fresh rounds of each, with which share of the error. ``beside``: how many
    members a round has, where these are few: ranks among few, and their median, tell less. ``shared``:
    standard error of what all rounds of a member have in common, such as what was taken off for its nodes.
    """

    tolerance: float
    spread: float
    level: float
    entered: int
    looks: Sequence[tuple[int, float]] = LOOKS
    beside: int = 0
    shared: float = 0.0

    @property
    def reach(self) -> float:
        """How many standard errors beyond the tolerance a member is found with `POWER` at the last look."""
        level = self.looks[-1][1] * self.level / max(self.entered, 1)
        return _NORMAL.inv_cdf(1 - level) + _NORMAL.inv_cdf(POWER)

    @property
    def smallest(self) -> float:
        """The logarithm of the smallest slow-down that is found."""
        return math.log1p(self.tolerance) + self.reach * self.error(self.looks[-1][0])

    def error(self, rounds: int) -> float:
        """The standard error of a member's mean logarithm."""
        return math.hypot(self._own_error(rounds), self.shared)

    def margin(self, rounds: int, share: float) -> float:
        """What `shared` adds to the reach of a test that knows the scatter between rounds alone."""
        level = share * self.level / max(self.entered, 1)
        return _NORMAL.inv_cdf(1 - level) * (self.error(rounds) - self._own_error(rounds))

    def _own_error(self, rounds: int) -> float:
        """The error with the precision that ranks among few members lose (factor by simulation)."""
        lost = self.beside / (self.beside - 2) if self.beside > 2 else 1.0
        return lost * self.spread / math.sqrt(rounds)

    def nearest(self, rounds: int) -> float:
        """The logarithm of a slow-down below which a suspect leaves."""
        near = self.smallest - _LEAVES * self.error(rounds)
        return max(math.log1p(SUSPECT * self.tolerance), near)


def confirmed(
    rounds: Sequence[Round], suspects: Sequence[str], draw: Draw, first: int, limits: Limits
) -> Search:
    """A search after its screen; ``first``: number of the first round that confirms."""
    search = Search(tuple(suspects), tuple(suspects), smallest=math.expm1(limits.smallest))
    numbers, drawn, done, all_depend = {stretch.number for stretch in rounds}, dict[int, Drawn](), 0, False
    for look, share in limits.looks:
        if not search.open:
            break
        drawn |= draw(search.open, first + len(drawn), look - done)
        if not drawn.keys() <= numbers:
            break
        evidence = SuspectEvidence(rounds, drawn, search.open)
        if not done:  # later ones are chosen by their first rounds, which alone makes rounds depend
            all_depend = evidence.all_depend()
        search, done = _after_look(search, evidence, limits, look, share), look
    shown = [suspect.member for suspect in search.named] + [suspect.member for suspect in search.undecided]
    dependent = shown if all_depend else SuspectEvidence(rounds, drawn, shown).dependent()
    due = {
        number: tuple(sorted({*of_round.suspects, *of_round.controls})) for number, of_round in drawn.items()
    }
    return search._replace(dependent=tuple(dependent), confirm=due)


def _after_look(search: Search, evidence: SuspectEvidence, limits: Limits, look: int, share: float) -> Search:
    margin = limits.margin(look, share)
    alone = evidence.probabilities(math.log1p(limits.tolerance) + margin)
    p = {
        suspect: min(p / share, 1.0)
        for suspect, p in holm(dict.fromkeys(search.suspects, 1.0) | alone).items()
    }
    slow = [suspect for suspect in evidence.suspects if p[suspect] <= limits.level]
    undecided = [suspect for suspect in evidence.above(limits.nearest(look)) if suspect not in slow]
    last = look == limits.looks[-1][0]
    return search._replace(
        open=() if last else tuple(undecided),
        named=search.named + _named(evidence.of(slow), limits, share, margin, p),
        undecided=_undecided(evidence.of(undecided), limits, p) if last else (),
        looks=search.looks + 1,
    )


def _named(
    slow: SuspectEvidence, limits: Limits, share: float, margin: float, p: Mapping[str, float]
) -> tuple[SlowMember, ...]:
    """Bounds hold for all together, which Holm's later steps reach only at the tolerance."""
    bounds = slow.rejected(share * limits.level / limits.entered)
    slower, rounds = slow.rejected(0.5), slow.slower_in()
    return tuple(
        SlowMember(
            suspect,
            math.expm1(slower[suspect]),
            max(math.expm1(bounds[suspect] - margin), limits.tolerance),
            p[suspect],
            *rounds[suspect],
        )
        for suspect in slow.suspects
    )


def _undecided(
    open_suspects: SuspectEvidence, limits: Limits, p: Mapping[str, float]
) -> tuple[Undecided, ...]:
    slower, needed = (
        open_suspects.rejected(0.5),
        open_suspects.rounds_needed(math.log1p(limits.tolerance), limits.reach),
    )
    return tuple(
        Undecided(suspect, math.expm1(slower[suspect]), p[suspect], needed[suspect])
        for suspect in open_suspects.suspects
    )
