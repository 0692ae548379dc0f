"""Published values in the report: a strip of dots for each metric, own values among them; folded, a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import PublishedRow, Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.cells import NO_VALUE, published_sources, statistic_of
from mpicampaign.show.charts.scales import plain, scale_for
from mpicampaign.show.document import Box, Fold, Grid, Items, LineOnPage, PageNode, Paragraph, Span
from mpicampaign.show.runs import mark_of
from mpicampaign.show.strip import MOST_TICKS, Strip, StripDot
from mpicampaign.statistics.medians import Interval

if TYPE_CHECKING:
    from mpicampaign.show.source import ReportSource

KEY = "Best at the left. Grey: published; blue: own medians with their intervals, hollow if not ranked."


class _Value(NamedTuple):
    value: float
    interval: Interval | None


class _Member(NamedTuple):
    """A published system, or an own row; ``about``: which statistic its values are; ``look``: of its dots."""

    name: str
    about: str
    values: Mapping[Metric, _Value]
    look: str
    link: str = ""  # to its runs; empty of published ones

    def rank(self, metric: Metric) -> float:
        """Lower is better; what has no value comes last."""
        found = self.values.get(metric)
        return float("inf") if found is None else found.value if metric.lower_is_better else -found.value


def published_nodes(
    source: ReportSource, table: Table, rows: Sequence[Row], main: Sequence[Metric]
) -> list[PageNode]:
    """The strips of the main metrics, and the folded table; nothing where none is published."""
    known = {metric for row in table.published for metric in row.values}
    metrics = [metric for metric in main if metric in known] or [m for m in table.metrics if m in known]
    if not metrics:
        return []
    systems = list(_systems(table.published))
    members = [*(_own(source, row) for row in rows if row.counted), *systems]
    count, names = len(systems), dict.fromkeys(row.reference for row in table.published)
    title = f"{table.title}: own values among {count} published of {visible(', '.join(names))}"
    strips = tuple(_strip_line(source, members, metric) for metric in metrics)
    sources = Items(tuple(published_sources(table)), "below")
    return [
        Grid(title, 3, ("metric", "best first", "best of own [interval]"), strips, role="ratios"),
        Paragraph(KEY, "legend"),
        Fold(
            f"{count} published of {visible(', '.join(names))}",
            (_grid(source, members, metrics, title), sources),
        ),
    ]


def _own(source: ReportSource, row: Row) -> _Member:
    summaries = {cell.metric: cell.summary for cell in row.cells}
    values = {metric: _Value(s.median, s.interval) for metric, s in summaries.items() if s}
    name = f"{source.comparison.place(row)} {visible(row.case.placement)}{mark_of(row)}"
    about = "median, at most" if row.at_most else "median"
    return _Member(name, about, values, "leads" if row.ranked else "unranked", source.runs_of(row))


def _systems(rows: Sequence[PublishedRow]) -> Iterator[_Member]:
    """The rows of one system are one, unless two give the same metric."""
    for alike in grouped(rows, lambda row: (row.reference, _name(row))).values():
        metrics = [metric for row in alike for metric in row.values]
        parts = [alike] if len(set(metrics)) == len(metrics) else [[row] for row in alike]
        yield from map(_published, parts)


def _name(row: PublishedRow) -> str:
    return f"{row.system}/{row.host_group} {row.placement}"


def _published(rows: Sequence[PublishedRow]) -> _Member:
    values = {metric: _Value(value, None) for row in rows for metric, value in row.values.items()}
    return _Member(_name(rows[0]), "; ".join(dict.fromkeys(map(statistic_of, rows))), values, "published")


def _strip_line(source: ReportSource, members: Sequence[_Member], metric: Metric) -> tuple[Box, ...]:
    """The metric, its values along a scale, and the best of the own ones."""
    unit = metric.dimension.unit(source.view.unit)
    having = sorted((one for one in members if metric in one.values), key=lambda one: one.rank(metric))
    values = [one.values[metric] for one in having]
    ends = [end for _, interval in values if interval for end in (interval.low, interval.high)]
    scale = scale_for(map(unit.of, [*ends, *(value for value, _ in values)]))
    name = Box((metric.name, " ", source.unit_of(metric)))
    if scale is None:
        return (name, Box(""), _best_own(source, having, metric))
    strip = Strip(scale, not metric.lower_is_better)
    dots = [_dot(source, one, metric) for one in sorted(having, key=lambda one: bool(one.link))]
    ticks = strip.axis(map(plain, scale.ticks(MOST_TICKS)), f"{metric.name}, {unit.name}")
    drawn = strip.drawn(dots, f"{metric.name}: own and published values, best at the left")
    return (name, Box(drawn, role="scale", below=(ticks,)), _best_own(source, having, metric))


def _best_own(source: ReportSource, having: Sequence[_Member], metric: Metric) -> Box:
    """The best own value and its place, of members best first; one that is not ranked has no place."""
    ordered = sorted(having, key=lambda one: one.look == "unranked")
    own = next((one for one in ordered if one.link), None)
    if own is None:
        return Box("no own value", role="value")
    placed = [one for one in ordered if one.look != "unranked"]
    place = f"not ranked, {own.about}"
    place = f"{placed.index(own) + 1} of {len(placed)} by value" if own in placed else place
    value, interval = own.values[metric]
    return Box(
        Span(source.view.number(value, metric.dimension), link=own.link),
        value=value,
        role="value",
        below=(Span(source.view.bounds(interval, metric.dimension), "small"), Span(place, "small")),
    )


def _dot(source: ReportSource, one: _Member, metric: Metric) -> StripDot:
    unit, (value, interval) = metric.dimension.unit(source.view.unit), one.values[metric]
    ends = (unit.of(interval.low), unit.of(interval.high)) if interval else None
    title = f"{one.name}: {source.view.quantity(value, metric.dimension)}"
    return StripDot(unit.of(value), ends, one.look, title)


def _grid(source: ReportSource, members: Sequence[_Member], metrics: Sequence[Metric], title: str) -> Grid:
    """All members, best first in the first metric."""
    ordered = sorted(members, key=lambda one: one.rank(metrics[0]))
    return Grid(
        title,
        2,
        ("system", "value", *((metric.name, " ", source.unit_of(metric)) for metric in metrics)),
        tuple(
            (
                Box(Span(one.name, "strong" if one.link else "", link=one.link)),
                Box(one.about),
                *(_box(source, one.values.get(metric), metric) for metric in metrics),
            )
            for one in ordered
        ),
        role="sortable",
        label=title,
        si_units={column: metric.dimension.si_unit for column, metric in enumerate(metrics, 2)},
        on_page=tuple(LineOnPage("" if one.link else "published") for one in ordered),
    )


def _box(source: ReportSource, published: _Value | None, metric: Metric) -> Box:
    if published is None:
        return Box(NO_VALUE, role="none")
    text, interval = source.view.number(published.value, metric.dimension), published.interval
    below = (Span(source.view.bounds(interval, metric.dimension), "small"),) if interval else ()
    ends = (interval.low, interval.high) if interval else None
    return Box(text, value=published.value, below=below, ends=ends)
