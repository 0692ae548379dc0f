"""Bundled kernels beside the originals whose definitions they share, such as latency_bandwidth beside HPCC.

The two ran in the same host group and placement with the same ranks, nodes and MPI library, and with arrays
of one size where they have any; the ratio is that of repeats of one number. Of an original that ran with
several linear systems the largest counts: latency and bandwidth of messages do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.compare.tables import Table
from mpicampaign.questions.balance.find import differing
from mpicampaign.suites import SUITES

_RATIO = "ratio"
_DOUBLE = 8  # B
_NEARLY = 0.01  # of the size of arrays


def beside_tables(tables: Sequence[Table]) -> list[Table]:
    """A table for each kernel and original with a place in common."""
    kernels = [table for table in tables if _is_kernel(table)]
    originals = grouped((table for table in tables if not _is_kernel(table)), lambda table: table.series)
    tables_beside = (_beside(kernel, of_one) for kernel, of_one in product(kernels, originals.values()))
    return [table for table in tables_beside if table is not None]


def _is_kernel(table: Table) -> bool:
    suite = SUITES.get(table.suite)
    return suite is not None and bool(suite.versions)


def _beside(kernel: Table, originals: Sequence[Table]) -> Table | None:
    columns = {column for table in originals for metric in table.metrics for column in _column(table, metric)}
    shared = [metric for metric in kernel.metrics if _column(kernel, metric) & columns]
    by_system = sorted(_rows(originals), key=lambda row: row.linear_system)
    theirs = {row.place: row for row in by_system}  # the largest is the last
    pairs = [(row, theirs[row.place]) for row in _rows([kernel]) if row.place in theirs]
    pairs = [
        (mine, other) for mine, other in pairs if not differing(mine, other) and _same_arrays(mine, other)
    ]
    if not (shared and pairs):
        return None
    names = kernel.label, originals[0].series
    label = f"{names[0]} beside {names[1]}"
    rows = [_row(mine, other, shared, names, label) for mine, other in pairs]
    return Table(label, label, "", tuple(cell.metric for cell in rows[0].cells), tuple(rows), ())


def _column(table: Table, metric: Metric) -> set[str]:
    """The metric's column, if its suite defines it: others have their names in common only."""
    suite = SUITES.get(table.suite)
    return {metric.column} & (suite.metrics.keys() if suite else set())


def _rows(tables: Iterable[Table]) -> list[Row]:
    return [row for table in tables for row in table.rows if row.ranked]


def _same_arrays(mine: Row, other: Row) -> bool:
    """Whether both moved as much: caches hold small arrays. True if the kernel has none."""
    ours = {run.metadata.get("array_bytes", "") for run, _ in mine.curves} - {""}
    theirs = {run.metadata.get("stream_vectorsize", "") for run, _ in other.curves}
    if not ours:
        return True
    sizes = [int(size) * _DOUBLE * (other.ranks or 0) for size in theirs if size.isdecimal()]
    return bool(sizes) and all(
        abs(size / int(array) - 1) < _NEARLY for size in sizes for array in ours if array.isdecimal()
    )


def _row(mine: Row, other: Row, shared: Iterable[Metric], names: tuple[str, str], label: str) -> Row:
    cells: list[Cell] = []
    for metric in shared:
        a, b = (_values(row, metric) for row in (mine, other))
        ratios = {repeat: a[repeat] / b[repeat] for repeat in a if b.get(repeat)}
        parts = (names[0], metric.dimension, a), (names[1], metric.dimension, b), (_RATIO, RATIO, ratios)
        for part, dimension, values in parts:
            name = f"{metric.name}, {part}"
            made = Metric(name, metric.column, dimension, group=name)
            cells.append(Cell.of(made, values))
    return replace(mine, label=label, cells=tuple(cells), notes=(), stretches=())


def _values(row: Row, metric: Metric) -> dict[int, float]:
    """Values by repeat."""
    return next((cell.by_repeat for cell in row.cells if cell.metric.column == metric.column), {})
