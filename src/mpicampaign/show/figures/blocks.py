"""Ratios within blocks drawn: blocks below each other, below them the medians, a column for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.charts.looks import GREY, INK
from mpicampaign.show.figures.axes import Legend, Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.show.charts.looks import Look
    from mpicampaign.show.charts.model import BlockChart, BlockColumn
    from mpicampaign.statistics.blocks import Ratio

_PITCH = 0.19  # inches a line
_FOOT = 0.45 + KEY
_BETWEEN = 0.3  # columns
_NODES = 1.6  # at most, for the nodes
_SIZE = 7.5
_KEY = (
    "mark: one candidate in one block; line: from the reference to it; below: median and interval over blocks"
)
_MEDIAN = "median"


def draw_blocks(chart: BlockChart) -> Page:
    """Names of blocks and their nodes at the left, candidates in the legend above."""
    looks = [look for _, look in chart.candidates]
    legend = Legend({name: look.ink for name, look in chart.candidates}, 0.2, 0.1)
    lines = len(chart.blocks) + len(looks) + 0.5
    inner = lines * _PITCH
    page = Page(_FOOT + inner + 0.22 + legend.height, chart.title)
    page.key(_KEY)
    for name, (x, y) in legend.draw(page, page.height):
        page.marks(
            [(x + 0.08, y)], dict(chart.candidates)[name].marker, dict(chart.candidates)[name].colour, 4
        )
    ys = [_FOOT + inner - (place + 0.5) * _PITCH for place in range(len(chart.blocks))]
    left = _name_lines(page, chart, ys)
    width = (WIDTH - 0.15 - left - _BETWEEN * (len(chart.columns) - 1)) / len(chart.columns)
    for place, column in enumerate(chart.columns):
        panel = Panel(page, Place(left + place * (width + _BETWEEN), _FOOT, width, inner), column.across)
        panel.value_ticks(room=0.45)
        panel.frame(column.title, room=_BETWEEN)
        panel.name_across(room=width + _BETWEEN)
        _draw_column(panel, column, looks, ys)
    return page


def _name_lines(page: Page, chart: BlockChart, ys: Sequence[float]) -> float:
    """Where the columns begin."""
    names = 0.2 + widest([name for name, _ in chart.blocks], 1.0, _SIZE, bold=True)
    left = names + widest([nodes for _, nodes in chart.blocks], _NODES, _SIZE) + 0.1
    for (name, nodes), y in zip(chart.blocks, ys, strict=True):
        page.text(0.1, y, name, _SIZE, bold=True)
        page.text(names, y, nodes, _SIZE, GREY, room=_NODES, tall=_PITCH)
    page.text(0.1, ys[-1] - 1.5 * _PITCH, _MEDIAN, _SIZE, bold=True)
    return left


def _draw_column(panel: Panel, column: BlockColumn, looks: Sequence[Look], ys: Sequence[float]) -> None:
    page, one = panel.page, panel.x(1.0)
    page.lines([[(one, panel.place.bottom), (one, panel.place.top)]], INK, 0.8)
    for line, y in zip(column.lines, ys, strict=True):
        shown = [
            (panel.x(value), look) for value, look in zip(line, looks, strict=False) if value is not None
        ]
        page.lines([[(one, y), (x, y)] for x, _ in shown], GREY, 0.5, name="blocks")
        for x, look in shown:
            page.marks([(x, y)], look.marker, look.colour, 4)
    for place, (ratio, look) in enumerate(zip(column.ratios, looks, strict=True)):
        _draw_median(panel, ratio, look, ys[-1] - (1.5 + place) * _PITCH)


def _draw_median(panel: Panel, ratio: Ratio, look: Look, y: float) -> None:
    """The interval as a bar, which ends at the panel's sides; the median as a mark."""
    scale, ends = panel.across.scale, ratio.interval

    def x(value: float) -> float:
        return panel.x(min(max(value, scale.low), scale.high))

    if ends:
        panel.page.lines([[(x(ends.low), y), (x(ends.high), y)]], look.colour, 2.0, name="intervals")
    if scale.low <= ratio.median <= scale.high:
        panel.page.marks([(x(ratio.median), y)], look.marker, look.colour, 5)
