"""Averages over host groups as sentences: placements, and host groups by their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.in_turn import IN_TURN
from mpicampaign.compare.over_groups import averages, by_attributes
from mpicampaign.dimension import RATIO
from mpicampaign.show.pairs import superlative
from mpicampaign.show.view import probability
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.text import in_ranks, listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.over_groups import Average, ByAttribute, Level, LevelPair
    from mpicampaign.compare.tables import Table
    from mpicampaign.show.view import View

HEADING = "On average over host groups"
_LEGEND = "Each host group counts once, with the median of its repeats."
_P = (
    "p: exact test that exchanges placements "
    "within host groups, and attributes between host groups that are alike in all others, or, without these, "
    "between all; corrected for all pairs. Not judged: with so few host groups no difference could be shown."
)
_FEW, _IN_TURN = "not judged: too few host groups", f"not tested: {IN_TURN}"
_LARGE = 1.0  # relative difference from which the range of factors says more


def over_group_lines(table: Table, view: View) -> list[str]:
    """``HPL rate: TCP is 4.1 % below SHM on average over 13 host groups …``, then the attributes."""
    return [*map(_average, averages(table)), *(_attribute(one, view) for one in by_attributes(table))]


def legend(tables: Sequence[Table]) -> str:
    """What counts; what p is, unless no pair is tested."""
    pairs = (pair for table in tables for one in by_attributes(table) for pair in one.pairs)
    untested = [bool(one.in_turn) for table in tables for one in averages(table)]
    untested += [bool(pair.in_turn) for pair in pairs]
    return _LEGEND if all(untested) else f"{_LEGEND} {_P}"


def telling_lines(table: Table, view: View) -> list[str]:
    """The averages, and those attributes that `attribute_lines` shows."""
    return [*map(_average, averages(table)), *(_attribute(one, view) for one in _telling(table, view))]


def attribute_lines(table: Table, metric: Metric, ranks: int | None, view: View) -> tuple[str, ...]:
    """Of one metric and number of ranks: the attribute that rows are grouped by, or those with a difference
    that no other attribute explains.
    """
    telling = (one for one in _telling(table, view) if (one.metric, one.ranks) == (metric, ranks))
    return tuple(_attribute(one, view) for one in telling)


def _telling(table: Table, view: View) -> Iterator[ByAttribute]:
    for one in by_attributes(table):
        if one.attribute == view.by or (not view.by and any(_differs(pair) for pair in one.pairs)):
            yield one


def _average(found: Average) -> str:
    ratios = sorted(ratio for _, ratio in found.ratios)
    count = f"{len(ratios)} host groups" + (f" published in {visible(found.source)}" if found.source else "")
    if abs(found.mean) < _LARGE:
        side = "below" if found.mean < 0 else "above"
        said = f"is {_percent(abs(found.mean))} {side} {visible(found.baseline)} on average over {count}"
        ends = f"{_percent(ratios[0] - 1, '+')} to {_percent(ratios[-1] - 1, '+')}"
    else:
        said = f"is {RATIO.number(found.mean + 1)} times {visible(found.baseline)} on average over {count}"
        ends = f"{RATIO.number(ratios[0])} to {RATIO.number(ratios[-1])} times"
    return f"{_of(found.metric, found.ranks)}: {visible(found.placement)} {said} ({ends}; {_judged(found)})"


def _percent(fraction: float, sign: str = "") -> str:
    """``4.1 %``, ``0.23 %`` or ``99 %``."""
    digits = 0 if abs(fraction) >= 0.0995 else 1 if abs(fraction) >= 0.00995 else 2
    return f"{100 * fraction:{sign}.{digits}f} %"


def _of(metric: Metric, ranks: int | None) -> str:
    return f"{metric.name}, {in_ranks(ranks)}" if ranks else metric.name


def _judged(found: Average | LevelPair) -> str:
    if found.p is None:
        return _IN_TURN if found.in_turn else _FEW
    return probability(found.p) if found.p <= LEVEL else f"not significant, {probability(found.p)}"


def _attribute(found: ByAttribute, view: View) -> str:
    levels = "; ".join(_level(level, found.metric, view) for level in found.levels)
    said = "; ".join(_pairs(found))
    head = f"{_of(found.metric, found.ranks)}, {visible(found.placement)} by {visible(found.attribute)}"
    return f"{head}, {superlative(found.metric)} first: {levels}. {said}"


def _level(level: Level, metric: Metric, view: View) -> str:
    value = view.quantity(level.median, metric.dimension)
    if len(level.groups) == 1:
        return f"{visible(level.name)} {value} ({visible(level.groups[0])})"
    ends = " to ".join(view.number(each, metric.dimension) for each in (min(level.values), max(level.values)))
    return f"{visible(level.name)} {value} ({len(level.groups)} host groups: {ends})"


def _pairs(found: ByAttribute) -> Iterator[str]:
    """The judged pairs; why others are not."""
    judged = [pair for pair in found.pairs if pair.p is not None]
    for pair in judged:
        yield f"{visible(pair.better)} against {visible(pair.worse)}: {_pair(pair)}"
    why = "; ".join(dict.fromkeys(_judged(pair) for pair in found.pairs if pair.p is None))
    if why:
        yield f"other pairs {why}" if judged else f"{why[0].upper()}{why[1:]}"
    if also := _also(found.pairs):
        yield f"{listed(also)} may be the cause as well"


def _differs(pair: LevelPair) -> bool:
    return pair.p is not None and pair.p <= LEVEL and not pair.also


def _also(pairs: Sequence[LevelPair]) -> list[str]:
    """What else differs between any two levels."""
    return list(dict.fromkeys(name for pair in pairs for name in pair.also))


def _pair(pair: LevelPair) -> str:
    alike = " among host groups alike in all else" if pair.matched else ""
    return f"{RATIO.number(max(pair.factor, 1 / pair.factor))} times{alike} ({_judged(pair)})"
