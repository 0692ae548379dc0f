"""The comparison as a document, brief for a terminal or in full for reading on."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.compare.matrix import absence_of
from mpicampaign.compare.ranking import HOST_GROUPS, PLACEMENTS
from mpicampaign.dimension import BANDWIDTH
from mpicampaign.show.disturbed import BUSY, disturbed_lines, explained, marks_of
from mpicampaign.show.document import Box, Caption, Heading, Items, Paragraph, Statement, text_grid
from mpicampaign.show.gathers import gather_nodes
from mpicampaign.show.mine import MINE, mine_legend, mine_lines
from mpicampaign.show.names import long_legend, note_lines, placement_name, row_name
from mpicampaign.show.not_available import offered
from mpicampaign.show.numbers import size_range
from mpicampaign.show.paired import LEGEND as PAIRED_LEGEND
from mpicampaign.show.paired import PAIRED, paired_lines
from mpicampaign.show.published import published_cells, published_grid, published_sources
from mpicampaign.show.rankings import (
    errors_text,
    pair_sentence,
    pair_sentences,
    stated_lines,
    verdict,
)
from mpicampaign.show.sentences import absence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpicampaign.compare.consensus import StatedRanking
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Ranking
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.document import Grid, Node
    from mpicampaign.show.view import View

_HEADER = ("host group", "placement", "", "n", "median", "[interval]", "mean", "min", "max")


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
    if brief:
        return [*nodes, meaning, *left_out, *_statements(comparison, view)]
    return [*nodes, *gather_nodes(comparison, view), *left_out, meaning]


def _items(found: Sequence[str]) -> list[Node]:
    return [Items(tuple(found))] if found else []


def _published(table: Table) -> list[Node]:
    """Where published values are from."""
    return _items(published_sources(table))


def _texts(cell: Cell, view: View) -> list[str]:
    """Median, interval, mean, minimum, maximum, and the bound of a fraction; empty without values."""
    found, dimension = cell.summary, cell.metric.dimension
    if found is None:
        return []
    values = (found.median, found.mean, found.minimum, found.maximum)
    median, *others = [view.number(value, dimension) for value in values]
    of = f" of {view.quantity(cell.bound, BANDWIDTH)}" if cell.bound is not None else ""
    return [median, view.bounds(found.interval, dimension), *others, of]


def _stated(table: Table) -> list[StatedRanking]:
    """The rankings of the placements over several host groups."""
    return [stated for stated in table.stated_rankings if len(stated.scopes) > 1]


# In full


def _full_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """Median and interval, mean and range, published values, rankings as sentences."""
    yield Caption("median [interval]:")
    yield _values(comparison, table, view, _median_text)
    if table.metrics:
        yield Caption("mean (minimum to maximum):")
        yield _values(comparison, table, view, _range_text)
    if table.published:
        yield Caption("published:")
        yield text_grid(2, *published_grid(table, view))
    yield from _published(table)
    stated = [line for one in _stated(table) for line in stated_lines(one)]
    rankings = [f"{r.metric.name}, {r.kind} of {r.scope}: {verdict(r)}" for r in table.rankings]
    pairs = [sentence for ranking in table.rankings for sentence in pair_sentences(ranking, view)]
    yield from _items([*stated, *rankings, *pairs, *disturbed_lines(comparison, table, view)])


def _values(comparison: Comparison, table: Table, view: View, write: Callable[..., str]) -> Grid:
    """A line for each row of the table, a column for each metric; ``write``: joins the texts of a cell."""
    heads = [f"{metric.name} ({view.unit_of(metric.dimension)})" for metric in table.metrics] or ["values"]
    lines: list[Sequence[str | Box]] = []
    for row in offered(table):
        found = [(cell, _texts(cell, view)) for cell in row.cells]
        cells = [
            Box(write(*texts), marks_of(row)) if texts else Box(absence(absence_of(row, cell.metric)))
            for cell, texts in found
        ]
        cells = [Box(absence(row.absence))] if row.absence else cells
        lines.append(
            (row_name(comparison, table, row), f"{row.counted}/{row.planned}", *(cells or [Box("")]))
        )
    return text_grid(1, ("host group, placement", "n", *heads), lines)


def _median_text(median: str, interval: str, *others: str) -> str:
    return f"{median} {interval}".rstrip() + others[-1]


def _range_text(_median: str, _interval: str, mean: str, low: str, high: str, _of: str) -> str:
    return f"{mean} ({low} to {high})"


# Brief


def _brief_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """The values of each group of metrics, published ones among them."""
    if not table.metrics:
        rows = [[f"{row_name(comparison, table, row)}  {absence(row.absence)}"] for row in offered(table)]
        yield text_grid(1, ("", ""), rows)
    for group, found in groupby(table.metrics, key=lambda metric: metric.group):
        metrics = list(found)
        units = dict.fromkeys(view.unit_of(metric.dimension) for metric in metrics)
        yield Caption(f"{group or metrics[0].name} ({', '.join(units)})")
        yield _block(comparison, table, metrics, view)
    yield from _published(table)


def _block(comparison: Comparison, table: Table, metrics: Sequence[Metric], view: View) -> Grid:
    """One line for each row and metric of what is shown together."""
    lines: list[Sequence[str | Box]] = []
    for row in (row for row in offered(table) if row.shows(metrics[0])):
        names = [comparison.place(row), placement_name(table, row)]
        for metric in metrics if row.counted else metrics[:1]:
            part = metric.part if row.counted and not metric.bound else ""
            lines.append([*names, part, *_block_values(row, row.cell(metric), view)])
            names = ["", ""]
    lines += published_cells(table, metrics, view)
    return text_grid(3, (*_HEADER, "at" if metrics[0].size is None else ""), lines, 1)


def _block_values(row: Row, cell: Cell, view: View) -> list[str | Box]:
    """The values, the sizes of a maximum and the bound of a fraction; or why there are none."""
    if not (texts := _texts(cell, view)):
        return [f"{cell.n}/{row.planned}", absence(absence_of(row, cell.metric))]
    median, *others, of = texts
    return [f"{cell.n}/{row.planned}", Box(median, marks_of(row)), *others, size_range(cell.sizes) + of]


def _statements(comparison: Comparison, view: View) -> Iterator[Node]:
    """Which host group, mine against others, then which placement; each ranking once."""
    paired = _paired(comparison)
    found = [(table, ranking) for table, ranking in comparison.rankings if not table.is_baseline]
    found = [(table, ranking) for table, ranking in found if ranking.tested or not paired]
    of_kind = {
        kind: [_ranking(table, ranking, view) for table, ranking in found if ranking.kind == kind]
        for kind in (HOST_GROUPS, PLACEMENTS)
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
    yield from _mine(comparison, view)
    yield from paired
    yield from _answered("Which placement is best, by how much", [*stated, *of_kind[PLACEMENTS], *busy])


def _answered(question: str, answers: Sequence[Node]) -> list[Node]:
    return [Heading(question), *answers] if answers else []


def _mine(comparison: Comparison, view: View) -> list[Node]:
    """The campaign's own host groups against those of others."""
    lines = mine_lines(comparison, view)
    return [Heading(MINE), *_items(lines), Paragraph(mine_legend(comparison))] if lines else []


def _paired(comparison: Comparison) -> list[Node]:
    """Placements of few repeats."""
    lines = paired_lines(comparison)
    return [Heading(PAIRED), *_items(lines), Paragraph(PAIRED_LEGEND)] if lines else []


def _ranking(table: Table, ranking: Ranking, view: View) -> Statement:
    """The verdict, then the best against its nearest rivals and the last."""
    pairs = ranking.pairs_of_best
    shown = pairs if len(pairs) <= 3 else (*pairs[:2], pairs[-1])
    text = f"{table.title}, {ranking.metric.name}, {ranking.kind} of {ranking.scope}: {verdict(ranking)}"
    return Statement(text, tuple(pair_sentence(pair, view) for pair in shown))
