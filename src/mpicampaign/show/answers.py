"""What the report's first screen says: which is fastest, by how much, and whether it is real."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from mpicampaign.compare.metrics import BASELINE
from mpicampaign.compare.ranking import PLACEMENTS
from mpicampaign.dimension import RATIO
from mpicampaign.show import numbers
from mpicampaign.show.numbers import quantity
from mpicampaign.show.rankings import (
    absent_words,
    best_word,
    evidence,
    how_much,
    mixed_words,
    pair_words,
    stated_words,
    statement,
    step_words,
    verdict,
)
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.compare.consensus import StatedRanking
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Contestant, Pair, Ranking
    from mpicampaign.compare.tables import Comparison, Table


@dataclass(frozen=True, slots=True)
class Choice:
    """In one host group: the best placement, then those that cannot be told from it, and what that gains."""

    leaders: tuple[Contestant, ...]
    how_much: str
    tells: bool  # whether the best differs from any placement


@dataclass(frozen=True, slots=True)
class MedianGrid:
    """Medians of one metric, host groups down and placements across; ``choices`` by host group."""

    metric: Metric
    placements: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Contestant | None, ...]], ...]
    choices: Mapping[str, Choice]

    @property
    def best(self) -> frozenset[tuple[str, str]]:
        """Host groups with those placements that cannot be told from the best there."""
        return frozenset((scope, c.name) for scope, choice in self.choices.items() for c in choice.leaders)

    @property
    def several_modes(self) -> bool:
        """Whether any median is of repeats in several modes."""
        return any(one and one.several_modes for _, contestants in self.rows for one in contestants)


@dataclass(frozen=True, slots=True)
class Answer:
    """Which placement is best in one metric of a table, over all host groups.

    ``how_much``: against the next that it can be told from. ``real``: what the repeats and the evidence of
    the runs say. ``statements``: what holds over all host groups. ``lines``: the comparisons that lead there,
    ``evidence``: what stands behind each figure. ``grid``: the medians where there are several host groups.
    """

    table: Table
    title: str
    verdict: str
    how_much: str
    real: str
    statements: tuple[str, ...]
    lines: tuple[str, ...]
    evidence: tuple[str, ...]
    tells: bool  # whether any placement can be told from the best anywhere
    grid: MedianGrid | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """Which placement is best for whom: a line for each host group, a choice for each answer."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Choice | None, ...]], ...]


def advice(found: Sequence[Answer]) -> Advice | None:
    """The answers the other way round, where they are of several host groups and tell anything at all."""
    grids = [(answer.title, answer.grid) for answer in found if answer.grid is not None]
    grids = [(title, grid) for title, grid in grids if any(c.tells for c in grid.choices.values())]
    scopes = dict.fromkeys(scope for _, grid in grids for scope in grid.choices)
    rows = tuple((scope, tuple(grid.choices.get(scope) for _, grid in grids)) for scope in scopes)
    return Advice(tuple(title for title, _ in grids), rows) if rows else None


def answers(comparison: Comparison, unit: str = "MB/s") -> list[Answer]:
    """The statements for the first screen: one for each table and headline metric, placements compared.

    What shows a difference comes first; then the first table of each benchmark before the others, so that
    each benchmark has its say.
    """
    found = []
    first = {table.benchmark: table for table in reversed(comparison.tables)}
    for table in sorted(comparison.tables, key=lambda table: first[table.benchmark] is not table):
        rankings = [ranking for ranking in table.rankings if ranking.kind == PLACEMENTS]
        for metric in dict.fromkeys(ranking.metric for ranking in rankings):
            if table.label != BASELINE:
                of_metric = [ranking for ranking in rankings if ranking.metric == metric]
                found.append(_answer(table, metric, of_metric, unit))
    return sorted(found, key=lambda answer: not answer.tells)


def _answer(table: Table, metric: Metric, rankings: Sequence[Ranking], unit: str) -> Answer:
    heading, tells = f"{table.title}: {metric.name}", any(map(_next, rankings))
    stated = [stated for stated in table.stated_rankings if stated.metric == metric]
    stated = [one for one in stated if len(one.scopes) > 1 and one.tells]
    statements = tuple(words for one in stated for words in _told(one))
    if len(rankings) == 1:
        ranking = rankings[0]
        behind = tuple(map(evidence, ranking.contestants))
        pairs = tuple(pair_words(pair, unit) for pair in ranking.pairs_of_best)
        lines = pairs + baseline_lines(table)
        said = (verdict(ranking), _how_much(ranking), _told_apart(rankings) + _common_evidence(rankings))
        return Answer(
            table, heading, *said, statements, lines, behind + tuple(map(absent_words, ranking.absent)), tells
        )
    steps = tuple(words for one in stated for words in stated_words(one) if words not in statements)
    lines = (*(_scope_line(ranking, unit) for ranking in rankings), *steps)
    said = (
        _consensus(rankings),
        _how_much_overall(rankings),
        _told_apart(rankings) + _common_evidence(rankings),
    )
    absent = tuple(f"{ranking.scope}, {absent_words(one)}" for ranking in rankings for one in ranking.absent)
    return Answer(table, heading, *said, statements, lines, absent, tells, _grid(table, metric, rankings))


def _told(stated: StatedRanking) -> tuple[str, ...]:
    """The order, and what speaks against it; steps only unclear or absent somewhere are folded away."""
    against = [step for step in (*stated.steps, *stated.against) if step.reversed or step.leaning]
    return (
        statement(stated),
        *(step_words(step, stated.metric) for step in against),
        *map(mixed_words, stated.mixed),
    )


