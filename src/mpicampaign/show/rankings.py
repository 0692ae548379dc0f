"""Rankings as sentences: which is best, by how much, and whether the repeats show it."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from mpicampaign.compare.ranking import HOST_GROUPS, Contestant, best_first
from mpicampaign.records import DISTURBED
from mpicampaign.show.cells import name_among
from mpicampaign.show.pairs import certainty_of_best, contrast, contrasts, fastest, superlative, valued
from mpicampaign.show.sentences import absence
from mpicampaign.statistics.comparisons import FALSE_SHARE, FAMILY_WISE
from mpicampaign.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpicampaign.compare.consensus import Mixed, StatedRanking, Step
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Absent, Ranking
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.view import View

BUSY = "of disturbed runs, not tested"
ON = "On this busy machine"
_NAMED = 4  # medians in a sentence; of more the ends
# Whether a difference is real.
SHOWN = "difference shown"
NOT_SHOWN = "no significant difference"
FEW = "too few repeats"
_MIXED = "its repeats fall into several modes at some sizes"
_FEWER = "fewer pairs are compared here than where it is ranked, so p is smaller for the same pair"


# One ranking


def ranking_text(ranking: Ranking) -> str:
    """``latency at 0 B, placements of local: lowest: SHM``."""
    return f"{ranking.metric.name}, {ranking.kind} of {ranking.scope}: {verdict(ranking)}"


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


# The best placement, and the best host group


def outcome(rankings: Sequence[Ranking]) -> str:
    """Whether any ranking shows a difference, or why none does."""
    if any(ranking.gap for ranking in rankings):
        return SHOWN
    return NOT_SHOWN if any(ranking.pairs and ranking.tested for ranking in rankings) else FEW


def best_placement(rankings: Sequence[Ranking], view: View) -> tuple[str, ...]:
    """In one host group, or over several."""
    compared = [ranking for ranking in rankings if ranking.pairs]
    if len(rankings) == 1 and compared:
        return tuple(_of_one_host_group(compared[0], view))
    return (_consensus(compared), *_gaps(compared)) if compared else ()


def _of_one_host_group(ranking: Ranking, view: View) -> Iterable[str]:
    """The best with its equals, then what it gains, or why nothing can be said."""
    best = valued(ranking.contestants[0], view)
    worse, alike, unknown = (
        [pair for pair in ranking.pairs_of_best if pair.difference.significant is answer]
        for answer in (True, False, None)
    )
    equals = [valued(pair.worse, view) for pair in alike]
    if not worse and equals:
        yield f"No significant difference between {best} and {listed(equals, 'or')}."
    if worse and equals:
        yield f"{listed([best, *equals])} are {fastest(ranking.metric)}: no significant difference."
    if worse and not equals:
        yield f"{best} is {fastest(ranking.metric)}."
    if worse:
        yield f"{contrasts(worse[0], worse[-1])}."
        yield certainty_of_best(worse)
    if unknown:
        others = listed([valued(pair.worse, view) for pair in unknown], "or")
        reason = unknown[0].difference.reason
        yield f"Too few repeats to compare {best} with {others}: {reason}. Ask for more repeats."


def _consensus(rankings: Sequence[Ranking]) -> str:
    """Which placements are best in how many host groups; a tie of all does not count."""
    decided = [ranking for ranking in rankings if ranking.gap]
    where = f"{len(rankings)} host group{'s' * (len(rankings) > 1)}"
    if not decided and outcome(rankings) == NOT_SHOWN:
        return f"{NOT_SHOWN.capitalize()} in any of {where}."
    if not decided:
        return f"Too few repeats to say which placement is best in any of {where}. Ask for more repeats."
    found = _first_places(decided)
    few = sum(not ranking.tested for ranking in rankings)
    found[NOT_SHOWN] = len(rankings) - len(decided) - few
    found[FEW] = few
    first, *others = [f"{who} in {count}" for who, count in found.items() if count]
    best = fastest(rankings[0].metric).capitalize()
    return f"{best} placement: {', '.join([f'{first} of {where}', *others])}."


def _first_places(decided: Sequence[Ranking]) -> dict[str, int]:
    """How often each placement is best alone, or shares the first place more than once."""
    counted = Counter(tuple(sorted(ranking.leaders)) for ranking in decided)
    named = [names for names, count in counted.most_common() if count > 1 or len(names) == 1]
    found = {" or ".join(names): counted[names] for names in sorted(named, key=len)}
    return {**found, "several together": len(decided) - sum(found.values())}


def _gaps(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    """The smallest and the largest distance to the next that differs, with their host groups."""
    found = [(pair.factor, pair, r.scope) for r in rankings if (pair := r.gap) is not None and pair.factor]
    if not found:
        return ()
    low, high = min(found, key=itemgetter(0)), max(found, key=itemgetter(0))
    if low is high:
        return (f"{low[2]}: {contrast(low[1])}.",)
    if contrast(low[1]) == contrast(high[1]):
        return (f"Gap to the next: {contrast(low[1])}.",)
    return (
        f"Smallest gap to the next: {contrast(low[1])} ({low[2]}); largest: {contrast(high[1])} ({high[2]}).",
    )


def best_host_group(ranking: Ranking, view: View) -> str:
    """In one placement: which may be the best, its gain over the nearest that is not, and over the last."""
    if not ranking.tested:
        return f"{ranking.scope}: too few repeats to say which host group is best"
    near, last = ranking.gap, ranking.pairs_of_best[-1]
    ends = [valued(ranking.contestants[place], view) for place in (0, -1)]
    if near is None:
        count = len(ranking.contestants)
        return f"{ranking.scope}: no difference shown between {count} host groups ({' to '.join(ends)})"
    best = listed([ends[0], *ranking.leaders[1:]], "or")
    return f"{ranking.scope}: {best} is {fastest(ranking.metric)}; {contrasts(near, last)}"


# Values of disturbed runs: told in sentences of their own, and never tested


def is_told(row: Row) -> bool:
    """Whether nothing but its disturbed runs keeps the row from being compared."""
    return row.disturbed and not (row.oversubscribed or row.in_other_state or row.at_most)


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
    """Their medians with the ranges of the repeats, and whether the range of the first overlaps others."""
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
    if others:
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
