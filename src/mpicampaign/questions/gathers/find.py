"""Gathers side by side: bandwidth against the number of cores in use, of the kernels, IMB and OSU.

All by one definition: (P - 1) m / T, for P ranks with m bytes each. T is the time until the slowest rank has
finished: that of the kernels and IMB's t_max. OSU prints it with ``-f`` only; else T is its mean over ranks,
which is shorter, since leaves finish early.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import Record, Series
from mpicampaign.compare.metrics import curve
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.suites import SUITES

SLOWEST, MEAN = "time_max", "time"  # columns with the time over ranks


@dataclass(frozen=True, slots=True)
class Gather:
    """One gather with one number of ranks.

    ``runs``: useful bandwidth (B/s) by bytes per rank. ``mean_time``: T is the mean over ranks.
    """

    name: str
    label: str  # of its table
    row: Row
    ranks: int
    runs: tuple[tuple[Record, Mapping[int, float]], ...]
    mean_time: bool = False

    @property
    def sizes(self) -> set[int]:
        """Bytes per rank that any run has."""
        return set().union(*(values for _, values in self.runs))


@dataclass(frozen=True, slots=True)
class Gathers:
    """The gathers of one host group on so many nodes (0: unknown); each number of ranks has one placement."""

    system: str
    host_group: str
    nodes: int
    gathers: tuple[Gather, ...]
    sizes: tuple[int, ...]

    @property
    def ranks(self) -> list[int]:
        """The numbers of ranks, ascending."""
        return sorted({gather.ranks for gather in self.gathers})


def gathers(comparison: Comparison) -> list[Gathers]:
    """Places with two different gathers or more, or several numbers of ranks."""
    all_gathers = list(_all_gathers(comparison))
    places = grouped(all_gathers, lambda gather: (*gather.row.place[:2], len(gather.runs[0][0].hosts)))
    comparable = []
    for place, members in places.items():
        by_ranks = grouped(
            sorted(members, key=lambda gather: gather.ranks), lambda gather: gather.ranks
        ).values()
        chosen = tuple(gather for of_ranks in by_ranks for gather in _of_one_placement(of_ranks))
        sizes = _sizes(chosen, comparison.table_sizes)
        if sizes and (
            len({gather.name for gather in chosen}) > 1 or len({gather.ranks for gather in chosen}) > 1
        ):
            comparable.append(Gathers(*place, chosen, sizes))
    return comparable


def _all_gathers(comparison: Comparison) -> Iterator[Gather]:
    pairs = [(table, row) for table in comparison.tables for row in table.rows if row.ranked]
    named = [(name, table, row) for table, row in pairs if (name := _name(table, comparison.tables))]
    for name, table, row in named:
        ranks = row.ranks or _ranks_beside(row, [other for _, _, other in named])
        if ranks is None or ranks < 2:
            continue
        runs = tuple((run, _useful(table, series, ranks)) for run, series in row.curves)
        mean = not table.useful and not any(series.columns.get(SLOWEST) for _, series in row.curves)
        if any(values for _, values in runs):
            yield Gather(name, table.label, row, ranks, runs, mean)


def _name(table: Table, tables: Iterable[Table]) -> str:
    """What readers call it; empty if the table is not of a gather."""
    suite = SUITES.get(table.suite)
    names = suite.gathers if suite else {}
    if table.series in names:
        return names[table.series] + table.label.removeprefix(table.series)
    gather = (other for other in tables if other.benchmark == table.benchmark and other.series in names)
    return table.label if table.is_baseline and any(gather) else ""


def _ranks_beside(row: Row, others: Iterable[Row]) -> int | None:
    """OSU prints no number of ranks: that of the other gathers in the same place, if it is one."""
    ranks = {other.ranks for other in others if other.ranks and other.place[:3] == row.place[:3]}
    return ranks.pop() if len(ranks) == 1 else None


def _useful(table: Table, series: Series, ranks: int) -> dict[int, float]:
    if table.useful:
        return {size: value for size, value in curve(series, "bandwidth").items() if size > 0}
    times = curve(series, SLOWEST) or curve(series, MEAN)
    return {size: (ranks - 1) * size / time for size, time in times.items() if size > 0 and time > 0}


def _of_one_placement(members: Sequence[Gather]) -> list[Gather]:
    """Of placements with one number of ranks that with the most gathers, the first of several."""
    counts = Counter(gather.row.case.placement for gather in members)
    most = max(counts.values())
    chosen = next(
        gather.row.case.placement for gather in members if counts[gather.row.case.placement] == most
    )
    return [gather for gather in members if gather.row.case.placement == chosen]


def _sizes(members: Sequence[Gather], wanted: Sequence[int]) -> tuple[int, ...]:
    """The table sizes that any has, and the largest that all have."""
    common = set.intersection(*(gather.sizes for gather in members)) if members else set()
    some = {size for size in wanted if any(size in gather.sizes for gather in members)}
    return tuple(sorted(some | ({max(common)} if common else set())))
