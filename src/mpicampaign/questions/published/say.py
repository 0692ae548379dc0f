"""Published values in the report: a strip of dots for each metric, own values among them; folded, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.questions.public_systems.draw import public_dot, strip_line
from mpicampaign.show.cells import published_sources
from mpicampaign.show.document import Fold, Grid, Items, PageNode, Paragraph
from mpicampaign.show.runs import mark_of
from mpicampaign.show.source import ReportSource
from mpicampaign.show.strip import StripDot, median_dot
from mpicampaign.show.tables import published_grid

KEY = "Best at the left. Grey: published; blue: own medians with their intervals, hollow if not ranked."


def published_nodes(
    source: ReportSource, table: Table, rows: Sequence[Row], main: Sequence[Metric]
) -> list[PageNode]:
    """The strips of the main metrics, and the folded table; nothing where none is published."""
    known = {metric for row in table.published for metric in row.values}
    metrics = [metric for metric in main if metric in known] or [m for m in table.metrics if m in known]
    if not metrics:
        return []
    count, names = len(table.published), dict.fromkeys(row.reference for row in table.published)
    title = f"{count} published of {visible(', '.join(names))}"
    about = "own and published values, best at the left"
    strips = tuple(
        strip_line(
            (metric.name, " ", source.unit_of(metric)),
            f"{metric.name}: {about}",
            [*_dots(source, table, rows, metric)],
            metric,
            source.view,
        )
        for metric in metrics
    )
    return [
        Grid(f"{table.title}: own values among {title}", 1, ("metric", "best first"), strips, role="ratios"),
        Paragraph(KEY, "legend"),
        Fold(title, (published_grid(table, source.view), Items(tuple(published_sources(table)), "below"))),
    ]


def _dots(source: ReportSource, table: Table, rows: Sequence[Row], metric: Metric) -> Iterator[StripDot]:
    for published in table.published:
        if metric in published.values:
            name = f"{published.system}/{published.host_group} {published.placement}"
            yield public_dot(name, published.values[metric], metric, source.view)
    for row in rows:
        if row.counted and (summary := row.cell(metric).summary):
            marks = ", at most" * row.at_most + mark_of(row)
            name = f"{source.comparison.place(row)} {visible(row.case.placement)}{marks}"
            yield median_dot(name, summary, row.ranked, metric.dimension, source.view)
