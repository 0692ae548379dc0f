"""A heat map drawn: fields from dark to light, with their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.charts.looks import GREY, ink_on, shade
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from mpicampaign.show.charts.model import Field, HeatMap

_ROW = 0.27
_LONGEST = 2.2  # inches of a name
_WIDEST_COLUMN = 1.25


def draw_heat_map(chart: HeatMap) -> Page:
    """Host groups down, placements across, the reasons for empty fields below."""
    left = 0.25 + widest([place for place, _ in chart.rows], _LONGEST, 8)
    column = min(_WIDEST_COLUMN, (WIDTH - left - 0.1) / len(chart.placements))
    height = 0.4 + len(chart.rows) * _ROW + 0.15 + 0.16 * len(chart.reasons) + KEY
    page = Page(height, chart.title)
    page.text(left - 0.1, height - 0.22, chart.unit, 8, GREY, align="right")
    for index, placement in enumerate(chart.placements):
        x, room = left + (index + 0.5) * column, column - 0.08
        page.text(x, height - 0.22, placement, 8, align="center", bold=True, room=room, tall=0.3)
    for down, (host_group, fields) in enumerate(chart.rows):
        bottom = height - 0.38 - (down + 1) * _ROW
        page.text(left - 0.1, bottom + _ROW / 2, host_group, 8, align="right", room=_LONGEST, tall=_ROW)
        for index, field in enumerate(fields):
            _draw_field(page, Place(left + index * column, bottom, column, _ROW), field)
    for index, text in enumerate(chart.reasons):
        y = KEY + 0.12 + 0.16 * (len(chart.reasons) - 1 - index)
        page.text(left, y, text, 7, GREY, room=WIDTH - left - 0.1)
    page.key(chart.key)
    return page


def _draw_field(page: Page, place: Place, field: Field) -> None:
    middle = (place.left + place.width / 2, place.bottom + place.height / 2)
    if field.median is None:
        page.box(place, "#f2f2f2")
        page.text(*middle, field.text, 7.5, GREY, align="center")
        return
    fill = shade(field.fraction)
    page.box(place, fill)
    page.text(*middle, field.text, 8, ink_on(fill), align="center")
