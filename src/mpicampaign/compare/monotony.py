"""Rows of b_eff that have less of it than fewer ranks of the same host group over the same transport."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpicampaign.compare.findings import NotMonotonic
from mpicampaign.records import CLAIMED_TRANSPORT
from mpicampaign.suites.kernels.effective_bandwidth import better_with_fewer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.rows import Row


@dataclass(frozen=True, slots=True)
class _Point:
    row: Row
    ranks: int
    b_eff: float
    rings: float

    @property
    def network(self) -> tuple[str, str, frozenset[str]]:
        case = self.row.case
        transports = frozenset(run.metadata.get(CLAIMED_TRANSPORT, "") for run, _ in self.row.curves)
        return case.system, case.host_group, transports


def with_monotony(rows: Sequence[Row]) -> list[Row]:
    """The rows; those that fewer ranks outdo have a note. Rows of unknown transport are not compared."""
    points = [point for row in rows if (point := _point(row)) is not None and "" not in point.network[2]]
    networks: dict[object, list[_Point]] = defaultdict(list)
    for point in points:
        networks[point.network].append(point)
    notes = {id(point.row): _note(point, networks[point.network]) for point in points}
    return [_noted(row, notes.get(id(row))) for row in rows]


def _noted(row: Row, note: NotMonotonic | None) -> Row:
    return row if note is None else replace(row, notes=(*row.notes, note))


def _point(row: Row) -> _Point | None:
    medians = {cell.metric.column: cell.summary.median for cell in row.cells if cell.summary is not None}
    if row.ranks is None or not {"b_eff", "b_eff_rings"} <= medians.keys():
        return None
    return _Point(row, row.ranks, medians["b_eff"], medians["b_eff_rings"])


def _note(point: _Point, others: Iterable[_Point]) -> NotMonotonic | None:
    by_ranks: dict[int, _Point] = {}
    for other in sorted(others, key=lambda other: other.b_eff):
        by_ranks[other.ranks] = other  # several placements of so many ranks: the best
    formers = {ranks: other.b_eff for ranks, other in by_ranks.items()}
    best = better_with_fewer(point.ranks, point.b_eff, point.rings, formers)
    if best is None:
        return None
    former = by_ranks[best]
    return NotMonotonic(
        ranks=point.ranks,
        b_eff=point.b_eff,
        fewer=best,
        placement=former.row.case.placement,
        b_eff_of_fewer=former.b_eff,
    )
