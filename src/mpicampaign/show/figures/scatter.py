"""Points of several systems drawn: panels with numbered discs, and a key of the numbers below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.grouping import grouped
from mpicampaign.show.charts.looks import GREY, INK
from mpicampaign.show.charts.model import ScatterChart, ScatterPanel, ScatterPoint, SystemResult
from mpicampaign.show.figures.axes import INTERVALS, Panel, panel_grid
from mpicampaign.show.figures.page import KEY, WIDTH, Area, Page, Point, widest

_HEIGHT, _LOWER = 2.3, 1.8  # inches a panel; where there are more than four
_PITCH = 0.145  # a line of the key
_COLUMN = (WIDTH - 0.3) / 2  # of the key, where it has two
_DISC, _SIZE = 9.0, 6.0  # printer's points: a disc, and the number on it


def draw_scatter(chart: ScatterChart) -> Page:
    """The panels two by two, points as numbered discs; the key of their names, in two columns if they fit."""
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
    page.key(INTERVALS)
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
    """Lines between those of a platform, intervals, and numbered discs."""
    places = panel.points((point.x.median, point.y.median) for point in points)
    platforms = grouped(zip(members, places, strict=True), lambda pair: pair[0].platform).values()
    joined = [sorted(place for _, place in platform) for platform in platforms]
    panel.page.lines([line for line in joined if len(line) > 1], GREY, 0.6, alpha=0.6, name="platforms")
    panel.page.lines(
        [line for point in points for line in _intervals(panel, point)], INK, 0.7, name="intervals"
    )
    for number, (member, place) in enumerate(zip(members, places, strict=True), 1):
        panel.page.marks([place], "circle", member.look.ink, _DISC)
        panel.page.text(*place, str(number), _SIZE, "#ffffff", align="center", bold=True)


def _intervals(panel: Panel, point: ScatterPoint) -> Iterator[list[Point]]:
    """The lines of the intervals of both medians; none for a single repeat."""
    if point.x.interval:
        ends = (point.x.interval.low, point.x.interval.high)
        yield panel.points((end, point.y.median) for end in ends)
    if point.y.interval:
        ends = (point.y.interval.low, point.y.interval.high)
        yield panel.points((point.x.median, end) for end in ends)


def _draw_key(page: Page, members: Sequence[SystemResult], top: float, down: int) -> None:
    """Numbers and names, so many in a column."""
    column = _COLUMN if down < len(members) else 2 * _COLUMN
    for number, member in enumerate(members):
        x, y = 0.35 + (number // down) * column, top - (number % down) * _PITCH
        page.text(x, y, str(number + 1), 7, member.look.ink, align="right", bold=True)
        page.text(x + 0.08, y, member.name, 7, bold=True, room=column - 0.25, tall=_PITCH)
