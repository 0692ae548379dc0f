"""Panels: parts of a page with axes, a grid and names at the ends of lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mpicampaign.base.dimension import COUNT, Unit
from mpicampaign.show.charts.looks import GREY
from mpicampaign.show.charts.model import Axis, CurveChart, CurvePanel
from mpicampaign.show.charts.scales import Scale, plain, size_ticks
from mpicampaign.show.figures.page import WIDTH, Area, Page, Point, flat, points_of, spread, widest

INTERVALS = "stroke: interval of the median"  # a key
_LABEL = 7.5
_SIZE = 8.0  # of labels of legends
_BETWEEN = 0.34  # inches from a panel to the one above it, for its title and the other's ticks
_END_GAP = 0.125  # inches between names at the ends of lines
_NONE = Axis("", COUNT, Unit("", 1.0), Scale(0.0, 1.0, logarithmic=False))


class End(NamedTuple):
    """Where a line ends (inches), and how it is named there."""

    x: float
    y: float
    label: str
    colour: str


class Panel:
    """A part of a page with an axis along its lower side, its left side, or both."""

    def __init__(self, page: Page, place: Area, across: Axis, up: Axis | None = None) -> None:
        self.page = page
        self.place = place
        self.across = across
        self.up = up or _NONE
        self._x: dict[float, float] = {}  # many curves have the same sizes

    def x(self, value: float) -> float:
        """The place on the page of a value along the lower side."""
        if value not in self._x:
            self._x[value] = self.place.left + self.across.at(value) * self.place.width
        return self._x[value]

    def points(self, pairs: Iterable[Point]) -> list[Point]:
        """The places of those pairs of values that the axes can show."""
        return self.places(self.shown(pairs))

    def shown(self, pairs: Iterable[Point]) -> list[Point]:
        """The pairs of values that the axes can show."""
        across, up = self.across.scale.shows, self.up.scale.shows
        return [(x, y) for x, y in pairs if across(x) and up(y)]

    def places(self, shown: Iterable[Point]) -> list[Point]:
        """The places of pairs of values that the axes can show."""
        up, scaled, place = self.up.scale, self.up.unit.of, self.place
        return [(self.x(x), place.bottom + up(scaled(y)) * place.height) for x, y in shown]

    def repeats(
        self, curves: Sequence[Iterable[Point]], colour: str, width: float, line: str, alpha: float
    ) -> list[Point]:
        """Thin lines, or small marks where a curve has but one size; their ends."""
        shown = [flat(points) for points in map(self.points, curves) if points]
        lines = (points_of(points) for points in shown if len(points) > 2)
        self.page.lines(lines, colour, width, line, alpha, "repeats")
        if single := [point for points in shown if len(points) == 2 for point in points_of(points)]:
            self.page.marks(single, "stroke", colour, 7)
        return [(points[-2], points[-1]) for points in shown]

    def frame(self, title: str = "", room: float = 0.5) -> None:
        """The two axes' lines and a title above, which may be ``room`` inches wider than the panel."""
        corner, p = (self.place.left, self.place.bottom), self.place
        self.page.grid([[(p.left, p.top), corner, (p.right, p.bottom)]], GREY, 0.8)
        self.page.text(p.left, p.top + 0.11, title, size=9, room=p.width + room)

    def name_across(self, room: float = math.inf) -> None:
        """What the lower axis is, at most ``room`` inches wide."""
        middle, y = self.place.left + self.place.width / 2, self.place.bottom - 0.3
        self.page.text(middle, y, self.across.label, 8, align="center", room=room, tall=0.25)

    def across_ticks(self, ticks: Sequence[tuple[float, str]], named: bool = True) -> None:
        """Grid lines from the lower side at values in the axis' unit, with their names below."""
        p = self.place
        places = [p.left + self.across.scale(value) * p.width for value, _ in ticks]
        self.page.grid([[(x, p.bottom), (x, p.top)] for x in places])
        for x, (_, text) in zip(places, ticks, strict=True):
            if named:
                self.page.text(x, p.bottom - 0.06, text, size=_LABEL, align="center", upright="top")

    def value_ticks(self, room: float = 0.3) -> None:
        """Grid lines from the lower side at round values, ``room`` inches for each name."""
        ticks = self.across.scale.ticks(max(2, int(self.place.width / room)))
        self.across_ticks([(tick, plain(tick)) for tick in ticks])

    def up_ticks(self, named: bool = True) -> None:
        """Grid lines from the left side, with their names beside."""
        p = self.place
        values = self.up.scale.ticks()
        places = [p.bottom + self.up.scale(value) * p.height for value in values]
        self.page.grid([[(p.left, y), (p.right, y)] for y in places])
        for y, value in zip(places, values, strict=True):
            if named:
                self.page.text(p.left - 0.06, y, plain(value), size=_LABEL, align="right")

    def name_ends(self, ends: Sequence[End], room: float) -> None:
        """Names at the right of lines, ``room`` inches at most, moved apart where they would overlap."""
        ordered = sorted(ends, key=lambda end: end.y)
        heights = spread([end.y for end in ordered], _END_GAP, self.place.top)
        left = self.place.right + 0.16
        for end, height in zip(ordered, heights, strict=True):
            self.page.lines([[(end.x + 0.02, end.y), (left - 0.02, height)]], end.colour, 0.6)
            beside = room - 0.18
            self.page.text(left, height, end.label, _LABEL, end.colour, bold=True, room=beside, tall=_END_GAP)


