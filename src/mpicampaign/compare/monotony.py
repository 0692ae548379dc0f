"""Rows with less bandwidth than fewer ranks of the same host group have over the same transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CLAIMED_TRANSPORT
from mpicampaign.compare.findings import NotMonotonic
from mpicampaign.compare.rows import Row
from mpicampaign.suites import SUITES


class _Point(NamedTuple):
    """A row's medians of a metric, and of the column that, divided by the ranks, is what one rank adds."""

    row: Row
    ranks: int
    value: float
    share: float


def with_monotony(rows: Sequence[Row], suite: str) -> list[Row]:
    """The rows, with a note on each that fewer ranks outdo. Rows of unknown transport are not compared."""
    columns = known_suite.metrics if (known_suite := SUITES.get(suite)) else {}
    notes: dict[int, list[NotMonotonic]] = {}
    for column, share in ((column, metric.share) for column, metric in columns.items() if metric.share):
        points = [point for row in rows if row.ranked and (point := _point(row, column, share))]
        for (*_, transports), alike in grouped(points, _network).items():
            # of several placements of so many ranks the best
            best = {point.ranks: point for point in sorted(alike, key=lambda point: point.value)}
            for point in alike if "" not in transports else ():
                if note := _note(point, best):
                    notes.setdefault(id(point.row), []).append(note)
    return [replace(row, notes=(*row.notes, *notes[id(row)])) if id(row) in notes else row for row in rows]


def _point(row: Row, column: str, share: str) -> _Point | None:
    medians = {cell.metric.column: cell.summary.median for cell in row.cells if cell.summary is not None}
    if row.ranks is None or not {column, share} <= medians.keys():
        return None
    return _Point(row, row.ranks, medians[column], medians[share])


def _network(point: _Point) -> tuple[str, str, frozenset[str]]:
    case = point.row.case
    transports = frozenset(run.metadata.get(CLAIMED_TRANSPORT, "") for run, _ in point.row.curves)
    return case.system, case.host_group, transports


def _note(point: _Point, best: Mapping[int, _Point]) -> NotMonotonic | None:
    values = {ranks: other.value for ranks, other in best.items()}
    fewer = better_with_fewer(point.ranks, point.value, point.share, values)
    if fewer is None:
        return None
    return NotMonotonic(
        ranks=point.ranks,
        b_eff=point.value,
        fewer=fewer,
        placement=best[fewer].row.case.placement,
        b_eff_of_fewer=values[fewer],
    )


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
    fewer = {count: value for count, value in values.items() if count < ranks}
    best = max(fewer, key=fewer.__getitem__, default=None)
    return best if best is not None and fewer[best] - value > share / ranks else None
