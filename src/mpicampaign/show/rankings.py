"""Rankings as sentences: which is best, by how much, and whether the repeats show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.ranking import HOST_GROUPS
from mpicampaign.dimension import RATIO, TIME
from mpicampaign.records import DISTURBED
from mpicampaign.show.numbers import percent, probability
from mpicampaign.show.sentences import absence
from mpicampaign.statistics.comparisons import FALSE_SHARE, FAMILY_WISE
from mpicampaign.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.compare.changes import Change
    from mpicampaign.compare.consensus import Mixed, StatedRanking, Step
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Absent, Contestant, Pair, Ranking
    from mpicampaign.compare.stopping import InterimLook
    from mpicampaign.show.view import View

_MIXED = "its repeats fall into several modes at some sizes"
_FEWER = "fewer pairs are compared here than where it is ranked, so p is smaller for the same pair"


# Two against each other


def pair_sentence(pair: Pair, view: View) -> str:
    """The comparison in a sentence.

    Separation and ratio are stated even where so many pairs are compared that they show nothing.
    """
    better, worse = (valued(one, view) for one in (pair.better, pair.worse))
    found = pair.difference
    if found.significant is None:
        text = f"{better} and {worse}: too few repeats to compare them ({found.reason})"
    elif found.significant:
        text = f"{contrast(pair, better, worse)}; {_certainty(pair)}"
    elif abs(found.effect) == 1:
        chance = f"may be chance among {found.comparisons} pairs ({_p(pair)})"
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
    return metric.lower_is_better and metric.dimension.si_unit == TIME.si_unit


def valued(contestant: Contestant, view: View) -> str:
    """``SHM-1 (0.17 µs)``."""
    return f"{contestant.name} ({view.quantity(contestant.median, contestant.cell.metric.dimension)})"


def _counts(pair: Pair) -> str:
    return f"{pair.better.cell.n} and {pair.worse.cell.n} repeats"


def _p(pair: Pair) -> str:
    found = pair.difference
    if found.p is None or found.corrected is None:
        return ""
    if found.comparisons == 1:
        return probability(found.corrected)
    return f"{probability(found.corrected)} among all pairs, {probability(found.p)} alone"


def _certainty(pair: Pair) -> str:
    effect = abs(pair.difference.effect)
    if effect < 1:
        return f"{_p(pair)}, effect {effect:.2f}"
    side = "below" if pair.better.cell.metric.lower_is_better else "above"
    return f"all {pair.better.cell.n} repeats of one lie {side} all {pair.worse.cell.n} of the other"


# One ranking


def superlative(metric: Metric) -> str:
    """``lowest`` or ``highest``."""
    return "lowest" if metric.lower_is_better else "highest"


def verdict(ranking: Ranking) -> str:
    """Which is best: one, several of which each may be, or the only one."""
    best_is = superlative(ranking.metric)
    if len(ranking.contestants) == 1:
        return f"only {ranking.contestants[0].name} has {_lacking(ranking)}: nothing to compare"
    best, *others = ranking.leaders
    if not others:
        return f"{best_is}: {best}"
    if ranking.kind == HOST_GROUPS:
        every = len(ranking.leaders) == len(ranking.contestants)
        named = f"any of {len(ranking.leaders)}" if every else listed(ranking.leaders, "or")
        return f"{best_is}: {named}"
    return "; ".join([f"{best_is}: {best}", *ties(ranking)])


def _lacking(ranking: Ranking) -> str:
    """What the others lack."""
    kinds = {note.kind for one in ranking.absent for note in one.reasons}
    return "quiet runs" if DISTURBED in kinds else "values"


def ties(ranking: Ranking) -> list[str]:
    """``no significant difference between SHM and SHM-1``; which have too few repeats to be compared."""
    best = ranking.contestants[0].name
    alike, unknown = (
        [p.worse.name for p in ranking.pairs_of_best if p.difference.significant is answer]
        for answer in (False, None)
    )
    found = [f"no significant difference between {best} and {listed(alike, 'or')}"] if alike else []
    return [*found, *([f"too few repeats to compare it with {listed(unknown, 'or')}"] if unknown else [])]


_ERRORS = {
    FAMILY_WISE: "the chance that any pair is wrongly called different is at most 5 %",
    FALSE_SHARE: "of the pairs called different, at most about 5 % are expected to be wrong; no single pair "
    "is guaranteed. Nothing can be shown unless enough pairs are separated: 16 % with 5 repeats, 57 % with 4",
}
_WHERE = {
    FAMILY_WISE: "In a ranking of few groups",
    FALSE_SHARE: "In a ranking of many groups or of 4 repeats",
}
_BEST = "The true best host group is among those named with 95 % confidence."


def errors_text(rankings: Iterable[Ranking]) -> str:
    """What can be wrong in the rankings: a sentence for each kind of answer."""
    several = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    best = [_BEST] if any(ranking.kind == HOST_GROUPS for ranking in several) else []
    most = dict.fromkeys(ranking.error for ranking in several)
    pairs = [f"In each ranking {_ERRORS[error]}." for error in most]
    if len(pairs) > 1:
        pairs = [f"{_WHERE[error]} {_ERRORS[error]}." for error in most]
    return " ".join([*best, *pairs])


def pair_sentences(ranking: Ranking, view: View) -> tuple[str, ...]:
    """The best against each of the others, one sentence each."""
    return tuple(f"{ranking.metric.name}: {pair_sentence(pair, view)}" for pair in ranking.pairs_of_best)


def evidence(contestant: Contestant) -> str:
    """How many runs stand behind the median, and what is doubtful about them."""
    row = contestant.row
    parts = [f"{count} {state}" for state, count in (row.verdicts | row.conditions).items()]
    parts += ["in several modes"] if contestant.several_modes else []
    counts = f"{contestant.cell.n} of {row.planned} runs count"
    return f"{contestant.name}: {counts}: {', '.join(parts)}"


def absent_text(one: Absent) -> str:
    """``TCP: n/a: no network``."""
    return f"{one.name}: {absence(one.reasons)}"


# Over several host groups


def statement(stated: StatedRanking) -> str:
    """``latency at 0 B: SHM-1 < SHM-2 < IBV < TCP: supported in 7 of 7 host groups``."""
    order = f" {_sign(stated.metric)} ".join(stated.order)
    if len(stated.scopes) == 1:
        sure = "supported" if stated.whole else "the repeats do not support every step"
        return f"{stated.metric.name}: {order} ({stated.scopes[0]}; {sure})"
    counted = _host_groups(len(stated.scopes))
    counted += f" that have all of them ({stated.lacking} more have some)" if stated.lacking else ""
    return f"{stated.metric.name}: {order}: supported in {len(stated.whole)} of {counted}"


def stated_lines(stated: StatedRanking) -> tuple[str, ...]:
    """The statement, and a line for each step that does not hold everywhere."""
    partial = [step for step in stated.steps if step.reversed or step.leaning or step.unclear]
    lines = [step_text(step, stated.metric) for step in (*partial, *stated.against)]
    few = f"too few host groups have {'it' if len(stated.rare) == 1 else 'them'}"
    lines += [f"{', '.join(stated.rare)}: left out, since {few}"] if stated.rare else []
    return (statement(stated), *lines, *map(mixed_text, stated.mixed))


def step_text(step: Step, metric: Metric) -> str:
    """``SHM-1 > SHM-2: supported in 5 of 7 host groups; reversed in scarf15, scarf16``."""
    others = {
        "reversed in": step.reversed,
        "medians reversed, but not significantly, in": step.leaning,
        "unclear in": step.unclear,
    }
    compared = len(step.supported) + sum(map(len, others.values()))
    parts = [f"supported in {len(step.supported)} of {_host_groups(compared)}"]
    parts += [f"{how} {', '.join(scopes)}" for how, scopes in others.items() if scopes]
    return f"{step.better} {_sign(metric)} {step.worse}: {'; '.join(parts)}"


def mixed_text(mixed: Mixed) -> str:
    """Why a placement is left out."""
    where = f"{mixed.several} of {_host_groups(mixed.host_groups)}"
    return f"{mixed.placement} is left out: {_MIXED} in {where}; {_FEWER}"


def _sign(metric: Metric) -> str:
    return "<" if metric.lower_is_better else ">"


def _host_groups(count: int) -> str:
    return f"{count} host group" if count == 1 else f"{count} host groups"


# Over time and over repeats


def change_ratio(change: Change) -> str:
    """``× 1.03``; empty where the earlier median is 0."""
    ratio = change.difference.ratio
    return "" if ratio is None else f"× {ratio:#.3g}"


def change_verdict(change: Change) -> str:
    """Whether the change is more than chance, or why no test was possible."""
    found = change.difference
    if found.p is None:
        return found.reason
    return f"{'significant' if found.significant else 'not significant'}, {probability(found.p)}"


def look_text(found: InterimLook) -> str:
    """``6 repeats: the median is known to 3.1 % (confidence 96.9 %): enough``."""
    if found.coverage is None or found.reach is None:
        known = "the precision of the median is unknown"
    else:
        known = f"the median is known to {percent(found.reach)} (confidence {percent(found.coverage)})"
    n = "1 repeat" if found.n == 1 else f"{found.n} repeats"
    return f"{n}: {known}: {'enough' if found.enough else _further(found)}"


def _further(found: InterimLook) -> str:
    more = found.next_look
    return f"increase to {more} and look again" if more else "more repeats are not planned"
