"""Results of HPC Challenge side by side, for its paper's figures.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005). A result is a system in one
placement with one number of processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import REFERENCE_BLAS, Series
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison
from mpicampaign.statistics.medians import Summary, median, summarise

HPCC = "HPCC"  # the series of its runs
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
    """``runs``: the plausible values of each run of the ``row`` that counts, by column in SI units."""

    row: Row
    runs: tuple[Mapping[str, float], ...]

    @property
    def platform(self) -> tuple[str, str, str]:
        """What results for other numbers of processes have in common."""
        return self.row.place[:3]

    def has(self, *columns: str) -> bool:
        """Whether one of its runs has all these columns."""
        return any(run.keys() >= set(columns) for run in self.runs)

    def summary(self, quantity: Quantity) -> Summary | None:
        """The quantity's median over runs, each divided by its own values; ``None`` without a value."""
        complete = [run for run in self.runs if run.keys() >= set(quantity.columns)]
        return summarise([quantity.value(run, self.row.ranks or 0) for run in complete]) if complete else None


def hpcc_results(comparison: Comparison) -> tuple[HpccResult, ...]:
    """All results by falling random ring bandwidth, a platform's together at the place of its best.

    Each has the largest linear system that a case solved: HPL is slow on small ones. Where several have that
    size, the one with the fastest HPL.
    """
    rows = [
        row for row in hpcc_rows(comparison) if row.curves and not is_refused(row) and row.ranks is not None
    ]
    best = [max(same, key=_weight) for same in grouped(rows, lambda row: row.place).values()]
    results = [HpccResult(row, tuple(_values(series) for _, series in row.curves)) for row in best]
    platforms = grouped(results, lambda result: result.platform).values()
    ordered = sorted(platforms, key=lambda results: min(map(_order, results)))
    return tuple(result for results in ordered for result in sorted(results, key=_order))


def hpcc_rows(comparison: Comparison) -> list[Row]:
    """All of the campaign's rows of HPCC, with values or not."""
    return [row for table in comparison.tables if table.series == HPCC for row in table.rows]


def is_refused(row: Row) -> bool:
    """Whether it has no place beside others: reference BLAS says nothing of a system's HPL."""
    return row.blas.startswith(REFERENCE_BLAS)


def _weight(row: Row) -> tuple[bool, int, float]:
    """Which of a case's rows is drawn: a ranked one before others."""
    speeds = [values[HPL] for _, series in row.curves if HPL in (values := _values(series))]
    return row.ranked, row.linear_system, median(speeds) if speeds else 0.0


def _values(series: Series) -> dict[str, float]:
    single = ((column, values[0]) for column, values in series.columns.items() if len(values) == 1)
    return {column: value for column, value in single if value is not None and _LEAST < value < _MOST}


def _order(result: HpccResult) -> float:
    summary = result.summary(Quantity(RANDOM_RING))
    return -summary.median if summary else 0.0
