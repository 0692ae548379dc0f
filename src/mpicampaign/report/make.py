"""The tables of a comparison: the formats of `mpicampaign.show.writers`, and documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mpicampaign.base.text import visible
from mpicampaign.compare.findings import OF_ONE_SERIES
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.blocks.say import block_nodes
from mpicampaign.questions.configurations.say import configuration_nodes
from mpicampaign.questions.machine.say_tables import machine_nodes
from mpicampaign.questions.over_groups.say import few_nodes, over_group_lines, over_group_nodes
from mpicampaign.questions.own.say import own_nodes
from mpicampaign.questions.ranking.find import HOST_GROUPS, LIBRARIES, PLACEMENTS, Ranking
from mpicampaign.questions.ranking.say import (
    BUSY,
    OF_OWN_REPEATS,
    disturbed_lines,
    errors_text,
    ranking_text,
    untested_lines,
)
from mpicampaign.questions.ranking.say_pairs import pair_sentence
from mpicampaign.report.columns import MEDIANS
from mpicampaign.report.data import data_grid
from mpicampaign.report.exports import export_writer
from mpicampaign.report.questions import nodes_of_questions, tables_of_questions
from mpicampaign.report.summary import summary
from mpicampaign.show import runs
from mpicampaign.show.cells import published_sources, row_name
from mpicampaign.show.document import Caption, Grid, Heading, Items, Node, Paragraph, Statement
from mpicampaign.show.runs import condition_note, ranked_state
from mpicampaign.show.sentences import absence, note_text
from mpicampaign.show.tables import brief_grid, full_grid, grids, median_text, published_grid, range_text
from mpicampaign.show.view import DEFAULT, Filter, View, percent
from mpicampaign.show.writer import DataWriter, writer
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.show.writers.terminal import WIDTH, terminal_text


def tables(
    comparison: Comparison,
    form: str,
    view: View = DEFAULT,
    campaign: str = "",
    width: int = WIDTH,
    table: str = MEDIANS,
) -> bytes:
    """All tables of a comparison in one format.

    Parameters
    ----------
    comparison : holds just what is to be shown
    campaign : its name, for JSON and Parquet
    width : columns of the terminal
    table : which of those of `report.columns`, as data
    """
    if export := export_writer(form):
        return export.write(comparison, campaign)
    chosen = writer(form)
    if isinstance(chosen, DataWriter):
        return chosen.write(data_grid(comparison, table, view), campaign)
    once = form != "latex"  # where a table floats by itself
    whole = form == "terminal" and view.only == Filter()  # of a part the rankings are not those of all
    answer = [Paragraph(f"{summary(comparison, view).lead}.")] if whole else []
    legend = [long_legend(comparison, view)] if comparison.tables else []
    legend += [ranked_state(comparison.states)]
    legend += [condition_note(comparison.records)] if once else []
    meaning = [Paragraph(text) for text in legend if text]
    value_grids = grids(comparison, view, notes_once=once)
    beside = tables_of_questions(comparison, view)
    document = [*answer, *machine_nodes(comparison.machines), *value_grids, *beside, *meaning]
    text = terminal_text(document, width) if form == "terminal" else chosen.write(document)
    return text.encode("utf-8")


def to_csv(comparison: Comparison, view: View = DEFAULT) -> str:
    """One line for each row and metric, in SI units."""
    return tables(comparison, "csv", view).decode("utf-8")


def to_terminal(comparison: Comparison, view: View = DEFAULT, width: int = WIDTH) -> str:
    """The comparison in brief as aligned text of at most ``width`` columns."""
    return terminal_text(comparison_document(comparison, view, brief=True), width)


def to_markdown(comparison: Comparison, view: View = DEFAULT) -> str:
    """The comparison in full as Markdown."""
    return markdown(comparison_document(comparison, view, brief=False))


# As a document, brief for a terminal or in full for reading on


def comparison_document(comparison: Comparison, view: View, *, brief: bool) -> list[Node]:
    """The tables, the notes, and the rankings.

    Parameters
    ----------
    brief : a line for each metric, and at the end the best of each ranking against few others; otherwise a
        line for each row, and all rankings below their tables
    """
    parts = _brief_parts if brief else _full_parts
    machines = machine_nodes(comparison.machines)
    above = [Paragraph(f"{summary(comparison, view).lead}."), *machines] if brief else machines
    if not comparison.tables:
        return [*above, *configuration_nodes(comparison.configurations)]
    nodes: list[Node] = []
    for table in filter(runs.offered, comparison.tables):
        marks = [f"{mark}  {meaning}" for mark, meaning in runs.explained(table.rows)]
        nodes += [Heading(table.title), *parts(comparison, table, view), *_items(marks)]
    nodes += nodes_of_questions(comparison, view, brief=brief)
    errors = errors_text(ranking for _, ranking in comparison.rankings)
    states = runs.ranked_state(comparison.states), runs.condition_text(comparison.records).rstrip()
    meaning = Paragraph(" ".join(filter(None, (long_legend(comparison, view), *states, errors))))
    notes = _items(note_lines(comparison, view))
    left_out = [Heading("Left out and in doubt"), *notes] if notes else []
    if not brief:
        return [*above, *nodes, *left_out, meaning]
    odd = configuration_nodes(comparison.configurations)
    return [*above, *nodes, meaning, *left_out, *odd, *_statements(comparison, view)]


def _items(lines: Sequence[str]) -> list[Node]:
    return [Items(tuple(lines))] if lines else []


# In full


def _full_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """Median and interval, mean and range, published values, rankings as sentences."""
    yield Caption("median [interval]:")
    yield full_grid(comparison, table, view, median_text)
    if table.metrics:
        yield Caption("mean (minimum to maximum):")
        yield full_grid(comparison, table, view, range_text)
    if table.published:
        yield Caption("published:")
        yield published_grid(table, view)
    yield from _items(published_sources(table))
    untested, told = _untested_and_told(table.rankings)
    rankings = [*map(ranking_text, told), *untested]
    sentences = [
        f"{ranking.metric.name}: {pair_sentence(pair, view)}"
        for ranking in table.rankings
        for pair in ranking.told_pairs
    ]
    over = over_group_lines(table, view)
    yield from _items([*over, *rankings, *sentences, *disturbed_lines(comparison, table, view)])


def _untested_and_told(rankings: Sequence[Ranking]) -> tuple[list[str], list[Ranking]]:
    """The lines of those that share one, and the others."""
    lines = untested_lines(rankings)
    together = {id(one) for several in lines.values() for one in several}
    return list(lines), [one for one in rankings if id(one) not in together]


# Brief


def _brief_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """The values of each group of metrics, published ones among them."""
    if not table.metrics:
        rows = [
            (f"{row_name(comparison, table, row)}  {absence(row.absence)}",) for row in runs.offered(table)
        ]
        yield Grid("", 1, ("", ""), tuple(rows))
    for group, found in groupby(table.metrics, key=lambda metric: metric.group):
        metrics = list(found)
        units = dict.fromkeys(view.unit_of(metric.dimension) for metric in metrics)
        yield Caption(f"{group or metrics[0].name} ({', '.join(units)})")
        yield brief_grid(comparison, table, metrics, view)
    yield from _items(published_sources(table))


def _statements(comparison: Comparison, view: View) -> Iterator[Node]:
    """Which host group, own against others, then which placement; each ranking once."""
    only_tested = any(found.kind == PLACEMENTS for found in comparison.of_few)
    found = [(table, ranking) for table, ranking in comparison.rankings if not table.is_baseline]
    found = [(table, ranking) for table, ranking in found if ranking.judged or not only_tested]
    of_kind = {
        kind: [*_of_kind([each for each in found if each[1].kind == kind], view)]
        for kind in (HOST_GROUPS, LIBRARIES, PLACEMENTS)
    }
    tables = [table for table in comparison.tables if not table.is_baseline]
    busy = (
        Statement(f"{table.title}: {BUSY}", lines)
        for table in tables
        if (lines := disturbed_lines(comparison, table, view))
    )
    yield from _answered("Which host group is best, by how much", of_kind[HOST_GROUPS])
    yield from _answered("Which MPI library is best, by how much", of_kind[LIBRARIES])
    yield from block_nodes(comparison, view)
    yield from own_nodes(comparison, view)
    yield from few_nodes(comparison)
    yield from over_group_nodes(tables, view)
    yield from _answered("Which placement is best, by how much", [*of_kind[PLACEMENTS], *busy])


def _of_kind(found: Sequence[tuple[Table, Ranking]], view: View) -> Iterator[Node]:
    untested, told = _untested_and_told([ranking for _, ranking in found])
    shown = {id(ranking) for ranking in told}
    yield from (_ranking(table, ranking, view) for table, ranking in found if id(ranking) in shown)
    yield from (Statement(line, ()) for line in untested)


def _answered(question: str, answers: Sequence[Node]) -> list[Node]:
    return [Heading(question), *answers] if answers else []


def _ranking(table: Table, ranking: Ranking, view: View) -> Statement:
    """The verdict, then the best against its nearest rivals, and the last of all."""
    found = ranking.told_pairs
    shown = found if len(found) <= 3 else (*found[:2], found[-1])
    text = f"{table.title}, {ranking_text(ranking)}"
    return Statement(text, tuple(pair_sentence(pair, view) for pair in shown))


# What the tables mean, and what is left out


def note_lines(comparison: Comparison, view: View) -> list[str]:
    """What is left out or doubtful, with the case that it concerns; the series where only one is meant."""
    found = list(map(str, runs.not_available(comparison)))
    for table, row, note in comparison.notes():
        if not runs.is_offered(row):
            continue
        series = table.title if note.kind in OF_ONE_SERIES else visible(table.benchmark)
        found.append(
            f"{comparison.place(row)} {visible(row.case.placement)} {series}: {note_text(note, view)}"
        )
    return found


def long_legend(comparison: Comparison, view: View) -> str:
    """What the columns of a line for each row are."""
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    scale = "10^6" if view.unit == "MB/s" else "2^20"
    text = f"n: repeats with a value / {runs.runs_are(comparison.records)}. median: over repeats. "
    text += "[interval]: order-statistic interval "
    text += f"of the median; coverage {coverages}. " if coverages else "of the median. "
    text += f"{view.unit} = {scale} B/s. Contradicted and failed runs are left out. "
    text += f"{OF_OWN_REPEATS} " if comparison.apart_in_time else ""
    return text.rstrip()
