"""Time per level drawn: a bar for each level of each tree, receiving and merging behind each other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from mpicampaign.show.charts.looks import COLOURS, GREY
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from mpicampaign.show.charts.model import Axis, Level, LevelChart

_PITCH, _BAR = 0.17, 0.12  # inches from bar to bar, and of a bar
_GAP = 0.14  # between trees
_FOOT = 0.45 + KEY
_LONGEST = 2.3
_BESIDE = 1.2  # for the text of the time
_RECEIVE, _MERGE = COLOURS[0], COLOURS[1]


def draw_levels(chart: LevelChart) -> Page:
    """Trees below each other, their levels from the first to the last."""
    bars = sum(len(levels) for _, levels in chart.trees)
    height = _FOOT + 0.3 + bars * _PITCH + len(chart.trees) * _GAP
    page = Page(height, chart.title)
    left = 0.2 + widest([label for label, _ in chart.trees], _LONGEST, 8, bold=True) + 0.7
    panel = Panel(page, Place(left, _FOOT, WIDTH - left - _BESIDE, height - _FOOT - 0.1), chart.across)
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
    _draw_key(page, left)
    return page


def _draw_level(panel: Panel, across: Axis, level: Level, y: float) -> None:
    page, place = panel.page, panel.place
    page.text(place.left - 0.08, y, f"level {level.number}", 7, align="right")
    parts = (panel.x(0.0), panel.x(level.receive), panel.x(level.receive + level.merge))
    boxes = [Place(a, y - _BAR / 2, b - a, _BAR) for a, b in pairwise(parts)]
    page.boxes(boxes, [_RECEIVE, _MERGE])
    page.text(parts[-1] + 0.07, y, across.text(level.receive + level.merge), 7)


def _draw_key(page: Page, left: float) -> None:
    for index, (name, colour) in enumerate((("receive, with waiting", _RECEIVE), ("merge", _MERGE))):
        x = left + index * 1.7
        page.boxes([Place(x, 0.06, 0.14, 0.1)], [colour])
        page.text(x + 0.2, 0.11, name, 7.5, GREY)
