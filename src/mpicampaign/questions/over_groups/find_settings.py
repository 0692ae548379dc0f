"""Which of two is better over the settings that hold both, such as host groups: in how many, and by how much.

A setting counts once, with one ratio: its repeats say nothing of other settings. Whether as much agreement
would be chance: signed ranks of the ratios, and Holm's steps over all pairs of a question.

So are placements over host groups: their order, and how far each is from the best of them. Where the repeats
of a host group fall into several modes their median stands for none: such host groups are left out, and a
placement of which that is the rule is not in the order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.timed_runs import why_untested
from mpicampaign.questions.ranking.find import PLACEMENTS, Ranking
from mpicampaign.statistics.comparisons import LEVEL, holm
from mpicampaign.verdicts.compare import TIE
from mpicampaign.verdicts.rank_tests import signed_ranks

TOO_FEW = "too few"  # settings
_DIGITS = 12  # of logarithms: equal sizes share a rank


class Setting(NamedTuple):
    """How many times better the first of two is in it; ``shown``: by the setting's own repeats."""

    name: str
    ratio: float
    shown: bool = False

    @property
    def turned(self) -> Setting:
        """Seen from the other of the two."""
        return self._replace(ratio=1 / self.ratio)


Settings = tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class OverSettings:
    """Two candidates, the one that is better in more settings first.

    ``left_out``: settings that do not count, since repeats of either fall into several modes. ``p``: among
    all pairs of the question; ``None`` where it is not tested, for the reason ``untested``.
    """

    better: str
    worse: str
    settings: Settings
    left_out: Settings = ()
    p: float | None = None
    untested: str = ""

    @property
    def leads(self) -> Settings:
        """Settings in which the first is better by 1 % or more."""
        return tuple(one for one in self.settings if one.ratio >= 1 + TIE)

    @property
    def against(self) -> Settings:
        """The settings in which the second is ahead, with its ratio."""
        return self.turned.leads

    @property
    def ties(self) -> Settings:
        """The settings in which neither is ahead by 1 % or more."""
        return tuple(one for one in self.settings if 1 / (1 + TIE) < one.ratio < 1 + TIE)

    @property
    def turned(self) -> OverSettings:
        """The other one first."""
        settings, left_out = (tuple(one.turned for one in of) for of in (self.settings, self.left_out))
        return replace(self, better=self.worse, worse=self.better, settings=settings, left_out=left_out)


def too_few(probability: float, tests: int) -> str:
    """Why nothing can be shown if this is the smallest that a test can have; empty where something can."""
    return TOO_FEW if probability * tests > LEVEL else ""


def judged(
    pairs: Sequence[OverSettings], rows: Sequence[Iterable[tuple[Row, Row]]]
) -> tuple[OverSettings, ...]:
    """All pairs of a question, each with the rows that are compared, in either order of the two."""
    why = [
        why_untested(own) or too_few(2.0 ** (1 - len(pair.settings)), len(pairs))
        for pair, own in zip(pairs, rows, strict=True)
    ]
    ratios = {
        n: [round(math.log(one.ratio), _DIGITS) for one in pairs[n].settings]
        for n, reason in enumerate(why)
        if not reason
    }
    p = holm({n: signed_ranks(own) for n, own in ratios.items()})
    return tuple(_better_first(replace(pair, p=p.get(n), untested=why[n])) for n, pair in enumerate(pairs))


def _better_first(pair: OverSettings) -> OverSettings:
    lead = float(len(pair.leads) - len(pair.against))
    return pair if (lead or math.fsum(math.log(one.ratio) for one in pair.settings)) >= 0 else pair.turned


# Placements over host groups


FEWEST_GROUPS = 3  # of an average: of two, either may be the exception
_COMMON = 2  # host groups of two neighbours in the order


class _InGroup(NamedTuple):
    """Two placements in a host group: ``scope`` is number of ranks and MPI library.

    ``modes``: those of which the repeats fall into several modes.
    """

    scope: tuple[int | None, str]
    names: tuple[str, str]
    setting: Setting
    modes: tuple[str, ...]
    rows: tuple[Row, Row]


@dataclass(frozen=True, slots=True)
class OverGroups:
    """One metric, number of ranks and MPI library.

    ``order``: best first. ``steps``: its neighbours. ``behind``: each other placement against the best one.
    ``mixed``: placements that are not in the order, because their repeats have several modes in most host
    groups; ``rare``: because too few host groups have them and the others.
    """

    metric: Metric
    ranks: int | None
    library: str
    order: tuple[str, ...]
    steps: tuple[OverSettings, ...]
    behind: tuple[OverSettings, ...]
    mixed: tuple[str, ...]
    rare: tuple[str, ...]


