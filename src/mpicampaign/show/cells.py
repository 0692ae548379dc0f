"""What stands in the cells of tables: names of rows, and each metric of a row as a view writes it.

Every table and sentence takes these from here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mpicampaign.base.dimension import BANDWIDTH
from mpicampaign.base.records import NOT_AVAILABLE
from mpicampaign.base.text import in_ranks, visible
from mpicampaign.compare.findings import Absence
from mpicampaign.compare.rows import Cell, PublishedRow, Row
from mpicampaign.compare.tables import Comparison, Table, absence_of
from mpicampaign.show.document import Box, Span
from mpicampaign.show.runs import mark_of
from mpicampaign.show.sentences import absence
from mpicampaign.show.view import View, size_range

NO_VALUE = "–"
STATISTICS = ("median", "mean", "minimum", "maximum")
_TERM = re.compile(r"\b(B_useful|B_wire|^time(?= at .* per rank$))\b")


TERMS = {
    "B_useful": "bytes that the operation has to deliver, divided by its time",
    "B_wire": "the same with each byte counted on every hop",
    "time": "of one call; calls follow without a pause and may overlap, so it is no latency",
}


def explained_terms(name: str) -> tuple[str | Span, ...]:
    """The name of a kernel's metric; what its terms mean is shown where one points at them."""
    parts = filter(None, _TERM.split(name))
    return tuple(Span(part, "term", hint=TERMS[part]) if part in TERMS else part for part in parts)


# Names of rows


def placement_name(table: Table, row: Row, *, alike_in_ranks: bool = False) -> str:
    """The placement; with the ranks where the table has several numbers, and the BLAS library."""
    several = table.several_ranks and row.ranks is not None and not alike_in_ranks
    ranks = f", {in_ranks(row.ranks)}" if several else ""
    blas = f", {visible(row.blas)}" if row.blas else ""
    detail = f", {visible(row.detail)}" if row.detail else ""
    at_most = ", at most" if row.at_most else ""
    return f"{visible(row.case.placement)}{ranks}{detail}{blas}{at_most}"


def row_name(comparison: Comparison, table: Table, row: Row) -> str:
    """Host group and placement."""
    return f"{comparison.place(row)} {placement_name(table, row)}"


def name_among(comparison: Comparison, table: Table, row: Row, rows: Sequence[Row]) -> str:
    """What tells the row from the others: the placement, the MPI library or host group, or both."""
    alike = len({other.ranks for other in rows}) == 1
    name, *others = (placement_name(table, one, alike_in_ranks=alike) for one in (row, *rows))
    if len({comparison.place(other) for other in rows}) == 1:
        return name
    one_machine = len({other.case.machine for other in rows}) == 1
    place = visible(row.case.library) if one_machine and row.case.library else comparison.place(row)
    return place if len(set(others)) == 1 else f"{place} {name}"


# Values


class MetricCell(NamedTuple):
    """One metric of one row; no cell where the row has no metric."""

    row: Row
    cell: Cell | None
    view: View

    @property
    def reasons(self) -> Absence:
        """Why there is no value; empty where there is one."""
        return self.row.absence if self.cell is None else absence_of(self.row, self.cell.metric)

    @property
    def n(self) -> str:
        """``5/6``: repeats with a value, of those planned."""
        return f"{self.cell.n if self.cell else 0}/{self.row.planned}"

    @property
    def absence(self) -> str:
        """The reasons in words."""
        return absence(self.reasons)

    @property
    def interval(self) -> str:
        """That of the median."""
        if self.cell is None or self.cell.summary is None:
            return ""
        return self.view.bounds(self.cell.summary.interval, self.cell.metric.dimension)

    @property
    def at(self) -> str:
        """Where a maximum was reached."""
        return size_range(self.cell.sizes) if self.cell else ""

    @property
    def bound(self) -> str:
        """What the link can carry, of fractions of it."""
        return self.view.quantity(self.cell.bound, BANDWIDTH) if self.cell and self.cell.bound else ""

    def box(self, statistic: str) -> Box:
        """One of `STATISTICS`, with the mark of disturbed runs."""
        if self.cell is None or self.cell.summary is None:
            return Box("")
        value, found = getattr(self.cell.summary, statistic), self.cell.summary.interval
        ends = (found.low, found.high) if found and statistic == "median" else None
        text = self.view.number(value, self.cell.metric.dimension)
        return Box(text, tuple(mark_of(self.row)), value, ends=ends)


def absent_box(reasons: Absence, mark: str) -> Box:
    """What stands in the place of a value; ``mark``: of the footnote with the reasons."""
    return Box("n/a" if reasons[0].kind == NOT_AVAILABLE else NO_VALUE, (mark,))


# Published values


def published_mark(row: PublishedRow) -> str:
    """How the row is marked: ``published, stfc-2017``."""
    return f"published, {row.reference}"


def published_sources(table: Table) -> list[str]:
    """Where the published rows of a table are from."""
    sources = dict.fromkeys((row.reference, row.source) for row in table.published)
    return [visible(f"published, {name}: {source}") for name, source in sources]
