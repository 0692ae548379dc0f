"""Maxima over message sizes are compared over those sizes alone that all have printed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import Record, Series
from mpicampaign.compare.metrics import at_sizes, cut_repeats, printed_sizes, readings
from mpicampaign.compare.rows import Cell, Row

Printed = tuple[Record, Series]


def over_sizes_of_both(one: tuple[Row, Cell], other: tuple[Row, Cell]) -> tuple[Cell, Cell, int]:
    """The cells of one metric in two rows, with how many sizes their maxima are over; 0: all of both.

    They have no values where no size is of both.
    """
    curves, others = (
        [(run, series) for run, series in row.curves if run.repeat in cell.repeats]
        for row, cell in (one, other)
    )
    sizes = shared_sizes([*curves, *others]) if one[1].metric.size is None else None
    if sizes is None:
        return one[1], other[1], 0
    return _within(one[1], curves, sizes), _within(other[1], others, sizes), sum(size > 0 for size in sizes)


def shared_sizes(curves: Sequence[Printed]) -> set[int] | None:
    """The sizes (B) that all have printed; None where all have printed the same."""
    printed = [{*printed_sizes([series])} for _, series in curves]
    shared = set.intersection(*printed) if printed else set()
    return None if all(sizes == shared for sizes in printed) else shared


def tables_of_maxima(curves: Iterable[Printed]) -> dict[int, Series | None]:
    """What a maximum is taken from, by the id of each series: its lines at the sizes of all of its row.

    None of a repeat that ends before the longest one.
    """
    tables: dict[int, Series | None] = {}
    for of_row in grouped(curves, lambda pair: (pair[0].case, pair[1].label, pair[1].ranks)).values():
        cut = cut_repeats(of_row)
        tables |= {id(series): None for run, series in of_row if run.repeat in cut}
        counted = [pair for pair in of_row if pair[0].repeat not in cut]
        if (sizes := shared_sizes(counted)) is not None:
            tables |= {id(series): at_sizes(series, sizes) for _, series in counted}
    return tables


def _within(cell: Cell, curves: Sequence[Printed], sizes: Collection[int]) -> Cell:
    """The cell of a maximum over these sizes (B) alone."""
    of_repeats = readings(cell.metric, [(run, at_sizes(series, sizes)) for run, series in curves])
    values = {repeat: reading.value for repeat, reading in of_repeats.items()}
    return Cell.of(cell.metric, values, bound=cell.bound)
