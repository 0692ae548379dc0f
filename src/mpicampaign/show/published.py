"""Published values beside a campaign's own: as lines of tables, and means compared with means."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.show.numbers import quantity
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, PublishedRow, Table

_MANY = 3  # published host groups that are named one by one


def published_mark(row: PublishedRow) -> str:
    """How the row is marked: ``published, stfc-2017``."""
    return f"published, {row.reference}"


def _statistic(row: PublishedRow) -> str:
    """``mean of 5``."""
    return row.statistic if row.n == 1 else f"{row.statistic} of {row.n}"


def published_cells(table: Table, metrics: Iterable[Metric], unit: str) -> list[list[str]]:
    """Lines for the terminal's table: published values stand in the column of the mean."""
    lines = []
    for row in table.published:
        for metric in metrics:
            if metric in row.values:
                value = metric.dimension.number(row.values[metric], unit)
                names = [visible(row.host_group), visible(row.placement), metric.part, str(row.n), "", ""]
                lines.append([*names, value, "", "", visible(published_mark(row))])
    return lines


def published_grid(table: Table, unit: str) -> tuple[list[str], list[list[str]]]:
    """The heading and the lines of a table of the published values alone."""
    metrics = [metric for metric in table.metrics if any(metric in row.values for row in table.published)]
    heads = [f"{metric.name} ({metric.dimension.unit(unit).name})" for metric in metrics]
    lines = []
    for row in table.published:
        values = [(row.values.get(metric), metric.dimension) for metric in metrics]
        cells = ["" if value is None else what.number(value, unit) for value, what in values]
        name = f"{row.system}/{row.host_group} {row.placement}"
        lines.append([name, f"{published_mark(row)}: {_statistic(row)}", *cells])
    return ["host group, placement", "statistic", *heads], lines


def published_sources(table: Table) -> list[str]:
    """Where the published rows of a table are from."""
    sources = dict.fromkeys((row.reference, row.source) for row in table.published)
    return [visible(f"published, {name}: {source}") for name, source in sources]


def against(comparison: Comparison, table: Table, unit: str) -> list[str]:
    """Own means against published ones: each chosen host group, or the rank among all."""
    found = []
    for metric in (metric for metric in table.metrics if metric.headline):
        for row in (row for row in table.rows if not row.disturbed):
            rivals = [p for p in table.published if metric in p.values and _comparable(row, p)]
            own = _own(comparison, row, metric)
            for _, same in groupby(rivals, key=lambda rival: rival.reference):
                found += _sentences(own, row, metric, list(same), unit)
    return found


def _comparable(row: Row, rival: PublishedRow) -> bool:
    """The same placement; where a publication's names of placements mean no mapping, the same ranks."""
    return rival.placement == row.case.placement and rival.ranks in (None, row.ranks)


def _own(comparison: Comparison, row: Row, metric: Metric) -> str:
    return f"{comparison.place(row)} {visible(row.case.placement)}: {metric.name}"


def _sentences(own: str, row: Row, metric: Metric, rivals: Sequence[PublishedRow], unit: str) -> list[str]:
    summary = row.cell(metric).summary
    if summary is None:
        return []
    mean = f"{own}: mean {quantity(summary.mean, metric.dimension, unit)} (n = {summary.n})"
    if rivals[0].chosen or len(rivals) <= _MANY:
        return [f"{mean} is {_ratio(summary.mean, metric, rival, unit)}" for rival in rivals]
    values = [rival.values[metric] for rival in rivals]
    low, high = (quantity(value, metric.dimension, unit) for value in (min(values), max(values)))
    below = sum(value < summary.mean for value in values)
    better = below if metric.lower_is_better else sum(value > summary.mean for value in values)
    return [
        f"{mean}; {better} of {len(rivals)} published host groups are better ({published_mark(rivals[0])}: "
        f"{low} to {high})"
    ]


def _ratio(mean: float, metric: Metric, rival: PublishedRow, unit: str) -> str:
    theirs = rival.values[metric]
    return (
        f"{mean / theirs:#.3g} × {visible(rival.host_group)}'s published {rival.statistic} "
        f"{quantity(theirs, metric.dimension, unit)} ({published_mark(rival)}, n = {rival.n}; "
        "no single repeats published, so no test)"
    )
