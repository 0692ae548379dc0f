"""Rows with less bandwidth than fewer ranks of the same host group have over the same transport."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CLAIMED_TRANSPORT
from mpicampaign.compare.findings import NotMonotonic
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.compare.rows import Row


@dataclass(frozen=True, slots=True)
class _Point:
    """A row's medians of a metric, and of the column that, divided by the ranks, is what one rank adds."""

    row: Row
    ranks: int
    value: float
    share: float

    @property
    def network(self) -> tuple[str, str, frozenset[str]]:
        case = self.row.case
        transports = frozenset(run.metadata.get(CLAIMED_TRANSPORT, "") for run, _ in self.row.curves)
        return case.system, case.host_group, transports


def with_monotony(rows: Sequence[Row], suite: str) -> list[Row]:
    """The rows, with a note on each that fewer ranks outdo. Rows of unknown transport are not compared."""
    notes: dict[int, list[NotMonotonic]] = {id(row): [] for row in rows}
    for column, share in _shares(suite).items():
        found = (_point(row, column, share) for row in rows if row.ranked)
        points = [point for point in found if point is not None and "" not in point.network[2]]
        for alike in grouped(points, lambda point: point.network).values():
            for point in alike:
                notes[id(point.row)] += _notes(point, alike)
    return [replace(row, notes=(*row.notes, *notes[id(row)])) if notes[id(row)] else row for row in rows]


def _shares(suite: str) -> dict[str, str]:
    """The columns that should not fall with the number of ranks; see `ColumnMetric`."""
    own = found.metrics if (found := SUITES.get(suite)) else {}
    return {column: metric.share for column, metric in own.items() if metric.share}


def _point(row: Row, column: str, share: str) -> _Point | None:
    medians = {cell.metric.column: cell.summary.median for cell in row.cells if cell.summary is not None}
    if row.ranks is None or not {column, share} <= medians.keys():
        return None
    return _Point(row, row.ranks, medians[column], medians[share])


def _notes(point: _Point, others: Iterable[_Point]) -> list[NotMonotonic]:
    by_ranks: dict[int, _Point] = {}
    for other in sorted(others, key=lambda other: other.value):
        by_ranks[other.ranks] = other  # several placements of so many ranks: the best
    values = {ranks: other.value for ranks, other in by_ranks.items()}
    best = better_with_fewer(point.ranks, point.value, point.share, values)
    if best is None:
        return []
    return [
        NotMonotonic(
            ranks=point.ranks,
            b_eff=point.value,
            fewer=best,
            placement=by_ranks[best].row.case.placement,
            b_eff_of_fewer=values[best],
        )
    ]


def better_with_fewer(ranks: int, value: float, share: float, values: Mapping[int, float]) -> int | None:
    """The smaller number of ranks with the best value, where the last rank alone cannot explain that.

    Parameters
    ----------
    ranks, value : how many, and their bandwidth
    share : bandwidth of which each rank adds an equal part
    values : bandwidths by the number of ranks; those of as many ranks or more are ignored

    Returns
    -------
    None unless that value is larger by more than ``share / ranks``.
    """
    fewer = {count: found for count, found in values.items() if count < ranks}
    best = max(fewer, key=fewer.__getitem__, default=None)
    return best if best is not None and fewer[best] - value > share / ranks else None
