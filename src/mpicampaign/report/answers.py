"""Which host group and placement is best, by how much, and whether it is real: an answer for each metric."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import UNVERIFIED
from mpicampaign.base.text import in_ranks, listed, visible
from mpicampaign.questions.blocks import say as blocks
from mpicampaign.questions.blocks.find import is_of
from mpicampaign.questions.crossings.say import crossings_text
from mpicampaign.questions.decided.say import decided_sentences
from mpicampaign.questions.over_groups.say import attribute_lines
from mpicampaign.questions.races import say as races
from mpicampaign.questions.ranking.find import HOST_GROUPS, LIBRARIES, ONE, PLACEMENTS, best_first
from mpicampaign.questions.ranking.say import (
    ALONE,
    BUSY,
    ENOUGH_QUIET,
    MANY,
    NOT_SHOWN,
    ON,
    SHOWN,
    best_in_placement,
    best_of,
    best_placement,
    disturbed_contestants,
    disturbed_metrics,
    disturbed_sentences,
    evidence,
    is_told,
    not_judged,
    open_text,
    outcome,
    upper,
    why_none,
)
from mpicampaign.questions.ranking.say_pairs import baseline_lines, pair_sentence
from mpicampaign.questions.scaling.find import MESSAGES, WORK, scalings
from mpicampaign.questions.scaling.say import scaling_lead, scaling_sentence, scaling_title, scaling_word
from mpicampaign.show.cells import MetricCell, name_among
from mpicampaign.show.runs import mark_of
from mpicampaign.show.sentences import absence
from mpicampaign.show.view import DEFAULT
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.verdicts.compare import FEW_REPEATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.questions.blocks.find import InBlocks
    from mpicampaign.questions.decided.find import ByLooks
    from mpicampaign.questions.ranking.find import Contestant, Ranking
    from mpicampaign.questions.scaling.find import Scaling
    from mpicampaign.show.view import View

_OTHERS = (HOST_GROUPS, LIBRARIES)  # compared in each placement


@dataclass(frozen=True, slots=True)
class Candidate:
    """A host group in a placement, in one metric.

    ``ratio``: how many times worse than the best its median is; ``low``, ``high``: the same of the ends of
    its interval. ``None`` where that is unknown, and of disturbed runs where several have quiet ones.
    ``leads``: it may be the best. In blocks the ratio is that to the reference.
    """

    name: str
    shown: MetricCell
    ratio: float | None
    low: float | None
    high: float | None
    leads: bool

    @property
    def row(self) -> Row:
        """Its row in the table."""
        return self.shown.row

    @property
    def repeats(self) -> int:
        """How many gave a value."""
        return self.shown.cell.n if self.shown.cell else 0

    @property
    def value(self) -> str:
        """Its median."""
        return str(self.shown.box("median").text)


@dataclass(frozen=True, slots=True)
class Answer:
    """One metric of runs with as many ranks.

    ``said``: which placement is best, by how much, and whether it is real. ``host_groups``: the best of them,
    a line for each placement. ``candidates``: best first, in ``unit``; those of disturbed runs are last where
    several others are compared. ``rankings``, ``blocks``: what it is made of.
    """

    table: Table
    title: str
    real: str
    said: tuple[str, ...]
    host_groups: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    unit: str = ""
    rankings: tuple[Ranking, ...] = ()
    blocks: InBlocks | None = None
    scaling: Scaling | None = None

    @property
    def design(self) -> str:
        """The block design; empty where it is about none."""
        return self.blocks.design if self.blocks else ""


def answers(comparison: Comparison, view: View = DEFAULT) -> list[Answer]:
    """An answer for each table, headline metric and number of ranks that have anything to compare.

    Answers that show a difference come first, and of these the first table of each benchmark. Where nothing
    can be compared, the only candidates.
    """
    # Pairs of placements say what can be said of those that are not tested.
    only_tested = any(found.kind == PLACEMENTS for found in comparison.of_few)
    first = {table.benchmark: table for table in reversed(comparison.tables)}
    tables = [table for table in comparison.tables if not table.is_baseline]
    found = []
    for table in sorted(tables, key=lambda table: first[table.benchmark] is not table):
        rankings = [ranking for ranking in table.rankings if ranking.judged or not only_tested]
        alike = grouped(rankings, lambda ranking: (ranking.metric, ranking.ranks))
        keys = dict.fromkeys((*alike, *disturbed_metrics(table)))
        found += [_answer(comparison, table, key, alike.get(key, []), view) for key in keys]
    in_blocks = [_block_answer(comparison, one, view) for one in blocks.shown_blocks(comparison, view)]
    found = [*_race_answers(comparison), *in_blocks, *_scaling_answers(comparison, WORK, view), *found]
    compared = [answer for answer in found if answer.real != ALONE]
    compared = compared or list(_scaling_answers(comparison, MESSAGES, view))
    return sorted(compared or found, key=lambda one: not (one.scaling or one.real == SHOWN))


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
    others = [ranking for kind in _OTHERS for ranking in rankings if ranking.kind == kind]
    disturbed = disturbed_contestants(comparison, table, metric, ranks)
    candidates = _candidates(comparison, table, rankings, disturbed, view)
    quiet = [one for one in candidates if not is_told(one.row)]
    looked = _decided(comparison, rankings)
    waiting = any(not found.decision.rows for found in looked)
    over = [one for one in table.over_groups if (one.metric, one.ranks, one.source) == (*key, "")]
    unit = view.unit_of(metric.dimension)
    said = (
        *(sentence for found in looked for sentence in decided_sentences(found)),
        *(best_placement(placements, over, view) if not waiting else ()),
        *_crossings(placements),
        *(_not_judged(rankings, quiet, unit) if not waiting else ()),
        *_doubts(quiet, metric),
    )
    if len(quiet) == 1:
        lacked = ENOUGH_QUIET if disturbed else "values"
        only = quiet[0]
        said = (f"Only {only.name} has {lacked}: {only.value} {unit}.",)
    return Answer(
        table,
        _title(table, metric, ranks),
        outcome(rankings) if len(quiet) > 1 else BUSY if disturbed else ALONE,
        (*said, *disturbed_sentences(disturbed, view)),
        (
            *_best_of_others([ranking for ranking in others if ranking.pairs], view),
            *attribute_lines(table, metric, ranks, view),
        ),
        candidates,
        unit,
        tuple(rankings),
    )


def _best_of_others(rankings: Sequence[Ranking], view: View) -> Iterable[str]:
    """A line for each placement with an answer, then one for all that lack it for one reason."""
    yield from (best_in_placement(ranking, view) for ranking in rankings if ranking.judged)
    untested = [ranking for ranking in rankings if not ranking.judged]
    for (kind, why), several in grouped(untested, lambda one: (one.kind, one.why_not_judged)).items():
        scopes = listed([ranking.scope for ranking in several])
        yield f"{scopes}: {not_judged(why, f'which {ONE[kind]} is best')}"


def _decided(comparison: Comparison, rankings: Sequence[Ranking]) -> list[ByLooks]:
    """What planned looks decided by the metric of these rankings, or, before the first one, will decide."""
    rows = [(one.row, ranking.metric) for ranking in rankings for one in ranking.contestants]
    return [found for found in comparison.decided if any(found.is_about(row, metric) for row, metric in rows)]


def _crossings(rankings: Sequence[Ranking]) -> Iterable[str]:
    """Of several host groups each with its name."""
    for ranking in rankings:
        if text := crossings_text(ranking):
            yield f"{upper(text)}." if len(rankings) == 1 else f"{ranking.scope}: {text}."


def _title(table: Table, metric: Metric, ranks: int | None) -> str:
    """The table and the metric; with the number of ranks where there are several."""
    counts = {ranking.ranks for ranking in table.rankings} | {n for _, n in disturbed_metrics(table)}
    return f"{table.title}: {metric.name}" + (f", {in_ranks(ranks)}" if len(counts) > 1 else "")


def _race_answers(comparison: Comparison) -> Iterable[Answer]:
    for one in comparison.races:
        benchmarks = {case.benchmark for each in one.cases.values() for case in each}
        table = next(each for each in comparison.tables if each.benchmark in benchmarks)
        real = SHOWN if one.won else NOT_SHOWN
        yield Answer(table, races.race_title(one, comparison.races), real, (f"{races.race_sentence(one)}.",))


def _scaling_answers(comparison: Comparison, kind: str, view: View) -> Iterable[Answer]:
    for one in scalings(comparison):
        if one.kind == kind:
            title, said = scaling_title(comparison, one), (scaling_sentence(one, view),)
            yield Answer(one.table, title, scaling_word(one), said, scaling=one)


# Candidates of a block design


def _block_answer(comparison: Comparison, found: InBlocks, view: View) -> Answer:
    """Its design stands in the title where there are several."""
    several = len({one.design for one in comparison.blocks}) > 1
    title = (f"{found.design}, " if several else "") + blocks.metric_title(found)
    rows = [_row_of(comparison, found, place) for place in range(len(found.cases))]
    every = [
        Candidate(
            found.names[place],
            MetricCell(row, next((cell for cell in row.cells if cell.metric == found.metric), None), view),
            *found.costs_to_reference(place),
            found.names[place] in found.leaders,
        )
        for place, (_, row) in enumerate(rows)
    ]
    candidates = tuple(sorted(every, key=lambda one: one.ratio or math.inf))
    return Answer(
        rows[0][0],
        title,
        blocks.outcome(found),
        (*blocks.block_sentences(found), *_unverified(candidates)),
        candidates=candidates,
        unit=view.unit_of(found.metric.dimension),
        blocks=found,
    )


def _row_of(comparison: Comparison, found: InBlocks, place: int) -> tuple[Table, Row]:
    """A candidate's row with the series, or any where all its runs met their time limit."""
    rows = [(table, row) for table in comparison.tables for row in table.rows]
    own = ((table, row) for table, row in rows if found.place_of(row) == place)
    return next(own, None) or next(each for each in rows if is_of(each[1].case, found.cases[place]))


