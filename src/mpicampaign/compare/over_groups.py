"""Averages over host groups: placements against the best of them, and host groups by their attributes.

A host group counts once, with the median of its repeats: repeats say nothing of other hosts.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.in_turn import any_in_turn
from mpicampaign.grouping import grouped
from mpicampaign.records import WITH
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.exchange import Exchange, Stratum, exchange
from mpicampaign.statistics.medians import median
from mpicampaign.statistics.welch import welch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Table

FEWEST_GROUPS = 3  # of two, either may be the exception


class _Value(NamedTuple):
    """A host group's value in a placement; ``source``: the publication, if it is not measured."""

    source: str
    system: str
    host_group: str
    placement: str
    ranks: int | None
    value: float
    row: Row | None = None

    @property
    def attributes(self) -> Mapping[str, str]:
        return self.row.attributes if self.row else {}

    @property
    def group(self) -> tuple[str, str]:
        return self.system, self.host_group


@dataclass(frozen=True, slots=True)
class Average:
    """A placement against the ``baseline`` in the host groups that have both.

    ``ratios``: of the values, by host group. ``p``: corrected for all pairs of placements; ``None`` where too
    few host groups have both, or any were measured one after the other (``in_turn``).
    """

    metric: Metric
    placement: str
    baseline: str
    ranks: int | None
    source: str
    ratios: tuple[tuple[str, float], ...]
    p: float | None
    in_turn: bool | None

    @property
    def mean(self) -> float:
        """The mean of the relative differences."""
        return math.fsum(ratio - 1 for _, ratio in self.ratios) / len(self.ratios)


def averages(table: Table) -> Iterator[Average]:
    """For each headline metric, number of ranks and source."""
    for metric in _headlines(table):
        alone = (one for one in _measured(table, metric) if not (one.row and one.row.in_blocks))
        values = [*alone, *_published(table, metric)]
        for (source, ranks), found in grouped(values, lambda one: (one.source, one.ranks)).items():
            yield from _of_placements(metric, source, ranks, found)


def _of_placements(
    metric: Metric, source: str, ranks: int | None, values: Sequence[_Value]
) -> Iterator[Average]:
    of: dict[str, dict[tuple[str, str], _Value]] = {}
    for one in values:
        of.setdefault(one.placement, {})[one.group] = one
    baseline = _baseline(metric, values)
    for name, own in of.items():
        both = [group for group in own if group in of[baseline]]
        if name == baseline or len(both) < FEWEST_GROUPS:
            continue
        ratios = tuple((group[1], own[group].value / of[baseline][group].value) for group in both)
        test = exchange([([math.log(ratio)], [0.0]) for _, ratio in ratios])
        in_turn = _in_turn((own[group], of[baseline][group]) for group in both)
        p = None if in_turn else _corrected(test, math.comb(len(of), 2))
        yield Average(metric, name, baseline, ranks, source, ratios, p, in_turn)


def _baseline(metric: Metric, values: Sequence[_Value]) -> str:
    """The placement that is best in most of the host groups with several."""
    best = min if metric.lower_is_better else max
    groups = [found for found in grouped(values, lambda one: one.group).values() if len(found) > 1]
    leaders = Counter(best(found, key=lambda one: one.value).placement for found in groups or [list(values)])
    return leaders.most_common(1)[0][0]


def _corrected(found: Exchange, tests: int) -> float | None:
    """Bonferroni; ``None`` where no p could be significant."""
    return min(1.0, found.p * tests) if found.least * tests <= LEVEL else None


def _in_turn(pairs: Iterable[tuple[_Value, _Value]]) -> bool | None:
    return any_in_turn((a.row, b.row) for a, b in pairs if a.row and b.row)


# Attributes


@dataclass(frozen=True, slots=True)
class Level:
    """The host groups with one value of an attribute, and their values."""

    name: str
    groups: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """Over its host groups."""
        return median(list(self.values))


@dataclass(frozen=True, slots=True)
class LevelPair:
    """Two levels of an attribute, the better first.

    ``factor``: how many times better; ``matched``: on average over host groups alike in all other
    attributes. ``also``: attributes in which no host group of one level is like one of the other, so that
    they may be the cause. ``p``, ``in_turn``: as in `Average`, for all pairs of levels.
    """

    better: str
    worse: str
    factor: float
    matched: bool
    also: tuple[str, ...]
    p: float | None
    in_turn: bool | None


