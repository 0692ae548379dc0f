"""The campaign's own host groups against each of other systems, per placement: measured, merged or published.

Own are the runs of this campaign; those of merged bundles are of other systems. One own host group and all
measured others of a placement are one family (`mpicampaign.statistics.one_and_others`). Published values
are single, so that a ratio is all that can be said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.compare.in_turn import in_turn
from mpicampaign.compare.ranking import TIE
from mpicampaign.records import MERGED_FROM
from mpicampaign.statistics.one_and_others import differ_from
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, PublishedRow, Table
    from mpicampaign.statistics.medians import Interval, Summary


@dataclass(frozen=True, slots=True)
class Other:
    """Another host group, and how the own one compares with it.

    ``ratio``: own / theirs, of medians; of a published mean that of means. ``interval``: that of the own
    median divided by the published value. ``differs``: whether the repeats show it; ``None`` where they
    cannot, as for every published value. ``in_turn``: not tested since one was measured after the other.
    ``published``: name of the publication; empty for measured ones.
    """

    system: str
    host_group: str
    ratio: float
    interval: Interval | None
    differs: bool | None
    published: str
    in_turn: bool = False

    @property
    def shown(self) -> bool:
        """Whether one is shown to be better by 1 %: by the test, or an interval of the ratio without 1."""
        if abs(self.ratio - 1) < TIE:
            return False
        if self.interval is None:
            return bool(self.differs)
        return self.interval.low > 1 if self.ratio > 1 else self.interval.high < 1


@dataclass(frozen=True, slots=True)
class OwnRow:
    """One own row against all others of its placement in one metric."""

    row: Row
    metric: Metric
    summary: Summary
    others: tuple[Other, ...]


def own_against_others(comparison: Comparison) -> list[tuple[Table, OwnRow]]:
    """Every own row that has others, for each headline metric."""
    return [
        (table, found)
        for table in comparison.tables
        if not table.is_baseline
        for metric in table.metrics
        if metric.headline
        for found in _of_metric(table, metric)
    ]


def _of_metric(table: Table, metric: Metric) -> Iterator[OwnRow]:
    rows = [row for row in table.rows if row.ranked and row.cell(metric).summary]
    theirs = [row for row in rows if _is_merged(row)]
    for row in (row for row in rows if not _is_merged(row)):
        summary = row.cell(metric).summary
        merged = [other for other in theirs if _alike(row, other)]
        others = [*_measured(row, merged, metric), *_published(row, table.published, metric)]
        if summary and others:
            yield OwnRow(row, metric, summary, tuple(others))


def _is_merged(row: Row) -> bool:
    return any(MERGED_FROM in record.metadata for record in row.records)


def _alike(row: Row, other: Row) -> bool:
    return other.case.placement == row.case.placement and other.ranks == row.ranks


def _measured(row: Row, others: Sequence[Row], metric: Metric) -> Iterator[Other]:
    own = row.cell(metric)
    after = [bool(in_turn(row, other)) for other in others]
    tested = [other for other, untested in zip(others, after, strict=True) if not untested]
    judged = iter(differ_from(own.values, [other.cell(metric).values for other in tested]))
    for other, untested in zip(others, after, strict=True):
        theirs, differs = other.cell(metric).summary, None if untested else next(judged)
        if own.summary and theirs and theirs.median:
            names = visible(other.case.system), visible(other.case.host_group)
            yield Other(*names, own.summary.median / theirs.median, None, differs, "", untested)


def _published(row: Row, published: Sequence[PublishedRow], metric: Metric) -> Iterator[Other]:
    """Where a publication's names of placements mean no mapping, the ranks must be the same."""
    summary = row.cell(metric).summary
    for theirs in published:
        alike = theirs.placement == row.case.placement and theirs.ranks in (None, row.ranks)
        if alike and summary and (value := theirs.values.get(metric)):
            interval = summary.interval and summary.interval.divided(value)
            names = visible(theirs.system), visible(theirs.host_group)
            yield Other(*names, summary.mean / value, interval, None, visible(theirs.reference))