# The candidates


def _candidates(
    comparison: Comparison,
    table: Table,
    rankings: Sequence[Ranking],
    disturbed: Sequence[Contestant],
    view: View,
) -> tuple[Candidate, ...]:
    """All host groups and placements of the metric, best first; those not judged are behind others.

    Those of disturbed runs are last and on no scale, unless fewer than two others could be compared.
    """
    judged = any(ranking.judged for ranking in rankings)
    # those compared in blocks are in rankings of host groups alone
    contestants = (one for ranking in rankings for one in ranking.contestants)
    every = {id(one.row): one for one in sorted(contestants, key=lambda one: one.judged)}
    quiet = sorted(best_first(every.values()), key=lambda one: judged and not one.judged)
    leads = _leaders(rankings, quiet) if judged else set()
    rows = [one.row for one in quiet]
    quiet = [replace(one, name=name_among(comparison, table, one.row, rows)) for one in quiet]
    compared, last = (quiet, disturbed) if len(quiet) > 1 else (best_first([*quiet, *disturbed]), ())
    return (
        *(_candidate(one, compared[0].median, view, id(one.row) in leads) for one in compared),
        *(_candidate(one, None, view) for one in last),
    )


def _candidate(one: Contestant, best: float | None, view: View, leads: bool = False) -> Candidate:
    """``best``: the median with which its own is compared."""
    ratios = _ratios(best, one) if best is not None else (None, None, None)
    return Candidate(one.name, MetricCell(one.row, one.cell, view), *ratios, leads)


