"""Published rows beside the rows of a comparison: only figures whose meaning is the same.

They are marked as published wherever they are shown, and never averaged or tested with own runs: of the
shipped publications none gives its single repeats.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.compare.tables import Comparison, PublishedRow, Table
from mpicampaign.reference import load_reference
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.presentation import ReferenceChoice
    from mpicampaign.reference import PublishedValue


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
    benchmark = _published_name(table)
    figures = [figure for figure in reference.figures if figure.benchmark == benchmark]
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


def _row(
    first: PublishedValue, source: str, choice: ReferenceChoice, values: Mapping[Metric, float]
) -> PublishedRow:
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


def _place(figure: PublishedValue) -> tuple[str, str, str, int, str, int]:
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


def _published_name(table: Table) -> str:
    """The published benchmark of the same definition; empty where the suite names none.

    With the series' qualifiers: HPL is the same only with the same problem, blocks and grid.
    """
    suite = SUITES.get(table.suite)
    name = suite.published.get(table.series, "") if suite else ""
    return name and name + table.label.removeprefix(table.series)


def _of_placements(
    table: Table, choice: ReferenceChoice, figures: list[PublishedValue]
) -> list[PublishedValue]:
    wanted = set(choice.placements) or {row.case.placement for row in table.rows}
    found = [figure for figure in figures if figure.placement in wanted]
    return found if found or choice.placements else figures


def _values(metrics: Iterable[Metric], figures: Iterable[PublishedValue]) -> dict[Metric, float]:
    known = {(figure.quantity, figure.size): figure.value for figure in figures}
    plain = (metric for metric in metrics if not metric.bound and not metric.baseline)
    return {m: known[m.column, m.size] for m in plain if (m.column, m.size) in known}
