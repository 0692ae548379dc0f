"""Figures over message size: a panel for each host group or for each placement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.grouping import grouped
from mpicampaign.show.figures.axes import End, Grid, Panel, Scale, panel_grid, scale_for, size_panels
from mpicampaign.show.figures.page import Page, widest
from mpicampaign.show.figures.scene import (
    Drawn,
    left_out,
    median_curve,
    points_of,
    repeat_points,
    repeats_of,
)
from mpicampaign.units import format_size
from mpicampaign.wording import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.comparison.comparison import Table
    from mpicampaign.comparison.rows import Row
    from mpicampaign.show.figures.page import Point
    from mpicampaign.show.figures.scene import Scene
    from mpicampaign.show.figures.style import Look

SIZE = "message size"
_END_ROOM = 1.3  # inches at most for names at the ends of lines


class Pen(NamedTuple):
    """How the curves of a row are drawn: the median in full, each repeat thin."""

    colour: str
    line: Any
    width: float = 2.0


def by_host_group(scene: Scene, table: Table) -> Drawn | None:
    """Bandwidth, or time where none is printed, over message size: a panel for each host group."""
    column = column_of(table)
    factor, unit = scene.unit_of(column)
    panels = grouped((row for row in table.rows if row.counted), scene.place)
    scales = log_scales(repeat_points(table.rows, (column,), factor))
    if scales is None:
        return None
    title = f"{table.title}: {column} over message size"
    labels = [scene.label(table, row) for rows in panels.values() for row in rows]
    across = 1 if len(panels) == 1 else 2 if len(panels) <= 6 else 3
    room = 0.22 + widest(labels, _END_ROOM if across == 1 else 0.75, 7.5, bold=True)
    grid = panel_grid(len(panels), across, (3.6, 2.0, 1.6)[across - 1], room)
    page = Page(grid.height, title)
    titles = list(panels) if len(panels) > 1 else [""]
    drawn = size_panels(page, grid, titles, scales[0], lambda _: scales[1], (SIZE, f"{column} ({unit})"))
    pen_width = 2.0 if across == 1 else 1.5
    for panel, rows in zip(drawn, panels.values(), strict=True):
        panel.name_ends(_medians(panel, scene, table, rows, pen_width), room)
    caption = f"Thick lines: the median over {repeats_of(table.rows)}; thin lines: each repeat. "
    caption += "Logarithmic axes." + left_out(scene, table.rows)
    said = "; ".join(curve_words(scene, table, row, column) for row in table.rows)
    return Drawn(page, title, caption, f"{title}. {said}")


def _medians(panel: Panel, scene: Scene, table: Table, rows: Sequence[Row], width: float) -> list[End]:
    """Draw each row in the look of its placement; where its median ends, and its name."""
    column = column_of(table)
    ends = []
    for row in rows:
        label = scene.label(table, row)
        look = scene.placements[label]
        end = draw_row(panel, row, column, scene.unit_of(column)[0], Pen(look.colour, look.line, width))
        ends += [End(*end, label, look.ink)] if end else []
    return ends


def by_placement(scene: Scene, table: Table) -> Drawn | None:
    """Every repeat over message size, a panel for each placement, host groups told apart by their look.

    Where there is but one host group whose repeats agree, the panels by host group say the same.
    """
    column = column_of(table)
    factor, unit = scene.unit_of(column)
    rows = [row for row in table.rows if row.counted and repeat_points([row], (column,), factor)]
    several = len({scene.place(row) for row in rows}) > 1
    if not rows or not (several or any(row.has_modes for row in rows)):
        return None
    panels = grouped(rows, lambda row: scene.label(table, row))
    title = f"{table.title}: {column} of every repeat by placement"
    room = 0.22 + widest([scene.place(row) for row in rows], 1.0, 7.5, bold=True)
    grid = _placement_grid(panels, room)
    page = Page(grid.height, title)
    across, ups = _own_scales(panels.values(), column, factor)
    words = (SIZE, f"{column} ({unit})")
    drawn = size_panels(page, grid, list(panels), across, ups.__getitem__, words, own_scales=True)
    for panel, members in zip(drawn, panels.values(), strict=True):
        ends = (_every_repeat(panel, scene, row, column, factor) for row in members)
        panel.name_ends([end for end in ends if end], room)
    said = "; ".join(curve_words(scene, table, row, column) for row in rows)
    caption = _repeats_caption(scene, table, rows) + left_out(scene, table.rows)
    return Drawn(page, title, caption, f"{title}. {said}")


def _placement_grid(panels: dict[str, list[Row]], room: float) -> Grid:
    """Two panels across, high enough for the names of all host groups at the ends of lines."""
    if len(panels) == 1:
        return panel_grid(1, 1, 3.6, room, own_scales=True)
    height = max(2.3, 0.13 * max(map(len, panels.values())) + 0.4)
    return panel_grid(len(panels), 2, height, room, own_scales=True)


def _is_linear(column: str) -> bool:
    """Bandwidths: bands lie within a factor of two, which a logarithmic axis would hide."""
    return column == BANDWIDTH


def _repeats_caption(scene: Scene, table: Table, rows: Sequence[Row]) -> str:
    words = f"Each line is one repeat, {repeats_of(rows)} of each host group. Every panel has its own scale"
    words += ", from 0." if _is_linear(column_of(table)) else "; logarithmic axes."
    banded = [scene.name(table, row) for row in rows if row.has_modes]
    return words + (f" Several modes: {', '.join(banded)}." if banded else "")


def _own_scales(panels: Iterable[Sequence[Row]], column: str, factor: float) -> tuple[Scale, list[Scale]]:
    """The common scale of sizes, and for each panel its own of values."""
    curves = [repeat_points(rows, (column,), factor) for rows in panels]
    sizes = [x for panel in curves for points in panel for x, _ in points]
    values = ([y for points in panel for _, y in points] for panel in curves)
    ups = (scale_for(ys, logarithmic=not _is_linear(column)) for ys in values)
    return Scale(min(sizes) / 1.3, max(sizes) * 1.3), [up for up in ups if up is not None]


def _every_repeat(panel: Panel, scene: Scene, row: Row, column: str, factor: float) -> End | None:
    place = scene.place(row)
    look: Look = scene.host_groups[place]
    curves = repeat_points([row], (column,), factor)
    ends = panel.repeats(curves, look.colour, 0.8, look.line, 0.85)
    return End(*ends[-1], place, look.ink) if ends else None


def draw_row(panel: Panel, row: Row, column: str, factor: float, pen: Pen) -> Point | None:
    """Thin lines for the repeats and a thick one for the median; where that ends (inches)."""
    if row.counted > 1:
        panel.repeats(repeat_points([row], (column,), factor), pen.colour, 0.6, "-", 0.4)
    points = panel.points(points_of(median_curve(row, column), factor))
    if not points:
        return None
    panel.page.lines([points], pen.colour, pen.width, pen.line)
    if len(points) == 1:
        panel.page.marks(points, "o", pen.colour, 4)
    return points[-1]


def column_of(table: Table) -> str:
    """What is drawn over message size: bandwidth, or time where none is printed."""
    return BANDWIDTH if any(metric.column == BANDWIDTH for metric in table.metrics) else TIME


def log_scales(curves: Sequence[Sequence[Point]]) -> tuple[Scale, Scale] | None:
    """Logarithmic scales that hold all the curves; ``None`` where there are no curves."""
    if not curves:
        return None
    xs = [x for points in curves for x, _ in points]
    ys = [y for points in curves for _, y in points]
    return Scale(min(xs) / 1.3, max(xs) * 1.3), Scale(min(ys) / 1.5, max(ys) * 1.5)


def curve_words(scene: Scene, table: Table, row: Row, column: str) -> str:
    """The row's largest figure in words, or why it has none."""
    name = scene.name(table, row)
    points = points_of(median_curve(row, column), 1.0)
    if not points:
        return f"{name} {row.absence or 'has no figures'}"
    size, value = max(points, key=lambda point: point[1])
    return f"{name} at most {quantity(value, column, scene.unit)} at {format_size(int(size))}"
