"""Two sets of results compared case by case: two dates, series, sites or folders.

Two that ran one after the other also differ by all that changed meanwhile: they have a ratio and the range of
each, and no test. Where their runs overlap in time, as in blocks, the exact rank test judges each metric, by
Holm's steps over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.compare import compare
from mpicampaign.compare.ranking import TIE
from mpicampaign.records import OK, observed
from mpicampaign.statistics.comparisons import FEWEST, LEVEL, holm
from mpicampaign.statistics.medians import difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.records import Record

_Key = tuple[object, ...]


class Side(NamedTuple):
    """Results with a name, such as ``2026-11-20`` or ``results/mine``."""

    name: str
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class Both:
    """A metric of a case that both sides have. ``p``: corrected; ``None`` where it is not tested."""

    row: Row
    metric: Metric
    before: Cell
    after: Cell
    p: float | None

    @property
    def ratio(self) -> float | None:
        """Median after / before; ``None`` where that is 0."""
        before, after = self.before.summary, self.after.summary
        return after.median / before.median if before and after and before.median else None

    @property
    def apart(self) -> bool:
        """Whether all repeats of one side lie on one side of the other's, with medians 1 % apart or more."""
        low, high = sorted((self.before.values, self.after.values), key=max)
        return max(low) < min(high) and not self.small

    @property
    def small(self) -> bool:
        """Whether the medians differ by less than 1 %."""
        return self.ratio is not None and 1 / (1 + TIE) < self.ratio < 1 + TIE

    @property
    def real(self) -> bool:
        """Whether a test shows a difference of 1 % or more."""
        return self.p is not None and self.p <= LEVEL and not self.small


@dataclass(frozen=True, slots=True)
class TwoSides:
    """``only``: cases that one side alone has. ``recorded``: name and both values of what was recorded."""

    before: Side
    after: Side
    both: tuple[Both, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    recorded: tuple[tuple[str, str, str], ...]
    one_after_the_other: bool


def two_sides(
    before: Side, after: Side, sizes: Sequence[int], columns: Mapping[str, str], names: Mapping[str, str]
) -> TwoSides:
    """Compare each metric of each case that both have.

    Parameters
    ----------
    sizes : message sizes (B) at which bandwidth or time is compared
    columns, names : what runs observe, by column: its key in a record's metadata, and what people call it
    """
    sides = before, after
    one_each = all(len({record.case.system for record in side.records}) == 1 for side in sides)
    cells = [_cells(side, sizes, named=not one_each) for side in sides]
    in_turn = _one_after_the_other(before.records, after.records)
    pairs = [(cells[0][key], cells[1][key]) for key in cells[0] if key in cells[1]]
    alone = {} if in_turn else {n: _p(one[1], other[1]) for n, (one, other) in enumerate(pairs)}
    ps = holm({number: p for number, p in alone.items() if p is not None})
    both = (
        Both(row, cell.metric, earlier, cell, ps.get(number))
        for number, ((_, earlier), (row, cell)) in enumerate(pairs)
    )
    only = _lacking(cells[0], cells[1]), _lacking(cells[1], cells[0])
    recorded = tuple(_recorded(before.records, after.records, columns, names))
    return TwoSides(before, after, tuple(both), only, recorded, in_turn)


def _lacking(own: Mapping[_Key, tuple[Row, Cell]], other: Iterable[_Key]) -> tuple[str, ...]:
    """The cases that the other side does not have."""
    theirs = {key[:4] for key in other}
    return tuple(dict.fromkeys(str(row.case) for key, (row, _) in own.items() if key[:4] not in theirs))


def _cells(side: Side, sizes: Sequence[int], named: bool) -> dict[_Key, tuple[Row, Cell]]:
    """Each value of a row that counts; ``named``: cases are told apart by their systems, too."""
    comparison = compare(side.records, sizes)
    rows = (row for table in comparison.tables for row in table.rows if row.ranked and not row.disturbed)
    return {_key(row, cell.metric, named): (row, cell) for row in rows for cell in row.cells if cell.values}


def _key(row: Row, metric: Metric, named: bool) -> _Key:
    case = row.case
    place = (case.system if named else "", case.host_group, case.placement, case.benchmark)
    return (*place, row.label, row.ranks, metric.column, metric.size, metric.baseline, metric.bound)


def _one_after_the_other(before: Sequence[Record], after: Sequence[Record]) -> bool:
    """Whether no run of one began among those of the other; so, too, where it is unknown when."""
    times = [[record.started for record in side if record.status == OK] for side in (before, after)]
    if not all(times) or not all(map(all, times)):
        return True
    return max(times[0]) < min(times[1]) or max(times[1]) < min(times[0])


def _p(before: Cell, after: Cell) -> float | None:
    if min(before.n, after.n) < FEWEST:
        return None
    return difference(before.values, after.values).p


def _recorded(
    before: Sequence[Record], after: Sequence[Record], columns: Mapping[str, str], names: Mapping[str, str]
) -> Iterable[tuple[str, str, str]]:
    """What the runs of the two recorded otherwise."""
    sides = [[record for record in side if record.status == OK] for side in (before, after)]
    hosts = [", ".join(sorted({host for record in side for host in record.hosts})) for side in sides]
    if hosts[0] != hosts[1]:
        yield names["host"], hosts[0], hosts[1]
    for column, key in columns.items():
        seen = (set().union(*(observed(record, key) for record in side)) for side in sides)
        one, other = (", ".join(sorted(values)) or "not recorded" for values in seen)
        if one != other:
            yield names[column], one, other
