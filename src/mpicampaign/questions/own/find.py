"""The campaign's own host groups against each that a publication has, per placement.

Published values are single, so that a ratio is all that can be said. Host groups of merged bundles are ranked
with the campaign's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.statistics.medians import Interval, Summary
from mpicampaign.verdicts.compare import TIE


@dataclass(frozen=True, slots=True)
class Other:
    """A published host group; ``ratio``: own / theirs, of means; ``interval``: of the own median over it."""

    system: str
    host_group: str
    published: str
    ratio: float
    interval: Interval | None

    @property
    def shown(self) -> bool:
        """Whether one is shown to be better by 1 %: by an interval of the ratio without 1."""
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


def own_against_published(comparison: Comparison) -> Iterator[tuple[Table, OwnRow]]:
    """Every own row that has others, for each headline metric."""
    for table in comparison.tables:
        for metric in table.headlines:
            for row in (row for row in table.rows if row.ranked):
                summary = row.cell(metric).summary
                if summary and (others := tuple(_others(table, row, metric, summary))):
                    yield table, OwnRow(row, metric, summary, others)


def _others(table: Table, row: Row, metric: Metric, summary: Summary) -> Iterator[Other]:
    """Where a publication's names of placements mean no mapping, the ranks must be the same."""
    for theirs in table.published:
        alike = theirs.placement == row.case.placement and theirs.ranks in (None, row.ranks)
        if alike and (value := theirs.values.get(metric)):
            interval = summary.interval and summary.interval.divided(value)
            system, group, publication = map(visible, (theirs.system, theirs.host_group, theirs.reference))
            yield Other(system, group, publication, summary.mean / value, interval)
