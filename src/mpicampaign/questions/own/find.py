"""The campaign's own host groups against each of other systems, per placement: measured, merged or published.

Own are the runs of this campaign; those of merged bundles are of other systems. The pairs of an own host
group with all measured others of a placement share one error. Published values are single, so that a ratio
is all that can be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mpicampaign.base.records import MERGED_FROM
from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import PublishedRow, Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.two_sides.find import both_sides
from mpicampaign.statistics.comparisons import hochberg
from mpicampaign.statistics.medians import Interval, Summary
from mpicampaign.verdicts.compare import TIE, PairVerdict


@dataclass(frozen=True, slots=True)
class Other:
    """Another host group, and how the own one compares with it.

    ``ratio``: own / theirs, of medians; of a published mean that of means. ``interval``: that of the own
    median divided by the published value. ``published``: name of the publication. ``pair``: the verdict on
    measured ones, with the probability among all others.
    """

    system: str
    host_group: str
    ratio: float
    interval: Interval | None = None
    published: str = ""
    pair: PairVerdict | None = None

    @property
    def untested(self) -> str:
        """Why no test is valid."""
        return self.pair.reason if self.pair else ""

    @property
    def shown(self) -> bool:
        """Whether one is shown to be better by 1 %: by the test, or an interval of the ratio without 1."""
        if self.pair:
            return self.pair.clear
        if self.interval is None or abs(self.ratio - 1) < TIE:
            return False
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
        (table, ours)
        for table in comparison.tables
        for metric in table.headlines
        for ours in _of_metric(table, metric)
    ]


def _of_metric(table: Table, metric: Metric) -> Iterator[OwnRow]:
    rows = [row for row in table.rows if row.ranked and row.cell(metric).summary]
    theirs = [row for row in rows if _is_merged(row)]
    for row in (row for row in rows if not _is_merged(row)):
        summary = row.cell(metric).summary
        merged = [other for other in theirs if other.place[2:] == row.place[2:]]
        others = [*_measured(row, merged, metric), *_published(row, table.published, metric)]
        if summary and others:
            yield OwnRow(row, metric, summary, tuple(others))


def _is_merged(row: Row) -> bool:
    return any(MERGED_FROM in record.metadata for record in row.records)


def _measured(row: Row, others: Sequence[Row], metric: Metric) -> Iterator[Other]:
    compared = [both_sides((row, row.cell(metric)), (other, other.cell(metric))) for other in others]
    among = hochberg({place: both.pair.p for place, both in enumerate(compared) if both.pair.p is not None})
    for place, (other, both) in enumerate(zip(others, compared, strict=True)):
        if both.ratio:
            names = visible(other.case.system), visible(other.case.host_group)
            yield Other(*names, 1 / both.ratio, pair=replace(both.pair, p=among.get(place)))


def _published(row: Row, published: Sequence[PublishedRow], metric: Metric) -> Iterator[Other]:
    """Where a publication's names of placements mean no mapping, the ranks must be the same."""
    summary = row.cell(metric).summary
    for theirs in published:
        alike = theirs.placement == row.case.placement and theirs.ranks in (None, row.ranks)
        if alike and summary and (value := theirs.values.get(metric)):
            interval = summary.interval and summary.interval.divided(value)
            names = visible(theirs.system), visible(theirs.host_group)
            yield Other(*names, summary.mean / value, interval, visible(theirs.reference))
