"""One metric of a table as host groups × placements, each entry with its row or a reason.

The form of tables in a report. An entry without a value always has the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.findings import Absence
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Comparison, Table


class Entry(NamedTuple):
    """One host group and placement: the metric's cell, or the reasons why there is none.

    ``row`` is ``None`` only where the campaign has no such case; ``cell`` is ``None`` wherever there is no
    value, and only then is ``absence`` not empty.
    """

    row: Row | None
    cell: Cell | None
    absence: Absence


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

    def entry(self, host_group: str, placement: str) -> Entry:
        """Row and value, or the reason why there is none."""
        row = self.row(host_group, placement)
        if row is None:
            return Entry(None, None, (Note(kind=NOT_IN_CAMPAIGN),))
        absence = absence_of(row, self.metric)
        return Entry(row, None if absence else row.cell(self.metric), absence)

    @property
    def entries(self) -> tuple[tuple[str, str, Entry], ...]:
        """Every entry with its host group and placement, row by row."""
        return tuple((g, p, self.entry(g, p)) for g in self.host_groups for p in self.placements)


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
