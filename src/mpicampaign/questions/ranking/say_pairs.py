"""Sentences on two against each other: placements, host groups, own rows and others, before and now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpicampaign.base.dimension import RATIO, TIME
from mpicampaign.base.text import counted, listed
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.stopping import InterimPrecision
from mpicampaign.compare.tables import Table
from mpicampaign.questions.ranking.find import Contestant, Pair
from mpicampaign.show.view import DEFAULT, View, percent, probability
from mpicampaign.verdicts.compare import FEW_REPEATS, Added

# Two against each other


def pair_sentence(pair: Pair, view: View) -> str:
    """The comparison in a sentence.

    Separation and ratio are stated even where so many pairs are compared that they show nothing.
    """
    better, worse = (valued(one, view) for one in (pair.better, pair.worse))
    if not pair.verdict.tested and pair.verdict.reason != FEW_REPEATS:
        text = f"{better} and {worse}: {_untested(pair, view)}"
    elif not pair.verdict.tested:
        text = f"{better} and {worse}: too few repeats to compare them ({pair.too_few})"
    elif pair.verdict.shown:
        text = f"{contrast(pair, better, worse)}; {_certainty(pair)}{'; a tie' if pair.verdict.small else ''}"
    elif pair.apart and not pair.verdict.added:
        chance = f"may be chance among {pair.among} pairs ({_p(pair)})"
        text = f"{contrast(pair, better, worse)}; {_certainty(pair)}, but this {chance}"
    else:
        known = added_text([pair]) or _counts(pair)
        text = f"no significant difference between {better} and {worse} ({_p(pair)}; {known})"
    doubtful = [c.name for c in (pair.better, pair.worse) if c.several_modes]
    return f"{text}; several modes: {', '.join(doubtful)}" if doubtful else text


def contrast(pair: Pair, better: str = "", worse: str = "") -> str:
    """``TCP takes 12.9 times as long as SHM``; of rates ``SHM reaches 6.58 times as much as TCP``.

    ``better``, ``worse``: what to call the two, their names by default.
    """
    better, worse = better or pair.better.name, worse or pair.worse.name
    return contrast_of(pair.better.cell.metric, better, worse, pair.factor)


def contrast_of(metric: Metric, better: str, worse: str, factor: float | None) -> str:
    """``TCP takes 2.1 times as long as SHM``; ``factor``: the larger value by the smaller."""
    if not metric.lower_is_better:
        return f"{better} reaches {_amount(metric, factor)} {worse}"
    return f"{worse} {'takes' if _is_time(metric) else 'has'} {_amount(metric, factor)} {better}"


def contrasts(near: Pair, last: Pair) -> str:
    """Two others behind the best: ``IBV takes 37 % longer than SHM, TCP 12.9 times as long``."""
    if near is last:
        return contrast(near)
    if near.better is not last.better:
        return f"{contrast(near)}, {contrast(last)}"
    metric = near.better.cell.metric
    amount = _amount(metric, last.factor)
    if not metric.lower_is_better:
        return f"{contrast(near)} and {amount} {last.worse.name}"
    return f"{contrast(near)}, {last.worse.name} {amount.rpartition(' ')[0]}"


def _amount(metric: Metric, factor: float | None) -> str:
    """``12.9 times as long as``; in per cent below a factor of 2: ``37 % longer than``."""
    much, more = ("long", "longer") if _is_time(metric) else ("much", "more")
    if factor is None:
        return f"{more} than"
    if factor >= 1.995:
        return f"{RATIO.number(factor)} times as {much} as"
    return f"{100 * (factor - 1):.2g} % {more} than"


def _is_time(metric: Metric) -> bool:
    return bool(metric.lower_is_better) and metric.dimension.si_unit == TIME.si_unit


def valued(contestant: Contestant, view: View) -> str:
    """``SHM-1 (0.17 µs)``."""
    return f"{contestant.name} ({view.quantity(contestant.median, contestant.cell.metric.dimension)})"


def _untested(pair: Pair, view: View) -> str:
    """Ratio and ranges of two of which no test is valid."""
    dimension = pair.better.cell.metric.dimension
    ranges = [
        " to ".join(view.number(end(one.cell.values), dimension) for end in (min, max))
        for one in (pair.better, pair.worse)
    ]
    factor = f"a factor of {factor_text(pair)}, " if pair.factor else ""
    return f"{factor}repeats {listed(ranges)}; {pair.verdict.reason}: not tested"


def factor_text(pair: Pair) -> str:
    """``1.62``."""
    return "none" if pair.factor is None else RATIO.number(pair.factor)


def _counts(pair: Pair) -> str:
    if pair.verdict.within:
        return f"{pair.verdict.rows} rows in time"
    return f"{pair.better.cell.n} and {pair.worse.cell.n} repeats"


def _p(pair: Pair) -> str:
    p, alone = pair.verdict.p, pair.verdict.alone
    if p is None or alone is None:
        return ""
    return (
        probability(p) if pair.among == 1 else f"{probability(p)} among all pairs, {probability(alone)} alone"
    )


def added_text(pairs: Iterable[Pair]) -> str:
    """What the repeats that were added after a report are good for, of most of them; empty without any."""
    added = max((pair.verdict.added for pair in pairs if pair.verdict.added), default=None)
    return text_of_added(added, "repeat") if added else ""


def text_of_added(added: Added, unit: str) -> str:
    """``4 blocks were added after the first report (8 blocks): its test stands``."""
    were = "was" if added.repeats == 1 else "were"
    how = "tested by bets, which hold at any time" if added.bets else "its test stands"
    before = counted(added.reported, unit)
    return f"{counted(added.repeats, unit)} {were} added after the first report ({before}): {how}"


def _certainty(pair: Pair) -> str:
    if pair.verdict.added:
        return f"{added_text([pair])}, {_p(pair)}"
    if pair.verdict.within:
        return f"{_counts(pair)}, ranked within rows, {_p(pair)}"
    if not pair.apart:
        return f"{_p(pair)}, effect {pair.effect:.2f}"
    side = "below" if pair.better.cell.metric.lower_is_better else "above"
    return f"all {pair.better.cell.n} repeats of one lie {side} all {pair.worse.cell.n} of the other"


def certainty_of_best(pairs: Sequence[Pair]) -> str:
    """How sure it is that the better ones are better."""
    p = max(pair.verdict.p or 0 for pair in pairs)
    if added := added_text(pairs):
        return f"{added}, {probability(p)}."
    within = [pair.verdict.within for pair in pairs]
    if all(within):
        rows = min(pair.verdict.rows for pair in pairs)
        return f"The difference is significant ({probability(p)}, ranked within {rows} rows in time)."
    if all(pair.apart for pair in pairs):
        counts = {one.cell.n for pair in pairs for one in (pair.better, pair.worse)}
        every = f"All {counts.pop()} repeats" if len(counts) == 1 else "All repeats"
        return f"{every} agree."
    overlap = "" if any(within) else ", though some repeats overlap"
    return f"The difference is significant ({probability(p)}){overlap}."


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


# How precisely


def precision_text(found: InterimPrecision) -> str:
    """``6 repeats: the median is known to 3.1 % (confidence 96.9 %): enough``."""
    if found.coverage is None or found.reach is None:
        known = "the precision of the median is unknown"
    else:
        known = f"the median is known to {percent(found.reach)} (confidence {percent(found.coverage)})"
    more = found.next_stage
    further = f"increase to {more} and look again" if more else "more repeats are not planned"
    return f"{counted(found.n, 'repeat')}: {known}: {'enough' if found.enough else further}"
