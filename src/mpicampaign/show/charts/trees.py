"""Trees that are the same: with two ranks every tree is one message, so that one curve is enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Table

ALL_TREES = "all trees, the same with 2 ranks"


def label_of_all(table: Table) -> str:
    """The name of the curve that represents all trees of the table's series."""
    return f"{table.series} ({ALL_TREES})"


def without_twins(pairs: Iterable[tuple[Table, Row]]) -> list[tuple[Table, Row]]:
    """The rows; those of one case with two ranks that differ in the tree alone are one, with all runs."""
    groups = grouped(pairs, lambda pair: _twins(*pair)).values()
    return [pair for members in groups for pair in _joined(members)]


def _twins(table: Table, row: Row) -> tuple[object, ...]:
    """The same for rows of trees that are the same."""
    alike = bool(table.useful and table.useful.wire) and row.ranks == 2
    return (table.benchmark, table.series, row.case, "" if alike else table.label, row.ranks)


def _joined(members: Sequence[tuple[Table, Row]]) -> Sequence[tuple[Table, Row]]:
    if len(members) < 2:
        return members
    (table, first), *_ = members
    curves = tuple(curve for _, row in members for curve in row.curves)
    return [(replace(table, label=label_of_all(table)), replace(first, curves=curves))]
