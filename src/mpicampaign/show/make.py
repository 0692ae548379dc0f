"""The tables of a comparison in every form: two layouts, six formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.csv_json import CSV_COLUMNS, data_to_csv, data_to_json, to_csv
from mpicampaign.show.data import long_data, matrix_data
from mpicampaign.show.form import DATA_FORMATS, LONG, MATRIX
from mpicampaign.show.grid_text import grids_to_terminal
from mpicampaign.show.grids import absent_grid, chosen_matrices, long_grid, matrix_grids
from mpicampaign.show.latex import to_latex
from mpicampaign.show.markdown import grids_to_markdown, markdown_text, to_markdown
from mpicampaign.show.names import long_legend
from mpicampaign.show.parquet import data_to_parquet
from mpicampaign.show.terminal import WIDTH, to_terminal, wrap

if TYPE_CHECKING:
    from mpicampaign.compare.changes import Changes
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.data import Data
    from mpicampaign.show.form import Form
    from mpicampaign.show.grids import Grid

__all__ = ["CSV_COLUMNS", "to_csv", "to_markdown", "to_terminal"]


def tables(comparison: Comparison, form: Form, campaign: str = "", changes: Changes | None = None) -> bytes:
    """All tables of a comparison in one form.

    Parameters
    ----------
    comparison : holds just what is to be shown
    campaign : its name, for JSON and Parquet
    changes : the earlier series that figures are held against
    """
    if form.format in DATA_FORMATS:
        return _data_bytes(_data(comparison, form, changes), form.format, campaign)
    return _grid_text(comparison, form, _grids(comparison, form, changes)).encode("utf-8")


def _data(comparison: Comparison, form: Form, changes: Changes | None) -> Data:
    if form.layout == MATRIX:
        found = [chosen_matrices(comparison, table, form.every_metric) for table in comparison.tables]
        return matrix_data([one for of_table in found for one in of_table], form.view, changes)
    return long_data(comparison, form.columns, changes, form.view)


def _data_bytes(data: Data, name: str, campaign: str) -> bytes:
    if name == "parquet":
        return data_to_parquet(data, campaign)
    return (data_to_json(data, campaign) if name == "json" else data_to_csv(data)).encode("utf-8")


def _grids(comparison: Comparison, form: Form, changes: Changes | None) -> list[Grid]:
    grids = []
    for table in comparison.tables:
        if not table.metrics:
            grids.append(absent_grid(comparison, table))
        elif form.layout == MATRIX:
            grids += matrix_grids(chosen_matrices(comparison, table, form.every_metric), form.view, changes)
        else:
            grids += [
                long_grid(comparison, table, metric, form.view, form.columns, changes)
                for metric in table.metrics
            ]
    return grids


def _grid_text(comparison: Comparison, form: Form, grids: list[Grid]) -> str:
    words = long_legend(comparison, form.view.unit) if form.layout == LONG else ""
    if form.format == "latex":
        return to_latex(grids)
    if form.format == "markdown":
        return grids_to_markdown(grids) + (f"\n{markdown_text(words)}\n" if words else "")
    return grids_to_terminal(grids) + ("\n" + "\n".join(wrap(words, WIDTH)) + "\n" if words else "")
