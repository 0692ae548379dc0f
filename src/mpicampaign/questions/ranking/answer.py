"""Which host group, MPI library and placement is best, by how much, and whether it is real: by metric."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import UNVERIFIED
from mpicampaign.base.text import in_ranks, listed, visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.answer import ALONE, Answer, CandidateRow
from mpicampaign.questions.crossings.say import crossings_text
from mpicampaign.questions.decided.say import decided_sentences
from mpicampaign.questions.over_groups.say import attribute_lines
from mpicampaign.questions.ranking import say
from mpicampaign.questions.ranking.find import (
    HOST_GROUPS,
    LIBRARIES,
    ONE,
    PLACEMENTS,
    Contestant,
    Ranking,
    best_first,
)
from mpicampaign.questions.ranking.say_pairs import baseline_lines, pair_sentence
from mpicampaign.show.cells import MetricCell, name_among
from mpicampaign.show.runs import mark_of
from mpicampaign.show.sentences import absence
from mpicampaign.show.view import DEFAULT, View
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.verdicts.compare import FEW_REPEATS

_OTHERS = (HOST_GROUPS, LIBRARIES)  # compared in each placement


def ranking_answers(comparison: Comparison, view: View) -> Iterator[Answer]:
    """One for each table, headline metric and number of ranks; the first table of each benchmark first."""
    # Pairs of placements say what can be said of those that are not tested.
    only_tested = any(of_few.kind == PLACEMENTS for of_few in comparison.of_few)
    first = {table.benchmark: table for table in reversed(comparison.tables)}
    tables = [table for table in comparison.tables if not table.is_baseline]
    for table in sorted(tables, key=lambda table: first[table.benchmark] is not table):
        rankings = [ranking for ranking in table.rankings if ranking.judged or not only_tested]
        alike = grouped(rankings, lambda ranking: (ranking.metric, ranking.ranks))
        for key in dict.fromkeys((*alike, *say.disturbed_metrics(table))):
            yield _answer(comparison, table, key, alike.get(key, []), view)


def _answer(
    comparison: Comparison,
    table: Table,
    key: tuple[Metric, int | None],
    rankings: Sequence[Ranking],
    view: View,
) -> Answer:
    """``key``: the metric, and the number of ranks. Without rankings, all runs were disturbed."""
    metric, ranks = key
    placements = [ranking for ranking in rankings if ranking.kind == PLACEMENTS]
    others = [ranking for kind in _OTHERS for ranking in rankings if ranking.kind == kind and ranking.pairs]
    disturbed = say.disturbed_contestants(comparison, table, metric, ranks)
    candidates = _candidates(comparison, table, rankings, disturbed, view)
    quiet = [candidate for candidate in candidates if not say.is_told(candidate.row)]
    rows = [(one.row, ranking.metric) for ranking in rankings for one in ranking.contestants]
    looks = [looked for looked in comparison.decided if any(looked.is_about(*row) for row in rows)]
    over = [one for one in table.over_groups if (one.metric, one.ranks, one.source) == (*key, "")]
    unit = view.unit_of(metric.dimension)
    said = [sentence for looked in looks for sentence in decided_sentences(looked)]
    if len(quiet) == 1:
        lacked = say.ENOUGH_QUIET if disturbed else "values"
        said = [f"Only {quiet[0].name} has {lacked}: {quiet[0].value} {unit}."]
    else:
        decided = all(looked.decision.rows for looked in looks)
        said += say.best_placement(placements, over, view) if decided else ()
        said += _crossings(placements)
        said += _not_judged(rankings, quiet, unit) if decided else ()
        said += _doubts(quiet, metric)
    counts = {ranking.ranks for ranking in table.rankings} | {n for _, n in say.disturbed_metrics(table)}
    return Answer(
        table,
        f"{table.title}: {metric.name}" + (f", {in_ranks(ranks)}" if len(counts) > 1 else ""),
        say.outcome(rankings) if len(quiet) > 1 else say.BUSY if disturbed else ALONE,
        (*said, *say.disturbed_sentences(disturbed, view)),
        (*_best_of_others(others, view), *attribute_lines(table, metric, ranks, view)),
        candidates,
        unit,
        tuple(rankings),
    )


def _best_of_others(rankings: Sequence[Ranking], view: View) -> Iterator[str]:
    """A line for each placement with an answer, then one for all that lack it for one reason."""
    yield from (say.best_in_placement(ranking, view) for ranking in rankings if ranking.judged)
    untested = [ranking for ranking in rankings if not ranking.judged]
    for (kind, why), several in grouped(untested, lambda one: (one.kind, one.why_not_judged)).items():
        scopes = listed([ranking.scope for ranking in several])
        yield f"{scopes}: {say.not_judged(why, f'which {ONE[kind]} is best')}"


def _crossings(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Of several host groups each with its name."""
    for ranking in rankings:
        if text := crossings_text(ranking):
            yield f"{say.upper(text)}." if len(rankings) == 1 else f"{ranking.scope}: {text}."