@dataclass(frozen=True, slots=True)
class ByAttribute:
    """The host groups of one placement by an attribute, best level first; pairs of neighbours."""

    metric: Metric
    attribute: str
    placement: str
    ranks: int | None
    levels: tuple[Level, ...]
    pairs: tuple[LevelPair, ...]


def by_attributes(table: Table) -> Iterator[ByAttribute]:
    """For each headline metric, attribute, placement and number of ranks with several levels."""
    for metric in _headlines(table):
        values = list(_measured(table, metric))
        for attribute in dict.fromkeys(name for one in values for name in one.attributes):
            having = [one for one in values if attribute in one.attributes]
            for (placement, ranks), found in grouped(having, lambda one: (one.placement, one.ranks)).items():
                levels = _levels(metric, attribute, found)
                if len(levels) > 1:
                    pairs = tuple(_pairs(metric, attribute, found, levels))
                    yield ByAttribute(metric, attribute, placement, ranks, levels, pairs)


def _levels(metric: Metric, attribute: str, values: Sequence[_Value]) -> tuple[Level, ...]:
    of = grouped(values, lambda one: one.attributes[attribute])
    levels = (
        Level(name, tuple(one.host_group for one in found), tuple(one.value for one in found))
        for name, found in of.items()
    )
    return tuple(sorted(levels, key=lambda level: level.median, reverse=not metric.lower_is_better))


def _pairs(
    metric: Metric, attribute: str, values: Sequence[_Value], levels: Sequence[Level]
) -> Iterator[LevelPair]:
    tests = math.comb(len(levels), 2)
    of = grouped(values, lambda one: one.attributes[attribute])
    for better, worse in combinations((level.name for level in levels), 2):
        sides = of[better], of[worse]
        strata = _strata(attribute, *sides)
        test = exchange(strata) if strata else None
        matched = test is not None and test.least * tests <= LEVEL
        if test is None or not matched:
            test = _of_all(*sides)
        also = () if matched else _also(attribute, *sides)
        gain = math.exp(-test.mean if metric.lower_is_better else test.mean)
        in_turn = _in_turn(product(*sides))
        p = None if in_turn else _corrected(test, tests)
        yield LevelPair(better, worse, gain, matched, also, p, in_turn)


def _of_all(a: Sequence[_Value], b: Sequence[_Value]) -> Exchange:
    """With Welch's test, too: levels of unequal spreads are not exchangeable."""
    test = exchange([_logarithms(a, b)])
    if min(len(a), len(b)) < 2:
        return test
    return test._replace(p=max(test.p, welch([one.value for one in a], [one.value for one in b])))


def _strata(attribute: str, a: Sequence[_Value], b: Sequence[_Value]) -> list[Stratum]:
    """The host groups of both levels by all other attributes and the system, where both have some."""

    def rest(one: _Value) -> tuple[object, ...]:
        return one.system, *sorted(item for item in one.attributes.items() if item[0] != attribute)

    left, right = grouped(a, rest), grouped(b, rest)
    return [_logarithms(left[key], right[key]) for key in left if key in right]


def _logarithms(a: Iterable[_Value], b: Iterable[_Value]) -> Stratum:
    return [math.log(one.value) for one in a], [math.log(one.value) for one in b]


def _also(attribute: str, a: Sequence[_Value], b: Sequence[_Value]) -> tuple[str, ...]:
    names = dict.fromkeys(name for one in (*a, *b) for name in one.attributes if name != attribute)

    def of(side: Sequence[_Value], name: str) -> set[str]:
        return {one.attributes[name] for one in side if name in one.attributes}

    names_apart = [name for name in names if of(a, name).isdisjoint(of(b, name))]
    apart = {one.system for one in a}.isdisjoint(one.system for one in b)
    return (*names_apart, *(["system"] if apart else []))


# Values


def _headlines(table: Table) -> list[Metric]:
    return [metric for metric in table.metrics if metric.headline and not table.is_baseline]


def _measured(table: Table, metric: Metric) -> Iterator[_Value]:
    """Of rows that are compared with others and whose median is a value that runs had."""
    for row in table.rows:
        summary = row.cell(metric).summary
        if row.ranked and summary and summary.median > 0 and not row.has_modes_in(metric):
            placement = WITH.join(filter(None, (row.case.placement, row.case.library)))
            place = *row.case.machine, placement, row.ranks
            yield _Value("", *place, summary.median, row)


def _published(table: Table, metric: Metric) -> Iterator[_Value]:
    for row in table.published:
        value = row.values.get(metric, 0.0)
        if value > 0:
            place = row.system, row.host_group, row.placement, row.ranks
            yield _Value(row.reference, *place, value)
