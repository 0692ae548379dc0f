"""One metric of a table as host groups × placements, each entry with its row or a reason.

The form of tables in a report. An entry without a value always has the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.base.text import visible
from mpicampaign.compare.findings import (
    GIVEN_UP,
    NO_BOUND,
    NO_LARGE_SIZE,
    NOT_AT_SIZE,
    NOT_COMPARABLE,
    NOT_IN_CAMPAIGN,
    NOT_PRINTED,
    Note,
)
from mpicampaign.compare.metrics import gave_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.findings import Absence
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table


@dataclass(frozen=True, slots=True)
class Matrix:
    """One metric for one number of ranks (``None`` where it is unknown).

    ``host_groups`` (named as by `Comparison.place`) and ``placements`` are safe to print, in the campaign's
    order. Both hold only what has a row with so many ranks or is n/a.
    """

    table: Table
    metric: Metric
    ranks: int | None
    host_groups: tuple[str, ...]
    placements: tuple[str, ...]
    _rows: dict[tuple[str, str], Row]

    @property
    def title(self) -> str:
        """What it shows: table, metric, and the number of ranks where it is known."""
        ranks = "" if self.ranks is None else f", {self.ranks} ranks"
        return f"{self.table.title}, {self.metric.name}{ranks}"

    def row(self, host_group: str, placement: str) -> Row | None:
        """The row of a host group and placement as named in this matrix."""
        return self._rows.get((host_group, placement))

    def absence(self, host_group: str, placement: str) -> Absence:
        """Why there is no value; empty where there is one."""
        row = self.row(host_group, placement)
        return (Note(kind=NOT_IN_CAMPAIGN),) if row is None else absence_of(row, self.metric)

    @property
    def rows(self) -> list[Row]:
        """Those with a value."""
        return [row for row in self._rows.values() if not absence_of(row, self.metric)]


def absence_of(row: Row, metric: Metric) -> Absence:
    """Why a row has no value of a metric; empty if it has."""
    if row.absence or row.cell(metric).summary is not None:
        return row.absence
    if refused := tuple(note for note in row.notes if note.kind == NOT_COMPARABLE):
        return refused
    if not metric.bound and any(gave_up(series, metric) for _, series in row.curves):
        return (Note(kind=GIVEN_UP),)
    if not metric.bound:
        return (Note(kind=NOT_PRINTED if metric.size is None else NOT_AT_SIZE),)
    return (Note(kind=NO_LARGE_SIZE if row.shows(metric) else NO_BOUND),)


def matrix(comparison: Comparison, table: Table, metric: Metric, ranks: int | None) -> Matrix:
    """One metric of a table for one number of ranks; rows without any value are in each of them."""
    rows = [row for row in table.rows if row.ranks in (ranks, None)]
    named = {(comparison.place(row), visible(row.case.placement)): row for row in rows}
    host_groups = tuple(dict.fromkeys(place for place, _ in named))
    placements = tuple(dict.fromkeys(placement for _, placement in named))
    return Matrix(table, metric, ranks, host_groups, placements, named)


def ranks_of(rows: Sequence[Row]) -> tuple[int | None, ...]:
    """The numbers of ranks of the rows, ascending; None alone where all are unknown."""
    return tuple(sorted({row.ranks for row in rows if row.ranks is not None})) or (None,)