# The candidates


def _candidates(
    comparison: Comparison,
    table: Table,
    rankings: Sequence[Ranking],
    disturbed: Sequence[Contestant],
    view: View,
) -> tuple[CandidateRow, ...]:
    """All host groups and placements of the metric, best first; those not judged are behind others.

    Those of disturbed runs are last and on no scale, unless fewer than two others could be compared.
    """
    judged = any(ranking.judged for ranking in rankings)
    # those compared in blocks are in rankings of host groups alone
    contestants = (one for ranking in rankings for one in ranking.contestants)
    by_row = {id(one.row): one for one in sorted(contestants, key=lambda one: one.judged)}
    quiet = sorted(best_first(by_row.values()), key=lambda one: judged and not one.judged)
    leads = _leaders(rankings, quiet) if judged else set()
    rows = [one.row for one in quiet]
    quiet = [replace(one, name=name_among(comparison, table, one.row, rows)) for one in quiet]
    compared, last = (quiet, disturbed) if len(quiet) > 1 else (best_first([*quiet, *disturbed]), ())
    return (
        *(candidate_of(one, compared[0].median, view, id(one.row) in leads) for one in compared),
        *(candidate_of(one, None, view) for one in last),
    )


def candidate_of(one: Contestant, best: float | None, view: View, leads: bool = False) -> CandidateRow:
    """``best``: the median with which its own is compared; ``None``: it is on no scale."""
    lower_is_better = one.cell.metric.lower_is_better

    def worse(value: float | None) -> float | None:
        """How many times worse than the best."""
        if best is None or value is None or best <= 0 or value <= 0:
            return None
        ratio = value / best if lower_is_better else best / value
        return ratio if 0 < ratio < math.inf else None

    interval = one.cell.summary.interval if one.cell.summary else None
    low, high = (worse(interval.low), worse(interval.high)) if interval else (None, None)
    ends = (low, high) if lower_is_better else (high, low)
    return CandidateRow(one.name, MetricCell(one.row, one.cell, view), worse(one.median), *ends, leads)


def _leaders(rankings: Sequence[Ranking], contestants: Sequence[Contestant]) -> set[int]:
    """The rows that may be the best of all: no ranking has a better one.

    Where none compares all, the interval must meet that of the best median, too.
    """
    tested = [ranking for ranking in rankings if ranking.pairs and ranking.judged]
    judged = [(ranking, one) for ranking in tested for one in ranking.contestants]
    beaten = {id(one.row) for ranking, one in judged if one.name not in ranking.leaders}
    leads = {id(one.row) for _, one in judged} - beaten
    if all(len(ranking.contestants) < len(contestants) for ranking in rankings):
        least, most = _ends(contestants[0])
        ends = {id(one.row): _ends(one) for one in contestants}
        leads &= {row for row, (low, high) in ends.items() if low <= most and least <= high}
    return leads


def _ends(one: Contestant) -> tuple[float, float]:
    interval = one.cell.summary.interval if one.cell.summary else None
    return (interval.low, interval.high) if interval else (one.median, one.median)


