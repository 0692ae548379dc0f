"""The lines of a dot plot: rows of a table, and the published values of the same places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.show.cells import published_mark, statistic_of
from mpicampaign.show.charts.model import DotRow
from mpicampaign.show.charts.scene import PLACEMENT
from mpicampaign.show.runs import offered
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import PublishedRow, Table
    from mpicampaign.show.charts.scene import Scene


class DotLine(NamedTuple):
    """A row, what was published of the same host group in the same placement, or either alone."""

    row: Row | None
    published: tuple[PublishedRow, ...]
    shown: DotRow

    def values(self, metric: Metric) -> tuple[float, ...]:
        """The published values of a metric."""
        return tuple(row.values[metric] for row in self.published if metric in row.values)


def lines_of(scene: Scene, table: Table, metrics: Sequence[Metric]) -> list[DotLine]:
    """The table's rows but those not available, then published rows without one that have any of the metrics.

    A published row belongs to a row if system, host group, placement and number of ranks are the same; upper
    and lower case of systems may differ.
    """
    rows = offered(table)
    pairs: list[tuple[Row | None, list[PublishedRow]]] = [(row, []) for row in rows]
    by_place = {_place_of_row(row): beside for row, (_, beside) in zip(rows, pairs, strict=True)}
    for found in (row for row in table.published if not row.values.keys().isdisjoint(metrics)):
        place = (found.system.casefold(), found.host_group, found.placement, found.ranks)
        if place not in by_place:
            pairs.append((None, []))
            by_place[place] = pairs[-1][1]
        by_place[place].append(found)
    systems = _systems(pairs)
    return [
        DotLine(row, tuple(published), _shown(scene, table, systems, row, published))
        for row, published in pairs
    ]


def _place_of_row(row: Row) -> tuple[str, str, str, int | None]:
    case = row.case
    return case.system.casefold(), case.host_group, case.placement, row.ranks


def _systems(pairs: Iterable[tuple[Row | None, list[PublishedRow]]]) -> dict[str, str]:
    """How each system is written first, by its name in small letters."""
    found: dict[str, str] = {}
    for row, published in pairs:
        name = row.case.system if row else published[0].system
        found.setdefault(name.casefold(), name)
    return found


def _shown(
    scene: Scene, table: Table, systems: dict[str, str], row: Row | None, published: Sequence[PublishedRow]
) -> DotRow:
    where = row.case if row else published[0]
    system = visible(systems[where.system.casefold()]) if len(systems) > 1 else ""
    look = scene.looks[PLACEMENT][visible(where.placement)] if published else None
    if row is not None and row.counted:
        look = scene.look(table, row)
    label = scene.label(table, row) if row else _label(table, published[0])
    return DotRow(visible(where.host_group), label, look, system)


def _label(table: Table, published: PublishedRow) -> str:
    """The placement; with its number of ranks where own rows of this placement have others."""
    own = {row.ranks for row in table.rows if row.case.placement == published.placement}
    other = published.ranks is not None and own and published.ranks not in own
    return visible(published.placement) + (f", {published.ranks} ranks" if other else "")


def published_text(lines: Iterable[DotLine]) -> str:
    """Whose published values are marked; empty where there are none."""
    every = [row for line in lines for row in line.published]
    found = dict.fromkeys(f"{published_mark(row)}, {statistic_of(row)}" for row in every)
    return f" Large hollow marks: {visible('; '.join(found))}." if found else ""
