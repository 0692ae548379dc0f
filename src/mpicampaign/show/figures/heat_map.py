"""A heat map drawn: fields from dark to light, with their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.charts.looks import GREY, ink_on, shade
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, fitting, widest

if TYPE_CHECKING:
    from mpicampaign.show.charts.model import Field, HeatMap

_ROW = 0.27
_WIDEST_COLUMN = 1.25


def draw_heat_map(chart: HeatMap) -> Page:
    """Host groups down, placements across, the reasons for empty fields below."""
    left = 0.25 + widest([place for place, _ in chart.rows], 1.8, 8)
    column = min(_WIDEST_COLUMN, (WIDTH - left - 0.1) / len(chart.placements))
    height = 0.4 + len(chart.rows) * _ROW + 0.15 + 0.16 * len(chart.reasons) + KEY
    page = Page(height, chart.title)
    page.text(left - 0.1, height - 0.22, chart.unit, 8, GREY, align="right")
    for index, placement in enumerate(chart.placements):
        text = fitting(placement, column - 0.08, 8, bold=True)
        page.text(left + (index + 0.5) * column, height - 0.22, text, 8, align="center", bold=True)
    for down, (host_group, fields) in enumerate(chart.rows):
        bottom = height - 0.38 - (down + 1) * _ROW
        page.text(left - 0.1, bottom + _ROW / 2, fitting(host_group, 1.8, 8), 8, align="right")
        for index, field in enumerate(fields):
            _draw_field(page, Place(left + index * column, bottom, column, _ROW), field)
    for index, text in enumerate(chart.reasons):
        y = KEY + 0.12 + 0.16 * (len(chart.reasons) - 1 - index)
        page.text(left, y, fitting(text, WIDTH - left - 0.1, 7), 7, GREY)
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
