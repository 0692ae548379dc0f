"""Bars drawn: results beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from mpicampaign.show.charts.looks import INK
from mpicampaign.show.charts.model import BarChart, BarColumn, BarSeries, SystemResult
from mpicampaign.show.figures.axes import INTERVALS, Panel
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
