"""Scales, ticks, and panels: parts of a page with two scales, a grid and names at the ends of lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.show.figures.page import WIDTH, Place, Point, fitting, spread
from mpicampaign.show.figures.style import GREY, PALE
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.show.figures.page import Page

_TICKS = 6  # at most so many are named, or two more
_LABEL = 7.5
_END_GAP = 0.125  # inches between names at the ends of lines


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to 0 to 1, linear or logarithmic."""

    low: float
    high: float
    logarithmic: bool = True

    def __call__(self, value: float) -> float:
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def shows(self, value: float) -> bool:
        """Whether the value has a place: zero has none on a logarithmic scale."""
        return value > 0 or not self.logarithmic

    def ticks(self) -> list[float]:
        """Round values: powers of ten, with 2 and 5 between them where there are few."""
        if not self.logarithmic:
            return _round_steps(self.low, self.high)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        factors: tuple[float, ...]
        for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
            found = [f * 10.0**power for power in powers for f in factors]
            found = [tick for tick in found if self.low <= tick <= self.high]
            if len(found) >= 3:
                return found[:: -(-len(found) // (_TICKS + 2))]
        return _round_steps(self.low, self.high)


def scale_for(values: Iterable[float], logarithmic: bool | None = None) -> Scale | None:
    """A scale that holds the values; ``None`` where no value can be shown.

    Parameters
    ----------
    logarithmic : ``None``: where the largest is at least ten times the smallest; a linear one begins at 0.
    """
    values = list(values)
    positive = [value for value in values if value > 0]
    if not positive:
        return Scale(0.0, 1.0, logarithmic=False) if values and not logarithmic else None
    low, high = min(positive), max(positive)
    if logarithmic or (logarithmic is None and high >= 10 * low):
        room = max((high / low) ** 0.06, 1.15)
        return Scale(low / room, high * room)
    return Scale(0.0, high * 1.05, logarithmic=False)


def size_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Message sizes to name: powers of two, apart by the same factor."""
    powers = [power for power in range(63) if low <= 2**power <= high]
    step = max(1, -(-len(powers) // most))
    return [(2.0**power, format_size(2**power)) for power in powers[::step]]


def plain(value: float) -> str:
    """A tick as people write it: 1000, not 10^3."""
    return f"{value:.0f}" if value >= 100 else f"{value:.6g}"


def _round_steps(low: float, high: float) -> list[float]:
    raw = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


class End(NamedTuple):
    """Where a line ends (inches), and how it is named there."""

    x: float
    y: float
    label: str
    colour: str


class Panel:
    """A part of a page with a scale along each side."""

    def __init__(self, page: Page, place: Place, across: Scale, up: Scale) -> None:
        self.page = page
        self.place = place
        self.across = across
        self.up = up

    def at(self, x: float, y: float) -> Point:
        """The place on the page of a pair of values."""
        return self.x(x), self.place.bottom + self.up(y) * self.place.height

    def x(self, value: float) -> float:
        """The place on the page of a value along the lower side."""
        return self.place.left + self.across(value) * self.place.width

    def points(self, pairs: Iterable[Point]) -> list[Point]:
        """The places of those pairs that the scales can show."""
        return [self.at(x, y) for x, y in pairs if self.across.shows(x) and self.up.shows(y)]

    def repeats(
        self, curves: Sequence[Sequence[Point]], colour: str, width: float, dash: Any, alpha: float
    ) -> list[Point]:
        """Thin lines, or small marks where a curve has but one size; their ends."""
        shown = [points for points in (self.points(curve) for curve in curves) if points]
        lines = [points for points in shown if len(points) > 1]
        self.page.lines(lines, colour, width, dash, alpha, "repeats")
        single = [points[0] for points in shown if len(points) == 1]
        if single:
            self.page.marks(single, "_", colour, 7)
        return [points[-1] for points in shown]

    def frame(self, title: str = "") -> None:
        """The two axes' lines and a title above."""
        corner, p = (self.place.left, self.place.bottom), self.place
        self.page.lines([[(p.left, p.top), corner, (p.right, p.bottom)]], GREY, 0.8)
        words = fitting(title, p.width + 0.5, 9)
        self.page.words(p.left, p.top + 0.11, words, size=9)

    def across_ticks(self, ticks: Sequence[tuple[float, str]], named: bool = True) -> None:
        """Grid lines from the lower side, with their names below."""
        p = self.place
        places = [self.x(value) for value, _ in ticks]
        self.page.lines([[(x, p.bottom), (x, p.top)] for x in places], PALE, 0.6)
        for x, (_, words) in zip(places, ticks, strict=True):
            if named:
                self.page.words(x, p.bottom - 0.06, words, size=_LABEL, align="center", upright="top")

    def up_ticks(self, named: bool = True) -> None:
        """Grid lines from the left side, with their names beside."""
        p = self.place
        values = self.up.ticks()
        places = [p.bottom + self.up(value) * p.height for value in values]
        self.page.lines([[(p.left, y), (p.right, y)] for y in places], PALE, 0.6)
        for y, value in zip(places, values, strict=True):
            if named:
                self.page.words(p.left - 0.06, y, plain(value), size=_LABEL, align="right")

    def name_ends(self, ends: Sequence[End], room: float) -> None:
        """Names at the right of lines, ``room`` inches at most, moved apart where they would overlap."""
        ordered = sorted(ends, key=lambda end: end.y)
        heights = spread([end.y for end in ordered], _END_GAP, self.place.top)
        left = self.place.right + 0.16
        for end, height in zip(ordered, heights, strict=True):
            self.page.lines([[(end.x + 0.02, end.y), (left - 0.02, height)]], end.colour, 0.6)
            words = fitting(end.label, room - 0.18, _LABEL, bold=True)
            self.page.words(left, height, words, size=_LABEL, colour=end.colour, bold=True)


class Grid(NamedTuple):
    """Where panels of one size lie on a page, ``across`` in a row, and how high the page is."""

    height: float
    across: int
    places: tuple[Place, ...]

    def lowest(self, index: int) -> bool:
        """Whether no panel is below this one."""
        return index + self.across >= len(self.places)

    def first(self, index: int) -> bool:
        """Whether the panel is at the left."""
        return index % self.across == 0


def panel_grid(
    count: int, across: int, panel_height: float, room: float, own_scales: bool = False, below: float = 0.0
) -> Grid:
    """Places for so many panels.

    Parameters
    ----------
    panel_height : of the panels themselves (inches), without title
    room : for names at the right of each (inches)
    own_scales : whether each has its own scale at the left, named there
    below : what else stands at the foot of the page (inches)
    """
    down = -(-count // across)
    left, gap_up, foot = 0.72, 0.34, 0.5 + below
    inner = 0.5 if own_scales else 0.06
    width = (WIDTH - left - 0.05 - (across - 1) * inner) / across - room
    height = foot + down * (panel_height + gap_up) + (0.16 if count % across else 0.0)
    places = []
    for index in range(count):
        x = left + (index % across) * (width + room + inner)
        top = height - gap_up - (index // across) * (panel_height + gap_up)
        places.append(Place(x, top - panel_height, width, panel_height))
    return Grid(height, across, tuple(places))


def size_panels(
    page: Page,
    grid: Grid,
    titles: Sequence[str],
    across: Scale,
    up: Callable[[int], Scale],
    words: tuple[str, str],
    own_scales: bool = False,
) -> list[Panel]:
    """Panels over message size; ``up``: the other scale of each, ``words``: what both sides are."""
    panels = []
    for index, (title, place) in enumerate(zip(titles, grid.places, strict=True)):
        panel = Panel(page, place, across, up(index))
        most = max(4, int(place.width / 0.55))
        panel.across_ticks(size_ticks(across.low, across.high, most), named=grid.lowest(index))
        panel.up_ticks(named=own_scales or grid.first(index))
        panel.frame(title)
        if grid.lowest(index):
            middle = place.left + place.width / 2
            page.words(middle, place.bottom - 0.3, words[0], size=8, align="center")
        panels.append(panel)
    lowest, highest = grid.places[-1].bottom, grid.places[0].top
    middle = (lowest + highest) / 2
    page.words(0.14, middle, words[1], size=9, align="center", turned=True)
    return panels
