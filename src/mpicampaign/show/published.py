"""Published values beside a campaign's own, as lines of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.document import Grid
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.tables import PublishedRow, Table
    from mpicampaign.show.view import View

_MOST_LINES = 12  # of a metric in the terminal


def published_mark(row: PublishedRow) -> str:
    """How the row is marked: ``published, stfc-2017``."""
    return f"published, {row.reference}"


def statistic_of(row: PublishedRow) -> str:
    """``mean of 5``."""
    return row.statistic if row.n == 1 else f"{row.statistic} of {row.n}"


def published_cells(table: Table, metrics: Iterable[Metric], view: View) -> list[list[str]]:
    """Lines for the terminal's table: published values are in the column of the mean.

    Many of a metric are one line with their range: the report has each.
    """
    return [line for metric in metrics for line in _of_metric(table, metric, view)]


def _of_metric(table: Table, metric: Metric, view: View) -> list[list[str]]:
    rows = [row for row in table.published if metric in row.values]
    if len(rows) > _MOST_LINES:
        values = [row.values[metric] for row in rows]
        low, high = (view.number(value, metric.dimension) for value in (min(values), max(values)))
        marks = ", ".join(dict.fromkeys(visible(published_mark(row)) for row in rows))
        return [[f"{len(rows)} systems", "", metric.part, "", "", "", "", low, high, marks]]
    return [_line(row, metric, view) for row in rows]


def _line(row: PublishedRow, metric: Metric, view: View) -> list[str]:
    names = [visible(row.host_group), visible(row.placement), metric.part, str(row.n)]
    value = view.number(row.values[metric], metric.dimension)
    return [*names, "", "", value, "", "", visible(published_mark(row))]


def published_grid(table: Table, view: View) -> Grid:
    """The published values alone."""
    metrics = [metric for metric in table.metrics if any(metric in row.values for row in table.published)]
    heads = [f"{metric.name} ({view.unit_of(metric.dimension)})" for metric in metrics]
    lines = []
    for row in table.published:
        values = [(row.values.get(metric), metric.dimension) for metric in metrics]
        cells = ["" if value is None else view.number(value, what) for value, what in values]
        name = f"{row.system}/{row.host_group} {row.placement}"
        lines.append((name, f"{published_mark(row)}: {statistic_of(row)}", *cells))
    return Grid("", 2, ("host group, placement", "statistic", *heads), tuple(lines))


def published_sources(table: Table) -> list[str]:
    """Where the published rows of a table are from."""
    sources = dict.fromkeys((row.reference, row.source) for row in table.published)
    return [visible(f"published, {name}: {source}") for name, source in sources]