def _leaders(rankings: Sequence[Ranking], contestants: Sequence[Contestant]) -> set[int]:
    """The rows that may be the best of all: no ranking has a better one.

    Where none compares all, the interval must meet that of the best median, too.
    """
    tested = [ranking for ranking in rankings if ranking.pairs and ranking.judged]
    judged = [(ranking, one) for ranking in tested for one in ranking.contestants]
    beaten = {id(one.row) for ranking, one in judged if one.name not in ranking.leaders}
    leads = {id(one.row) for _, one in judged} - beaten
    if all(len(ranking.contestants) < len(contestants) for ranking in rankings):
        leads &= {id(one.row) for one in contestants if _meet(one, contestants[0])}
    return leads


def _meet(one: Contestant, other: Contestant) -> bool:
    """Whether the intervals of the medians have a value in common."""
    (low, high), (least, most) = map(_ends, (one, other))
    return low <= most and least <= high


def _ends(one: Contestant) -> tuple[float, float]:
    interval = one.cell.summary.interval if one.cell.summary else None
    return (interval.low, interval.high) if interval else (one.median, one.median)


def _ratios(best: float, one: Contestant) -> tuple[float | None, float | None, float | None]:
    """How many times worse than the best a median is, and the ends of its interval."""
    lower_is_better = one.cell.metric.lower_is_better

    def worse(value: float) -> float | None:
        if best <= 0 or value <= 0:
            return None
        ratio = value / best if lower_is_better else best / value
        return ratio if 0 < ratio < math.inf else None

    interval = one.cell.summary.interval if one.cell.summary else None
    if interval is None:
        return worse(one.median), None, None
    low, high = worse(interval.low), worse(interval.high)
    return worse(one.median), *((low, high) if lower_is_better else (high, low))