def baseline_lines(table: Table) -> tuple[str, ...]:
    """How a kernel compares with the baseline of its own runs, at the largest size shown."""
    metric = next((metric for metric in reversed(table.metrics) if metric.baseline), None)
    if metric is None:
        return ()
    cells = [(row.case.placement, row.cell(metric)) for row in table.rows]
    return tuple(
        f"{placement}: {quantity(cell.summary.median, RATIO)} {BASELINE} {metric.group} "
        f"{numbers.bounds(cell.summary.interval, RATIO)}"
        for placement, cell in cells
        if cell.summary is not None
    )


def _next(ranking: Ranking) -> Pair | None:
    """The best against the nearest contestant that it can be told from."""
    return next((pair for pair in ranking.pairs_of_best if pair.worse.name not in ranking.leaders), None)


def _how_much(ranking: Ranking) -> str:
    """The best against the nearest that is worse, and against the last."""
    if len(ranking.contestants) == 1:
        return "nothing to compare with"
    near = _next(ranking)
    if near is None:
        return "no difference that the repeats can show"
    last = ranking.pairs_of_best[-1]
    words = f"{near.better.name} is {how_much(near)} than {near.worse.name}"
    return words if last is near else f"{words}, {how_much(last)} than {last.worse.name}"


def _how_much_overall(rankings: Sequence[Ranking]) -> str:
    """Over several host groups: the least and the largest step to the nearest that is worse, and whose."""
    found = [(pair.factor, pair, r.scope) for r in rankings if (pair := _next(r)) is not None and pair.factor]
    if not found:
        return "no difference that the repeats can show"
    ends = (min(found, key=itemgetter(0)), max(found, key=itemgetter(0)))
    said = dict.fromkeys(f"{how_much(pair)} ({scope}: {_names(pair)})" for _, pair, scope in ends)
    return f"from {' up to '.join(said)}" if len(said) > 1 else next(iter(said))


def _names(pair: Pair) -> str:
    return f"{pair.better.name} against {pair.worse.name}"


def _told_apart(rankings: Sequence[Ranking]) -> str:
    """In how many host groups one placement alone is best."""
    compared = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    alone = sum(len(ranking.leaders) == 1 for ranking in compared)
    if not compared:
        return ""
    if len(rankings) == 1:
        return (
            "the repeats tell the best from all others; " if alone else "the repeats do not tell all apart; "
        )
    return f"one placement alone is best in {alone} of {len(compared)} {_where(rankings)}; "


def _scope_line(ranking: Ranking, unit: str) -> str:
    """In one host group among several: the best against the nearest."""
    pairs = ranking.pairs_of_best
    return f"{ranking.scope}: {pair_words(pairs[0], unit) if pairs else verdict(ranking)}"


def _consensus(rankings: Sequence[Ranking]) -> str:
    """In how many host groups which placements are best; a tie of all is no answer."""
    compared = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    told = [ranking for ranking in compared if len(ranking.leaders) < len(ranking.contestants)]
    where = f"{len(rankings)} {_where(rankings)}"
    if not told:
        return f"nothing can be told: no repeats show a difference in any of {where}"
    found = _first_places(told)
    found["nothing can be told"] = len(compared) - len(told)
    found["nothing to compare"] = len(rankings) - len(compared)
    first, *others = [f"{words} in {count}" for words, count in found.items() if count]
    word = best_word(rankings[0].metric)
    return f"{word}: {', '.join([f'{first} of {where}', *others])}"


def _first_places(told: Sequence[Ranking]) -> dict[str, int]:
    """In how many rankings each placement is best alone, and which share the first place repeatedly."""
    counted = Counter(tuple(sorted(ranking.leaders)) for ranking in told)
    named = [names for names, count in counted.most_common() if count > 1 or len(names) == 1]
    found = {" or ".join(names): counted[names] for names in sorted(named, key=len)}
    return {**found, "several together": len(told) - sum(found.values())}


def _where(rankings: Sequence[Ranking]) -> str:
    """What the rankings are of: a host group has one for each number of ranks."""
    return "host groups" if len({ranking.ranks for ranking in rankings}) == 1 else "host groups and ranks"


def _common_evidence(rankings: Sequence[Ranking]) -> str:
    rows = [contestant.row for ranking in rankings for contestant in ranking.contestants]
    verdicts = sum((Counter(row.verdicts) for row in rows), Counter[str]())
    words = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    doubt = sum(contestant.several_modes for ranking in rankings for contestant in ranking.contestants)
    modes = f"; {doubt} of {len(rows)} medians are of repeats in several modes" if doubt else ""
    count = f"{sum(row.counted for row in rows)} of {sum(row.planned for row in rows)} runs count"
    return f"{count}: {words}{modes}"


def _grid(table: Table, metric: Metric, rankings: Sequence[Ranking]) -> MedianGrid:
    """The medians of all host groups; placements in the order of the table."""
    names = {contestant.name for ranking in rankings for contestant in ranking.contestants}
    in_order = dict.fromkeys(visible(row.case.placement) for row in table.rows)
    placements = tuple(name for name in in_order if name in names)
    lines = []
    for ranking in rankings:
        named = {contestant.name: contestant for contestant in ranking.contestants}
        lines.append((ranking.scope, tuple(named.get(placement) for placement in placements)))
    return MedianGrid(
        metric, placements, tuple(lines), {ranking.scope: _choice(ranking) for ranking in rankings}
    )


def _choice(ranking: Ranking) -> Choice:
    leaders = tuple(one for one in ranking.contestants if one.name in ranking.leaders)
    return Choice(leaders, _how_much(ranking), len(leaders) < len(ranking.contestants))
