"""Curves drawn: panels over message size, the median thick and each repeat thin."""

from __future__ import annotations

from mpicampaign.base.grouping import grouped
from mpicampaign.show.charts.looks import INK
from mpicampaign.show.charts.model import ChartCurve, CurveChart
from mpicampaign.show.figures.axes import End, Legend, Panel, PanelGrid, panel_grid, size_panels
from mpicampaign.show.figures.page import Page, Point, widest

_END_ROOM = 2.0  # inches at most for names at the ends of lines
_KEY_LINE = 0.4
_THIN = 0.6  # of the width of others


def draw_curves(chart: CurveChart) -> Page:
    """The panels, their curves, and what names these: at their ends, or a key below."""
    key = _key(chart) if chart.keyed else {}
    legend = Legend(dict.fromkeys(key, INK), _KEY_LINE + 0.08, 0.72)
    below = legend.height + 0.15 if key else 0.0
    count, room = len(chart.panels), _room(chart)
    across = min(count, 3 if count > 6 and not (chart.own_scales or chart.keyed) else 2)
    grid = _grid(chart, across, room, below)
    page = Page(grid.height, chart.title)
    width = 2.0 if across == 1 or chart.keyed else 1.5
    for panel, part in zip(size_panels(page, grid, chart), chart.panels, strict=True):
        ends = [_draw(panel, curve, chart.each_repeat, width) for curve in part.curves]
        if not chart.keyed:
            panel.name_ends([end for end in ends if end], room)
    for label, (x, y) in legend.draw(page, below):
        look, pen = key[label].look, _pen(key[label], width)
        page.lines([[(x, y), (x + _KEY_LINE, y)]], look.colour, pen, look.line)
    return page


def _room(chart: CurveChart) -> float:
    """Inches at the right of each panel, for the names of its curves."""
    if chart.keyed:
        return 0.3
    labels = [curve.label for part in chart.panels for curve in part.curves]
    limit = 1.0 if chart.each_repeat else _END_ROOM if len(chart.panels) == 1 else 0.75
    return 0.22 + widest(labels, limit, 7.5, bold=True)


def _grid(chart: CurveChart, across: int, room: float, below: float) -> PanelGrid:
    """High enough for the names of all curves at the ends of their lines."""
    height = (3.4 if chart.keyed else 3.6, 2.1 if chart.keyed else 2.0, 1.6)[across - 1]
    if chart.each_repeat and across > 1:
        height = max(2.3, 0.13 * max(len(part.curves) for part in chart.panels) + 0.4)
    return panel_grid(len(chart.panels), across, height, room, chart.own_scales, below)


def _draw(panel: Panel, curve: ChartCurve, each_repeat: bool, width: float) -> End | None:
    """The curve; where it ends (inches)."""
    ends = _draw_repeats(panel, curve, each_repeat)
    if not each_repeat:
        ends = _draw_median(panel, curve, width)
    return End(*ends[-1], curve.label, curve.look.ink) if ends else None


def _draw_repeats(panel: Panel, curve: ChartCurve, each_repeat: bool) -> list[Point]:
    """Thin lines, which are all that is drawn or stand behind a median; one repeat alone is the median."""
    look = curve.look
    runs = [repeat.values.items() for repeat in curve.repeats]
    if each_repeat:
        return panel.repeats(runs, look.colour, 0.8, look.line, 0.85)
    return panel.repeats(runs, look.colour, 0.6, "solid", 0.4) if len(runs) > 1 else []


def _draw_median(panel: Panel, curve: ChartCurve, width: float) -> list[Point]:
    points = panel.points(curve.median.items())
    if points:
        panel.page.lines([points], curve.look.colour, _pen(curve, width), curve.look.line, name="median")
    if len(points) == 1:
        panel.page.marks(points, "circle", curve.look.colour, 4)
    return points


def _pen(curve: ChartCurve, width: float) -> float:
    return width * _THIN if curve.thin else width


def _key(chart: CurveChart) -> dict[str, ChartCurve]:
    """One curve for each label."""
    curves = (curve for part in chart.panels for curve in part.curves)
    return {label: alike[0] for label, alike in grouped(curves, lambda curve: curve.label).items()}
