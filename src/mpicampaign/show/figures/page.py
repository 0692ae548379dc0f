"""A page on which figures are drawn: lines, marks, texts and boxes at their places.

All places are inches from the lower left corner. `svg` and `painted` make files of it, and the report its
pictures: one drawing for all.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from mpicampaign.show.charts.looks import GREY, INK, PALE
from mpicampaign.show.figures.text_width import width_of

WIDTH = 7.4  # the width of a printed page
FORMATS = ("svg", "png", "pdf")
TITLE = 0.34  # what the title takes at the top
KEY = 0.2  # what the key takes at the foot
GRID = "grid"  # the name of lines below all others

# Where a name may go on in the next line
_BREAKS = re.compile(r"(?<=[\s\-/_,;:.=+@])")
SPACING = 1.1  # of lines, of the size of their letters
_LINE = 0.17  # what a line of text takes (inches)
_SMALLEST = 3.0  # printer's points

Point = tuple[float, float]


def flat(points: Iterable[Point]) -> array[float]:
    """x and y of each point: a fifth of the memory, where a figure has a million."""
    return array("d", chain.from_iterable(points))


def points_of(flat_points: array[float]) -> Iterator[Point]:
    """The inverse of `flat`."""
    return zip(flat_points[::2], flat_points[1::2], strict=True)


class Area(NamedTuple):
    """A part of the page: its lower left corner and its size."""

    left: float
    bottom: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def top(self) -> float:
        return self.bottom + self.height

    @property
    def middle(self) -> Point:
        return self.left + self.width / 2, self.bottom + self.height / 2


def outline(place: Area) -> list[Point]:
    """The four sides as one line."""
    left, bottom, right, top = place.left, place.bottom, place.right, place.top
    return [(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)]


class Lines(NamedTuple):
    """Lines through points, all of one look but for their colours; ``name``: what they show."""

    lines: tuple[array[float], ...]  # the points of each, flat
    colours: tuple[str, ...]  # of each line
    width: float
    line: str
    alpha: float
    name: str


class Marks(NamedTuple):
    """A marker at each point; ``size`` in printer's points."""

    points: tuple[Point, ...]
    marker: str
    colour: str
    size: float
    hollow: bool


class Writing(NamedTuple):
    """Text at a place, which is its left, centre or right end; ``size`` in printer's points."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    align: str
    upright: str
    bold: bool
    turned: bool


class Rectangles(NamedTuple):
    """Filled boxes without edges, each of its own colour."""

    places: tuple[Area, ...]
    colours: tuple[str, ...]


Drawn = Lines | Marks | Writing | Rectangles


class Page:
    """An empty figure; ``height`` is what is below the title, ``drawn`` what is on it: later ones above.

    ``heading``: the title, which files need; the report writes it in letters that wrap on a phone.
    """

    def __init__(self, height: float, title: str, width: float = WIDTH) -> None:
        self.height, self.width = height, width
        self.title = title
        self.drawn: list[Drawn] = []
        above, room = height + 0.14, width - 0.2
        self.text(0.1, above, title, 11, bold=True, upright="center", room=room, tall=TITLE)
        self.heading, self.drawn = self.drawn, []

    @property
    def whole_height(self) -> float:
        """The height of the panel with its title."""
        return self.height + (TITLE if self.title else 0.0)

    def lines(
        self,
        lines: Iterable[Iterable[Point]],
        colour: str | Sequence[str],
        width: float,
        line: str = "solid",
        alpha: float = 1.0,
        name: str = "",
    ) -> None:
        """Lines through points; ``colour`` may be a sequence with one for each, ``name`` what they show."""
        drawn = tuple(map(flat, lines))
        colours = (colour,) * len(drawn) if isinstance(colour, str) else tuple(colour)
        self.drawn.append(Lines(drawn, colours, width, line, alpha, name))

    def grid(self, lines: Sequence[Sequence[Point]], colour: str = PALE, width: float = 0.6) -> None:
        """Lines below all others: of a grid, an axis, or between groups."""
        self.lines(lines, colour, width, name=GRID)

    def marks(
        self, points: Sequence[Point], marker: str, colour: str, size: float, hollow: bool = False
    ) -> None:
        """A marker at each point; ``size`` in printer's points."""
        self.drawn.append(Marks(tuple(points), marker, colour, size, hollow))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 8,
        colour: str = INK,
        align: str = "left",
        upright: str = "center_baseline",
        bold: bool = False,
        turned: bool = False,
        room: float = math.inf,
        tall: float = _LINE,
    ) -> None:
        """Text at a place, which is its left, centre or right end.

        ``room``, ``tall``: how long and how high it may be (inches); a longer one is set in several lines, as
        small as it must be.
        """
        if not text:
            return
        text, size = fitted(text, room, tall, size, bold)
        upright = "center" if "\n" in text else upright
        self.drawn.append(Writing(x, y, text, size, colour, align, upright, bold, turned))

    def key(self, text: str) -> None:
        """What the marks mean, at the foot: the file may be shown without its caption."""
        self.text(0.1, 0.1, text, 7, GREY, room=self.width - 0.2)

    def rectangles(self, places: Sequence[Area], colours: Sequence[str]) -> None:
        """Filled boxes without edges, each of its own colour."""
        self.drawn.append(Rectangles(tuple(places), tuple(colours)))


@lru_cache(maxsize=4096)
def fitted(text: str, room: float, tall: float, size: float, bold: bool = False) -> tuple[str, float]:
    """The text in as many lines as it needs, and their size in printer's points.

    A name is never cut: what does not fit in ``room`` × ``tall`` (inches) is broken at signs between words,
    and set smaller. Only a text that would be illegibly small ends in an ellipsis.
    """
    if room == math.inf or width_of(text, size, bold) <= room:
        return text, size
    while True:
        lines = broken(text, room, size, bold)
        most = max(1, int(tall / (size * SPACING / 72)))
        if len(lines) <= most:
            return "\n".join(lines), size
        if size <= _SMALLEST:
            return "\n".join([*lines[: most - 1], lines[most - 1][:-1] + "…"]), size
        size = max(_SMALLEST, size * 0.93)


def broken(text: str, room: float, size: float, bold: bool) -> list[str]:
    """Lines of at most ``room`` inches, broken behind signs; a part that is wider anywhere."""
    lines, line, used = [], "", 0.0
    for part in _BREAKS.split(text):
        pieces = [part] if width_of(part, size, bold) <= room else list(part)
        for piece in pieces:
            width = width_of(piece, size, bold)
            if line and used + width > room:
                lines.append(line.rstrip())
                line, used = "", 0.0
            line, used = line + piece, used + width
    return [*lines, line.rstrip()]


def widest(texts: Sequence[str], limit: float, size: float, bold: bool = False) -> float:
    """The width of the widest, ``limit`` at most (inches)."""
    return min(limit, max((width_of(each, size, bold) for each in texts), default=0.0))


def spread(positions: Sequence[float], gap: float, top: float = 1.0) -> list[float]:
    """Ascending positions, moved until neighbours are ``gap`` apart and the last is at most ``top``."""
    placed: list[float] = []
    for position in positions:
        placed.append(max(position, placed[-1] + gap) if placed else position)
    limit = top
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - gap
    return placed
