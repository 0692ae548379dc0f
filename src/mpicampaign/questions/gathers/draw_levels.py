"""Time per level of a tree at its root: receiving, with waiting for the sender, and merging."""

from __future__ import annotations

from itertools import count, takewhile
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import TIME
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.metrics import curve
from mpicampaign.show.charts.model import Level, LevelChart
from mpicampaign.show.charts.scene import left_out, repeats_of
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Table
    from mpicampaign.show.charts.scene import Scene


def level_charts(scene: Scene) -> Iterator[LevelChart]:
    """One for each kernel with levels in each host group and placement."""
    pairs = [(table, row) for table in scene.comparison.tables if table.useful for row in table.rows]
    known = [(table, row) for table, row in pairs if _levels(row)]
    groups = grouped(known, lambda pair: (pair[0].benchmark, pair[0].series, scene.name(*pair)))
    for (benchmark, _, name), members in groups.items():
        chart = _chart(scene, visible(benchmark), name, members)
        if chart is not None:
            yield chart


def _chart(scene: Scene, what: str, name: str, members: Sequence[tuple[Table, Row]]) -> LevelChart | None:
    """Of the largest size that all trees have; None with a single level, where all trees are the same."""
    common = set.intersection(*(_sizes(row) for _, row in members))
    if not common or all(len(_levels(row)) < 2 for _, row in members):
        return None
    size = max(common)
    trees = tuple((visible(table.label), _at_size(row, size)) for table, row in members)
    ends = [level.receive + level.merge for _, levels in trees for level in levels]
    axis = scene.axis("time", TIME, ends, logarithmic=False)
    if axis is None:
        return None
    title = f"{what}: time per level at {format_size(size)} per rank, {name}"
    rows = [row for _, row in members]
    caption = (
        "At the root, which receives on every level: how long receiving, including the wait for the sender, "
    )
    caption += f"and merging take, as the median over {repeats_of(rows)}.{left_out(scene, rows)}"
    alt = f"{title}. {'; '.join(_text(scene, label, levels) for label, levels in trees)}"
    return LevelChart(title, caption, alt, axis, trees)


def _levels(row: Row) -> list[int]:
    """The levels that every run of the row has."""
    if not row.curves:
        return []
    return list(takewhile(lambda n: all(f"receive_{n}" in s.columns for _, s in row.curves), count()))


def _sizes(row: Row) -> set[int]:
    """The sizes (B) at which some run knows all levels."""
    columns = [f"{what}_{level}" for level in _levels(row) for what in ("receive", "merge")]
    return {
        size
        for _, series in row.curves
        for size in set.intersection(*(set(curve(series, column)) for column in columns))
    }


def _at_size(row: Row, size: int) -> tuple[Level, ...]:
    return tuple(
        Level(level, _median(row, f"receive_{level}", size), _median(row, f"merge_{level}", size))
        for level in _levels(row)
    )


def _median(row: Row, column: str, size: int) -> float:
    return median([v for _, series in row.curves if (v := curve(series, column).get(size)) is not None])


def _text(scene: Scene, label: str, levels: Sequence[Level]) -> str:
    said = (
        f"level {level.number} {scene.view.quantity(level.receive, TIME)} and "
        f"{scene.view.quantity(level.merge, TIME)}"
        for level in levels
    )
    return f"{label}, receive and merge: {', '.join(said)}"
