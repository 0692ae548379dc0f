"""Results of HPC Challenge side by side, the campaign's own and published ones, for its paper's figures.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005). A result is a system in one
placement with one number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.records import REFERENCE_BLAS, Series
from mpicampaign.base.reference import HPCC, load_reference
from mpicampaign.compare.rows import Row
from mpicampaign.statistics.medians import Summary, median, summarise

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison

# No machine has positive values outside this range, and their products may overflow.
_LEAST, _MOST = 1e-30, 1e30
# Columns.
HPL, DGEMM, FFT, PTRANS = "hpl_flops", "dgemm_star_flops", "fft_flops", "ptrans_bandwidth"
COPY, TRIAD, RANDOM_ACCESS = "stream_copy_star", "stream_triad_star", "random_access_rate"
RANDOM_RING, NATURAL_RING = "random_ring_bandwidth", "natural_ring_bandwidth"
RING_LATENCY, LATENCY, PING_PONG = "random_ring_latency", "ping_pong_latency", "ping_pong_bandwidth"
PER_PROCESS = frozenset({RANDOM_RING, NATURAL_RING, DGEMM, COPY, TRIAD})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that follows from the values of one run: the column ``of``, divided by the column ``by``.

    Without ``of`` it is the reciprocal of ``by``. ``accumulated``: times the number of processes.
    """

    of: str = ""
    by: str = ""
    accumulated: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a run must have."""
        return tuple(filter(None, (self.of, self.by)))

    def value(self, run: Mapping[str, float], ranks: int) -> float:
        """The number in SI units; all columns must be there and positive."""
        of, by = (run[column] if column else 1.0 for column in (self.of, self.by))
        return of * (ranks if self.accumulated else 1) / by


def whole_system(column: str, by: str = "") -> Quantity:
    """The column for all processes together, divided by the column ``by``."""
    return Quantity(column, by, column in PER_PROCESS)


@dataclass(frozen=True, slots=True)
class HpccResult:
    """``runs``: the plausible values of each run that counts, by column in SI units.

    ``row``: where they are the campaign's own; ``reference``: the name of the publication of others.
    """

    system: str
    host_group: str
    placement: str
    ranks: int
    runs: tuple[Mapping[str, float], ...]
    row: Row | None = None
    reference: str = ""

    @property
    def platform(self) -> tuple[str, ...]:
        """What results for other numbers of processes have in common; publications name these placements."""
        return (self.reference, self.system, self.host_group, "" if self.reference else self.placement)

    def has(self, *columns: str) -> bool:
        """Whether one of its runs has all these columns."""
        return any(run.keys() >= set(columns) for run in self.runs)

    def summary(self, quantity: Quantity) -> Summary | None:
        """The quantity's median over runs, each divided by its own values; ``None`` without a value."""
        complete = [run for run in self.runs if run.keys() >= set(quantity.columns)]
        return summarise([quantity.value(run, self.ranks) for run in complete]) if complete else None


def hpcc_results(comparison: Comparison) -> tuple[HpccResult, ...]:
    """All results by falling random ring bandwidth, a platform's together at the place of its best.

    Own results have the largest linear system that a case solved: HPL is slow on small ones. Where several
    have that size, the one with the fastest HPL.
    """
    rows = [
        row for row in hpcc_rows(comparison) if row.curves and not _is_refused(row) and row.ranks is not None
    ]
    measured = [_own(max(same, key=_weight)) for same in grouped(rows, lambda row: row.place).values()]
    published = [result for choice in comparison.references for result in _published(choice)]
    platforms = grouped([*measured, *published], lambda result: result.platform).values()
    ordered = sorted(platforms, key=lambda results: min(map(_order, results)))
    return tuple(result for results in ordered for result in sorted(results, key=_order))


class Interpolated(NamedTuple):
    """A quantity at a rate of HPL that lies between two results of a platform: not measured."""

    low: HpccResult
    high: HpccResult
    value: float


def interpolated(results: Iterable[HpccResult], wanted: Quantity, rate: float) -> Iterator[Interpolated]:
    """Of each platform with results on both sides of the rate (flop/s), on logarithmic scales."""
    for of_platform in grouped(results, lambda result: result.platform).values():
        points = [
            (speed.median, balance.median, result)
            for result in of_platform
            if (speed := result.summary(Quantity(HPL))) and (balance := result.summary(wanted))
        ]
        below = [point for point in points if point[0] <= rate]
        above = [point for point in points if point[0] > rate]
        if below and above:
            (x0, y0, low), (x1, y1, high) = max(below, key=itemgetter(0)), min(above, key=itemgetter(0))
            share = math.log(rate / x0) / math.log(x1 / x0)
            yield Interpolated(low, high, y0 * (y1 / y0) ** share)


def hpcc_rows(comparison: Comparison) -> list[Row]:
    """All of the campaign's rows of HPCC, with values or not."""
    return [row for table in comparison.tables if table.series == HPCC for row in table.rows]


def with_reference_blas(comparison: Comparison) -> list[Row]:
    """Rows that have no place beside others: reference BLAS says nothing of a system's HPL."""
    return [row for row in hpcc_rows(comparison) if _is_refused(row)]


def _is_refused(row: Row) -> bool:
    return row.blas.startswith(REFERENCE_BLAS)


def _weight(row: Row) -> tuple[bool, int, float]:
    """Which of a case's rows is drawn: a ranked one before others."""
    speeds = [values[HPL] for _, series in row.curves if HPL in (values := _values(series))]
    return row.ranked, row.linear_system, median(speeds) if speeds else 0.0


def _own(row: Row) -> HpccResult:
    case, runs = row.case, tuple(_values(series) for _, series in row.curves)
    return HpccResult(case.system, case.host_group, case.placement, row.ranks or 0, runs, row)


def _values(series: Series) -> dict[str, float]:
    single = ((column, values[0]) for column, values in series.columns.items() if len(values) == 1)
    return {column: value for column, value in single if value is not None and _LEAST < value < _MOST}


def _published(choice: ReferenceChoice) -> Iterator[HpccResult]:
    values = [
        value
        for value in load_reference(choice.name).values
        if value.benchmark == HPCC
        and (not choice.host_groups or value.host_group in choice.host_groups)
        and (not choice.placements or value.placement in choice.placements)
    ]
    for of_place in grouped(values, lambda value: (value.system, value.host_group, value.placement)).values():
        first, run = of_place[0], {value.quantity: value.value for value in of_place}
        if first.ranks is not None:
            place = (first.system, first.host_group, first.placement, first.ranks)
            yield HpccResult(*place, (run,), reference=choice.name)


def _order(result: HpccResult) -> float:
    summary = result.summary(Quantity(RANDOM_RING))
    return -summary.median if summary else 0.0
