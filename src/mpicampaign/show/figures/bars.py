"""Bars drawn: time per level of a tree."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from mpicampaign.show.charts.looks import COLOURS, GREY
from mpicampaign.show.figures.axes import Legend, Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from mpicampaign.show.charts.model import Axis, Level, LevelChart

_PITCH, _LEVEL_BAR = 0.17, 0.12  # inches from bar to bar, and of a bar
_GAP = 0.14  # between trees
_LEVEL_FOOT = 0.45 + KEY
_LONGEST = 2.3
_BESIDE = 1.2  # for the text of the time
_PARTS = {"receive, with waiting": COLOURS[0], "merge": COLOURS[1]}


def draw_levels(chart: LevelChart) -> Page:
    """Trees below each other, their levels from the first to the last."""
    bars = sum(len(levels) for _, levels in chart.trees)
    height = _LEVEL_FOOT + 0.3 + bars * _PITCH + len(chart.trees) * _GAP
    page = Page(height, chart.title)
    left = 0.2 + widest([label for label, _ in chart.trees], _LONGEST, 8, bold=True) + 0.7
    panel = Panel(
        page, Place(left, _LEVEL_FOOT, WIDTH - left - _BESIDE, height - _LEVEL_FOOT - 0.1), chart.across
    )
    panel.value_ticks()
    panel.frame()
    panel.name_across()
    y = height - 0.25
    for label, levels in chart.trees:
        page.text(0.1, y, label, 8, bold=True, room=_LONGEST)
        for level in levels:
            _draw_level(panel, chart.across, level, y)
            y -= _PITCH
        y -= _GAP
    legend = Legend(dict.fromkeys(_PARTS, GREY), 0.2, left)
    for name, (x, middle) in legend.draw(page, 0.25):
        page.rectangles([Place(x, middle - 0.05, 0.14, 0.1)], [_PARTS[name]])
    return page


def _draw_level(panel: Panel, across: Axis, level: Level, y: float) -> None:
    page, place = panel.page, panel.place
    page.text(place.left - 0.08, y, f"level {level.number}", 7, align="right")
    parts = (panel.x(0.0), panel.x(level.receive), panel.x(level.receive + level.merge))
    boxes = [Place(a, y - _LEVEL_BAR / 2, b - a, _LEVEL_BAR) for a, b in pairwise(parts)]
    page.rectangles(boxes, list(_PARTS.values()))
    page.text(parts[-1] + 0.07, y, across.text(level.receive + level.merge), 7)
