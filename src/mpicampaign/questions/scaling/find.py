"""Scaling: one benchmark with several numbers of ranks, and its efficiency against the fewest of them.

Rows of one host group whose placements are variants of one definition, unlike in their nodes and ranks alone.
The speed-up of a rate is the rate divided by that with the fewest ranks. That of a time to solution depends
on what the campaign file says of the benchmark (`scaling`): strong, all ran the same problem, and the time
with the fewest ranks is divided by the time; weak, the problem grows with the ranks, and the speed-up is as
many times more. Without the word the problem counts as the same, unless the runs show that it is not: then
there is no speed-up. The ideal is that of the ranks; efficiency is the speed-up divided by it.
Latency and bandwidth of messages, and start-up, have neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mpicampaign.base.dimension import DURATION, FLOPS, TIME, UPDATE_RATE
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import SCALING, WEAK
from mpicampaign.collect.startup import START_UP
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.compare.tables import Comparison, Table

WORK, MESSAGES, STARTUP = "work", "messages", "start-up"
_GRID, _ORDER = re.compile(r", grid \d+ x \d+"), re.compile(r"N \d+, ")  # of HPL's matrix
_SIZES = ("nodes=", "ranks_per_node=")  # values in the name of a variant
_OWN = "own"  # the suite whose times are those to a solution


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """A row with its number of ranks.

    ``ideal``: the speed-up that these ranks can bring. ``speed_up``, ``efficiencies``: of the median and of
    each repeat, against the median with the fewest ranks; none where the metric has no speed-up.
    """

    row: Row
    cell: Cell
    ranks: int
    ideal: float
    median: float
    speed_up: float | None
    efficiencies: tuple[float, ...]

    @property
    def nodes(self) -> int:
        """How many hosts it ran on; 0 if unknown."""
        return len(self.row.curves[0][0].hosts)

    @property
    def efficiency(self) -> float | None:
        """The speed-up of the median, divided by that of ideal scaling."""
        return None if self.speed_up is None else self.speed_up / self.ideal


@dataclass(frozen=True, slots=True)
class Scaling:
    """One metric of one benchmark and placement in one host group, the fewest ranks and nodes first.

    ``kind``: work, messages, or start-up. ``declared``: strong or weak; empty where no campaign file says.
    """

    table: Table
    placement: str
    metric: Metric
    kind: str
    declared: str
    points: tuple[ScalingPoint, ...]

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders of HPL's matrix, ascending in ranks; empty where any is not known."""
        systems = tuple(dict.fromkeys(point.row.linear_system for point in self.points))
        return () if 0 in systems else systems

    @property
    def is_contradicted(self) -> bool:
        """Whether the output shows that what the campaign file declares is not so."""
        return bool(self.orders and self.declared) and (len(self.orders) == 1) == (self.declared == WEAK)

    @property
    def has_speed_up(self) -> bool:
        """Whether the metric has one, and the problem is known."""
        return self.points[0].speed_up is not None


def scalings(comparison: Comparison) -> list[Scaling]:
    """The scalings of all tables, each over two or more numbers of ranks."""
    tables = [table for table in comparison.with_startup.tables if not table.is_baseline]
    alike = grouped(tables, lambda table: (table.suite, table.benchmark, _plain(table, grows=True))).values()
    all_scalings = []
    for of in alike:
        for label, same in grouped(of, partial(_plain, grows=_grows(of))).items():
            all_scalings += [scaling for table in _joined(label, same) for scaling in _of_table(table)]
    return all_scalings


def _plain(table: Table, grows: bool) -> str:
    """That of HPL without its grid, which changes with the ranks, and without its order if that does."""
    label = _GRID.sub("", table.label)
    return _ORDER.sub("", label) if grows else label


def _grows(tables: Sequence[Table]) -> bool:
    """Whether the order of HPL's matrix changes with the ranks alone: no case has several."""
    orders = {(row.case, row.linear_system) for table in tables for row in table.rows if row.linear_system}
    return len({order for _, order in orders}) > 1 and len(orders) == len({case for case, _ in orders})


def _joined(label: str, tables: Sequence[Table]) -> Iterator[Table]:
    """Tables of work that differ only in the grid as one; those of messages separately."""
    if len(tables) == 1:
        yield from tables
        return
    common = [metric for metric in tables[0].metrics if all(metric in table.metrics for table in tables)]
    work = tuple(metric for metric in common if _is_work(tables[0], metric))
    rows = tuple(row for table in tables for row in table.rows)
    yield replace(tables[0], label=label, metrics=work, rows=rows)
    for table in tables:
        messages = tuple(metric for metric in table.metrics if metric not in work)
        yield replace(table, metrics=messages)


def _of_table(table: Table) -> Iterator[Scaling]:
    for metric in (metric for metric in table.metrics if metric.headline):
        rows = [row for row in table.rows if row.ranked and row.ranks and row.median(metric) > 0]
        kind = STARTUP if table.label == START_UP else WORK if _is_work(table, metric) else MESSAGES
        for (_, placement), alike in grouped(rows, _family).items():
            # One run of messages with several numbers of ranks, as IMB makes it, is in the tables.
            several = len({row.ranks if kind == WORK else row.case.placement for row in alike}) > 1
            if several and len({row.ranks for row in alike}) > 1:
                yield _scaling(table, placement, metric, kind, alike)


def _is_work(table: Table, metric: Metric) -> bool:
    """Whether it measures how fast work is done."""
    kinds = (FLOPS.name, UPDATE_RATE.name)
    of_own = table.suite == _OWN and (
        metric.dimension.name in (TIME.name, DURATION.name) or metric.dimension.si_unit.endswith("/s")
    )
    return metric.size is None and (metric.dimension.name in kinds or of_own)


def _family(row: Row) -> tuple[tuple[str, str], str]:
    """The host group, and the placement without its numbers of nodes and ranks."""
    values = (value for value in row.case.placement.split(" ") if not value.startswith(_SIZES))
    return row.place[:2], " ".join(values)


def _scaling(table: Table, placement: str, metric: Metric, kind: str, rows: Sequence[Row]) -> Scaling:
    declared = {row.curves[0][0].metadata.get(SCALING, "") for row in rows}
    word = next(iter(declared)) if len(declared) == 1 else ""
    points = [
        ScalingPoint(row, row.cell(metric), row.ranks or 1, 1.0, row.median(metric), None, ()) for row in rows
    ]
    points.sort(key=lambda point: (point.ranks, point.nodes))
    # the order of HPL's matrix, and the arguments of the program
    problems = {(row.linear_system, row.curves[0][0].metadata.get("arguments", "")) for row in rows}
    if kind == WORK and (word or not metric.lower_is_better or len(problems) == 1):
        points = [_with_speed_up(points[0], point, metric, word) for point in points]
    return Scaling(table, placement, metric, kind, word, tuple(points))


def _with_speed_up(first: ScalingPoint, point: ScalingPoint, metric: Metric, declared: str) -> ScalingPoint:
    ideal = point.ranks / first.ranks

    def speed_up(value: float) -> float:
        if not metric.lower_is_better:
            return value / first.median
        return first.median / value * (ideal if declared == WEAK else 1)

    repeats = tuple(speed_up(value) / ideal for value in point.cell.values if value > 0)
    return ScalingPoint(
        point.row, point.cell, point.ranks, ideal, point.median, speed_up(point.median), repeats
    )
