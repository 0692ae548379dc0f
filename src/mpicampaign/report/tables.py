"""The report's tables: the comparison of each benchmark, rankings, doubts, and runs with their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from mpicampaign.base.dimension import Dimension
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CONTRADICTED, NOT_AVAILABLE, OK, UNVERIFIED, Case, Record
from mpicampaign.base.text import counted, in_ranks, repeats_text, visible
from mpicampaign.compare.findings import MODES, OF_ONE_SERIES, OTHER_STATE, Note
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.compare.stopping import precision
from mpicampaign.compare.tables import Table
from mpicampaign.questions.over_groups.say import over_group_lines
from mpicampaign.questions.published.say import published_nodes
from mpicampaign.questions.ranking.find import Pair, Ranking
from mpicampaign.questions.ranking.say import disturbed_lines, verdict
from mpicampaign.questions.ranking.say_pairs import factor_text, precision_text
from mpicampaign.show.cells import STATISTICS, MetricCell, explained_terms
from mpicampaign.show.charts.curves import WIRE
from mpicampaign.show.document import (
    Box,
    Fold,
    Grid,
    Heading,
    Items,
    LineOnPage,
    PageNode,
    Paragraph,
    Section,
    Span,
    titled,
)
from mpicampaign.show.runs import (
    RUNS_FILE,
    are_many,
    explained,
    is_offered,
    not_available,
    offered,
    runs_are,
    state_of,
)
from mpicampaign.show.sentences import absence, kind_name, note_text, reason
from mpicampaign.show.source import ReportSource
from mpicampaign.show.view import probability
from mpicampaign.verdicts.compare import APART_IN_TIME, FEW_REPEATS

NO_DOUBTS = "Nothing: every planned run was made, counts and is verified."
_FEW = 6  # metrics of a table, all of which are shown
_MOST_PAIRS = 1000  # of a table; of more the page has those with the best
_SHARED, _LEAST = 500, 3  # lines of runs on the page of many, of all cases and of each
_ONLY_THERE = (
    ", which has a line for each run. Of a case with more than {0} runs, the first {0} that are left out or "
    "in doubt are here, and those to which notes lead."
)


def state(kind: str) -> Span:
    """A state of a run as text with a colour; the text alone says everything."""
    return Span(kind_name(kind), f"state {kind.replace(' ', '_')}")


def comparison_nodes(source: ReportSource, table: Table, anchor: str) -> list[PageNode]:
    """The main metrics, published systems beside them, and all else folded."""
    rows = offered(table)
    # those of another state of their machine are compared with no row
    main = [row for row in rows if not any(note.kind == OTHER_STATE for note in row.notes)] or rows
    full = _comparison_grid(source, table, rows, table.metrics, is_full=True)
    return [
        Heading(table.title, 3, anchor),
        _comparison_grid(source, table, main, main_metrics(table), is_full=False),
        *published_nodes(source, table, main, main_metrics(table)),
        *([Fold(_all_else(table, len(rows) - len(main)), (full,))] if table.metrics else []),
    ]


def main_metrics(table: Table) -> Sequence[Metric]:
    """All where they are few; else those that are ranked, at a table size, or fractions of a bound."""
    found = [metric for metric in table.metrics if metric.column != WIRE]
    found = sorted(found, key=lambda metric: bool(metric.baseline))
    chosen = [metric for metric in found if metric.headline or metric.bound or metric.size is not None]
    return chosen if len(found) > _FEW and chosen else found


def _all_else(table: Table, aside: int) -> str:
    count = len(table.metrics)
    metrics = f"All {count} metrics" if count > len(main_metrics(table)) else "The same"
    rows = f"; {counted(aside, 'more row')}, of another state of the machine" if aside else ""
    return f"{metrics} with mean and range{rows}"


def _comparison_grid(
    source: ReportSource, table: Table, rows: Sequence[Row], metrics: Sequence[Metric], is_full: bool
) -> Grid:
    """A line for each row, a column for each metric; in full with mean and range."""
    count = Span("n", hint=f"runs with values / runs {runs_are(source.comparison.records)}")
    columns = list(enumerate(metrics, 2))
    heads = ((*explained_terms(metric.name), " ", source.unit_of(metric)) for metric in metrics)
    kind = f"{'all metrics of all ' * is_full}host groups and placements"
    return Grid(
        f"{table.title}: {kind}",
        2,
        ("host group, placement", count, *heads),
        tuple(_row_line(source, row, metrics, is_full) for row in rows),
        role="comparison full" if is_full else "comparison sortable",
        label=f"{'All metrics' if is_full else 'Table'} of {table.title}",
        largest_first=frozenset({1, *(column for column, m in columns if not m.lower_is_better)}),
        si_units={column: metric.dimension.si_unit for column, metric in columns},
        footnotes=explained(rows),
    )


def _row_line(source: ReportSource, row: Row, metrics: Sequence[Metric], is_full: bool) -> tuple[Box, ...]:
    """The names and values of a row, or why it has none."""
    head = _row_head(source, row)
    if row.absence:
        return (*head, Box(source.near(absence(row.absence)), role="absent", columns=max(1, len(metrics))))
    return (*head, *(_cell(source, row, metric, is_full) for metric in metrics))


def _row_head(source: ReportSource, row: Row) -> tuple[Box, Box]:
    name = (f"{source.comparison.place(row)} ", Span(row.case.placement, "strong"))
    ranks = [in_ranks(row.ranks)] if row.ranks is not None else []
    about = ", ".join([*ranks, *(visible(text) for text in (row.detail, row.blas) if text)])
    runs = [Span(f"{count} {verdict}", "small") for verdict, count in row.verdicts.items()]
    if row.at_most:
        runs.append(Span("at most", "small warn"))
    if any(note.kind == MODES for note in row.notes):
        runs.append(Span("several modes", "small warn"))
    return (
        Box(Span(name, link=source.runs_of(row)), below=(Span(about, "small"),) if about else ()),
        Box(f"{row.counted}/{row.planned}", value=row.counted, role="n", below=tuple(runs)),
    )


def _cell(source: ReportSource, row: Row, metric: Metric, is_full: bool) -> Box:
    """The median, which leads to its runs; below, the interval; in full mean and range."""
    shown = MetricCell(row, row.cell(metric), source.view)
    if shown.reasons:
        return Box(kind_name(shown.reasons[0].kind), role="none")
    median, mean, low, high = map(shown.box, STATISTICS)
    at = f", at {shown.at}" if shown.at else ""
    small = [f"mean {mean.text}, {low.text} to {high.text}{at}"] if is_full else []
    small += [f"of {shown.bound}"] if shown.bound else []
    below = (Span(shown.interval, "interval"), *(Span(text, "small") for text in small))
    text = f"{median.text} %" if metric.bound else median.text
    return median._replace(text=Span(text, link=source.runs_of(row)), below=below)


# Rankings and doubts


def ranking_nodes(source: ReportSource, table: Table) -> list[PageNode]:
    """What is tested, and what is said of disturbed runs."""
    said = disturbed_lines(source.comparison, table, source.view)
    over = over_group_lines(table, source.view)
    nodes: list[PageNode] = [Items(tuple(over))] if over else []
    nodes += [*(_tested(source, table) if table.rankings else []), *([Items(said)] if said else [])]
    return [Heading(table.title, 3), *nodes] if nodes else []


def _tested(source: ReportSource, table: Table) -> list[PageNode]:
    """The verdicts, and each pair folded; without p where no pair is tested."""
    lines = tuple(
        (
            *map(Box, (ranking.metric.name, ranking.scope, ranking.kind)),
            Box(Span(verdict(ranking), "strong")),
            Box("; ".join(_absent(ranking))),
        )
        for ranking in table.rankings
    )
    header = ("metric", "of", "compared", "verdict", "not compared")
    label = f"Verdicts of {table.title}"
    verdicts = Grid(f"{table.title}: verdicts", 5, header, lines, role="sortable", label=label)
    every = [(ranking, pair) for ranking in table.rankings for pair in ranking.pairs]
    if not every:
        return [verdicts]
    pairs = (
        every
        if len(every) <= _MOST_PAIRS
        else [each for each in every if each[0].best in (each[1].better, each[1].worse)]
    )
    columns = ("metric", "of", "better", "worse", "factor", "effect", "p")
    shown = len(columns) - all(pair.verdict.reason == APART_IN_TIME for _, pair in pairs)
    grid = Grid(
        f"{table.title}: pairs",
        4,
        columns[:shown],
        tuple(_pair_line(source, *each)[:shown] for each in pairs),
        role="sortable",
        label=f"Pairs of {table.title}",
        largest_first=frozenset({4, 5}),
    )
    which = "Each pair" if pairs is every else f"{len(pairs)} of {len(every)} pairs, those with the best"
    return [verdicts, Fold(f"{which}: {table.title}", (grid,))]


def _absent(ranking: Ranking) -> Iterator[str]:
    """``TCP: no value``; nothing of placements that no machine of the kind offers."""
    for one in ranking.absent:
        if any(note.kind != NOT_AVAILABLE for note in one.reasons):
            yield f"{one.name}: {absence(one.reasons)}"


def _pair_line(source: ReportSource, ranking: Ranking, pair: Pair) -> tuple[Box, ...]:
    p, effect = pair.verdict.p, pair.effect
    no_p = "too few" if pair.verdict.reason == FEW_REPEATS else "not tested"
    return (
        *map(Box, (ranking.metric.name, ranking.scope, pair.better.name, pair.worse.name)),
        Box(factor_text(pair), value=pair.factor),
        Box(f"{effect:.2f}", value=effect),
        Box(no_p if p is None else probability(p).removeprefix("p = ").removeprefix("p "), value=p),
    )


def doubts_grid(source: ReportSource) -> Grid:
    """What is left out or in doubt, with links to the first of its runs."""
    absent = (
        (Box(one.name), Box(state(NOT_AVAILABLE)), Box(one.reason), Box(f"{one.runs} runs", role="short"))
        for one in not_available(source.comparison)
    )
    notes = (found for found in source.comparison.notes() if is_offered(found[1]))
    lines = (*absent, *(_doubt_line(source, of) for of in grouped(notes, lambda one: one[1].case).values()))
    return Grid(
        "Runs left out or in doubt, with the reasons",
        4,
        ("case", "what", "why", "repeats"),
        lines,
        role="sortable",
        label="Left out and in doubt",
    )


def _doubt_line(source: ReportSource, notes: Sequence[tuple[Table, Row, Note]]) -> tuple[Box, ...]:
    """The line of one case in doubt; several reasons are behind a click."""
    table, row, note = notes[0]
    name = f"{source.comparison.place(row)} {row.case.placement}, {table.benchmark}"
    link = source.runs_of(row) + (f"-r{note.repeats[0]}" if note.repeats else "")
    kinds = [(state(kind), " ") for kind in dict.fromkeys(note.kind for *_, note in notes)]
    texts = tuple(
        source.near((f"{table.title}: " if note.kind in OF_ONE_SERIES else "") + note_text(note, source.view))
        for table, _, note in notes
    )
    repeats = {repeats_text(note.repeats) if note.repeats else "" for *_, note in notes}
    several = Fold(f"{len(texts)} reasons", (Items(texts),))
    why = Box(source.near(reason(note, source.view))) if len(notes) == 1 else Box("", fold=several)
    same = repeats.pop() if len(repeats) == 1 else ""
    return Box(Span(name, link=link)), Box(tuple(chain(*kinds))), why, Box(same, role="short")


# The runs of each case: their states, numbers, files, reasons and facts


def runs_section(source: ReportSource) -> Section:
    """All runs but those of placements that are not available, those of each case folded."""
    pairs = ((table, row) for table in source.comparison.tables for row in table.rows)
    rows = grouped(pairs, lambda pair: pair[1].case)
    made = [record for record in source.records if record.status != NOT_AVAILABLE]
    cases = grouped(made, lambda record: record.case)
    most = max(_LEAST, _SHARED // len(cases)) if are_many(made) else len(made)
    shown = {case: _shown(records, rows.get(case, []), most) for case, records in cases.items()}
    hidden = len(made) - sum(map(len, shown.values()))
    where = Paragraph(
        (f"{hidden} of these runs are only in ", Span(RUNS_FILE, link=RUNS_FILE), _ONLY_THERE.format(most))
    )
    folds = [_case(source, case, records, shown[case], rows.get(case, [])) for case, records in cases.items()]
    title = f"{len(made)} runs of {len(folds)} cases, with their files"
    return titled("runs", "Runs", Fold(title, (*([where] if hidden else []), *folds)))


def _shown(records: list[Record], rows: list[tuple[Table, Row]], most: int) -> list[Record]:
    """All runs of a case where they are few; else the first few of those left out or in doubt."""
    if len(records) <= most:
        return records
    linked = {note.repeats[0] for _, row in rows for note in row.notes if note.repeats}
    doubtful = [run for run in records if not run.counts or run.verdict in (None, UNVERIFIED)]
    first = {run.repeat for run in doubtful[:most]} | linked
    return [run for run in records if run.repeat in first]


def _case(
    source: ReportSource,
    case: Case,
    records: list[Record],
    shown: list[Record],
    rows: list[tuple[Table, Row]],
) -> Fold:
    found, anchor = _headline_cells(rows), source.anchors[case]
    shared = _shared_facts(records)
    values = [(cell.metric.dimension, cell.by_repeat) for _, cell in found]
    heads = ((name, " ", source.unit_of(cell.metric)) for name, cell in found)
    grid = Grid(
        f"Runs of {case}",
        6,
        ("repeat", "state", "condition", "hosts", "job", "started", *heads, "files", "reasons and facts"),
        tuple(
            _run_line(source, record, values, _own_facts(record, _facts(record), shared)) for record in shown
        ),
        remarks=2,
        role="runs",
        si_units={6 + index: cell.metric.dimension.si_unit for index, (_, cell) in enumerate(found)},
        label=f"Runs of {case}",
        anchor=anchor,
        on_page=tuple(LineOnPage(anchor=f"{anchor}-r{record.repeat}") for record in shown),
    )
    enough = [
        Paragraph(f"{name}: {precision_text(precision(cell.values))}", "legend") for name, cell in found
    ]
    doubtful = any(record.verdict == CONTRADICTED for record in records)
    title = f"{len(shared)} reasons and facts that all these runs share"
    below = [Fold(title, (Items(tuple(shared)),), "shared", doubtful)] if shared else []
    here = f", {len(shown)} of them here" if len(shown) < len(records) else ""
    count = Span(f"{len(records)} runs{here}", "small")
    return Fold((Span(str(case), "heading"), " ", count), (grid, *below, *enough), "case")


def _shared_facts(records: list[Record]) -> list[str]:
    """What all runs say that say anything; of one alone nothing."""
    shared, *others = [facts for record in records if (facts := _facts(record))] or [[]]
    for facts in others:
        known = set(facts)
        shared = [fact for fact in shared if fact in known]
    return shared if others else []


def _headline_cells(rows: list[tuple[Table, Row]]) -> list[tuple[str, Cell]]:
    """The cells of headline metrics that have values; named with their series where there are several."""
    several = len(rows) > 1
    return [
        (f"{cell.metric.name}, {table.label}" if several else cell.metric.name, cell)
        for table, row in rows
        for cell in row.cells
        if cell.metric.headline and cell.n
    ]


_Values = list[tuple["Dimension", dict[int, float]]]  # of each metric, by repeat


def _run_line(source: ReportSource, record: Record, values: _Values, facts: Fold | None) -> tuple[Box, ...]:
    files = [(Span(name, link=source.address(file)), " ") for name, file in record.files.items()]
    shown = ((dimension, of_runs.get(record.repeat)) for dimension, of_runs in values)
    return (
        Box(str(record.repeat)),
        Box(state(state_of(record))),
        Box(state(record.condition) if record.status == OK else ""),
        Box(", ".join(record.hosts)),
        Box(record.job_id),
        Box(record.started, role="short"),
        *(Box("" if v is None else source.view.number(v, of), value=v) for of, v in shown),
        Box(tuple(part for file in files for part in file)),
        Box(source.near(record.reason), fold=facts),
    )


def _own_facts(record: Record, facts: list[str], shared: list[str]) -> Fold | None:
    """Those that not all runs of the case have; with all of them the page would be half as large again."""
    if not facts:
        return None
    own = [fact for fact in facts if fact not in shared]
    title = f"{counted(len(record.verdict_reasons), 'reason')} for the verdict"
    below = [f"and {len(shared)} that all these runs share, below the table"] if shared else []
    return Fold(title, (Items((*own, *below)),), is_open=record.verdict == CONTRADICTED)


def _facts(record: Record) -> list[str]:
    """The reasons for the verdict, and what the run recorded of itself."""
    reasons = record.verdict_reasons
    if not (reasons or record.metadata):
        return []
    status = "unknown" if record.exit_status is None else record.exit_status
    return [
        *reasons,
        *([f"condition: {record.condition}: {record.condition_reason}"] if record.condition_reason else []),
        *([f"ended {record.ended}, exit status {status}"] if record.ended else []),
        *([f"identity {record.identity}"] if record.identity else []),
        *(f"{name}: {value}" for name, value in record.metadata.items()),
    ]
