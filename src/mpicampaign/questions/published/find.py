"""Published rows beside the rows of a comparison: only values with the same meaning.

They are marked as published wherever they are shown, and never averaged or tested with own runs: none of the
shipped publications gives its single repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mpicampaign.base.grouping import grouped
from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.reference import SystemValue, load_reference
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import PublishedRow
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.suites import SUITES


def with_published(comparison: Comparison, choices: Sequence[ReferenceChoice]) -> Comparison:
    """The comparison with published rows beside its own."""
    tables = (replace(table, published=published_for(table, choices)) for table in comparison.tables)
    return replace(comparison, tables=tuple(tables))


def published_for(table: Table, choices: Sequence[ReferenceChoice]) -> tuple[PublishedRow, ...]:
    """The published rows with values for the metrics of a table.

    Without a choice of placements those of the table's own rows; all, where the publication has none of them.
    """
    return tuple(row for choice in choices for row in _rows(table, choice))


def _rows(table: Table, choice: ReferenceChoice) -> list[PublishedRow]:
    reference, benchmark = load_reference(choice.name), _published_name(table)
    benchmark = reference.same.get(benchmark, benchmark)
    published = [value for value in reference.values if value.kind.benchmark == benchmark]
    published = _of_placements(table, choice, published)
    if choice.host_groups:
        published = [value for value in published if value.host_group in choice.host_groups]
    places = grouped(published, _place).items()
    found = [(place, _values(table.metrics, of_place)) for place, of_place in places]
    source = (reference.source, choice.name)
    return [PublishedRow(*place, *source, values) for place, values in found if values]


def _place(value: SystemValue) -> tuple[str, str, str, int | None, str, int]:
    """Whose value it is, and of which statistic: the first fields of a `PublishedRow`."""
    return value.system, value.host_group, value.placement, value.kind.ranks, value.statistic, value.n


def _published_name(table: Table) -> str:
    """The published benchmark of the same definition; empty if the suite names none.

    With the series' qualifiers: HPL is the same only with the same problem, blocks and grid.
    """
    suite = SUITES.get(table.suite)
    name = suite.published.get(table.series, "") if suite else ""
    return name and name + table.label.removeprefix(table.series)


def _of_placements(table: Table, choice: ReferenceChoice, published: list[SystemValue]) -> list[SystemValue]:
    wanted = set(choice.placements) or {row.case.placement for row in table.rows}
    chosen = [value for value in published if value.placement in wanted]
    return chosen if chosen or choice.placements else published


def _values(metrics: Iterable[Metric], published: Iterable[SystemValue]) -> dict[Metric, float]:
    known = {(value.kind.metric, value.kind.size): value.value for value in published}
    plain = (metric for metric in metrics if not metric.bound and not metric.baseline)
    return {m: known[m.column, m.size] for m in plain if (m.column, m.size) in known}
