"""What the report's first screen says: which is fastest, by how much, and whether it is real."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from mpicampaign.compare.paired import paired_placements
from mpicampaign.compare.ranking import HOST_GROUPS, PLACEMENTS
from mpicampaign.dimension import RATIO
from mpicampaign.records import DISTURBED, NOT_JUDGED
from mpicampaign.show import numbers
from mpicampaign.show.numbers import quantity
from mpicampaign.show.rankings import (
    BUSY,
    absent_text,
    busy_lines,
    evidence,
    how_much,
    mixed_text,
    pair_sentence,
    stated_lines,
    statement,
    step_text,
    superlative,
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
    """In one host group the best placement, or in one placement the best host group, and what that gains.

    ``leaders``: the best, then those that may be the best, too.
    """

    leaders: tuple[Contestant, ...]
    how_much: str
    differs: bool  # whether the best differs from any other


@dataclass(frozen=True, slots=True)
class MedianGrid:
    """Medians of one metric, host groups down and placements across; ``choices`` by host group."""

    metric: Metric
    placements: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Contestant | None, ...]], ...]
    choices: Mapping[str, Choice]

    @property
    def best(self) -> frozenset[tuple[str, str]]:
        """Host groups with the placements that are best there or not distinguishable from it."""
        return frozenset((scope, c.name) for scope, choice in self.choices.items() for c in choice.leaders)

    @property
    def several_modes(self) -> bool:
        """Whether any median is of repeats in several modes."""
        return any(one and one.several_modes for _, contestants in self.rows for one in contestants)


@dataclass(frozen=True, slots=True)
class Answer:
    """Which placement is best in one metric of a table, over all host groups.

    ``how_much``: against the next that differs from it. ``real``: what the repeats and the evidence of
    the runs say. ``statements``: what holds over all host groups. ``lines``: the comparisons that lead there,
    ``evidence``: the runs behind each median. ``grid``: the medians where there are several host groups.
    """

    table: Table
    title: str
    verdict: str
    how_much: str
    real: str
    statements: tuple[str, ...]
    lines: tuple[str, ...]
    evidence: tuple[str, ...]
    differs: bool  # whether any placement differs from the best anywhere
    grid: MedianGrid | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """A choice for each metric: of placements, a line for each host group; or the other way round."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Choice | None, ...]], ...]


def advice(found: Sequence[Answer]) -> Advice | None:
    """The best placements by host group, where there are several and any difference is shown."""
    return _advice([(answer.title, answer.grid.choices) for answer in found if answer.grid is not None])


def best_host_groups(comparison: Comparison) -> Advice | None:
    """The best host groups by placement, where there are several and any difference is shown."""
    found = []
    for table in comparison.tables:
        rankings = [one for one in table.rankings if one.kind == HOST_GROUPS and one.tested]
        for metric in dict.fromkeys(ranking.metric for ranking in rankings):
            choices = {one.scope: _choice(one) for one in rankings if one.metric == metric}
            found += [] if table.is_baseline else [(_title(table, metric), choices)]
    return _advice(found)


def _advice(found: Sequence[tuple[str, Mapping[str, Choice]]]) -> Advice | None:
    told = [(title, choices) for title, choices in found if any(one.differs for one in choices.values())]
    scopes = dict.fromkeys(scope for _, choices in told for scope in choices)
    rows = tuple((scope, tuple(choices.get(scope) for _, choices in told)) for scope in scopes)
    return Advice(tuple(title for title, _ in told), rows) if rows else None


def _title(table: Table, metric: Metric) -> str:
    return f"{table.title}: {metric.name}"


def answers(comparison: Comparison, unit: str = "MB/s") -> list[Answer]:
    """The statements for the first screen: one for each table and headline metric, placements compared.

    Answers that show a difference come first, and of these the first table of each benchmark.
    """
    found = []
    only_tested = bool(paired_placements(comparison))  # which say what can be said of the others
    first = {table.benchmark: table for table in reversed(comparison.tables)}
    for table in sorted(comparison.tables, key=lambda table: first[table.benchmark] is not table):
        rankings = [ranking for ranking in table.rankings if ranking.kind == PLACEMENTS]
        rankings = [ranking for ranking in rankings if ranking.tested or not only_tested]
        for metric in dict.fromkeys(ranking.metric for ranking in rankings):
            if not table.is_baseline:
                of_metric = [ranking for ranking in rankings if ranking.metric == metric]
                found.append(_answer(table, metric, of_metric, unit))
        if not table.rankings and not table.is_baseline and busy_lines(table):
            found.append(_busy(table))
    return sorted(found, key=lambda answer: not answer.differs)


def _answer(table: Table, metric: Metric, rankings: Sequence[Ranking], unit: str) -> Answer:
    heading, differs = _title(table, metric), any(map(_next, rankings))
    stated = [stated for stated in table.stated_rankings if stated.metric == metric]
    stated = [one for one in stated if len(one.scopes) > 1 and one.tells]
    statements = tuple(line for one in stated for line in _order(one))
    real = _apart(rankings) + _common_evidence(rankings)
    if len(rankings) == 1:
        ranking, grid = rankings[0], None
        said = (verdict(ranking), _how_much(ranking), real)
        lines = (*(pair_sentence(pair, unit) for pair in ranking.pairs_of_best), *baseline_lines(table))
        behind = (*map(evidence, ranking.contestants), *map(absent_text, ranking.absent))
    else:
        said = (_consensus(rankings), _how_much_overall(rankings), real)
        steps = (line for one in stated for line in stated_lines(one) if line not in statements)
        lines = (*(_scope_line(ranking, unit) for ranking in rankings), *steps, *busy_lines(table))
        behind = tuple(f"{of.scope}, {absent_text(one)}" for of in rankings for one in of.absent)
        grid = _grid(table, metric, rankings)
    return Answer(table, heading, *said, statements, lines, behind, differs, grid)


