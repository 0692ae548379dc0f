"""The comparison as a document, brief for a terminal or in full for reading on."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.compare.balance import NAME
from mpicampaign.compare.findings import OF_ONE_SERIES
from mpicampaign.compare.hpcc import RANDOM_RING, hpcc_results
from mpicampaign.compare.ranking import HOST_GROUPS, LIBRARIES, PLACEMENTS
from mpicampaign.show import pairs
from mpicampaign.show.blocks import block_nodes
from mpicampaign.show.cells import published_sources, row_name
from mpicampaign.show.charts.hpcc import interpolated_text
from mpicampaign.show.configurations import configuration_nodes
from mpicampaign.show.document import Caption, Grid, Heading, Items, Paragraph, Statement
from mpicampaign.show.gathers import gather_nodes
from mpicampaign.show.machine_tables import machine_nodes
from mpicampaign.show.over_groups import HEADING, legend, over_group_lines, telling_lines
from mpicampaign.show.races import race_nodes
from mpicampaign.show.rankings import (
    BUSY,
    OF_OWN_REPEATS,
    disturbed_lines,
    errors_text,
    ranking_text,
    stated_lines,
)
from mpicampaign.show.runs import condition_text, explained, is_offered, not_available, offered, runs_are
from mpicampaign.show.scaling import scaling_nodes
from mpicampaign.show.sentences import absence, note_text
from mpicampaign.show.tables import brief_grid, full_grid, median_text, published_grid, range_text
from mpicampaign.show.view import percent
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.consensus import StatedRanking
    from mpicampaign.compare.ranking import Ranking
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.document import Node
    from mpicampaign.show.view import View


def interpolated_lines(comparison: Comparison, table: Table, view: View) -> list[str]:
    """``random ring / HPL at 1000 Gflop/s, interpolated, not measured: NEC SX-6 59.6 byte/kflop …``."""
    text = interpolated_text(hpcc_results(comparison), RANDOM_RING, view) if table.label == NAME else ""
    return [text] if text else []


def comparison_document(comparison: Comparison, view: View, *, brief: bool) -> list[Node]:
    """The tables, the notes, and the rankings.

    Parameters
    ----------
    brief : a line for each metric, and at the end the best of each ranking against few others; otherwise a
        line for each row, and all rankings below their tables
    """
    parts = _brief_parts if brief else _full_parts
    nodes: list[Node] = []
    for table in filter(offered, comparison.tables):
        marks = [f"{mark}  {meaning}" for mark, meaning in explained(table.rows)]
        nodes += [Heading(table.title), *parts(comparison, table, view), *_items(marks)]
    errors = errors_text(ranking for _, ranking in comparison.rankings)
    meaning = Paragraph(f"{long_legend(comparison, view)} {errors}".rstrip())
    notes = _items(note_lines(comparison, view))
    left_out = [Heading("Left out and in doubt"), *notes] if notes else []
    machines, raced = machine_nodes(comparison.machines), race_nodes(comparison.races)
    odd = configuration_nodes(comparison.configurations)
    if not comparison.tables:
        return [*machines, *odd]
    if brief:
        return [*machines, *nodes, *raced, meaning, *left_out, *odd, *_statements(comparison, view)]
    beside = [*gather_nodes(comparison, view), *scaling_nodes(comparison, view)]
    of_blocks = block_nodes(comparison, view, each_block=True)
    return [*machines, *nodes, *of_blocks, *raced, *beside, *odd, *left_out, meaning]


def _items(found: Sequence[str]) -> list[Node]:
    return [Items(tuple(found))] if found else []


def _published(table: Table) -> list[Node]:
    """Where published values are from."""
    return _items(published_sources(table))


def _stated(table: Table) -> list[StatedRanking]:
    """The rankings of the placements over several host groups."""
    return [stated for stated in table.stated_rankings if len(stated.scopes) > 1]


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
    yield from _published(table)
    yield from _items(interpolated_lines(comparison, table, view))
    stated = [line for one in _stated(table) for line in stated_lines(one)]
    rankings = map(ranking_text, table.rankings)
    sentences = [sentence for ranking in table.rankings for sentence in pairs.pair_sentences(ranking, view)]
    over = over_group_lines(table, view)
    yield from _items([*stated, *over, *rankings, *sentences, *disturbed_lines(comparison, table, view)])


# Brief


def _brief_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """The values of each group of metrics, published ones among them."""
    if not table.metrics:
        rows = [(f"{row_name(comparison, table, row)}  {absence(row.absence)}",) for row in offered(table)]
        yield Grid("", 1, ("", ""), tuple(rows))
    for group, found in groupby(table.metrics, key=lambda metric: metric.group):
        metrics = list(found)
        units = dict.fromkeys(view.unit_of(metric.dimension) for metric in metrics)
        yield Caption(f"{group or metrics[0].name} ({', '.join(units)})")
        yield brief_grid(comparison, table, metrics, view)
    yield from _published(table)
    yield from _items(interpolated_lines(comparison, table, view))


def _statements(comparison: Comparison, view: View) -> Iterator[Node]:
    """Which host group, own against others, then which placement; each ranking once."""
    only_tested = any(found.kind == PLACEMENTS for found in comparison.paired)
    found = [(table, ranking) for table, ranking in comparison.rankings if not table.is_baseline]
    found = [(table, ranking) for table, ranking in found if ranking.judged or not only_tested]
    of_kind = {
        kind: [_ranking(table, ranking, view) for table, ranking in found if ranking.kind == kind]
        for kind in (HOST_GROUPS, LIBRARIES, PLACEMENTS)
    }
    tables = [table for table in comparison.tables if not table.is_baseline]
    stated = (
        Statement(f"{table.title}, {first}", tuple(others))
        for table in tables
        for first, *others in map(stated_lines, _stated(table))
    )
    busy = (
        Statement(f"{table.title}: {BUSY}", lines)
        for table in tables
        if (lines := disturbed_lines(comparison, table, view))
    )
    yield from _answered("Which host group is best, by how much", of_kind[HOST_GROUPS])
    yield from _answered("Which MPI library is best, by how much", of_kind[LIBRARIES])
    yield from block_nodes(comparison, view)
    yield from _own(comparison, view)
    yield from _paired(comparison)
    yield from _over_groups(tables, view)
    yield from _answered("Which placement is best, by how much", [*stated, *of_kind[PLACEMENTS], *busy])


def _answered(question: str, answers: Sequence[Node]) -> list[Node]:
    return [Heading(question), *answers] if answers else []


def _own(comparison: Comparison, view: View) -> list[Node]:
    """The campaign's own host groups against those of others."""
    lines = pairs.own_lines(comparison, view)
    return [Heading(pairs.OWN), *_items(lines), Paragraph(pairs.own_legend(comparison))] if lines else []


