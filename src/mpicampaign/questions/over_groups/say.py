"""Over settings such as host groups: which is better, in how many, by how much, and what is against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, in_ranks, listed, visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.over_groups.find_attributes import (
    AttributeLevel,
    ByAttribute,
    LevelPair,
    by_attributes,
    not_compared,
)
from mpicampaign.questions.over_groups.find_few import OfFew, Opposite
from mpicampaign.questions.over_groups.find_settings import (
    FEWEST_GROUPS,
    TOO_FEW,
    OverGroups,
    OverSettings,
    Settings,
)
from mpicampaign.questions.ranking.say_pairs import superlative
from mpicampaign.show.document import Heading, Items, Node, Paragraph
from mpicampaign.show.view import View, probability, size_range
from mpicampaign.statistics.comparisons import FEWEST, LEVEL

_LEGEND = "Each host group counts once, with the median of its repeats. Leads are at least 1 %."
_P = (
    "p: signed ranks of the ratios over host groups; of attributes, over kinds of host groups that are alike "
    "in all others, or, without enough of these, rank sum and Welch's test; corrected for all pairs."
)
_SETTINGS = (
    "A setting is a host group and suite with both placements, or a placement and suite with both host "
    "groups, with the most ranks of each. Leads and exceptions are at least 1 %."
)
_P_OF_SETTINGS = (
    "p: signed ranks of the medians over settings, corrected for all pairs. It does not cover other days or "
    f"nodes. Single metrics are tested from {FEWEST} repeats on."
)
_LARGE = 1.0  # relative difference from which the range of factors says more
_NAMED = 3  # in a sentence


def over_group_nodes(tables: Sequence[Table], view: View) -> list[Node]:
    """What holds over host groups, with those attributes that `attribute_lines` shows."""
    lines = [
        f"{table.title}, {line}"
        for table in tables
        for line in (*_lines(table), *(_attribute(one, view) for one in _telling(table, view)))
    ]
    return [Heading("Over host groups"), Items(tuple(lines)), Paragraph(legend(tables))] if lines else []


def few_nodes(comparison: Comparison) -> list[Node]:
    """Candidates of few repeats, over message sizes."""
    lines, about = tuple(lines_of_few(comparison)), Paragraph(legend_of_few(comparison))
    title = "Too few repeats to test single metrics: compared over all message sizes"
    return [Heading(title), Items(lines), about] if lines else []


def over_group_lines(table: Table, view: View) -> list[str]:
    """``HPL rate: TCP is 4.1 % below SHM on average over 13 host groups …``, then the attributes."""
    return [*_lines(table), *(_attribute(one, view) for one in by_attributes(table)), *_not_compared(table)]


def legend(tables: Sequence[Table]) -> str:
    """What counts; what p is, unless no pair is tested."""
    pairs: list[OverSettings | LevelPair] = []
    for table in tables:
        pairs += [pair for one in table.over_groups for pair in (*one.steps, *one.behind)]
        pairs += [pair for one in by_attributes(table) for pair in one.pairs]
    return _LEGEND if all(pair.p is None for pair in pairs) else f"{_LEGEND} {_P}"


def _lines(table: Table) -> Iterator[str]:
    for found in table.over_groups:
        head = _of(found.metric, found.ranks)
        if order := order_sentences(found):
            yield f"{head}: {' '.join(order)}"
        yield from (f"{head}: {_average(found, pair)}" for pair in found.behind)


# The order of placements


def order_finding(found: OverGroups) -> str:
    """``SHM-1 < SHM-2 < IBV in all 7 host groups``; of steps with several counts the ends; empty of none."""
    if not found.steps:
        return ""
    sign = "<" if found.metric.lower_is_better else ">"
    order = found.steps[0].better + "".join(_step(step, sign) for step in found.steps)
    counts = sorted(
        ((len(_held(step)), len(step.settings)) for step in found.steps),
        key=lambda of: (of[0] / of[1], of[1]),
    )
    (least, of_least), (most, of_most) = counts[0], counts[-1]
    if least == of_least == most == of_most:
        return f"{order} in all {most} host groups{_of_which(found)}"
    ends = dict.fromkeys(f"{count} of {of}" for count, of in (counts[0], counts[-1]))
    each = ", each step" if len(found.steps) > 1 else ""
    return f"{order}{each} in {' to '.join(ends)} host groups{_of_which(found)}"


def order_sentences(found: OverGroups) -> tuple[str, ...]:
    """``SHM-1 < SHM-2 < IBV in 7 of 7 host groups (shown in each).``, and where a step is reversed."""
    if not found.steps:
        return ()
    sign = "<" if found.metric.lower_is_better else ">"
    chains = [_chain(list(steps), sign, _of_which(found)) for _, steps in groupby(found.steps, key=_counts)]
    notes = [
        *_together(found.steps),
        *(f"{name} left out: several modes" for name in found.mixed),
        *(f"{name} left out: too few host groups" for name in found.rare),
    ]
    reversed_ = [
        f"{step.worse} {sign} {step.better} in {_some(step.against)}" for step in found.steps if step.against
    ]
    order = "; ".join([", ".join(chains), *notes])
    return (f"{order}.", *([f"Exceptions: {', '.join(reversed_)}."] if reversed_ else []))


def _of_which(found: OverGroups) -> str:
    """Behind host groups: their MPI library, where there are several."""
    return f" with {visible(found.library)}" if found.library else ""


def _counts(step: OverSettings) -> tuple[object, ...]:
    """The host groups of a step, and those in which it holds: equal steps are told once."""
    names = tuple(sorted(one.name for one in step.settings))
    return names, tuple(sorted(one.name for one in _held(step)))


def _held(step: OverSettings) -> Settings:
    return step.ties if _is_equal(step) else step.leads


def _is_equal(step: OverSettings) -> bool:
    return len(step.ties) > len(step.leads)


def _step(step: OverSettings, sign: str) -> str:
    return f" {'=' if _is_equal(step) else sign} {step.worse}"


def _chain(steps: Sequence[OverSettings], sign: str, of_which: str) -> str:
    """Neighbours whose order holds in the same host groups; in how many of these the repeats show it."""
    order = steps[0].better + "".join(_step(step, sign) for step in steps)
    held, modes = len(_held(steps[0])), max(len(step.left_out) for step in steps)
    leads = [{one.name for one in step.leads if one.shown} for step in steps if not _is_equal(step)]
    shown = len(set.intersection(*leads)) if leads else 0
    notes = [f"shown in {'each' if shown == held else shown}"] if shown else []
    notes += [f"{modes} more in several modes"] if modes else []
    where = f"{order} in {held} of {counted(len(steps[0].settings), 'host group')}{of_which}"
    return f"{where} ({'; '.join(notes)})" if notes else where


def _together(steps: Sequence[OverSettings]) -> Iterator[str]:
    """What the host groups show together, where not each does; nothing where they are too few."""
    if all(one.shown for step in steps for one in step.leads):
        return
    p = [step.p for step in steps if step.p is not None]
    if len(p) == len(steps):
        yield f"{'largest ' if len(p) > 1 else ''}{_probability(max(p))}"
    elif reasons := [step.untested for step in steps if step.untested not in ("", TOO_FEW)]:
        yield f"not tested over host groups: {reasons[0]}"


def _some(settings: Settings) -> str:
    names = [one.name for one in settings]
    return listed(names) if len(names) <= _NAMED else counted(len(names), "host group")


# How far each is from the best


def _average(found: OverGroups, pair: OverSettings) -> str:
    """Host groups in several modes only count where too few others are there."""
    lower, every = bool(found.metric.lower_is_better), (*pair.settings, *pair.left_out)
    enough = len(pair.settings) >= FEWEST_GROUPS
    ratios = sorted(_ratios(pair.settings if enough else every, lower))
    if abs(_mean(ratios) - 1) < _LARGE:
        ends = f"{_percent(ratios[0] - 1, '+')} to {_percent(ratios[-1] - 1, '+')}"
    else:
        ends = f"{RATIO.number(ratios[0])} to {RATIO.number(ratios[-1])} times"
    mean = f"{_difference(pair, ratios)} on average over {len(ratios)} host groups{_of_which(found)}"
    modes = ""
    if pair.left_out and enough:
        modes = f"; without {counted(len(pair.left_out), 'host group')} whose repeats fall into several modes"
        modes += f": with them it {_difference(pair, _ratios(every, lower))} over all {len(every)}"
    elif pair.left_out:
        modes = f"; of {len(pair.left_out)} of them the repeats fall into several modes"
    return f"{pair.worse} {mean} ({ends}; {_judged(pair, 'host groups')}){modes}"


def _ratios(settings: Settings, lower: bool) -> list[float]:
    """The ratios of the other's values to the best one's."""
    return [one.ratio if lower else 1 / one.ratio for one in settings]


def _mean(ratios: Sequence[float]) -> float:
    return sum(ratios) / len(ratios)


def _difference(pair: OverSettings, ratios: Sequence[float]) -> str:
    mean = _mean(ratios)
    if mean - 1 >= _LARGE:
        return f"is {RATIO.number(mean)} times {pair.better}"
    return f"is {_percent(abs(mean - 1))} {'below' if mean < 1 else 'above'} {pair.better}"


def _percent(fraction: float, sign: str = "") -> str:
    """``4.1 %``, ``0.23 %`` or ``99 %``."""
    digits = 0 if abs(fraction) >= 0.0995 else 1 if abs(fraction) >= 0.00995 else 2
    return f"{100 * fraction:{sign}.{digits}f} %"


def _of(metric: Metric, ranks: int | None) -> str:
    return f"{metric.name}, {in_ranks(ranks)}" if ranks else metric.name


def _judged(pair: OverSettings | LevelPair, settings: str) -> str:
    if pair.p is None:
        return f"not tested: {pair.untested}{f' {settings}' if pair.untested == TOO_FEW else ''}"
    return _probability(pair.p)


def _probability(p: float) -> str:
    return probability(p) if p <= LEVEL else f"not significant, {probability(p)}"


# Candidates of few repeats, over message sizes


def lines_of_few(comparison: Comparison) -> list[str]:
    """``IB was better than ROCE in 4 of 4 settings, by 1.3 to 1.9 times …``, with exceptions."""
    once = bool(_why_none_is_tested(comparison))
    return [_better(one, once) if one.pair.leads else _equal(one) for one in comparison.of_few]


def lead_of_few(comparison: Comparison) -> str:
    """``A was better than B in 4 of 4 settings; 6 more pairs``: the pair with the most leads first."""
    first, *others = sorted(comparison.of_few, key=lambda one: -len(one.pair.leads))
    more = f"; {counted(len(others), 'more pair')}" if others else ""
    return f"{_finding(first).partition(', by ')[0]}{more}"


def findings_of_few(comparison: Comparison) -> list[str]:
    """A sentence for each pair, without its exceptions."""
    return [f"{_finding(one)}." for one in comparison.of_few]


def untested_of_few(comparison: Comparison) -> str:
    """What is not tested, and why."""
    why = _why_none_is_tested(comparison)
    settings = f" and all settings together ({why})" if why else ""
    return f"Not tested: single metrics (too few repeats){settings}."


def _why_none_is_tested(comparison: Comparison) -> str:
    """The reason, where it is the same for all; empty where any is tested, or where they differ."""
    why = {one.pair.untested if one.pair.p is None else "" for one in comparison.of_few if one.pair.leads}
    only = why.pop() if len(why) == 1 else ""
    return f"{only} settings" if only == TOO_FEW else only


def legend_of_few(comparison: Comparison) -> str:
    """What a setting is; what p is, unless no pair is tested."""
    tested = any(one.pair.p is not None for one in comparison.of_few)
    return f"{_SETTINGS} {_P_OF_SETTINGS}" if tested else _SETTINGS


def _equal(found: OfFew) -> str:
    """Neither leads in any setting; where they are furthest apart."""
    largest = next(iter(found.opposites), None)
    apart = f"; at most {RATIO.number(largest.factor)} times, in {_opposite(largest)}" if largest else ""
    return f"{_finding(found)}{apart} ({_repeats(found)} each)"


def _finding(found: OfFew) -> str:
    pair = found.pair
    if not pair.leads:
        over = f"in the median over sizes in any of {len(pair.settings)} settings"
        return f"No clear difference between {pair.better} and {pair.worse} {over}"
    over = "benchmarks and sizes" if found.curves > len(pair.settings) else "sizes"
    against = f" and worse in {len(pair.against)}" if pair.against else ""
    where = f"in {len(pair.leads)} of {len(pair.settings)} settings{against}"
    how = f"{_ends([one.ratio for one in pair.leads])} in the median over {over}"
    return f"{pair.better} was better than {pair.worse} {where}, by {how}"


def _better(found: OfFew, untested_once: bool) -> str:
    """``untested_once``: why no pair is tested is said above."""
    judged = "" if untested_once else f"; {_judged(found.pair, 'settings')}"
    return f"{_finding(found)} ({_repeats(found)} each{judged}){_exceptions(found)}"


def _ends(factors: Iterable[float]) -> str:
    """``1.1 to 1.4 times``."""
    ordered = sorted(factors)
    ends = dict.fromkeys(RATIO.number(factor) for factor in (ordered[0], ordered[-1]))
    return f"{' to '.join(ends)} times"


def _repeats(found: OfFew) -> str:
    return "1 repeat" if found.repeats == 1 else f"up to {found.repeats} repeats"


def _exceptions(found: OfFew) -> str:
    """The largest of them; how many more, and up to which factor."""
    if not found.opposites:
        return ""
    named, rest = found.opposites[:_NAMED], found.opposites[_NAMED:]
    parts = [f"{_opposite(one)} by up to {RATIO.number(one.factor)} times" for one in named]
    if rest:
        parts.append(f"{len(rest)} more ranges of sizes by up to {RATIO.number(rest[0].factor)} times")
    return f". Exceptions: {found.pair.worse} was better in {listed(parts)}"


def _opposite(one: Opposite) -> str:
    """``osu_bibw at 16-128 KiB (intelmpi-2019, 2 ranks)``."""
    ranks = f", {one.ranks} ranks" if one.ranks else ""
    return f"{one.benchmark} at {size_range(one.sizes)} ({one.place}{ranks})"


# Host groups by their attributes


def attribute_lines(table: Table, metric: Metric, ranks: int | None, view: View) -> tuple[str, ...]:
    """Of one metric and number of ranks: the attribute that rows are grouped by, or those with a difference
    that no other attribute explains.
    """
    telling = (one for one in _telling(table, view) if (one.metric, one.ranks) == (metric, ranks))
    return tuple(_attribute(one, view) for one in telling)


def _telling(table: Table, view: View) -> Iterator[ByAttribute]:
    for one in by_attributes(table):
        differ = (pair.p is not None and pair.p <= LEVEL and not pair.also for pair in one.pairs)
        if one.attribute == view.by or (not view.by and any(differ)):
            yield one


def _not_compared(table: Table) -> Iterator[str]:
    """Which placements are not compared by which attributes."""
    for placements, found in grouped(not_compared(table).items(), lambda item: tuple(item[1])).items():
        names = listed([visible(name) for name, _ in found])
        yield f"{listed(placements)}: not compared by {names}, which ranks within a node do not use"


def _attribute(found: ByAttribute, view: View) -> str:
    levels = "; ".join(_level(level, found.metric, view) for level in found.levels)
    said = "; ".join(_pairs(found))
    head = f"{_of(found.metric, found.ranks)}, {found.placement} by {visible(found.attribute)}"
    if found.with_modes:
        head += f" (without {listed(found.with_modes)}: several modes)"
    return f"{head}, {superlative(found.metric)} first: {levels}. {said}"


def _level(level: AttributeLevel, metric: Metric, view: View) -> str:
    value = view.quantity(level.median, metric.dimension)
    if len(level.values) == 1:
        return f"{visible(level.name)} {value} ({level.values[0][0]})"
    ends = " to ".join(
        view.number(end(value for _, value in level.values), metric.dimension) for end in (min, max)
    )
    return f"{visible(level.name)} {value} ({len(level.values)} host groups: {ends})"


def _pairs(found: ByAttribute) -> Iterator[str]:
    """The judged pairs; why others are not."""
    judged = [pair for pair in found.pairs if pair.p is not None]
    for pair in judged:
        alike = " among host groups alike in all else" if pair.matched else ""
        times = f"{RATIO.number(max(pair.factor, 1 / pair.factor))} times{alike}"
        p = _judged(pair, "host groups")
        yield f"{visible(pair.better)} against {visible(pair.worse)}: {times} ({p})"
    why = "; ".join(dict.fromkeys(_judged(pair, "host groups") for pair in found.pairs if pair.p is None))
    if why:
        yield f"other pairs {why}" if judged else f"{why[0].upper()}{why[1:]}"
    if also := dict.fromkeys(name for pair in found.pairs for name in pair.also):
        yield f"{listed([*also])} may be the cause as well"
