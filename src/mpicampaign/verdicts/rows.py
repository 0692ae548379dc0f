"""Rows: neighbours in time that hold each candidate once, so that what the hour does concerns all alike.

A row is given up where a candidate comes again before all were there, at a pause, and at another allocation
where the runs name theirs. Candidates measured one after the other have no rows, or one by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from statistics import fmean, median
from typing import NamedTuple

PAUSE = 10  # times the median gap between begins
EVEN = 0.5  # the largest unevenness of an order that tells nothing
_CLOCK = 1.0  # s: begins are known to the second


class TimedRun(NamedTuple):
    """``begin``: seconds since the epoch; ``None``: unknown. ``cost``: logarithm of what should be low.

    A run that met its time limit has infinite cost. ``allocation``: of runs that only share a row within one;
    ``order``: tells runs of the same second apart. ``looks``: reports before it was planned.
    """

    begin: float | None
    cost: float
    allocation: str = ""
    order: int = 0
    looks: int = 0


Row = tuple[TimedRun, ...]  # a run of each candidate, in their order


def rows_of(candidates: Sequence[Sequence[TimedRun]], members: Iterable[int]) -> list[Row]:
    """The rows of some candidates: those of two are the same whatever a third lacks.

    Parameters
    ----------
    candidates : the runs of every candidate
    members : positions of the candidates in question
    """
    chosen = list(members)
    runs = [(run, who) for who in chosen for run in candidates[who] if run.begin is not None]
    runs.sort(key=lambda timed: (timed[0].begin, timed[0].order, timed[1]))
    begins = [run.begin or 0.0 for run, _ in runs]
    gaps = [later - earlier for earlier, later in pairwise(begins)]
    pause = PAUSE * max(median(gaps), _CLOCK) if gaps else 0.0
    rows: list[Row] = []
    row: dict[int, TimedRun] = {}
    for (run, who), gap in zip(runs, [0.0, *gaps], strict=False):
        last = next(reversed(row.values()), run)
        if who in row or gap > pause or run.allocation != last.allocation:
            row = {}
        row[who] = run
        if len(row) == len(chosen):
            rows.append(tuple(row[who] for who in chosen))
            row = {}
    return rows


def firsts(rows: Sequence[Row]) -> dict[tuple[int, int], float]:
    """For each pair of places in a row: the share of rows in which the first of the two began first.

    Of two of the same moment it is not known, so that the other counts as first: such rows are never even.
    """
    places = range(len(rows[0])) if rows else ()
    return {(a, b): fmean(_when(row[a]) < _when(row[b]) for row in rows) for a, b in combinations(places, 2)}


def have_one_order(rows: Sequence[Row]) -> bool:
    """Whether the rows of two are known to have the same order."""
    order = {(_when(a) > _when(b)) - (_when(a) < _when(b)) for a, b in rows}
    return order in ({1}, {-1})


def unevenness(rows: Sequence[Row]) -> float:
    """From 0, each of two began first as often as the other, to 1, the same order in each row."""
    return fmean(abs(2 * share - 1) for share in firsts(rows).values())


def is_even(rows: Sequence[Row]) -> bool:
    """Whether the order within rows tells nothing."""
    return unevenness(rows) <= EVEN


def width(rows: Sequence[Row]) -> float:
    """Seconds from the first to the last begin, in the middle of all rows."""
    return median(max(map(_begin, row)) - min(map(_begin, row)) for row in rows)


def _begin(run: TimedRun) -> float:
    return run.begin or 0.0


def _when(run: TimedRun) -> tuple[float, int]:
    return _begin(run), run.order
