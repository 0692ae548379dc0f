"""The tables of a comparison in every form: two layouts, and the formats of `mpicampaign.show.writers`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.show.comparison_document import comparison_document, long_legend
from mpicampaign.show.data import long_data, matrix_data
from mpicampaign.show.document import Paragraph
from mpicampaign.show.runs import condition_note
from mpicampaign.show.tables import absent_grid, chosen_matrices, long_grid, matrix_grids
from mpicampaign.show.view import DEFAULT, LONG, MATRIX
from mpicampaign.show.writer import DataWriter, writer
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.show.writers.terminal import WIDTH, terminal_text

if TYPE_CHECKING:
    from mpicampaign.compare.changes import Changes
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.document import Grid
    from mpicampaign.show.view import View


def tables(
    comparison: Comparison,
    form: str,
    view: View = DEFAULT,
    campaign: str = "",
    changes: Changes | None = None,
) -> bytes:
    """All tables of a comparison in one format.

    Parameters
    ----------
    comparison : holds just what is to be shown
    campaign : its name, for JSON and Parquet
    changes : the earlier series that medians are compared with
    """
    chosen = writer(form)
    if isinstance(chosen, DataWriter):
        return chosen.write(_data(comparison, view, changes), campaign)
    legend = [Paragraph(long_legend(comparison, view))] if view.layout == LONG else []
    return chosen.write([*_grids(comparison, view, changes), *legend]).encode("utf-8")


def _data(comparison: Comparison, view: View, changes: Changes | None) -> Grid:
    if view.layout == MATRIX:
        found = [one for table in comparison.tables for one in chosen_matrices(comparison, table, view)]
        return matrix_data(found, view, changes)
    return long_data(comparison, view, changes)


def _grids(comparison: Comparison, view: View, changes: Changes | None) -> list[Grid]:
    return [
        _with_condition(grid, table)
        for table in comparison.tables
        for grid in _grids_of(comparison, table, view, changes)
    ]


def _grids_of(comparison: Comparison, table: Table, view: View, changes: Changes | None) -> list[Grid]:
    if not table.metrics:
        return [absent_grid(comparison, table)]
    if view.layout == MATRIX:
        return matrix_grids(chosen_matrices(comparison, table, view), view, changes)
    return [long_grid(comparison, table, metric, view, changes) for metric in table.metrics]


def _with_condition(grid: Grid, table: Table) -> Grid:
    """A grid stands alone, so the condition of its runs is below each."""
    note = condition_note(table)
    return replace(grid, footnotes=(*grid.footnotes, ("*", note))) if note else grid


def to_csv(comparison: Comparison, view: View = DEFAULT) -> str:
    """One line for each row and metric, in SI units."""
    return tables(comparison, "csv", view).decode("utf-8")


def to_terminal(comparison: Comparison, view: View = DEFAULT, width: int = WIDTH) -> str:
    """The comparison in brief as aligned text of at most ``width`` columns."""
    return terminal_text(comparison_document(comparison, view, brief=True), width)


def to_markdown(comparison: Comparison, view: View = DEFAULT) -> str:
    """The comparison in full as Markdown."""
    return markdown(comparison_document(comparison, view, brief=False))