def _not_judged(rankings: Sequence[Ranking], candidates: Sequence[Candidate], unit: str) -> Iterable[str]:
    """Those in no test, with their medians: they are never among the best."""
    every = [one for ranking in rankings for one in ranking.contestants]
    judged = {id(one.row) for one in every if one.judged}
    why = {id(one.row): one.why for one in every if id(one.row) not in judged}
    left = [one for one in candidates if id(one.row) in why]
    for reason, several in grouped(left, lambda one: why[id(one.row)]).items():
        if reason != FEW_REPEATS and not judged:
            continue  # of all of them: said before
        called = f"fewer than {FEWEST} repeats" if reason == FEW_REPEATS else reason
        named = listed([f"{one.name} ({one.value} {unit})" for one in several])
        ends = f"{several[0].value} to {several[-1].value} {unit}"
        many = f"{len(several)} of {len(candidates)} candidates ({ends})"
        yield f"Not judged, {called}: {many if len(several) > MANY else named}."


def _doubts(candidates: Sequence[Candidate], metric: Metric) -> Iterable[str]:
    """What the medians may not mean: another placement, or a value that no run had."""
    yield from _unverified(candidates)
    if mixed := [one for one in candidates if one.row.has_modes_in(metric)]:
        yield f"Repeats in several modes: {_some(mixed, candidates)}."


def _unverified(candidates: Sequence[Candidate]) -> Iterable[str]:
    if unproved := [one for one in candidates if UNVERIFIED in one.row.verdicts]:
        yield f"Unverified: {_some(unproved, candidates)}."


def _some(chosen: Sequence[Candidate], candidates: Sequence[Candidate]) -> str:
    """Placements of which all are chosen, then the names of others; how many where they are many."""
    rest = {one.row.case.placement for one in candidates if one not in chosen}
    whole = [one.row.case.placement for one in chosen if one.row.case.placement not in rest]
    names = [
        *map(visible, dict.fromkeys(whole)),
        *(one.name for one in chosen if one.row.case.placement in rest),
    ]
    return listed(names) if len(names) <= MANY else f"{len(chosen)} of {len(candidates)} candidates"


# What an answer rests on


def behind(answer: Answer, view: View = DEFAULT) -> Iterable[str]:
    """Each pair of the only host group with the runs behind it; a line for each of several host groups."""
    table, rankings = answer.table, [one for one in answer.rankings if one.kind == PLACEMENTS]
    if len(rankings) == 1:
        yield from (pair_sentence(pair, view) for pair in rankings[0].told_pairs)
        yield from baseline_lines(table)
        yield from map(evidence, rankings[0].contestants)
    elif rankings:
        for ranking in rankings:
            yield from (f"{ranking.scope}: {pair_sentence(pair, view)}" for pair in ranking.pairs_of_best[:1])
    for one in answer.candidates:
        if mark := mark_of(one.row):
            counts = f"{one.row.counted} of {one.row.planned} runs"
            yield f"{one.name}{mark}: {counts}, {absence(one.row.unranked)}"


# In one sentence


def lead(comparison: Comparison, found: Sequence[Answer], view: View = DEFAULT) -> str:
    """Which host groups, MPI libraries and placements are best over all metrics."""
    rankings = [ranking for answer in found for ranking in answer.rankings if ranking.pairs]
    kinds = [[one for one in rankings if one.kind == kind] for kind in (*_OTHERS, PLACEMENTS)]
    said = [races.race_sentence(one) for one in comparison.races]
    said += [blocks.lead(comparison, view)] if any(answer.blocks for answer in found) else []
    said += [_leading(comparison, same) for same in kinds if any(one.judged for one in same)]
    if scaled := [answer.scaling for answer in found if answer.scaling]:
        said.append(scaling_lead(comparison, scaled, view))
    said += _untested([same for same in kinds if same and not any(one.judged for one in same)])
    if not said:
        return _busy_lead([answer for answer in found if answer.real == BUSY])
    return ". ".join(said)


