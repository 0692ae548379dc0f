"""Sentences on two against each other: placements, host groups, own rows and others, before and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.in_turn import IN_TURN
from mpicampaign.compare.own import own_against_others
from mpicampaign.dimension import RATIO, TIME
from mpicampaign.grouping import grouped
from mpicampaign.show.view import DEFAULT, percent, probability, size_range
from mpicampaign.statistics.comparisons import FEWEST, LEVEL
from mpicampaign.text import counted, listed, visible
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.changes import Change
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.own import Other, OwnRow
    from mpicampaign.compare.paired import Opposite, Paired
    from mpicampaign.compare.ranking import Contestant, Pair, Ranking
    from mpicampaign.compare.stopping import InterimPrecision
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.view import View

OWN = "My host groups compared with others"
_OWN_ERROR = "The chance of wrongly calling any system different is at most 5 %."
_PUBLISHED = (
    "Published values have no repeats, so they are not tested: × is the ratio of the means, and in brackets "
    "the interval of our median divided by the published value."
)
PAIRED = "Too few repeats to test single metrics: compared over all message sizes"
_NAMED = 3  # exceptions in a sentence
_SETTINGS = (
    "A setting is a host group and suite with both placements, or a placement and suite with both host "
    "groups, with the most ranks of each. Leads and exceptions are at least 1 %."
)
_P_OF_SETTINGS = (
    "p: the chance that as many settings agree if the two are exchanged at random in each. It does not cover "
    f"other days or nodes. Single metrics are tested from {FEWEST} repeats on."
)


# Two against each other


def pair_sentence(pair: Pair, view: View) -> str:
    """The comparison in a sentence.

    Separation and ratio are stated even where so many pairs are compared that they show nothing.
    """
    better, worse = (valued(one, view) for one in (pair.better, pair.worse))
    difference = pair.difference
    if pair.judged and pair.in_turn:
        text = f"{better} and {worse}: {_untested(pair, view)}"
    elif difference.significant is None:
        text = f"{better} and {worse}: too few repeats to compare them ({difference.reason})"
    elif difference.significant:
        text = f"{contrast(pair, better, worse)}; {_certainty(pair)}{'; a tie' if pair.tied else ''}"
    elif pair.apart:
        chance = f"may be chance among {difference.comparisons} pairs ({_p(pair)})"
        text = f"{contrast(pair, better, worse)}; {_certainty(pair)}, but this {chance}"
    else:
        text = f"no significant difference between {better} and {worse} ({_p(pair)}; {_counts(pair)})"
    doubtful = [c.name for c in (pair.better, pair.worse) if c.several_modes]
    return f"{text}; several modes: {', '.join(doubtful)}" if doubtful else text


def contrast(pair: Pair, better: str = "", worse: str = "") -> str:
    """``TCP takes 12.9 times as long as SHM``; of rates ``SHM reaches 6.58 times as much as TCP``.

    ``better``, ``worse``: what to call the two, their names by default.
    """
    better, worse = better or pair.better.name, worse or pair.worse.name
    metric = pair.better.cell.metric
    if not metric.lower_is_better:
        return f"{better} reaches {amount(pair)} {worse}"
    return f"{worse} {'takes' if is_time(metric) else 'has'} {amount(pair)} {better}"


def contrasts(near: Pair, last: Pair) -> str:
    """The best against two others: ``IBV takes 37 % longer than SHM, TCP 12.9 times as long``."""
    if near is last:
        return contrast(near)
    if not near.better.cell.metric.lower_is_better:
        return f"{contrast(near)} and {amount(last)} {last.worse.name}"
    return f"{contrast(near)}, {last.worse.name} {amount(last).rpartition(' ')[0]}"


def amount(pair: Pair) -> str:
    """``12.9 times as long as``; in per cent below a factor of 2: ``37 % longer than``."""
    metric, factor = pair.better.cell.metric, pair.factor
    much, more = ("long", "longer") if is_time(metric) else ("much", "more")
    if factor is None:
        return f"{more} than"
    if factor >= 1.995:
        return f"{RATIO.number(factor)} times as {much} as"
    return f"{100 * (factor - 1):.2g} % {more} than"


def is_time(metric: Metric) -> bool:
    """Whether the metric is a time."""
    return bool(metric.lower_is_better) and metric.dimension.si_unit == TIME.si_unit


def valued(contestant: Contestant, view: View) -> str:
    """``SHM-1 (0.17 µs)``."""
    return f"{contestant.name} ({view.quantity(contestant.median, contestant.cell.metric.dimension)})"


def _untested(pair: Pair, view: View) -> str:
    """Ratio and ranges of two that were measured one after the other."""
    dimension = pair.better.cell.metric.dimension
    ranges = [
        " to ".join(view.number(end(one.cell.values), dimension) for end in (min, max))
        for one in (pair.better, pair.worse)
    ]
    factor = f"a factor of {factor_text(pair)}, " if pair.factor else ""
    return f"{factor}repeats {listed(ranges)}; {IN_TURN}: not tested"


def factor_text(pair: Pair) -> str:
    """``1.62``; of two that are not tested with the range over their repeats: ``1.62 (1.55 to 1.70)``."""
    if pair.factor is None:
        return "none"
    ends = dict.fromkeys(map(RATIO.number, (pair.in_turn and pair.factors) or ()))
    return RATIO.number(pair.factor) + (f" ({' to '.join(ends)})" if len(ends) > 1 else "")


def _counts(pair: Pair) -> str:
    if pair.in_blocks:
        return f"{pair.better.cell.n} repeats as blocks"
    return f"{pair.better.cell.n} and {pair.worse.cell.n} repeats"


def _p(pair: Pair) -> str:
    difference = pair.difference
    if difference.p is None or difference.corrected is None:
        return ""
    if difference.comparisons == 1:
        return probability(difference.corrected)
    return f"{probability(difference.corrected)} among all pairs, {probability(difference.p)} alone"


def _certainty(pair: Pair) -> str:
    effect = abs(pair.difference.effect)
    if pair.in_blocks:
        return f"{_counts(pair)}, exchanged within blocks, {_p(pair)}"
    if effect < 1:
        return f"{_p(pair)}, effect {effect:.2f}"
    side = "below" if pair.better.cell.metric.lower_is_better else "above"
    return f"all {pair.better.cell.n} repeats of one lie {side} all {pair.worse.cell.n} of the other"


def pair_sentences(ranking: Ranking, view: View) -> tuple[str, ...]:
    """The best against each of the others, one sentence each."""
    return tuple(f"{ranking.metric.name}: {pair_sentence(pair, view)}" for pair in ranking.pairs_of_best)


def certainty_of_best(pairs: Sequence[Pair]) -> str:
    """How sure it is that the best is better than these."""
    if any(pair.in_turn for pair in pairs):
        return f"Not tested, since {IN_TURN}: what changed meanwhile may be the reason."
    p = max(pair.difference.corrected or 0 for pair in pairs)
    if any(pair.in_blocks for pair in pairs):
        return f"{pairs[0].better.cell.n} repeats as blocks, exchanged within blocks, {probability(p)}."
    if all(pair.apart for pair in pairs):
        counts = {one.cell.n for pair in pairs for one in (pair.better, pair.worse)}
        every = f"All {counts.pop()} repeats" if len(counts) == 1 else "All repeats"
        return f"{every} agree."
    return f"The difference is significant ({probability(p)}), though some repeats overlap."


# What metrics are called at their best


def superlative(metric: Metric) -> str:
    """``lowest`` or ``highest``."""
    return "lowest" if metric.lower_is_better else "highest"


# What "fastest" is said of: times, bandwidths and rates
_SPEEDS = frozenset({"s", "B/s", "1/s", "flop/s"})


def fastest(metric: Metric) -> str:
    """``fastest``; of other metrics ``lowest`` or ``highest``."""
    return "fastest" if metric.dimension.si_unit in _SPEEDS else superlative(metric)


# A kernel and the baseline of its own runs


def baseline_lines(table: Table) -> Iterable[str]:
    """How a kernel compares with the baseline of its own runs, at the largest size shown."""
    metric = next((metric for metric in reversed(table.metrics) if metric.baseline), None)
    if metric is None:
        return
    for row in table.rows:
        if (found := row.cell(metric).summary) is not None and not row.disturbed:
            ratio = f"{DEFAULT.quantity(found.median, RATIO)} {metric.baseline} {metric.group}"
            yield f"{row.case.placement}: {ratio} {DEFAULT.bounds(found.interval, RATIO)}"


# Own host groups and others


def own_lines(comparison: Comparison, view: View) -> list[str]:
    """``SHM-1, latency at 0 B 0.16 µs: lower than 7 of 7 host groups of SCARF (published, stfc-2017): …``."""
    return [
        _own_line(comparison, table, own, others, view)
        for table, own in own_against_others(comparison)
        for others in grouped(own.others, lambda other: (other.system, other.published)).values()
    ]


def own_legend(comparison: Comparison) -> str:
    """Which error the sentences have, and what cannot be tested."""
    others = [other for _, own in own_against_others(comparison) for other in own.others]
    tested = _OWN_ERROR if any(not (other.published or other.in_turn) for other in others) else ""
    published = _PUBLISHED if any(other.published for other in others) else ""
    return " ".join(filter(None, (tested, published)))


def own_table(comparison: Comparison, view: View) -> list[tuple[str, str, str, str, str, str]]:
    """Of each pair: metric, placement, own with its median, the other, ratio, and what can be said."""
    return [
        (
            f"{table.title}: {own.metric.name}",
            visible(own.row.case.placement),
            f"{comparison.place(own.row)} {view.quantity(own.summary.median, own.metric.dimension)}",
            f"{other.system}/{other.host_group}",
            ratio(other),
            _result(other),
        )
        for table, own in own_against_others(comparison)
        for other in own.others
    ]


def ratio(other: Other) -> str:
    """``× 0.26 [0.25, 0.27]``."""
    return f"× {RATIO.number(other.ratio)} {DEFAULT.bounds(other.interval, RATIO)}".rstrip()


def _own_line(comparison: Comparison, table: Table, own: OwnRow, others: Sequence[Other], view: View) -> str:
    value = view.quantity(own.summary.median, own.metric.dimension)
    name = f"{comparison.place(own.row)} {visible(own.row.case.placement)}, {table.title}"
    in_order = sorted(others, key=lambda other: other.ratio)
    ends = dict.fromkeys(f"{ratio(end)} ({end.host_group})" for end in (in_order[0], in_order[-1]))
    source = f" (published, {others[0].published})" if others[0].published else ""
    groups = counted(len(others), "host group")
    found = f"{_better_and_worse(own, others)} {groups} of {others[0].system}{source}"
    return f"{name}: {own.metric.name} {value} is {found}: {' to '.join(ends)}"


def _better_and_worse(own: OwnRow, others: Sequence[Other]) -> str:
    """``better than 5 and worse than 1 of``, where that is shown."""
    shown = [other for other in others if other.shown]
    lower, higher = (sum(sign * other.ratio < sign for other in shown) for sign in (1, -1))
    better, worse = (lower, higher) if own.metric.lower_is_better else (higher, lower)
    parts = [f"{how} than {count}" for how, count in (("better", better), ("worse", worse)) if count]
    if parts:
        return f"{' and '.join(parts)} of"
    untested = all(other.in_turn for other in others)
    return f"not tested against ({IN_TURN})" if untested else "not clearly different from any of"


def _result(other: Other) -> str:
    if other.published:
        return f"published, {other.published}: no test"
    if other.in_turn:
        return f"{IN_TURN}: not tested"
    if other.differs is None:
        return "too few repeats, or possibly chance among so many pairs"
    return "different" if other.differs else "no significant difference"


# Placements and host groups of few repeats, paired over sizes and settings


def paired_lines(comparison: Comparison) -> list[str]:
    """``IB was better than ROCE in 4 of 4 settings at every size above 64 KiB: by a factor of 1.1 …``."""
    return [_better(found) if found.found else _equal(found) for found in comparison.paired]


def paired_legend(comparison: Comparison) -> str:
    """What a setting is; what p is, unless no pair is tested."""
    untested = all(found.in_turn for found in comparison.paired)
    return _SETTINGS if untested else f"{_SETTINGS} {_P_OF_SETTINGS}"


def _equal(found: Paired) -> str:
    """Neither leads in any setting; where they are furthest apart."""
    largest = next(iter(found.opposites), None)
    apart = f"; at most {RATIO.number(largest.factor)} times, in {_opposite(largest)}" if largest else ""
    over = f"in the median over sizes in any of {found.settings} settings{apart}"
    return f"No clear difference between {found.better} and {found.worse} {over} ({_repeats(found)} each)"


def _repeats(found: Paired) -> str:
    return "1 repeat" if found.repeats == 1 else f"up to {found.repeats} repeats"


def _exceptions(found: Paired) -> str:
    """The largest of them; how many more, and up to which factor."""
    if not found.opposites:
        return ""
    named, rest = found.opposites[:_NAMED], found.opposites[_NAMED:]
    parts = [f"{_opposite(one)} by up to {RATIO.number(one.factor)} times" for one in named]
    if rest:
        parts.append(f"{len(rest)} more ranges of sizes by up to {RATIO.number(rest[0].factor)} times")
    return f"Exceptions: {found.worse} was better in {listed(parts)}. Otherwise "


def _opposite(one: Opposite) -> str:
    """``osu_bibw at 16-128 KiB (intelmpi-2019, 2 ranks)``."""
    ranks = f", {one.ranks} ranks" if one.ranks else ""
    return f"{one.benchmark} at {size_range(one.sizes)} ({one.place}{ranks})"


def _better(found: Paired) -> str:
    over = [
        *(["benchmarks"] if found.curves > found.settings else []),
        *(["sizes"] if found.above is None else []),
    ]
    medians = f" in the median over {listed(over)}" if over else ""
    against = f" and worse in {found.against}" if found.against else ""
    where = f"in {len(found.found)} of {found.settings} settings{against}{_above(found.above)}"
    how = f"{_factors(found)} ({_repeats(found)} each; {_chance(found.p, found.in_turn)})"
    return f"{_exceptions(found)}{found.better} was better than {found.worse}{medians} {where}{how}"


def _above(limit: int | None) -> str:
    if limit is None:
        return ""
    return " at every size" if limit < 0 else f" at every size above {format_size(limit)}"


def _factors(found: Paired) -> str:
    factors = sorted(one.factor for one in found.found)
    ends = dict.fromkeys(RATIO.number(factor) for factor in (factors[:1] + factors[-1:]))
    return f": by a factor of {' to '.join(ends)} in the median over sizes" if ends else ""


def _chance(p: float | None, in_turn: bool | None) -> str:
    if p is None:
        return f"not tested, since {IN_TURN if in_turn else 'the order changes with the size'}"
    return f"{'not significant, ' if p > LEVEL else ''}{probability(p)}"


# Before and now, and how precisely


def change_ratio(change: Change) -> str:
    """``× 1.03``; empty where the earlier median is 0."""
    ratio = change.difference.ratio
    return "" if ratio is None else f"× {ratio:#.3g}"


def change_verdict(change: Change) -> str:
    """Whether the change is more than chance, or why no test was possible."""
    difference = change.difference
    if difference.p is None:
        return difference.reason
    return f"{'significant' if difference.significant else 'not significant'}, {probability(difference.p)}"


def precision_text(found: InterimPrecision) -> str:
    """``6 repeats: the median is known to 3.1 % (confidence 96.9 %): enough``."""
    if found.coverage is None or found.reach is None:
        known = "the precision of the median is unknown"
    else:
        known = f"the median is known to {percent(found.reach)} (confidence {percent(found.coverage)})"
    return f"{counted(found.n, 'repeat')}: {known}: {'enough' if found.enough else _further(found)}"


def _further(found: InterimPrecision) -> str:
    more = found.next_stage
    return f"increase to {more} and look again" if more else "more repeats are not planned"
