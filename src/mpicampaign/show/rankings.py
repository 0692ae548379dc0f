"""Rankings as sentences: which is best, by how much, and whether the repeats show it."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from mpicampaign.compare.in_turn import IN_TURN
from mpicampaign.compare.ranking import (
    FEWEST_BLOCKS,
    HOST_GROUPS,
    MOST_IN_BLOCKS,
    ONE,
    Contestant,
    best_first,
)
from mpicampaign.records import DISTURBED
from mpicampaign.show.cells import name_among
from mpicampaign.show.pairs import certainty_of_best, contrast, contrasts, fastest, superlative, valued
from mpicampaign.statistics.comparisons import FALSE_SHARE, FAMILY_WISE
from mpicampaign.text import counted, listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpicampaign.compare.consensus import Mixed, StatedRanking, Step
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Ranking
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.view import View

BUSY = "of disturbed runs, not tested"
ON = "On this busy machine"
MANY = 3  # names in a sentence; of more the count and the range
_NAMED = 4  # medians in a sentence; of more the ends
# Whether a difference is real.
SHOWN = "difference shown"
APART = "ranges apart, not tested"
NOT_SHOWN = "no clear difference"
TIE = "a tie"
FEW = "too few repeats"
BY_RANGES = f"not tested where {IN_TURN}: there all repeats of one lie on one side of the other's"
_MIXED = "its repeats fall into several modes at some sizes"
_FEWER = "fewer pairs are compared here than where it is ranked, so p is smaller for the same pair"


# One ranking


def ranking_text(ranking: Ranking) -> str:
    """``latency at 0 B, placements of local: lowest: SHM``."""
    return f"{ranking.metric.name}, {ranking.kind} of {ranking.scope}: {verdict(ranking)}"


def verdict(ranking: Ranking) -> str:
    """Which is best: one, several of which each may be, or the only one; and who is not judged."""
    if len(ranking.contestants) == 1:
        return f"only {ranking.contestants[0].name} has {_lacking(ranking)}: nothing to compare"
    if not ranking.judged:
        return "too few repeats to say which is best"
    many = ranking.gap is None and len(ranking.leaders) > MANY
    best = f"any of {len(ranking.leaders)}" if many else listed(ranking.leaders, "or")
    few = [f"{one.name} ({counted(one.cell.n, 'repeat')})" for one in ranking.contestants if not one.judged]
    best_is = superlative(ranking.metric) + _of_those_judged(ranking)
    return "; ".join([f"{best_is}: {best}", *([f"not judged: {listed(few)}"] if few else [])])


def _of_those_judged(ranking: Ranking) -> str:
    """Behind a superlative."""
    return " of those judged" if ranking.unjudged_ahead else ""


def _lacking(ranking: Ranking) -> str:
    """What the others lack."""
    kinds = {note.kind for one in ranking.absent for note in one.reasons}
    return "quiet runs" if DISTURBED in kinds else "values"


_ERRORS = {
    FAMILY_WISE: "the chance that any pair is wrongly called different is at most 5 %",
    FALSE_SHARE: "of the pairs called different, at most about 5 % are expected to be wrong; no single pair "
    "is guaranteed. Nothing can be shown unless enough pairs are separated: 16 % with 5 repeats, 57 % with 4",
}
_WHERE = {
    FAMILY_WISE: "In a ranking of few groups",
    FALSE_SHARE: "In a ranking of many groups or of 4 repeats",
}
LEADS_BY_RANGES = (
    f"Groups {IN_TURN} are not tested: one leads if all its repeats lie on one side of all of the "
    "other's, by 1 % or more."
)
OF_OWN_REPEATS = (
    f"Intervals of groups {IN_TURN} cover the scatter within each group, not what changed between them."
)
OWN_BLOCKS = (
    f"Where up to {MOST_IN_BLOCKS} candidates have {FEWEST_BLOCKS} or more complete own repeats, each repeat "
    "is a block of time: an exact test exchanges values within it, and a lead of 1 % or more that it shows "
    "is clear."
)
_BEST = "The true best of the host groups judged is among those named with 95 % confidence."


def errors_text(rankings: Iterable[Ranking]) -> str:
    """What can be wrong in the rankings: a sentence for each kind of answer."""
    several = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    in_turn = any(pair.in_turn for ranking in several for pair in ranking.pairs)
    tested = [ranking for ranking in several if ranking.tested or not in_turn]
    best = [_BEST] if any(one.kind == HOST_GROUPS and not one.in_turn for one in tested) else []
    best += [OWN_BLOCKS] if any(pair.in_blocks for ranking in several for pair in ranking.pairs) else []
    best += [LEADS_BY_RANGES] if any(ranking.in_turn for ranking in several) else []
    most = dict.fromkeys(ranking.error for ranking in tested)
    pairs = [f"In each ranking {_ERRORS[error]}." for error in most]
    if len(pairs) > 1:
        pairs = [f"{_WHERE[error]} {_ERRORS[error]}." for error in most]
    return " ".join([*best, *pairs])


def evidence(contestant: Contestant) -> str:
    """How many runs stand behind the median, and what is doubtful about them."""
    row = contestant.row
    parts = [f"{count} {state}" for state, count in (row.verdicts | row.conditions).items()]
    parts += ["in several modes"] if contestant.several_modes else []
    counts = f"{contestant.cell.n} of {row.planned} runs count"
    return f"{contestant.name}: {counts}: {', '.join(parts)}"


# Over several host groups


def order_text(stated: StatedRanking) -> str:
    """``SHM-1 < SHM-2 = IBV < TCP``."""
    first, *others = stated.order
    signs = ("=" if step.equal else _sign(stated.metric) for step in stated.steps)
    return " ".join([first, *(f"{sign} {name}" for sign, name in zip(signs, others, strict=True))])


def statement(stated: StatedRanking) -> str:
    """``latency at 0 B: SHM-1 < SHM-2 < IBV < TCP: supported in 7 of 7 host groups``."""
    order = order_text(stated)
    in_turn = f" ({BY_RANGES})" if stated.in_turn else ""
    if len(stated.scopes) == 1:
        sure = "supported" if stated.whole else "the repeats do not support every step"
        sure += f", {BY_RANGES}" if stated.in_turn else ""
        return f"{stated.metric.name}: {order} ({stated.scopes[0]}; {sure})"
    counted = _scopes(stated)
    counted += f" that have all of them ({stated.lacking} more have some)" if stated.lacking else ""
    return f"{stated.metric.name}: {order}: supported in {len(stated.whole)} of {counted}{in_turn}"


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
        "medians reversed, but not clearly, in": step.leaning,
        "unclear in": step.unclear,
    }
    compared = len(step.supported) + sum(map(len, others.values()))
    parts = [f"supported in {len(step.supported)} of {counted(compared, 'host group')}"]
    parts = [f"neither leads clearly in any of {counted(compared, 'host group')}"] if step.equal else parts
    parts += [f"{how} {', '.join(scopes)}" for how, scopes in others.items() if scopes]
    sign = "=" if step.equal else _sign(metric)
    return f"{step.better} {sign} {step.worse}: {'; '.join(parts)}"


def mixed_text(mixed: Mixed) -> str:
    """Why a placement is left out."""
    where = f"{mixed.several} of {counted(mixed.host_groups, 'host group')}"
    return f"{mixed.placement} is left out: {_MIXED} in {where}; {_FEWER}"


def _sign(metric: Metric) -> str:
    return "<" if metric.lower_is_better else ">"


def _scopes(stated: StatedRanking) -> str:
    """``7 host groups``, ``1 host group with openmpi5``."""
    return counted(len(stated.scopes), "host group") + (
        f" with {visible(stated.library)}" if stated.library else ""
    )


# The best placement, and the best host group


def outcome(rankings: Sequence[Ranking]) -> str:
    """Whether any ranking shows a difference, or why none does."""
    if gaps := [ranking.gap for ranking in rankings if ranking.gap]:
        return APART if all(pair.in_turn for pair in gaps) else SHOWN
    return NOT_SHOWN if any(ranking.pairs and ranking.judged for ranking in rankings) else FEW


def best_placement(
    rankings: Sequence[Ranking], stated: Sequence[StatedRanking], view: View
) -> tuple[str, ...]:
    """In one host group; over several their common order with its exceptions, then who is best where."""
    compared = [ranking for ranking in rankings if ranking.pairs]
    if not compared:
        return ()
    if not any(ranking.judged for ranking in compared):
        return ("Too few repeats to say which is best. Ask for more repeats.",)
    if len(rankings) == 1:
        return tuple(_of_one_host_group(compared[0], view))
    orders = consensus(stated)
    names = {one.name for ranking in compared for one in ranking.contestants}
    if any(len(one.whole) == len(compared) and set(one.order) == names for one in stated):
        return (*orders, *_leads(compared))  # which says who is best everywhere
    several = any(ranking.library for ranking in compared)
    where = f"{len(compared)} combinations" if several else counted(len(compared), "host group")
    return (*orders, f"{first_places(compared, where)}.", *_leads(compared))


def _of_one_host_group(ranking: Ranking, view: View) -> Iterable[str]:
    """The best with its equals, then what it gains."""
    yield f"{_upper(leaders_text(ranking, view))}."
    if clear := [pair for pair in ranking.pairs_of_best if pair.clear]:
        yield f"{contrasts(clear[0], clear[-1])}."
        yield certainty_of_best(clear)


def leaders_text(ranking: Ranking, view: View) -> str:
    """``SHM (0.17 µs) is fastest``, ``SHM (0.17 µs) or SHM-1 (0.19 µs) is fastest``; of many the range.

    Behind one of too few repeats: ``SHM (0.17 µs) is fastest of those judged, behind TCP (2 repeats)``.
    """
    said = _who_leads(ranking, view)
    if not (ahead := ranking.unjudged_ahead):
        return said
    named = listed([f"{one.name} ({counted(one.cell.n, 'repeat')})" for one in ahead])
    return f"{said}, behind {named if len(ahead) <= MANY else f'{len(ahead)} with too few repeats'}"


def _who_leads(ranking: Ranking, view: View) -> str:
    best_is = fastest(ranking.metric) + _of_those_judged(ranking)
    named = [valued(one, view) for one in ranking.contestants if one.name in ranking.leaders]
    ends, many = f"{len(named)} {ranking.kind}, {named[0]} to {named[-1]}", len(named) > MANY
    if len(named) == 1:
        return f"{named[0]} is {best_is}"
    if ranking.tied:
        return f"{ends + ',' if many else listed(named)} tie" + (f" as {best_is}" if ranking.gap else "")
    if ranking.gap is None:
        return f"no clear difference between {ends if many else listed(named)}"
    return f"any of {ends}, may be {best_is}" if many else f"{listed(named, 'or')} is {best_is}"


def _upper(text: str) -> str:
    """Names keep their case."""
    return f"N{text[1:]}" if text.startswith("no clear") else text


def consensus(stated: Sequence[StatedRanking]) -> tuple[str, ...]:
    """The orders that most host groups support, after the pairs that any of them reverses."""
    most = [one for one in stated if len(one.scopes) > 1 and 2 * len(one.whole) > len(one.scopes)]
    if not most:
        return ()
    # Of a pair in both orders the step of the shorter one counts, which has all host groups of the longer.
    steps = {(step.better, step.worse): step for one in most for step in (*one.steps, *one.against)}
    sign = _sign(most[0].metric)
    reversed_ = [
        f"{step.worse} {sign} {step.better} in {_some(step.reversed)}"
        for step in steps.values()
        if step.reversed
    ]
    held = [
        f"{order_text(one)} in {len(one.whole)} of {_scopes(one)}"
        + (" that have all of them" if one.lacking else "")
        for one in most
    ]
    left_out = [f" ({one.placement} left out: several modes)" for one in most[0].mixed]
    exceptions = (f"Exceptions: {', '.join(reversed_)}.",) if reversed_ else ()
    in_turn = f"; {BY_RANGES}" if any(one.in_turn for one in most) else ""
    return (*exceptions, f"{', '.join(held)}{''.join(left_out)}{in_turn}.")


def _some(scopes: Sequence[str]) -> str:
    return listed(scopes) if len(scopes) <= MANY else counted(len(scopes), "host group")


def first_places(rankings: Sequence[Ranking], where: str) -> str:
    """``Fastest placement: SHM-1 in 3 of 13 host groups, SHM in 1, SHM or SHM-1 in 9``; adds up to all."""
    counted = Counter(map(_first_place, rankings))
    alone = [names for names, _ in counted.most_common() if len(names) == 1]
    pairs = [names for names, _ in counted.most_common() if len(names) == 2]
    named = [*alone[:MANY], *pairs[:MANY]]
    parts = [(" or ".join(names), counted[names]) for names in named]
    parts.append(("another", sum(counted[names] for names in alone[MANY:])))
    rest = sum(count for names, count in counted.items() if len(names) > 1 and names not in named)
    parts.append(("one of several", rest))
    parts += [(TIE, sum(_ties(one) for one in rankings))]
    open_ = sum(one.gap is None and not one.few and not _ties(one) for one in rankings)
    parts += [(NOT_SHOWN, open_), (FEW, sum(one.few for one in rankings))]
    first, *others = [f"{who} in {count}" for who, count in parts if count]
    kind = ONE[rankings[0].kind]
    return f"{best_of(rankings).capitalize()} {kind}: {', '.join([f'{first} of {where}', *others])}"


def best_of(rankings: Iterable[Ranking]) -> str:
    """``fastest``, if all metrics are speeds."""
    words = {fastest(ranking.metric) for ranking in rankings}
    return words.pop() if len(words) == 1 else "best"


def _first_place(ranking: Ranking) -> tuple[str, ...]:
    """Those of which each may be the best; empty where repeats are too few or show nobody to be worse."""
    return tuple(sorted(ranking.leaders)) if ranking.gap and not ranking.few else ()


def _ties(ranking: Ranking) -> bool:
    return ranking.gap is None and ranking.tied and not ranking.few


def _leads(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    """The smallest and the largest clear lead, with their host groups."""
    gaps = [(ranking.gap, ranking.scope) for ranking in rankings if not ranking.few]
    found = [(pair.factor, pair, scope) for pair, scope in gaps if pair is not None and pair.factor]
    if not found:
        return ()
    low, high = min(found, key=itemgetter(0)), max(found, key=itemgetter(0))
    if len(found) == 1:
        return (f"{low[2]}: {contrast(low[1])}.",)
    if contrast(low[1]) == contrast(high[1]):
        return (f"Clear lead: {contrast(low[1])}.",)
    return (f"Smallest clear lead: {contrast(low[1])} ({low[2]}); largest: {contrast(high[1])} ({high[2]}).",)


def best_in_placement(ranking: Ranking, view: View) -> str:
    """Which host group or MPI library may be best, its gain over the nearest that is not, and the last."""
    if not ranking.judged:
        return f"{ranking.scope}: too few repeats to say which {ONE[ranking.kind]} is best"
    near, last = ranking.gap, ranking.pairs_of_best[-1]
    untested = ", not tested" if near and (near.in_turn or last.in_turn) else ""
    gain = f"; {contrasts(near, last)}{untested}" if near else ""
    return f"{ranking.scope}: {leaders_text(ranking, view)}{gain}"


# Values of disturbed runs: told in sentences of their own, and never tested


def is_told(row: Row) -> bool:
    """Whether nothing but its disturbed runs keeps the row from being compared."""
    return row.disturbed and not (row.apart or row.at_most or row.in_blocks)


def disturbed_metrics(table: Table) -> Iterator[tuple[Metric, int | None]]:
    """The headline metrics and numbers of ranks of which a row has values of disturbed runs alone."""
    for metric in (metric for metric in table.metrics if metric.headline):
        rows = (row for row in table.rows if is_told(row) and row.cell(metric).summary)
        yield from dict.fromkeys((metric, row.ranks) for row in rows)


def disturbed_contestants(
    comparison: Comparison, table: Table, metric: Metric, ranks: int | None
) -> tuple[Contestant, ...]:
    """These rows, the best median first, by names that tell them from the ranked ones, too."""
    shown = [row for row in table.rows if row.ranks == ranks and (row.ranked or is_told(row))]
    rows = [row for row in shown if row.cell(metric).summary and is_told(row)]
    return best_first(
        [Contestant(name_among(comparison, table, row, shown), row, row.cell(metric)) for row in rows]
    )


def disturbed_sentences(found: Sequence[Contestant], view: View) -> Iterator[str]:
    """Their medians with the ranges of the repeats, and whether the range of the first overlaps others.

    A single run has no range.
    """
    if not found:
        return
    first, *others = found
    if len(found) <= _NAMED:
        medians = listed([f"{_with_range(one, view)} for {one.name}" for one in found])
        yield f"{ON} the median (and range of repeats) is {medians}."
    else:
        ends = " to ".join(f"{_with_range(one, view)} for {one.name}" for one in (first, others[-1]))
        yield f"{ON} the {len(found)} medians (and ranges of repeats) go from {ends}."
    overlapping = [one.name for one in others if _overlap(first, one)]
    those = f"that of {listed(overlapping)}" if overlapping else "no other"
    if others and all(len(one.cell.values) > 1 for one in found):
        those = f"{len(overlapping)} others" if len(overlapping) >= _NAMED else those
        yield f"{ON} the range of {first.name} overlaps {those}."


def _with_range(one: Contestant, view: View) -> str:
    """``0.17 µs (0.16 to 0.21)``; of a single run ``0.17 µs (1 run)``."""
    found, dimension = one.cell.summary, one.cell.metric.dimension
    text = view.quantity(one.median, dimension)
    if found is None or found.n == 1:
        return f"{text} (1 run)"
    return f"{text} ({view.number(found.minimum, dimension)} to {view.number(found.maximum, dimension)})"


def _overlap(one: Contestant, other: Contestant) -> bool:
    first, second = one.cell.values, other.cell.values
    return min(first) <= max(second) and min(second) <= max(first)


def disturbed_lines(comparison: Comparison, table: Table, view: View) -> tuple[str, ...]:
    """All of the table's, each metric in a line."""
    found = {key: disturbed_contestants(comparison, table, *key) for key in disturbed_metrics(table)}
    return tuple(
        f"{metric.name}: {' '.join(disturbed_sentences(of, view))}" for (metric, _), of in found.items()
    )