def over_groups(metrics: Iterable[Metric], rankings: Sequence[Ranking]) -> Iterator[OverGroups]:
    """Of one table, for each of the metrics, number of ranks and MPI library."""
    for metric in metrics:
        for scope, own in grouped(_in_groups(rankings, metric), lambda one: one.scope).items():
            pairs = _pairs(own)
            if any(map(_tells, pairs.values())):
                yield _over_groups(metric, scope, own, pairs)


def _in_groups(rankings: Iterable[Ranking], metric: Metric) -> Iterator[_InGroup]:
    for ranking in rankings:
        scope = ranking.ranks, ranking.library
        for pair in ranking.pairs if (ranking.kind, ranking.metric) == (PLACEMENTS, metric) else ():
            both = pair.better, pair.worse
            if pair.factor and all(one.median > 0 for one in both):
                setting = Setting(ranking.place, pair.factor, pair.verdict.clear)
                modes = tuple(one.name for one in both if one.several_modes)
                rows = pair.better.row, pair.worse.row
                yield _InGroup(scope, (pair.better.name, pair.worse.name), setting, modes, rows)


Pairs = dict[frozenset[str], OverSettings]


def _pairs(every: Iterable[_InGroup]) -> Pairs:
    """The pairs of names that several host groups have, with their settings."""
    pairs, rows = [], []
    for own in grouped(every, lambda one: frozenset(one.names)).values():
        names = own[0].names
        settings = [one.setting if one.names == names else one.setting.turned for one in own]
        plain, modes = (
            tuple(of for of, one in zip(settings, own, strict=True) if bool(one.modes) == mixed)
            for mixed in (False, True)
        )
        if len(own) >= _COMMON:
            pairs.append(OverSettings(*names, plain, modes))
            rows.append([one.rows for one in own if not one.modes])
    return {frozenset((pair.better, pair.worse)): pair for pair in judged(pairs, rows)}


def _tells(pair: OverSettings) -> bool:
    """Whether the pair tells something: of two host groups only if the repeats of one show it."""
    every = (*pair.settings, *pair.left_out)
    return len(every) >= FEWEST_GROUPS or any(one.shown for one in every)


def _over_groups(
    metric: Metric, scope: tuple[int | None, str], every: Sequence[_InGroup], pairs: Pairs
) -> OverGroups:
    groups: dict[str, dict[str, bool]] = {}  # by placement and host group: whether it has several modes
    for one in every:
        for name in one.names:
            groups.setdefault(name, {})[one.setting.name] = name in one.modes
    mixed = tuple(name for name, own in groups.items() if 2 * sum(own.values()) > len(own))
    plain = [name for name in groups if name not in mixed]
    if len(plain) < 2:
        mixed, plain = (), list(groups)
    ordered = _by_wins(_with_each_other(groups, plain, pairs), pairs)
    best = ordered[0] if len(ordered) > 1 else _by_wins(plain, pairs)[0]
    steps = tuple(_of(pairs, a, b) for a, b in pairwise(ordered))
    behind = (
        _of(pairs, best, name) for name in _by_wins([*groups], pairs) if frozenset((best, name)) in pairs
    )
    enough = tuple(pair for pair in behind if len(pair.settings) + len(pair.left_out) >= FEWEST_GROUPS)
    rare = tuple(name for name in plain if name not in ordered) if steps else ()
    return OverGroups(metric, *scope, tuple(ordered), steps, enough, mixed, rare)


def _with_each_other(
    groups: Mapping[str, Mapping[str, bool]], names: Iterable[str], pairs: Pairs
) -> list[str]:
    """The most common ones of which several host groups have each two."""
    chosen: list[str] = []
    for name in sorted(names, key=lambda name: -len(groups[name])):
        every = [pairs.get(frozenset((name, other))) for other in chosen]
        if all(pair and len(pair.settings) >= _COMMON for pair in every):
            chosen.append(name)
    return chosen


def _by_wins(names: Sequence[str], pairs: Pairs) -> list[str]:
    """Best first: by how many others each is better than."""
    wins = Counter(pair.better for both, pair in pairs.items() if both.issubset(names))
    return sorted(names, key=lambda name: (-wins[name], names.index(name)))


def _of(pairs: Pairs, a: str, b: str) -> OverSettings:
    pair = pairs[frozenset((a, b))]
    return pair if pair.better == a else pair.turned
