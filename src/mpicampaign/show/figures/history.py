"""Metrics over time drawn: panels below each other, changes as dashed lines with their text above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.dimension import COUNT, Unit
from mpicampaign.show.charts.looks import COLOURS, GREY
from mpicampaign.show.charts.model import Axis
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, width_of

if TYPE_CHECKING:
    from mpicampaign.show.charts.model import TimeChart, TimePanel

_LEFT, _RIGHT, _HEIGHT, _BETWEEN = 0.62, 0.2, 1.15, 0.62  # inches
_MARKED = 60  # points at most that have a mark of their own


def draw_history(chart: TimeChart) -> Page:
    """All panels in one column."""
    count = len(chart.panels)
    page = Page(KEY + count * (_HEIGHT + _BETWEEN), chart.title)
    for number, (part, days) in enumerate(zip(chart.panels, chart.days, strict=True)):
        bottom = KEY + (count - 1 - number) * (_HEIGHT + _BETWEEN) + 0.3
        _draw(page, part, days, Place(_LEFT, bottom, WIDTH - _LEFT - _RIGHT, _HEIGHT))
    page.key(chart.caption)
    return page


def _draw(page: Page, part: TimePanel, days: tuple[str, str], place: Place) -> None:
    last = max(len(part.values) - 1, 1)
    across = Axis("", COUNT, Unit("", 1.0), Scale(-0.01 * last, 1.01 * last, logarithmic=False))
    panel = Panel(page, place, across, part.up)
    panel.up_ticks()
    panel.frame(part.title, room=0)
    page.text(place.left, place.bottom - 0.12, days[0], 7.5, GREY)
    page.text(place.right, place.bottom - 0.12, days[1], 7.5, GREY, align="right")
    points = panel.points([(float(number), value) for number, value in enumerate(part.values)])
    page.lines([points], COLOURS[0], 1.0)
    if len(points) <= _MARKED:
        page.marks(points, "circle", COLOURS[0], 3)
    for mark in part.marks:
        x = panel.x(mark.first - 0.5)
        page.lines([[(x, place.bottom), (x, place.top)]], COLOURS[1], 1.0, "dashed")
    room = place.width - width_of(part.title, 9) - 0.2
    if part.marks and room > 0:
        text = "; ".join(mark.text for mark in part.marks)
        page.text(place.right, place.top + 0.11, text, 7, align="right", room=room)
