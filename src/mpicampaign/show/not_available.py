"""Placements that a machine cannot offer: each once, however many benchmarks and repeats ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.records import NOT_AVAILABLE
from mpicampaign.text import listed, visible

if TYPE_CHECKING:
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.records import Record

_MANY = 3  # host groups above which they are counted


class NotAvailable(NamedTuple):
    """A placement that host groups cannot offer for one reason; ``runs``: how many were planned."""

    placement: str
    host_groups: tuple[str, ...]
    benchmarks: tuple[str, ...]  # empty where it is none at all
    reason: str
    runs: int

    @property
    def name(self) -> str:
        """The placement with its host groups."""
        benchmarks = f" for {listed(self.benchmarks)}" if self.benchmarks else ""
        return f"{listed(self.host_groups)} {self.placement}{benchmarks}"

    def __str__(self) -> str:
        """``local SHM-2 is not available: needs 2 sockets``."""
        few = len(self.host_groups) <= _MANY
        name = self.name if few else f"{self.placement} of {len(self.host_groups)} host groups"
        return f"{name} is not available: {self.reason}"


def not_available(comparison: Comparison) -> list[NotAvailable]:
    """Every placement that any host group cannot offer; with its benchmarks where it offers it to others."""
    absent = [record for record in comparison.records if record.status == NOT_AVAILABLE]
    offered = {_place(record) for record in comparison.records if record.status != NOT_AVAILABLE}
    found: dict[tuple[str, tuple[str, ...], str], list[tuple[str, int]]] = {}
    for (system, group, placement, reason), runs in grouped(absent, _place_and_reason).items():
        some = (system, group, placement) in offered
        benchmarks = tuple(dict.fromkeys(visible(run.case.benchmark) for run in runs)) if some else ()
        place = visible(f"{system}/{group}" if len(comparison.systems) > 1 else group)
        key = (visible(placement), benchmarks, visible(reason))
        found.setdefault(key, []).append((place, len(runs)))
    return [
        NotAvailable(placement, tuple(place for place, _ in of), benchmarks, reason, sum(n for _, n in of))
        for (placement, benchmarks, reason), of in found.items()
    ]


def _place(record: Record) -> tuple[str, str, str]:
    return record.case.system, record.case.host_group, record.case.placement


def _place_and_reason(record: Record) -> tuple[str, str, str, str]:
    return (*_place(record), record.reason)


def is_offered(row: Row) -> bool:
    """Whether the row has values, or lacks them for another reason."""
    return not row.absence or any(note.kind != NOT_AVAILABLE for note in row.absence)


def offered(table: Table) -> list[Row]:
    """The rows of a table without those of placements that are not available."""
    return [row for row in table.rows if is_offered(row)]
