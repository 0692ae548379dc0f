"""Scaling: one benchmark with several numbers of ranks, and its efficiency against the fewest of them.

Rows of one host group whose placements are variants of one definition, unlike in their nodes and ranks alone.
Efficiency is a rate per rank divided by that with the fewest ranks. Of times to solution it is the time with
the fewest ranks times their number, divided by that of more ranks (strong scaling, where all ran the same
problem), or the time with the fewest divided by that of more (weak, where the problem grows with the ranks).
Latency and bandwidth of messages, and start-up, have no efficiency: their values stand over the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.collect.startup import START_UP
from mpicampaign.dimension import DURATION, FLOPS, TIME, UPDATE_RATE
from mpicampaign.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Comparison, Table

STRONG, WEAK, MESSAGES, STARTUP = "strong", "weak", "messages", "start-up"
_SIZES = ("nodes=", "ranks_per_node=")  # values in the name of a variant
_OWN = "own"  # the suite whose times are those to a solution


@dataclass(frozen=True, slots=True)
class Point:
    """One number of ranks.

    ``median``, ``by_repeat``: efficiency, of single repeats against the median with the fewest ranks; of
    messages and start-up the values themselves.
    """

    row: Row
    cell: Cell
    ranks: int
    median: float
    by_repeat: tuple[float, ...]

    @property
    def nodes(self) -> int:
        """How many hosts it ran on; 0 if unknown."""
        return len(self.row.curves[0][0].hosts)


@dataclass(frozen=True, slots=True)
class Scaling:
    """One metric of one benchmark and placement in one host group, the fewest ranks first.

    ``kind``: strong, weak, messages, or start-up.
    """

    table: Table
    placement: str
    metric: Metric
    kind: str
    points: tuple[Point, ...]

    @property
    def has_efficiency(self) -> bool:
        """Whether the points are efficiencies, not values."""
        return self.kind in (STRONG, WEAK)


def scalings(comparison: Comparison) -> list[Scaling]:
    """Those with two numbers of ranks at least, of all tables."""
    tables = comparison.with_startup.tables
    return [each for table in tables if not table.is_baseline for each in _of_table(table)]


def _of_table(table: Table) -> Iterator[Scaling]:
    for metric in (metric for metric in table.metrics if metric.headline):
        rows = [row for row in table.rows if row.ranked and row.ranks and _median(row, metric)]
        work = _is_work(table, metric)
        for (_, placement), alike in grouped(rows, _family).items():
            # One run of messages with several numbers of ranks, as IMB makes it, is in the tables.
            if len({row.ranks if work else row.case.placement for row in alike}) > 1:
                points = sorted(_by_ranks(alike), key=lambda row: row.ranks or 0)
                yield _scaling(table, placement, metric, points, work)


def _is_work(table: Table, metric: Metric) -> bool:
    """Whether it measures how fast work is done."""
    kinds = (FLOPS.name, UPDATE_RATE.name)
    of_own = table.suite == _OWN and (
        metric.dimension.name in (TIME.name, DURATION.name) or metric.dimension.si_unit.endswith("/s")
    )
    return metric.size is None and (metric.dimension.name in kinds or of_own)


def _median(row: Row, metric: Metric) -> float:
    summary = row.cell(metric).summary
    return summary.median if summary else 0.0


def _family(row: Row) -> tuple[tuple[str, str], str]:
    """The host group, and the placement without its numbers of nodes and ranks."""
    values = row.case.placement.split(" ")
    kept = [value for value in values if not value.startswith(_SIZES)]
    return (row.case.system, row.case.host_group), " ".join(kept)


def _by_ranks(rows: Iterable[Row]) -> Iterable[Row]:
    """One row for each number of ranks, the first: on fewer nodes."""
    return {row.ranks: row for row in reversed(list(rows))}.values()


def _scaling(table: Table, placement: str, metric: Metric, rows: Sequence[Row], work: bool) -> Scaling:
    kind = STRONG if len({_problem(row) for row in rows}) == 1 else WEAK
    if not work:
        kind = STARTUP if table.label == START_UP else MESSAGES
    points = tuple(_point(rows[0], row, metric, kind) for row in rows)
    return Scaling(table, placement, metric, kind, points)


def _problem(row: Row) -> tuple[int, str]:
    """The order of HPL's matrix, and the arguments of the program."""
    return row.linear_system, row.curves[0][0].metadata.get("arguments", "")


def _point(first: Row, row: Row, metric: Metric, kind: str) -> Point:
    base, ranks, fewest = _median(first, metric), row.ranks or 1, first.ranks or 1

    def shown(value: float) -> float:
        if kind in (MESSAGES, STARTUP):
            return value
        if not metric.lower_is_better:
            return (value / ranks) / (base / fewest)
        gain = base / value
        return gain * fewest / ranks if kind == STRONG else gain

    cell = row.cell(metric)
    by_repeat = tuple(shown(value) for value in cell.values if value > 0)
    return Point(row, cell, ranks, shown(_median(row, metric)), by_repeat)
