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
from mpicampaign.questions.answer import (
    ALONE,
    MODES,
    NOT_IN_TEST,
    REVERSED,
    UNPROVED,
    Answer,
    CandidateRow,
    Mark,
)
from mpicampaign.questions.decided.say import decided_sentences
from mpicampaign.questions.over_groups.find_settings import OverGroups
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
from mpicampaign.questions.ranking.say_pairs import baseline_lines, pair_sentence, valued
from mpicampaign.show.cells import MetricCell, name_among
from mpicampaign.show.runs import mark_of
from mpicampaign.show.sentences import absence
from mpicampaign.show.view import DEFAULT, View, probability, rough_amount
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.verdicts.compare import FEW_REPEATS

_OTHERS = (HOST_GROUPS, LIBRARIES)  # compared in each placement
_OF_PLACES = (PLACEMENTS, HOST_GROUPS)


def ranking_answers(comparison: Comparison, view: View) -> Iterator[Answer]:
    """An answer for each table, headline metric and number of ranks; each benchmark's first table first."""
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
    over = [one for one in table.over_groups if (one.metric, one.ranks) == key]
    unit = view.unit_of(metric.dimension)
    said = [" ".join(decided_sentences(looked)) for looked in looks]
    if len(quiet) == 1:
        lacked = say.ENOUGH_QUIET if disturbed else "values"
        said = [f"Only {quiet[0].name} has {lacked}: {quiet[0].value} {unit}."]
    elif all(looked.decision.rows for looked in looks):
        said += _best_of_libraries(others)
        said += say.best_placement(placements, over, view)
        said += _not_judged(rankings, quiet, unit)
    said += _doubts(quiet, metric) if len(quiet) != 1 else ()
    counts = {ranking.ranks for ranking in table.rankings} | {n for _, n in say.disturbed_metrics(table)}
    lines = (*_best_of_others(others, view), *attribute_lines(table, metric, ranks, view))
    if len(disturbed) > 1 and not said:
        said.append(f"{say.ON} {valued(disturbed[0], view)} has the best median.")
    said += say.disturbed_sentences(disturbed, view)
    if not (said or lines):
        said.append(f"No host group has two placements with {say.ENOUGH_QUIET if disturbed else 'values'}.")
    return Answer(
        table,
        f"{table.title}: {metric.name}" + (f", {in_ranks(ranks)}" if len(counts) > 1 else ""),
        say.outcome(rankings) if len(quiet) > 1 else say.BUSY if disturbed else ALONE,
        tuple(said) or lines[:1],
        lines if said else lines[1:],
        candidates,
        unit,
        tuple(rankings),
        marks=tuple(_marks(rankings, over, quiet, metric)) if len(quiet) > 1 else (),
    )


def _best_of_libraries(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Where several are compared: which is best in how many placements."""
    of_libraries = [one for one in rankings if one.kind == LIBRARIES]
    if any(ranking.judged for ranking in of_libraries):
        yield f"{say.first_places(of_libraries, 'placement')}."


def _marks(
    rankings: Sequence[Ranking],
    over: Sequence[OverGroups],
    candidates: Sequence[CandidateRow],
    metric: Metric,
) -> Iterator[Mark]:
    """What the repeats show, then what is against it, in short."""
    behind = [pair for ranking in rankings if not ranking.few for pair in ranking.behind]
    if p := max((pair.verdict.p or 0.0 for pair in behind), default=0.0):
        yield Mark("p", probability(p).removeprefix("p ").removeprefix("= "))
    open_ones = [one for one in rankings if one.sight and len(one.leaders) > 1 and not one.few]
    if seen := [one.sight.difference for one in open_ones if one.sight and one.sight.difference]:
        yield Mark("finds", rough_amount(max(seen)))
    counts = {
        REVERSED: sum(len(step.against) for one in over for step in one.steps),
        NOT_IN_TEST: len(_unjudged(rankings)),
        UNPROVED: sum(UNVERIFIED in one.row.verdicts for one in candidates),
        MODES: sum(one.row.has_modes_in(metric) for one in candidates),
    }
    yield from (Mark(sign, count) for sign, count in counts.items() if count)


def _unjudged(rankings: Sequence[Ranking]) -> dict[int, str]:
    """Why rows are in no test."""
    contestants = [one for ranking in rankings for one in ranking.contestants]
    judged = {id(one.row) for one in contestants if one.judged}
    return {id(one.row): one.why for one in contestants if id(one.row) not in judged}


def _best_of_others(rankings: Sequence[Ranking], view: View) -> Iterator[str]:
    """A line for each placement with an answer, then one for all that lack it for one reason."""
    yield from (say.best_in_placement(ranking, view) for ranking in rankings if ranking.judged)
    untested = [ranking for ranking in rankings if not ranking.judged]
    for (kind, why), several in grouped(untested, lambda one: (one.kind, one.why_not_judged)).items():
        scopes = listed([ranking.scope for ranking in several])
        yield f"{scopes}: {say.not_judged(why, f'which {ONE[kind]} is best')}"


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
    out = {id(one.row) for ranking in tested for one in ranking.untold}
    beaten = out | {id(one.row) for ranking, one in judged if one.name not in ranking.leaders}
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
    """Contestants in no test, with their medians: they are never among the best."""
    why, tested = _unjudged(rankings), any(ranking.tested for ranking in rankings)
    untested = [candidate for candidate in candidates if id(candidate.row) in why]
    for reason, several in grouped(untested, lambda candidate: why[id(candidate.row)]).items():
        if reason != FEW_REPEATS and not tested:
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


def leads(answers: Sequence[Answer]) -> Iterator[str]:
    """Who is best over all metrics, MPI libraries and what is decided most often first; untested kinds."""
    rankings = [ranking for answer in answers for ranking in answer.rankings if ranking.pairs]
    kinds = [
        same for kind in (LIBRARIES, *_OF_PLACES) if (same := [one for one in rankings if one.kind == kind])
    ]
    tested = [same for same in kinds if any(ranking.judged for ranking in same)]
    tested.sort(key=lambda same: (same[0].kind != LIBRARIES, -sum(not one.few for one in same) / len(same)))
    yield from (say.first_places(same, "comparison", brief=True) for same in tested)
    for why, several in grouped([same for same in kinds if same not in tested], say.why_none).items():
        names = [same[0].kind for same in several]
        if why == FEW_REPEATS:
            yield f"{say.upper(why)} to say which {listed([ONE[kind] for kind in names], 'or')} is best"
        else:
            yield f"The {listed(names)} are not tested: {why}"


def busy_lead(answers: Sequence[Answer]) -> str:
    """Which candidates of disturbed runs have the best medians."""
    busy = [answer for answer in answers if answer.real == say.BUSY]
    several = [answer for answer in busy if len(answer.candidates) > 1]
    if not several:
        return f"{say.ON} there is nothing to compare" if busy else "Nothing to compare"
    first, *others = Counter(answer.candidates[0].name for answer in several).most_common(3)
    parts = [f"{first[0]} has the best median in {first[1]} of {len(several)} comparisons"]
    parts += [f"{name} in {count}" for name, count in others]
    return f"{say.ON} {', '.join(parts)}; not tested"