def _busy(table: Table) -> Answer:
    """What is said where no row has a run that was quiet or not judged."""
    runs = sum(row.counted for row in table.rows)
    reasons, real = busy_lines(table), f"all {runs} complete runs were disturbed"
    return Answer(table, table.title, BUSY, "no comparison", real, (), reasons, (), differs=False)


def _order(stated: StatedRanking) -> tuple[str, ...]:
    """The order, and the steps against it; steps that are only unclear or absent somewhere are left out."""
    against = [step for step in (*stated.steps, *stated.against) if step.reversed or step.leaning]
    return (
        statement(stated),
        *(step_text(step, stated.metric) for step in against),
        *map(mixed_text, stated.mixed),
    )


def baseline_lines(table: Table) -> tuple[str, ...]:
    """How a kernel compares with the baseline of its own runs, at the largest size shown."""
    metric = next((metric for metric in reversed(table.metrics) if metric.baseline), None)
    if metric is None:
        return ()
    cells = [(row.case.placement, row.cell(metric)) for row in table.rows]
    return tuple(
        f"{placement}: {quantity(cell.summary.median, RATIO)} {metric.baseline} {metric.group} "
        f"{numbers.bounds(cell.summary.interval, RATIO)}"
        for placement, cell in cells
        if cell.summary is not None
    )


def _next(ranking: Ranking) -> Pair | None:
    """The best against the nearest contestant that differs from it."""
    return next((pair for pair in ranking.pairs_of_best if pair.worse.name not in ranking.leaders), None)


def _how_much(ranking: Ranking) -> str:
    """How much better the best is than the nearest that is worse, and than the last."""
    if len(ranking.contestants) == 1:
        return "nothing to compare with"
    near = _next(ranking)
    if near is None:
        return "no difference that the repeats can show"
    last = ranking.pairs_of_best[-1]
    text = f"{near.better.name} is {how_much(near)} than {near.worse.name}"
    return text if last is near else f"{text}, {how_much(last)} than {last.worse.name}"


def _how_much_overall(rankings: Sequence[Ranking]) -> str:
    """Over several host groups: the smallest and the largest difference, with their host groups."""
    found = [(pair.factor, pair, r.scope) for r in rankings if (pair := _next(r)) is not None and pair.factor]
    if not found:
        return "no difference that the repeats can show"
    ends = (min(found, key=itemgetter(0)), max(found, key=itemgetter(0)))
    said = dict.fromkeys(f"{how_much(pair)} ({scope}: {_names(pair)})" for _, pair, scope in ends)
    return f"from {' up to '.join(said)}" if len(said) > 1 else next(iter(said))


def _names(pair: Pair) -> str:
    return f"{pair.better.name} against {pair.worse.name}"


def _apart(rankings: Sequence[Ranking]) -> str:
    """In how many host groups one placement alone is best."""
    compared = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    alone = sum(len(ranking.leaders) == 1 for ranking in compared)
    if not compared:
        return ""
    if len(rankings) == 1:
        return "the best differs from all others; " if alone else "not all placements are distinguishable; "
    return f"one placement alone is best in {alone} of {len(compared)} {_where(rankings)}; "


def _scope_line(ranking: Ranking, unit: str) -> str:
    """In one host group among several: the best against the nearest."""
    pairs = ranking.pairs_of_best
    return f"{ranking.scope}: {pair_sentence(pairs[0], unit) if pairs else verdict(ranking)}"


def _consensus(rankings: Sequence[Ranking]) -> str:
    """Which placements are best in how many host groups; a tie of all is no answer."""
    compared = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    decided = [ranking for ranking in compared if len(ranking.leaders) < len(ranking.contestants)]
    where = f"{len(rankings)} {_where(rankings)}"
    if not decided:
        return f"no difference shown in any of {where}"
    found = _first_places(decided)
    found["no difference shown"] = len(compared) - len(decided)
    found["nothing to compare"] = len(rankings) - len(compared)
    first, *others = [f"{who} in {count}" for who, count in found.items() if count]
    best_is = superlative(rankings[0].metric)
    return f"{best_is}: {', '.join([f'{first} of {where}', *others])}"


def _first_places(decided: Sequence[Ranking]) -> dict[str, int]:
    """How often each placement is best alone, or shares the first place more than once."""
    counted = Counter(tuple(sorted(ranking.leaders)) for ranking in decided)
    named = [names for names, count in counted.most_common() if count > 1 or len(names) == 1]
    found = {" or ".join(names): counted[names] for names in sorted(named, key=len)}
    return {**found, "several together": len(decided) - sum(found.values())}


def _where(rankings: Sequence[Ranking]) -> str:
    """What the rankings are of: a host group has one for each number of ranks."""
    return "host groups" if len({ranking.ranks for ranking in rankings}) == 1 else "host groups and ranks"


def _common_evidence(rankings: Sequence[Ranking]) -> str:
    rows = [contestant.row for ranking in rankings for contestant in ranking.contestants]
    verdicts = sum((Counter(row.verdicts) for row in rows), Counter[str]())
    states = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    doubt = sum(contestant.several_modes for ranking in rankings for contestant in ranking.contestants)
    modes = f"; {doubt} of {len(rows)} medians are of repeats in several modes" if doubt else ""
    count = f"{sum(row.counted for row in rows)} of {sum(row.planned for row in rows)} runs count"
    conditions = sum((Counter(row.conditions) for row in rows), Counter[str]())
    busy = "".join(f"; {conditions[one]} {one}" for one in (DISTURBED, NOT_JUDGED) if conditions[one])
    return f"{count}: {states}{busy}{modes}"


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