def _not_judged(rankings: Sequence[Ranking], candidates: Sequence[CandidateRow], unit: str) -> Iterator[str]:
    """Those in no test, with their medians: they are never among the best."""
    contestants = [one for ranking in rankings for one in ranking.contestants]
    judged = {id(one.row) for one in contestants if one.judged}
    why = {id(one.row): one.why for one in contestants if id(one.row) not in judged}
    untested = [candidate for candidate in candidates if id(candidate.row) in why]
    for reason, several in grouped(untested, lambda candidate: why[id(candidate.row)]).items():
        if reason != FEW_REPEATS and not judged:
            continue  # of all of them: said before
        text = f"fewer than {FEWEST} repeats" if reason == FEW_REPEATS else reason
        named = listed([f"{candidate.name} ({candidate.value} {unit})" for candidate in several])
        ends = f"{several[0].value} to {several[-1].value} {unit}"
        many = f"{len(several)} of {len(candidates)} candidates ({ends})"
        yield f"Not judged, {text}: {many if len(several) > say.MANY else named}."


def _doubts(candidates: Sequence[CandidateRow], metric: Metric) -> Iterator[str]:
    """What the medians may not mean: another placement, or a value that no run had."""
    yield from unverified(candidates)
    if mixed := [candidate for candidate in candidates if candidate.row.has_modes_in(metric)]:
        yield f"Repeats in several modes: {_some(mixed, candidates)}."


def unverified(candidates: Sequence[CandidateRow]) -> Iterator[str]:
    """Candidates of which a run has no proof of its placement."""
    if unproved := [candidate for candidate in candidates if UNVERIFIED in candidate.row.verdicts]:
        yield f"Unverified: {_some(unproved, candidates)}."


def _some(chosen: Sequence[CandidateRow], candidates: Sequence[CandidateRow]) -> str:
    """Placements of which all are chosen, then the names of others; how many where they are many."""
    rest = {candidate.row.case.placement for candidate in candidates if candidate not in chosen}
    whole = [one.row.case.placement for one in chosen if one.row.case.placement not in rest]
    names = [one.name for one in chosen if one.row.case.placement in rest]
    names = [*map(visible, dict.fromkeys(whole)), *names]
    return listed(names) if len(names) <= say.MANY else f"{len(chosen)} of {len(candidates)} candidates"


def behind(answer: Answer, view: View = DEFAULT) -> Iterator[str]:
    """What it rests on: each pair of the only host group with its runs; a line for each of several groups."""
    rankings = [ranking for ranking in answer.rankings if ranking.kind == PLACEMENTS]
    if len(rankings) == 1:
        yield from (pair_sentence(pair, view) for pair in rankings[0].told_pairs)
        yield from baseline_lines(answer.table)
        yield from map(say.evidence, rankings[0].contestants)
    else:
        for ranking in rankings:
            yield from (f"{ranking.scope}: {pair_sentence(pair, view)}" for pair in ranking.pairs_of_best[:1])
    for candidate in answer.candidates:
        if mark := mark_of(candidate.row):
            counts = f"{candidate.row.counted} of {candidate.row.planned} runs"
            yield f"{candidate.name}{mark}: {counts}, {absence(candidate.row.unranked)}"


# In one sentence


def leads(comparison: Comparison, answers: Sequence[Answer]) -> tuple[list[str], list[str]]:
    """Who is best over all metrics; which rankings are not tested."""
    rankings = [ranking for answer in answers for ranking in answer.rankings if ranking.pairs]
    kinds = [[one for one in rankings if one.kind == kind] for kind in (*_OTHERS, PLACEMENTS)]
    tested = [same for same in kinds if any(ranking.judged for ranking in same)]
    rest = (same for same in kinds if same and not any(ranking.judged for ranking in same))
    untested = grouped(rest, say.why_none)
    return [_leading(comparison, same) for same in tested], [*map(_untested, untested, untested.values())]


