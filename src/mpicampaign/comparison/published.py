"""Published rows beside the rows of a comparison: only figures whose meaning is the same.

They are marked as published wherever they are shown, and never averaged or tested with own runs: of the
shipped publications none gives its single repeats.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.comparison.comparison import Comparison, PublishedRow, Table
from mpicampaign.reference import load_reference
from mpicampaign.wording import number, quantity, unit_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.comparison.metrics import Metric
    from mpicampaign.comparison.rows import Row
    from mpicampaign.presentation import ReferenceChoice
    from mpicampaign.reference import Figure

# The published benchmark's name, and the suites and series that measure the same by the same definition.
# The kernel latency_bandwidth has HPCC's rings and pairs (docs/method.md). Another HPL is another N.
_SAME = {
    "PingPong": {("imb", "PingPong")},
    "HPCC": {("hpcc", "HPCC"), ("kernel", "latency_bandwidth")},
    "b_eff": {("kernel", "b_eff")},
}
_MANY = 3  # published host groups that are named one by one in words


def with_published(comparison: Comparison, choices: Sequence[ReferenceChoice]) -> Comparison:
    """The comparison with published rows beside its own."""
    tables = (replace(table, published=published_for(table, choices)) for table in comparison.tables)
    return replace(comparison, tables=tuple(tables))


def published_for(table: Table, choices: Sequence[ReferenceChoice]) -> tuple[PublishedRow, ...]:
    """The published rows that have figures for the metrics of a table.

    Without a choice of placements those of the table's own rows; all, where the publication has none of them.
    """
    return tuple(row for choice in choices for row in _rows(table, choice))


def _rows(table: Table, choice: ReferenceChoice) -> list[PublishedRow]:
    reference = load_reference(choice.name)
    figures = [figure for figure in reference.figures if _same_benchmark(table, figure)]
    figures = _of_placements(table, choice, figures)
    if choice.host_groups:
        figures = [figure for figure in figures if figure.host_group in choice.host_groups]
    found = []
    for _, group in groupby(sorted(figures, key=_place), key=_place):
        of_place = list(group)
        values = _values(table.metrics, of_place)
        if values:
            found.append(_row(of_place[0], reference.source, choice, values))
    order = {_place(figure): number for number, figure in reversed(list(enumerate(reference.figures)))}
    return sorted(found, key=lambda row: order[_row_place(row)])


def _row(first: Figure, source: str, choice: ReferenceChoice, values: Mapping[Metric, float]) -> PublishedRow:
    return PublishedRow(
        first.system,
        first.host_group,
        first.placement,
        first.ranks,
        first.statistic,
        first.n,
        source,
        choice.name,
        values,
        bool(choice.host_groups),
    )


def _place(figure: Figure) -> tuple[str, str, str, int, str, int]:
    return (
        figure.system,
        figure.host_group,
        figure.placement,
        figure.ranks or 0,
        figure.statistic,
        figure.n,
    )


def _row_place(row: PublishedRow) -> tuple[str, str, str, int, str, int]:
    return row.system, row.host_group, row.placement, row.ranks or 0, row.statistic, row.n


def _same_benchmark(table: Table, figure: Figure) -> bool:
    """HPL is the same only with the same problem, blocks and grid, which its label has."""
    if figure.benchmark.startswith("HPL "):
        return table.suite == "hpl" and table.label == figure.benchmark
    return (table.suite, table.label) in _SAME.get(figure.benchmark, set())


def _of_placements(table: Table, choice: ReferenceChoice, figures: list[Figure]) -> list[Figure]:
    wanted = set(choice.placements) or {row.case.placement for row in table.rows}
    found = [figure for figure in figures if figure.placement in wanted]
    return found if found or choice.placements else figures


def _values(metrics: Iterable[Metric], figures: Iterable[Figure]) -> dict[Metric, float]:
    known = {(figure.quantity, figure.size): figure.value for figure in figures}
    plain = (metric for metric in metrics if not metric.bound and not metric.baseline)
    return {m: known[m.column, m.size] for m in plain if (m.column, m.size) in known}


# As text


def published_cells(table: Table, metrics: Iterable[Metric], unit: str) -> list[list[str]]:
    """Lines for the terminal's table: published figures stand in the column of the mean."""
    lines = []
    for row in table.published:
        for metric in metrics:
            if metric in row.values:
                figure = number(row.values[metric], metric.dimension, unit)
                names = [visible(row.host_group), visible(row.placement), metric.part, str(row.n), "", ""]
                lines.append([*names, figure, "", "", visible(row.words)])
    return lines


def published_grid(table: Table, unit: str) -> tuple[list[str], list[list[str]]]:
    """The heading and the lines of a table of the published figures alone."""
    metrics = [metric for metric in table.metrics if any(metric in row.values for row in table.published)]
    heads = [f"{metric.name} ({unit_of(metric.dimension, unit)})" for metric in metrics]
    lines = []
    for row in table.published:
        figures = [(row.values.get(metric), metric.dimension) for metric in metrics]
        cells = ["" if value is None else number(value, what, unit) for value, what in figures]
        name = f"{row.system}/{row.host_group} {row.placement}"
        lines.append([name, f"{row.words}: {row.statistic_words}", *cells])
    return ["host group, placement", "statistic", *heads], lines


def published_sources(table: Table) -> list[str]:
    """Where the published rows of a table are from."""
    sources = dict.fromkeys((row.reference, row.source) for row in table.published)
    return [visible(f"published, {name}: {source}") for name, source in sources]


def against(comparison: Comparison, table: Table, unit: str = "MB/s") -> list[str]:
    """Own means against published ones, in words: each chosen host group, else where the own one stands."""
    found = []
    for metric in (metric for metric in table.metrics if metric.headline):
        for row in table.rows:
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
        f"{mean}; {better} of {len(rivals)} published host groups are better ({rivals[0].words}: "
        f"{low} to {high})"
    ]


def _ratio(mean: float, metric: Metric, rival: PublishedRow, unit: str) -> str:
    theirs = rival.values[metric]
    return (
        f"{mean / theirs:#.3g} × {visible(rival.host_group)}'s published {rival.statistic} "
        f"{quantity(theirs, metric.dimension, unit)} ({rival.words}, n = {rival.n}; "
        "no single repeats published, so no test)"
    )
