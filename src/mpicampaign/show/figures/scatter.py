"""Points of several systems drawn: panels with numbered points, and a key of the numbers below."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.show.charts.looks import GREY, INK
from mpicampaign.show.charts.model import ScatterChart, ScatterPanel, ScatterPoint, SystemResult
from mpicampaign.show.figures.axes import Panel, panel_grid
from mpicampaign.show.figures.page import KEY, WIDTH, Area, Page, Point, widest
from mpicampaign.show.figures.text_width import width_of

_HEIGHT, _LOWER = 2.3, 1.8  # inches a panel; where there are more than four
_PITCH = 0.145  # a line of the key
_COLUMN = (WIDTH - 0.3) / 2  # of the key, where it has two
_SIZE = 6.5  # of the numbers
_MARK = 5.0
_TALL = 0.1  # a number
_DISTANCES = (0.11, 0.16, 0.22, 0.3, 0.4)  # from a point to the middle of its number
_ANGLES = 16
_NEAR = 0.17  # from here on a line leads from the point to its number


class Extent(NamedTuple):
    """What is taken on the page: left, right, bottom, top."""

    left: float
    right: float
    bottom: float
    top: float

    def overlaps(self, other: Extent) -> bool:
        """Whether the two have a place in common."""
        beside = self.left >= other.right or other.left >= self.right
        return not (beside or self.bottom >= other.top or other.bottom >= self.top)


def draw_scatter(chart: ScatterChart) -> Page:
    """The panels two by two, their points numbered; the key names the numbers, in two columns if they fit."""
    names = widest([member.name for member in chart.members], WIDTH, 7, bold=True)
    down = -(-len(chart.members) // (2 if names < _COLUMN - 0.25 else 1))
    below = KEY + 0.1 + down * _PITCH
    height = _HEIGHT if len(chart.panels) <= 4 else _LOWER
    grid = panel_grid(len(chart.panels), 2, height, 0.18, own_scales=True, below=below, between=0.44)
    page = Page(grid.height, chart.title)
    for number, (part, place) in enumerate(zip(chart.panels, grid.places, strict=True)):
        panel = _panel(page, place, part, lowest=grid.lowest(number))
        _draw_points(panel, chart.members, part.points)
    _draw_key(page, chart.members, below - 0.1, down)
    page.key(chart.key)
    return page


def _panel(page: Page, place: Area, part: ScatterPanel, lowest: bool) -> Panel:
    panel = Panel(page, place, part.across, part.up)
    panel.value_ticks(room=0.42)
    panel.up_ticks()
    panel.frame(part.title)
    if lowest:
        panel.name_across()
    return panel


def _draw_points(panel: Panel, members: Sequence[SystemResult], points: Sequence[ScatterPoint]) -> None:
    """Lines between those of a platform, intervals, marks and numbers."""
    places = panel.points((point.x.median, point.y.median) for point in points)
    platforms = grouped(zip(members, places, strict=True), lambda pair: pair[0].platform).values()
    joined = [sorted(place for _, place in platform) for platform in platforms]
    panel.page.lines([line for line in joined if len(line) > 1], GREY, 0.6, alpha=0.6, name="platforms")
    panel.page.lines(
        [line for point in points for line in _intervals(panel, point)], INK, 0.7, name="intervals"
    )
    alike = grouped(zip(members, places, strict=True), lambda pair: pair[0].look)
    for look, pairs in alike.items():
        panel.page.marks([place for _, place in pairs], look.marker, look.colour, _MARK)
    _number(panel, members, places)


def _intervals(panel: Panel, point: ScatterPoint) -> Iterator[list[Point]]:
    """The lines of the intervals of both medians; none for a single repeat."""
    if point.x.interval:
        ends = (point.x.interval.low, point.x.interval.high)
        yield panel.points((end, point.y.median) for end in ends)
    if point.y.interval:
        ends = (point.y.interval.low, point.y.interval.high)
        yield panel.points((point.x.median, end) for end in ends)


def _number(panel: Panel, members: Sequence[SystemResult], places: Sequence[Point]) -> None:
    taken = [Extent(x - 0.03, x + 0.03, y - 0.03, y + 0.03) for x, y in places]
    for number, (member, place) in enumerate(zip(members, places, strict=True), 1):
        width = width_of(str(number), _SIZE, bold=True) + 0.02
        found = _free(place, width, panel.place, taken)
        if found is None:
            continue
        x, y = found
        taken.append(_around((x, y), width))
        if math.dist((x, y), place) > _NEAR:
            panel.page.lines([[place, _edge_of((x, y), place)]], GREY, 0.4)
        panel.page.text(x, y, str(number), _SIZE, member.look.ink, align="center", bold=True)


def _free(point: Point, width: float, within: Area, taken: Sequence[Extent]) -> Point | None:
    """The nearest place for a number that is free and within the panel."""
    for distance in _DISTANCES:
        for turn in range(_ANGLES):
            angle = 2 * math.pi * (turn + _ANGLES / 8) / _ANGLES  # first to the upper right
            tried = (point[0] + distance * math.cos(angle), point[1] + distance * math.sin(angle))
            box = _around(tried, width)
            inside = box.left > within.left and box.right < within.right + 0.1
            inside = inside and box.bottom > within.bottom and box.top < within.top + 0.02
            if inside and not any(box.overlaps(other) for other in taken):
                return tried
    return None


def _edge_of(number: Point, point: Point) -> Point:
    """Where the line from a point to its number ends: before the number."""
    share = 1 - 0.07 / math.dist(number, point)
    return point[0] + share * (number[0] - point[0]), point[1] + share * (number[1] - point[1])


def _around(middle: Point, width: float) -> Extent:
    x, y = middle
    return Extent(x - width / 2, x + width / 2, y - _TALL / 2, y + _TALL / 2)


def _draw_key(page: Page, members: Sequence[SystemResult], top: float, down: int) -> None:
    """Numbers and names, so many in a column."""
    column = _COLUMN if down < len(members) else 2 * _COLUMN
    for number, member in enumerate(members):
        x, y = 0.35 + (number // down) * column, top - (number % down) * _PITCH
        page.text(x, y, str(number + 1), 7, member.look.ink, align="right", bold=True)
        page.text(x + 0.08, y, member.name, 7, bold=True, room=column - 0.25, tall=_PITCH)