def _busy_lead(found: Sequence[Answer]) -> str:
    """Which candidates of disturbed runs have the best medians."""
    several = [answer for answer in found if len(answer.candidates) > 1]
    if not several:
        return f"{ON} there is nothing to compare" if found else "Nothing to compare"
    first, *others = Counter(answer.candidates[0].name for answer in several).most_common(3)
    parts = [f"{first[0]} has the best median in {first[1]} of {len(several)} comparisons"]
    parts += [f"{name} in {count}" for name, count in others]
    return f"{ON} {', '.join(parts)}; disturbed runs are not tested"


def _leading(comparison: Comparison, rankings: Sequence[Ranking]) -> str:
    """Of rankings of one kind: what holds for all of them, or who is best in how many."""
    kind, leaders = rankings[0].kind, {tuple(sorted(ranking.leaders)) for ranking in rankings}
    best, one = best_of(rankings), ONE[kind]
    if any(ranking.few for ranking in rankings):
        return _counted(rankings, best, one)
    if all(ranking.gap is None for ranking in rankings):
        return f"No clear difference between the {kind} by {_metrics(rankings)}"
    if len(leaders) == 1 and all(ranking.gap for ranking in rankings) and len(names := leaders.pop()) <= MANY:
        place = comparison.machine if kind == LIBRARIES else comparison.place
        places = {place(one.row) for ranking in rankings for one in ranking.contestants}
        where = f" on {places.pop()}" if len(places) == 1 else ""
        said = f"{listed(names, 'or')} is the {best} {one}{where} by {_metrics(rankings)}"
        return "; ".join([said, *_first_crossing(rankings)])
    return _counted(rankings, best, one)


def _first_crossing(rankings: Sequence[Ranking]) -> Iterable[str]:
    """The first ranking whose order turns at some sizes, with its host group where there are several."""
    several = len({ranking.scope for ranking in rankings}) > 1
    turns = ((ranking.scope, text) for ranking in rankings if (text := crossings_text(ranking)))
    for scope, text in islice(turns, 1):
        yield f"{scope}: {text}" if several else text


def _untested(kinds: Sequence[Sequence[Ranking]]) -> Iterable[str]:
    """``The placements are not tested: measured one after the other``: each reason once."""
    for why, several in grouped(kinds, why_none).items():
        named = [rankings[0].kind for rankings in several]
        if why == FEW_REPEATS:
            yield f"{upper(why)} to say which {listed([ONE[kind] for kind in named], 'or')} is best"
        else:
            yield f"The {listed(named)} are not tested: {why}"


def _metrics(rankings: Sequence[Ranking]) -> str:
    """What they are of: the metrics; of many what these measure."""
    metrics = [ranking.metric for ranking in rankings]
    names = dict.fromkeys(metric.name for metric in metrics)
    return listed(list(names if len(names) <= MANY else dict.fromkeys(one.dimension.name for one in metrics)))


def _counted(rankings: Sequence[Ranking], best: str, kind: str) -> str:
    """``SHM-1 is the fastest placement in 9 of 39 comparisons of time and bandwidth, SHM or SHM-1 in 3``.

    Of several that lead, any may be the best. Those with too few repeats are counted apart.
    """
    clear = [one for one in rankings if one.gap and not one.few and len(one.leaders) <= MANY]
    leads = Counter(listed(sorted(one.leaders), "or") for one in clear)
    every = f"{len(rankings)} comparisons of {_metrics(rankings)}"
    few = sum(ranking.few for ranking in rankings)
    if not leads:
        nobody = f"No {kind} has a clear lead in any of the {every}"
        return f"{nobody}, {open_text(rankings)} in {few}" if few else nobody
    first, *others = leads.most_common(MANY)
    another = leads.total() - first[1] - sum(count for _, count in others)
    none = len(rankings) - leads.total() - few
    rest = (*others, ("another", another), ("no clear lead", none), (open_text(rankings), few))
    counts = [f"{name} in {count}" for name, count in rest if count]
    return ", ".join([f"{first[0]} is the {best} {kind} in {first[1]} of {every}", *counts])