def busy_lead(answers: Sequence[Answer]) -> str:
    """Which candidates of disturbed runs have the best medians."""
    busy = [answer for answer in answers if answer.real == say.BUSY]
    several = [answer for answer in busy if len(answer.candidates) > 1]
    if not several:
        return f"{say.ON} there is nothing to compare" if busy else "Nothing to compare"
    first, *others = Counter(answer.candidates[0].name for answer in several).most_common(3)
    parts = [f"{first[0]} has the best median in {first[1]} of {len(several)} comparisons"]
    parts += [f"{name} in {count}" for name, count in others]
    return f"{say.ON} {', '.join(parts)}; disturbed runs are not tested"


def _leading(comparison: Comparison, rankings: Sequence[Ranking]) -> str:
    """Of rankings of one kind: what holds for all of them, or who is best in how many."""
    kind, leaders = rankings[0].kind, {tuple(sorted(ranking.leaders)) for ranking in rankings}
    best, few = say.best_of(rankings), any(ranking.few for ranking in rankings)
    if not few and all(ranking.gap is None for ranking in rankings):
        return f"No clear difference between the {kind} by {_metrics(rankings)}"
    names = leaders.pop() if len(leaders) == 1 else ()
    if few or not 0 < len(names) <= say.MANY or not all(ranking.gap for ranking in rankings):
        return _counted(rankings, best, ONE[kind])
    place = comparison.machine if kind == LIBRARIES else comparison.place
    places = {place(one.row) for ranking in rankings for one in ranking.contestants}
    where = f" on {places.pop()}" if len(places) == 1 else ""
    said = f"{listed(names, 'or')} is the {best} {ONE[kind]}{where} by {_metrics(rankings)}"
    several = len({ranking.scope for ranking in rankings}) > 1
    turns = ((ranking.scope, text) for ranking in rankings if (text := crossings_text(ranking)))
    first = [f"{scope}: {text}" if several else text for scope, text in turns][:1]
    return "; ".join([said, *first])


def _untested(why: str, kinds: Sequence[Sequence[Ranking]]) -> str:
    """``The placements are not tested: measured one after the other``: each reason once."""
    names = [rankings[0].kind for rankings in kinds]
    if why == FEW_REPEATS:
        return f"{say.upper(why)} to say which {listed([ONE[kind] for kind in names], 'or')} is best"
    return f"The {listed(names)} are not tested: {why}"


def _metrics(rankings: Sequence[Ranking]) -> str:
    """What they are of: the metrics; of many what these measure."""
    metrics = [ranking.metric for ranking in rankings]
    names = dict.fromkeys(metric.name for metric in metrics)
    measured = dict.fromkeys(metric.dimension.name for metric in metrics)
    return listed([*(names if len(names) <= say.MANY else measured)])


def _counted(rankings: Sequence[Ranking], best: str, kind: str) -> str:
    """``SHM-1 is the fastest placement in 9 of 39 comparisons of time and bandwidth, SHM or SHM-1 in 3``.

    Of several that lead, any may be the best. Those with too few repeats are counted apart.
    """
    clear = [one for one in rankings if one.gap and not one.few and len(one.leaders) <= say.MANY]
    leads = Counter(listed(sorted(one.leaders), "or") for one in clear)
    every = f"{len(rankings)} comparisons of {_metrics(rankings)}"
    few = sum(ranking.few for ranking in rankings)
    if not leads:
        nobody = f"No {kind} has a clear lead in any of the {every}"
        return f"{nobody}, {say.open_text(rankings)} in {few}" if few else nobody
    first, *others = leads.most_common(say.MANY)
    another = leads.total() - first[1] - sum(count for _, count in others)
    none = len(rankings) - leads.total() - few
    rest = (*others, ("another", another), ("no clear lead", none), (say.open_text(rankings), few))
    counts = [f"{name} in {count}" for name, count in rest if count]
    return ", ".join([f"{first[0]} is the {best} {kind} in {first[1]} of {every}", *counts])
