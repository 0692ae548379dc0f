"""Published values in the report: a strip of dots for each metric, own values among them; folded, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import PublishedRow, Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.cells import NO_VALUE, published_sources, statistic_of
from mpicampaign.show.document import Box, Fold, Grid, Items, LineOnPage, PageNode, Paragraph, Span
from mpicampaign.show.runs import mark_of
from mpicampaign.show.strip import StripDot, median_dot, strip_cell

if TYPE_CHECKING:
    from mpicampaign.show.source import ReportSource

KEY = "Best at the left. Grey: published; blue: own medians with their intervals, hollow if not ranked."


def published_nodes(
    source: ReportSource, table: Table, rows: Sequence[Row], main: Sequence[Metric]
) -> list[PageNode]:
    """The strips of the main metrics, and the folded table; nothing where none is published."""
    known = {metric for row in table.published for metric in row.values}
    metrics = [metric for metric in main if metric in known] or [m for m in table.metrics if m in known]
    if not metrics:
        return []
    counted = [row for row in rows if row.counted]
    count, names = len(table.published), dict.fromkeys(row.reference for row in table.published)
    title = f"{count} published of {visible(', '.join(names))}"
    strips = tuple(_strip_line(source, counted, table.published, metric) for metric in metrics)
    lines = [*_own_lines(source, counted, metrics), *_published_lines(source, table.published, metrics)]
    values = Grid(
        f"{table.title}: own values and {title}",
        2,
        ("system", "value", *((metric.name, " ", source.unit_of(metric)) for metric in metrics)),
        tuple(lines),
        role="sortable",
        label=f"{table.title}: own and published values",
        si_units={column: metric.dimension.si_unit for column, metric in enumerate(metrics, 2)},
        on_page=tuple(LineOnPage("" if place < len(counted) else "published") for place in range(len(lines))),
    )
    return [
        Grid(f"{table.title}: own values among {title}", 1, ("metric", "best first"), strips, role="ratios"),
        Paragraph(KEY, "legend"),
        Fold(title, (values, Items(tuple(published_sources(table)), "below"))),
    ]


def _strip_line(
    source: ReportSource, rows: Sequence[Row], published: Sequence[PublishedRow], metric: Metric
) -> tuple[Box, ...]:
    """The metric, and its values along a scale."""
    dots = [*_published_dots(source, published, metric)]
    for row in rows:
        if summary := row.cell(metric).summary:
            name = _place(source, row)
            dots.append(median_dot(name, summary, row.ranked, metric.dimension, source.view))
    about = f"{metric.name}: own and published values, best at the left"
    unit = source.view.unit_of(metric.dimension)
    strip = strip_cell(dots, about, f"{metric.name}, {unit}", highest_first=not metric.lower_is_better)
    return Box((metric.name, " ", source.unit_of(metric))), strip


def _published_dots(
    source: ReportSource, published: Sequence[PublishedRow], metric: Metric
) -> Iterator[StripDot]:
    unit = metric.dimension.unit(source.view.unit)
    for row in published:
        if metric in row.values:
            value = row.values[metric]
            title = f"{_name(row)}: {source.view.quantity(value, metric.dimension)}"
            yield StripDot(unit.of(value), None, "published", title)


def _own_lines(
    source: ReportSource, rows: Sequence[Row], metrics: Sequence[Metric]
) -> Iterator[tuple[Box, ...]]:
    for row in rows:
        name = Box(Span(_place(source, row), "strong", link=source.runs_of(row)))
        yield name, Box("median, at most" if row.at_most else "median"), *_own_cells(source, row, metrics)


def _own_cells(source: ReportSource, row: Row, metrics: Sequence[Metric]) -> Iterator[Box]:
    for metric in metrics:
        summary = row.cell(metric).summary
        if summary is None:
            yield Box(NO_VALUE, role="none")
            continue
        interval = source.view.bounds(summary.interval, metric.dimension)
        below = (Span(interval, "small"),) if interval else ()
        text = source.view.number(summary.median, metric.dimension)
        yield Box(text, value=summary.median, below=below)


def _published_lines(
    source: ReportSource, published: Sequence[PublishedRow], metrics: Sequence[Metric]
) -> Iterator[tuple[Box, ...]]:
    for row in published:
        values = (row.values.get(metric) for metric in metrics)
        cells = (
            Box(source.view.number(value, metric.dimension), value=value)
            if value is not None
            else Box(NO_VALUE, role="none")
            for metric, value in zip(metrics, values, strict=True)
        )
        yield Box(_name(row)), Box(statistic_of(row)), *cells


def _name(row: PublishedRow) -> str:
    return f"{row.system}/{row.host_group} {row.placement}"


def _place(source: ReportSource, row: Row) -> str:
    return f"{source.comparison.place(row)} {visible(row.case.placement)}{mark_of(row)}"
