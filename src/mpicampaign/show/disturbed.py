"""Values of disturbed runs: shown with a mark, told in sentences of their own, and never tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.ranking import Contestant, best_first
from mpicampaign.show.names import name_among
from mpicampaign.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.view import View

MARK = "†"
MEANING = "of disturbed runs: the row has no others, and no test compares it"
BUSY = "of disturbed runs, not tested"
ON = "On this busy machine"
_NAMED = 4  # medians in a sentence; of more the ends


def mark_of(row: Row) -> str:
    """The mark of the row's values; empty where they are of other runs."""
    return MARK if row.disturbed else ""


def marks_of(row: Row) -> tuple[str, ...]:
    """The same as the marks of a box."""
    return (MARK,) if row.disturbed else ()


def explained(rows: Iterable[Row]) -> tuple[tuple[str, str], ...]:
    """The footnote of a table with such values."""
    return ((MARK, MEANING),) if any(row.disturbed for row in rows) else ()


def is_told(row: Row) -> bool:
    """Whether nothing but its disturbed runs keeps the row from being compared."""
    return row.disturbed and not (row.oversubscribed or row.at_most)


def disturbed_metrics(table: Table) -> Iterator[tuple[Metric, int | None]]:
    """The headline metrics and numbers of ranks of which a row has values of disturbed runs alone."""
    for metric in (metric for metric in table.metrics if metric.headline):
        rows = (row for row in table.rows if is_told(row) and row.cell(metric).summary)
        yield from dict.fromkeys((metric, row.ranks) for row in rows)


def disturbed_contestants(
    comparison: Comparison, table: Table, metric: Metric, ranks: int | None
) -> tuple[Contestant, ...]:
    """These rows, the best median first, by names that tell them from the ranked ones, too."""
    shown = [row for row in table.rows if row.ranks == ranks and (row.ranked or is_told(row))]
    rows = [row for row in shown if row.cell(metric).summary and is_told(row)]
    return best_first(
        [Contestant(name_among(comparison, table, row, shown), row, row.cell(metric)) for row in rows]
    )


def sentences(found: Sequence[Contestant], view: View) -> Iterator[str]:
    """Their medians with the ranges of the repeats, and whether the range of the first overlaps others."""
    if not found:
        return
    first, *others = found
    if len(found) <= _NAMED:
        medians = listed([f"{_median(one, view)} for {one.name}" for one in found])
        yield f"{ON} the median (and range of repeats) is {medians}."
    else:
        ends = " to ".join(f"{_median(one, view)} for {one.name}" for one in (first, others[-1]))
        yield f"{ON} the {len(found)} medians (and ranges of repeats) go from {ends}."
    overlapping = [one.name for one in others if _overlap(first, one)]
    those = f"that of {listed(overlapping)}" if overlapping else "no other"
    if others:
        those = f"{len(overlapping)} others" if len(overlapping) >= _NAMED else those
        yield f"{ON} the range of {first.name} overlaps {those}."


def _median(one: Contestant, view: View) -> str:
    """``0.17 µs (0.16 to 0.21)``; of a single run ``0.17 µs (1 run)``."""
    found, dimension = one.cell.summary, one.cell.metric.dimension
    text = view.quantity(one.median, dimension)
    if found is None or found.n == 1:
        return f"{text} (1 run)"
    return f"{text} ({view.number(found.minimum, dimension)} to {view.number(found.maximum, dimension)})"


def _overlap(one: Contestant, other: Contestant) -> bool:
    first, second = one.cell.values, other.cell.values
    return min(first) <= max(second) and min(second) <= max(first)


def disturbed_lines(comparison: Comparison, table: Table, view: View) -> tuple[str, ...]:
    """All of the table's, each metric in a line."""
    found = {key: disturbed_contestants(comparison, table, *key) for key in disturbed_metrics(table)}
    return tuple(f"{metric.name}: {' '.join(sentences(of, view))}" for (metric, _), of in found.items())
