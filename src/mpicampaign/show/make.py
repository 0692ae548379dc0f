"""The tables of a comparison in every form: two layouts, and the formats of `mpicampaign.show.writers`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.show.comparison_document import comparison_document
from mpicampaign.show.data import long_data, matrix_data
from mpicampaign.show.document import Paragraph
from mpicampaign.show.form import LONG, MATRIX, Form, View
from mpicampaign.show.grids import absent_grid, chosen_matrices, long_grid, matrix_grids
from mpicampaign.show.names import condition_note, long_legend
from mpicampaign.show.writer import DataWriter, writer
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.show.writers.terminal import WIDTH, terminal_text

if TYPE_CHECKING:
    from mpicampaign.compare.changes import Changes
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.data import Data
    from mpicampaign.show.document import Grid


def tables(comparison: Comparison, form: Form, campaign: str = "", changes: Changes | None = None) -> bytes:
    """All tables of a comparison in one form.

    Parameters
    ----------
    comparison : holds just what is to be shown
    campaign : its name, for JSON and Parquet
    changes : the earlier series that medians are compared with
    """
    chosen = writer(form.format)
    if isinstance(chosen, DataWriter):
        return chosen.write(_data(comparison, form, changes), campaign)
    legend = [Paragraph(long_legend(comparison, form.view.unit))] if form.layout == LONG else []
    return chosen.write([*_grids(comparison, form, changes), *legend]).encode("utf-8")


def _data(comparison: Comparison, form: Form, changes: Changes | None) -> Data:
    if form.layout == MATRIX:
        found = [chosen_matrices(comparison, table, form.every_metric) for table in comparison.tables]
        return matrix_data([one for of_table in found for one in of_table], form.view, changes)
    return long_data(comparison, form.columns, changes, form.view)


def _grids(comparison: Comparison, form: Form, changes: Changes | None) -> list[Grid]:
    return [
        _with_condition(grid, table)
        for table in comparison.tables
        for grid in _grids_of(comparison, table, form, changes)
    ]


def _grids_of(comparison: Comparison, table: Table, form: Form, changes: Changes | None) -> list[Grid]:
    if not table.metrics:
        return [absent_grid(comparison, table)]
    if form.layout == MATRIX:
        found = chosen_matrices(comparison, table, form.every_metric)
        return matrix_grids(found, form.view, changes)
    return [
        long_grid(comparison, table, metric, form.view, form.columns, changes) for metric in table.metrics
    ]


def _with_condition(grid: Grid, table: Table) -> Grid:
    """A grid stands alone, so the condition of its runs is below each."""
    note = condition_note(table)
    return replace(grid, footnotes=(*grid.footnotes, ("*", note))) if note else grid


def to_csv(comparison: Comparison, unit: str = "MB/s") -> str:
    """One line for each row and metric, in SI units; ``unit``: of bandwidths in notes."""
    return tables(comparison, Form("csv", view=View(unit))).decode("utf-8")


def to_terminal(comparison: Comparison, width: int = WIDTH, unit: str = "MB/s") -> str:
    """The comparison in brief as aligned text of at most ``width`` columns; ``unit``: of bandwidths."""
    return terminal_text(comparison_document(comparison, unit, brief=True), width)


def to_markdown(comparison: Comparison, unit: str = "MB/s") -> str:
    """The comparison in full as Markdown; ``unit``: of bandwidths."""
    return markdown(comparison_document(comparison, unit, brief=False))
