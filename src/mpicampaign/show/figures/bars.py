"""Bars drawn: results of systems beside each other, and time per level of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mpicampaign.show.charts.looks import COLOURS, GREY, INK
from mpicampaign.show.charts.model import (
    Axis,
    BarChart,
    BarColumn,
    BarSeries,
    LevelChart,
    SystemResult,
    TreeLevel,
)
from mpicampaign.show.figures.axes import INTERVALS, Legend, Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Area, Page, broken, widest

_BAR = 0.06  # inches a bar
_LINE = 0.15  # a member's line at least
_FOOT = 0.42 + KEY
_HEAD = 0.13  # a line of titles and keys
_BETWEEN = 0.16  # columns
_NAMES = 2.1  # at most, for the names
_SIZE = 7.0


def draw_bars(chart: BarChart) -> Page:
    """Members down, columns across, in each column its title and what its colours are."""
    most = max(len(column.series) for column in chart.columns)
    names = widest([member.label for member in chart.members], WIDTH, _SIZE, bold=True)
    pitch = max(_LINE if names <= _NAMES else 1.5 * _LINE, most * _BAR + 0.04)  # or two lines of a name
    left = 0.28 + min(names, _NAMES)
    width = (WIDTH - 0.15 - left - _BETWEEN * (len(chart.columns) - 1)) / len(chart.columns)
    heads = [_head(column, width) for column in chart.columns]
    inner = pitch * len(chart.members)
    page = Page(_FOOT + inner + max(map(len, heads)) * _HEAD + 0.08, chart.title)
    page.key(INTERVALS)
    lines = [_FOOT + inner - (place + 0.5) * pitch for place in range(len(chart.members))]
    _name_lines(page, chart.members, lines, left, pitch)
    for place, (column, head) in enumerate(zip(chart.columns, heads, strict=True)):
        panel = _panel(page, Area(left + place * (width + _BETWEEN), _FOOT, width, inner), column, head)
        for number, series in enumerate(column.series):
            shift = ((len(column.series) - 1) / 2 - number) * _BAR
            _draw_series(panel, series, [y + shift for y in lines])
    return page


def _head(column: BarColumn, width: float) -> list[tuple[str, str]]:
    """What stands above a column from top to bottom: text and colour."""
    title = [(line, INK) for line in broken(column.title, width, _SIZE, bold=True)]
    return [*title, *((series.name, series.colour) for series in column.series if series.name)]


def _name_lines(
    page: Page, members: Sequence[SystemResult], lines: Sequence[float], left: float, pitch: float
) -> None:
    """The names, and a line between platforms."""
    before = members[0].platform
    for member, y, above in zip(members, lines, [lines[0], *lines], strict=False):
        page.text(left - 0.1, y, member.label, _SIZE, align="right", bold=True, room=_NAMES, tall=pitch)
        if member.platform != before:
            page.grid([[(0.1, (y + above) / 2), (WIDTH - 0.1, (y + above) / 2)]])
        before = member.platform


def _panel(page: Page, place: Area, column: BarColumn, head: Sequence[tuple[str, str]]) -> Panel:
    panel = Panel(page, place, column.across)
    panel.value_ticks()
    panel.frame()
    for number, (text, colour) in enumerate(reversed(head)):
        y, is_key = place.top + 0.08 + number * _HEAD, colour != INK
        if is_key:
            page.lines([[(place.left, y), (place.left + 0.1, y)]], colour, 5)
        x = place.left + (0.15 if is_key else 0.0)
        room = place.right - x + _BETWEEN / 2
        page.text(x, y, text, _SIZE, bold=not is_key, room=room)
    panel.name_across(room=place.width)
    return panel


def _draw_series(panel: Panel, series: BarSeries, lines: Sequence[float]) -> None:
    """Bars with their intervals."""
    drawn = [(bar, y) for bar, y in zip(series.bars, lines, strict=True) if bar]
    bars = [[(panel.place.left, y), (panel.x(bar.median), y)] for bar, y in drawn]
    ends = [(bar.interval, y) for bar, y in drawn if bar.interval]
    panel.page.lines(bars, series.colour, 0.8 * _BAR * 72, name="bars")
    whiskers = [[(panel.x(interval.low), y), (panel.x(interval.high), y)] for interval, y in ends]
    panel.page.lines(whiskers, INK, 0.7, name="intervals")


# Levels of trees

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
        page, Area(left, _LEVEL_FOOT, WIDTH - left - _BESIDE, height - _LEVEL_FOOT - 0.1), chart.across
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
        page.rectangles([Area(x, middle - 0.05, 0.14, 0.1)], [_PARTS[name]])
    return page


def _draw_level(panel: Panel, across: Axis, level: TreeLevel, y: float) -> None:
    page, place = panel.page, panel.place
    page.text(place.left - 0.08, y, f"level {level.number}", 7, align="right")
    parts = (panel.x(0.0), panel.x(level.receive), panel.x(level.receive + level.merge))
    boxes = [Area(a, y - _LEVEL_BAR / 2, b - a, _LEVEL_BAR) for a, b in pairwise(parts)]
    page.rectangles(boxes, list(_PARTS.values()))
    page.text(parts[-1] + 0.07, y, across.text(level.receive + level.merge), 7)
