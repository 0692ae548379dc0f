"""Placements over host groups, by each metric: their order, and how far each is from the best of them.

Where the repeats of a host group fall into several modes their median stands for none: such host groups are
left out, and a placement of which that is the rule is not in the order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.questions.over_groups.find_settings import OverSettings, Setting, judged
from mpicampaign.questions.ranking.find import PLACEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import PublishedRow, Row
    from mpicampaign.questions.ranking.find import Ranking

FEWEST_GROUPS = 3  # of an average: of two, either may be the exception
_COMMON = 2  # host groups of two neighbours in the order


class _InGroup(NamedTuple):
    """Two placements in a host group: ``scope`` is source, number of ranks and MPI library.

    ``modes``: those of which the repeats fall into several modes. ``rows``: none of published values.
    """

    scope: tuple[str, int | None, str]
    names: tuple[str, str]
    setting: Setting
    modes: tuple[str, ...] = ()
    rows: tuple[Row, Row] | None = None


@dataclass(frozen=True, slots=True)
class OverGroups:
    """One metric, source (the publication, of values that are not measured), number of ranks and library.

    ``order``: best first. ``steps``: its neighbours. ``behind``: each other placement against the best one.
    ``mixed``: placements that are not in the order, because their repeats have several modes in most host
    groups; ``rare``: because too few host groups have them and the others.
    """

    metric: Metric
    source: str
    ranks: int | None
    library: str
    order: tuple[str, ...]
    steps: tuple[OverSettings, ...]
    behind: tuple[OverSettings, ...]
    mixed: tuple[str, ...]
    rare: tuple[str, ...]


def over_groups(
    metrics: Iterable[Metric], rankings: Sequence[Ranking], published: Sequence[PublishedRow]
) -> Iterator[OverGroups]:
    """Of one table, for each of the metrics, source, number of ranks and MPI library."""
    for metric in metrics:
        every = [*_measured(rankings, metric), *_published(published, metric)]
        for scope, own in grouped(every, lambda one: one.scope).items():
            pairs = _pairs(own)
            if any(map(_tells, pairs.values())):
                yield _over_groups(metric, scope, own, pairs)


def _measured(rankings: Iterable[Ranking], metric: Metric) -> Iterator[_InGroup]:
    for ranking in rankings:
        scope = "", ranking.ranks, ranking.library
        for pair in ranking.pairs if (ranking.kind, ranking.metric) == (PLACEMENTS, metric) else ():
            both = pair.better, pair.worse
            if pair.factor and all(one.median > 0 for one in both):
                setting = Setting(ranking.place, pair.factor, pair.clear)
                modes = tuple(one.name for one in both if one.several_modes)
                rows = pair.better.row, pair.worse.row
                yield _InGroup(scope, (pair.better.name, pair.worse.name), setting, modes, rows)


def _published(published: Iterable[PublishedRow], metric: Metric) -> Iterator[_InGroup]:
    rows = [row for row in published if row.values.get(metric, 0.0) > 0]
    same = grouped(rows, lambda row: (row.reference, row.system, row.host_group, row.ranks))
    for a, b in (pair for own in same.values() for pair in combinations(own, 2)):
        ratio = a.values[metric] / b.values[metric]
        setting = Setting(visible(a.host_group), 1 / ratio if metric.lower_is_better else ratio)
        names = visible(a.placement), visible(b.placement)
        yield _InGroup((visible(a.reference), a.ranks, ""), names, setting)


Pairs = dict[frozenset[str], OverSettings]


def _pairs(every: Iterable[_InGroup]) -> Pairs:
    """Those of which several host groups have both."""
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
            rows.append([one.rows for one in own if one.rows and not one.modes])
    return {frozenset((pair.better, pair.worse)): pair for pair in judged(pairs, rows)}


def _tells(pair: OverSettings) -> bool:
    """Of two host groups only where the repeats of one show something."""
    every = (*pair.settings, *pair.left_out)
    return len(every) >= FEWEST_GROUPS or any(one.shown for one in every)


def _over_groups(
    metric: Metric, scope: tuple[str, int | None, str], every: Sequence[_InGroup], pairs: Pairs
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
