"""The comparison as Markdown for documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.matrix import absence_of
from mpicampaign.dimension import BANDWIDTH
from mpicampaign.show.fits import LEGEND, fit_heads, fit_lines
from mpicampaign.show.names import legend, note_lines, row_name
from mpicampaign.show.numbers import bounds, number, quantity, unit_of
from mpicampaign.show.published import against, published_grid, published_sources
from mpicampaign.show.rankings import pair_sentences, stated_words, verdict
from mpicampaign.show.sentences import absence
from mpicampaign.show.writers.markdown import markdown_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpicampaign.compare.rows import Cell
    from mpicampaign.compare.tables import Comparison, Table


def to_markdown(comparison: Comparison, unit: str = "MB/s") -> str:
    """Tables with median and interval, then mean and range, then rankings and notes in words."""
    parts = [part for table in comparison.tables for part in _markdown_table(comparison, table, unit)]
    notes = _markdown_list(note_lines(comparison, unit))
    parts += ["## Left out and in doubt", *notes] if notes else []
    return "\n\n".join([*parts, markdown_text(legend(comparison, unit))]) + "\n"


def _markdown_table(comparison: Comparison, table: Table, unit: str) -> list[str]:
    parts = [f"## {markdown_text(table.title)}"]
    parts.append(_markdown_grid(comparison, table, unit, "median [interval]", _median_words))
    if table.metrics:
        parts.append(_markdown_grid(comparison, table, unit, "mean (minimum to maximum)", _range_words))
    parts += _published(comparison, table, unit)
    rankings = [f"{r.metric.name}, {r.kind} of {r.scope}: {verdict(r)}" for r in table.rankings]
    pairs = [sentence for ranking in table.rankings for sentence in pair_sentences(ranking, unit)]
    stated = [words for one in table.stated_rankings if len(one.scopes) > 1 for words in stated_words(one)]
    parts += _fits(comparison, table, unit)
    return [*parts, *_markdown_list([*stated, *rankings, *pairs])]


def _fits(comparison: Comparison, table: Table, unit: str) -> list[str]:
    """Hockney's model of each row, a line for each segment."""
    lines = fit_lines(comparison, table, unit)
    if not lines:
        return []
    head = ("host group, placement", *fit_heads(unit), "doubts")
    cells = [head, *((line.name, *line.figures, line.doubt) for line in lines)]
    texts = ["| " + " | ".join(markdown_text(cell) for cell in line) + " |" for line in cells]
    return ["\n".join([markdown_text(LEGEND), "", texts[0], "|---|" + "---:|" * 5 + "---|", *texts[1:]])]


def _published(comparison: Comparison, table: Table, unit: str) -> list[str]:
    """Published figures as a table of their own, marked in each line."""
    if not table.published:
        return []
    head, lines = published_grid(table, unit)
    texts = ["| " + " | ".join(markdown_text(cell) for cell in line) + " |" for line in (head, *lines)]
    grid = "\n".join(["published:", "", texts[0], "|---|---|" + "---:|" * (len(head) - 2), *texts[1:]])
    return [grid, *_markdown_list([*against(comparison, table, unit), *published_sources(table)])]


def _markdown_list(items: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {markdown_text(item)}" for item in items)] if items else []


def _markdown_grid(
    comparison: Comparison, table: Table, unit: str, what: str, words: Callable[[Cell, str], str]
) -> str:
    """One row for each row of the table, one column for each metric."""
    heads = [f"{metric.name} ({unit_of(metric.dimension, unit)})" for metric in table.metrics]
    lines = [["host group, placement", "n", *(heads or ["figures"])]]
    for row in table.rows:
        cells = [words(cell, unit) or absence(absence_of(row, cell.metric)) for cell in row.cells] or [""]
        if row.absence:
            cells = [absence(row.absence)] + [""] * (len(heads) - 1)
        lines.append([row_name(comparison, table, row), f"{row.counted}/{row.planned}", *cells])
    texts = ["| " + " | ".join(markdown_text(cell) for cell in line) + " |" for line in lines]
    rule = "|---|" + "---:|" * (max(1, len(heads)) + 1)
    return "\n".join([f"{what}:", "", texts[0], rule, *texts[1:]])


def _median_words(cell: Cell, unit: str) -> str:
    if cell.summary is None:
        return ""
    dimension = cell.metric.dimension
    interval = bounds(cell.summary.interval, dimension, unit)
    of = f" of {quantity(cell.bound, BANDWIDTH, unit)}" if cell.bound is not None else ""
    return f"{number(cell.summary.median, dimension, unit)} {interval}".rstrip() + of


def _range_words(cell: Cell, unit: str) -> str:
    if cell.summary is None:
        return ""
    summary = cell.summary
    figures = (summary.mean, summary.minimum, summary.maximum)
    mean, low, high = (number(figure, cell.metric.dimension, unit) for figure in figures)
    return f"{mean} ({low} to {high})"
