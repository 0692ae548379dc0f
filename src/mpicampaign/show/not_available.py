"""Placements that a machine cannot offer: each once, however many benchmarks and repeats ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.records import NOT_AVAILABLE
from mpicampaign.text import visible

if TYPE_CHECKING:
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table


class NotAvailable(NamedTuple):
    """A placement of a host group with the reason; ``runs``: how many were planned."""

    name: str
    reason: str
    runs: int

    def __str__(self) -> str:
        return f"{self.name} is not available: {self.reason}"


def not_available(comparison: Comparison) -> list[NotAvailable]:
    """Every placement that any host group cannot offer; with its benchmarks where it offers it to others."""
    absent = [record for record in comparison.records if record.status == NOT_AVAILABLE]
    offered = {record.case for record in comparison.records if record.status != NOT_AVAILABLE}
    elsewhere = {(case.system, case.host_group, case.placement) for case in offered}
    found = []
    for (system, group, placement, reason), runs in grouped(
        absent, lambda run: (run.case.system, run.case.host_group, run.case.placement, run.reason)
    ).items():
        place = f"{system}/{group}" if len(comparison.systems) > 1 else group
        benchmarks = dict.fromkeys(run.case.benchmark for run in runs)
        some = f" for {', '.join(benchmarks)}" if (system, group, placement) in elsewhere else ""
        found.append(NotAvailable(visible(f"{place} {placement}{some}"), visible(reason), len(runs)))
    return found


def is_offered(row: Row) -> bool:
    """Whether the row has values, or lacks them for another reason."""
    return not row.absence or any(note.kind != NOT_AVAILABLE for note in row.absence)


def offered(table: Table) -> list[Row]:
    """The rows of a table without those of placements that are not available."""
    return [row for row in table.rows if is_offered(row)]