def _over_groups(tables: Sequence[Table], view: View) -> list[Node]:
    lines = [f"{table.title}, {line}" for table in tables for line in telling_lines(table, view)]
    return [Heading(HEADING), *_items(lines), Paragraph(legend(tables))] if lines else []


def _paired(comparison: Comparison) -> list[Node]:
    """Placements of few repeats."""
    lines = pairs.paired_lines(comparison)
    meaning = Paragraph(pairs.paired_legend(comparison))
    return [Heading(pairs.PAIRED), *_items(lines), meaning] if lines else []


def _ranking(table: Table, ranking: Ranking, view: View) -> Statement:
    """The verdict, then the best against its nearest rivals and the last."""
    found = ranking.pairs_of_best
    shown = found if len(found) <= 3 else (*found[:2], found[-1])
    text = f"{table.title}, {ranking_text(ranking)}"
    return Statement(text, tuple(pairs.pair_sentence(pair, view) for pair in shown))


# What the tables mean, and what is left out


def note_lines(comparison: Comparison, view: View) -> list[str]:
    """What is left out or doubtful, with the case that it concerns; the series where only one is meant."""
    found = list(map(str, not_available(comparison)))
    for table, row, note in comparison.notes():
        if not is_offered(row):
            continue
        series = table.title if note.kind in OF_ONE_SERIES else visible(table.benchmark)
        found.append(
            f"{comparison.place(row)} {visible(row.case.placement)} {series}: {note_text(note, view)}"
        )
    return found


def long_legend(comparison: Comparison, view: View) -> str:
    """What the columns of the long layout are."""
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    scale = "10^6" if view.unit == "MB/s" else "2^20"
    text = f"n: repeats with a value / {runs_are(comparison.records)}. median: over repeats. "
    text += "[interval]: order-statistic interval "
    text += f"of the median; coverage {coverages}. " if coverages else "of the median. "
    text += f"{view.unit} = {scale} B/s. Contradicted and failed runs are left out. "
    text += f"{OF_OWN_REPEATS} " if comparison.in_turn else ""
    return (text + condition_text(comparison.records)).rstrip()