class Legend:
    """What swatches mean: labels in their inks beside each other, in as many lines as they need (inches)."""

    PITCH = 0.2  # of lines
    _LONGEST = 3.0  # label

    def __init__(self, inks: Mapping[str, str], swatch: float, left: float) -> None:
        self.swatch = swatch
        self.entries: list[tuple[str, str, float, int]] = []  # with place from the left, and line
        x, down = left, 0
        for label, ink in inks.items():
            width = swatch + widest([label], self._LONGEST, _SIZE) + 0.3
            if x + width > WIDTH and x > left:
                x, down = left, down + 1
            self.entries.append((label, ink, x, down))
            x += width
        self.height = (down + 1) * self.PITCH if inks else 0.0

    def draw(self, page: Page, top: float) -> Iterator[tuple[str, Point]]:
        """Write the labels below ``top``; the labels with the places of their swatches."""
        for label, ink, x, down in self.entries:
            y = top - 0.14 - down * self.PITCH
            page.text(x + self.swatch, y, label, _SIZE, ink, room=self._LONGEST)
            yield label, (x, y)


class PanelGrid(NamedTuple):
    """Where panels of one size lie on a page, ``across`` in a row, and how high the page is."""

    height: float
    across: int
    places: tuple[Area, ...]

    def lowest(self, index: int) -> bool:
        """Whether no panel is below this one."""
        return index + self.across >= len(self.places)

    def first(self, index: int) -> bool:
        """Whether the panel is at the left."""
        return index % self.across == 0


def panel_grid(
    count: int, across: int, panel_height: float, room: float, own_scales: bool = False, below: float = 0.0
) -> PanelGrid:
    """Places for so many panels.

    Parameters
    ----------
    panel_height : of the panels themselves (inches), without title
    room : for names at the right of each (inches)
    own_scales : whether each has its own scale at the left, named there
    below : what else stands at the foot of the page (inches)
    """
    down = -(-count // across)
    left, above, foot = 0.72, 0.34, 0.5 + below
    inner = 0.5 if own_scales else 0.06
    width = (WIDTH - left - 0.05 - (across - 1) * inner) / across - room
    height = foot + above + down * (panel_height + _BETWEEN) - _BETWEEN + (0.16 if count % across else 0.0)
    places = []
    for index in range(count):
        x = left + (index % across) * (width + room + inner)
        top = height - above - (index // across) * (panel_height + _BETWEEN)
        places.append(Area(x, top - panel_height, width, panel_height))
    return PanelGrid(height, across, tuple(places))


def size_panels(page: Page, grid: PanelGrid, chart: CurveChart) -> list[Panel]:
    """The empty panels of a chart over message size, with what both axes are.

    Where the panels have unlike axes, the title of each names the unit.
    """
    labels = {part.up.label for part in chart.panels}
    panels = []
    for index, (part, place) in enumerate(zip(chart.panels, grid.places, strict=True)):
        panel = Panel(page, place, chart.across, part.up)
        scale, most = chart.across.scale, max(4, int(place.width / 0.55))
        ticks = [(tick, plain(tick)) for tick in chart.ticks[:: max(1, -(-len(chart.ticks) // most))]]
        panel.across_ticks(ticks or size_ticks(scale.low, scale.high, most), named=grid.lowest(index))
        panel.up_ticks(named=chart.own_scales or grid.first(index))
        panel.frame(part.title if len(labels) == 1 else _with_unit(part))
        if grid.lowest(index):
            panel.name_across()
        panels.append(panel)
    middle = (grid.places[-1].bottom + grid.places[0].top) / 2
    if len(labels) == 1:
        page.text(0.14, middle, labels.pop(), size=9, align="center", turned=True)
    return panels


def _with_unit(part: CurvePanel) -> str:
    return f"{part.title} ({part.up.unit.name})" if part.up.unit.name else part.title
