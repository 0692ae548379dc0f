"""A page on which figures are drawn, and how it is written as SVG, PNG and PDF.

All places are inches from the lower left corner, and lines and texts are put there directly: matplotlib's own
axes measure and place their ticks and labels anew each time that a figure is written, which took more than
half of the time of a figure.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.show.charts.looks import GREY, INK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WIDTH = 7.4  # the width of a printed page
FORMATS = ("svg", "png", "pdf")
_DOTS_PER_INCH = 160
_TITLE = 0.34  # what the title takes at the top
KEY = 0.2  # what the key takes at the foot
_PATH = re.compile(rb' d="([^"]*)"')
_LONG_NUMBER = re.compile(rb"(\.\d\d)\d+")

# Over matplotlib's defaults, never over a person's own settings: the same bytes for everybody.
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "text.parse_math": False,  # a name with dollar signs is no formula
    "text.usetex": False,
    "svg.hashsalt": "mpicampaign",
    "svg.fonttype": "path",
    "pdf.fonttype": 3,  # 42 takes 0.3 s more for each figure
}

# What the names of line styles and markers are for matplotlib.
_DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (5, 1.5)), "dotted": (0, (1.5, 1.2))}
_DASHES |= {"dashdot": (0, (5, 1.5, 1.2, 1.5))}
_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "inverted_triangle": "v"}
_MARKERS |= {"plus": "P", "x": "X", "cross": "x", "stroke": "_"}

# Where a name may go on in the next line
_BREAKS = re.compile(r"(?<=[\s\-/_,;:.=+@])")
_SPACING = 1.1  # of lines, of the size of their letters
_LINE = 0.17  # what a line of text takes (inches)
_SMALLEST = 3.0  # printer's points

Point = tuple[float, float]


class Place(NamedTuple):
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


class Page:
    """An empty figure with a title; ``height`` is what is below the title."""

    def __init__(self, height: float, title: str) -> None:
        from matplotlib.figure import Figure

        self.height = height
        self.title = title
        self._figure = Figure(figsize=(WIDTH, height + _TITLE), facecolor="white")
        self._order = 1
        self.text(
            0.1, height + 0.14, title, size=11, bold=True, upright="center", room=WIDTH - 0.2, tall=_TITLE
        )

    def lines(
        self,
        lines: Sequence[Sequence[Point]],
        colour: Any,
        width: float,
        line: str = "solid",
        alpha: float = 1.0,
        name: str | None = None,
    ) -> None:
        """Lines through points, all of one look; ``colour`` may be a sequence with one for each.

        ``name``: how the group of these lines is named in the SVG, with a number behind.
        """
        from matplotlib.collections import LineCollection

        drawn = LineCollection(
            [list(each) for each in lines],
            colors=colour,
            linewidths=width,
            linestyles=[_DASHES[line]],
            alpha=alpha,
        )
        order = self._next()
        drawn.set(zorder=order, gid=f"{name}-{order}" if name else None, capstyle="butt")
        self._add(drawn)

    def marks(
        self, points: Sequence[Point], marker: str, colour: str, size: float, hollow: bool = False
    ) -> None:
        """A marker at each point; ``size`` in printer's points."""
        from matplotlib.lines import Line2D

        face = "white" if hollow else colour
        xs, ys = [x for x, _ in points], [y for _, y in points]
        drawn = Line2D(
            xs, ys, linestyle="", marker=_MARKERS[marker], color=colour, markerfacecolor=face, markersize=size
        )
        drawn.set(zorder=self._next())
        self._add(drawn)

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
        text, size = fitted(text, room, tall, size, bold)
        several = "\n" in text
        self._figure.text(
            x,
            y,
            text,
            linespacing=_SPACING,
            fontsize=size,
            color=colour,
            ha=align,
            va="center" if several else upright,
            multialignment=align,
            weight="bold" if bold else "normal",
            rotation=90 if turned else 0,
            rotation_mode="anchor",
            zorder=self._next(),
            transform=self._figure.dpi_scale_trans,
        )

    def key(self, text: str) -> None:
        """What the marks mean, at the foot: the file may be shown without its caption."""
        self.text(0.1, 0.1, text, 7, GREY, room=WIDTH - 0.2)

    def box(self, place: Place, colour: str) -> None:
        """A filled box with a white edge."""
        from matplotlib.patches import Rectangle

        corner = (place.left, place.bottom)
        box = Rectangle(corner, place.width, place.height, facecolor=colour)
        box.set(zorder=self._next(), edgecolor="white", linewidth=1)
        self._add(box)

    def boxes(self, places: Sequence[Place], colours: Sequence[str]) -> None:
        """Filled boxes without edges, each of its own colour; those of one colour are one path."""
        from matplotlib.collections import PathCollection
        from matplotlib.path import Path as Drawn

        alike = grouped(zip(colours, places, strict=True), lambda pair: pair[0])
        paths = [
            Drawn.make_compound_path(*(Drawn(_corners(place), closed=True) for _, place in pairs))
            for pairs in alike.values()
        ]
        boxes = PathCollection(paths, facecolors=list(alike), edgecolors="none", antialiaseds=False)
        boxes.set(zorder=self._next())
        self._add(boxes)

    def write_file(self, path: Path) -> None:
        """Write one file, in the format of its name's ending: the same bytes whenever the same was drawn."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.backends.backend_pdf import FigureCanvasPdf
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        # Not savefig, which draws everything a second time before, to lay out what is fixed here.
        canvas: Any
        match path.suffix:
            case ".svg":
                dates: dict[str, Any] = {"Date": None, "Creator": None, "Title": self.title}
                canvas = FigureCanvasSVG(self._figure)
                canvas.print_svg(path, metadata=dates)
                path.write_bytes(_PATH.sub(_shortened, path.read_bytes()))
            case ".png":
                self._figure.set_dpi(_DOTS_PER_INCH)
                canvas = FigureCanvasAgg(self._figure)
                canvas.print_png(path, metadata={"Software": None})
            case _:
                nothing: dict[str, Any] = {"CreationDate": None, "Producer": None, "Creator": None}
                canvas = FigureCanvasPdf(self._figure)
                canvas.print_pdf(path, metadata={**nothing, "Title": self.title})

    def _add(self, artist: Any) -> None:
        artist.set_transform(self._figure.dpi_scale_trans)  # its places are inches
        self._figure.add_artist(artist)

    def _next(self) -> int:
        """What is drawn later lies above."""
        self._order += 1
        return self._order


def _corners(place: Place) -> list[Point]:
    """The corners of a box, the first one again at the end."""
    left, bottom, right, top = place.left, place.bottom, place.right, place.top
    return [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)]


def _shortened(path: re.Match[bytes]) -> bytes:
    """A path of an SVG with two decimals, hundredths of a printer's point, instead of six."""
    return b' d="' + _LONG_NUMBER.sub(rb"\1", path[1]) + b'"'


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """How wide the text is (inches)."""
    from matplotlib.font_manager import FontProperties, findfont, get_font
    from matplotlib.ft2font import LoadFlags

    weight = "bold" if bold else "normal"
    font = get_font(findfont(FontProperties(family=STYLE["font.family"], weight=weight)))
    font.set_size(size, 72)
    font.set_text(text, 0.0, flags=LoadFlags.NO_HINTING)
    return float(font.get_width_height()[0]) / 64 / 72


@lru_cache(maxsize=4096)
def fitted(text: str, room: float, tall: float, size: float, bold: bool = False) -> tuple[str, float]:
    """The text in as many lines as it needs, and their size in printer's points.

    A name is never cut: what does not fit in ``room`` × ``tall`` (inches) is broken at signs between words,
    and set smaller. Only a text that would be illegibly small ends in an ellipsis.
    """
    if room == math.inf or width_of(text, size, bold) <= room:
        return text, size
    while True:
        lines = _broken(text, room, size, bold)
        most = max(1, int(tall / (size * _SPACING / 72)))
        if len(lines) <= most:
            return "\n".join(lines), size
        if size <= _SMALLEST:
            return "\n".join([*lines[: most - 1], lines[most - 1][:-1] + "…"]), size
        size = max(_SMALLEST, size * 0.93)


def _broken(text: str, room: float, size: float, bold: bool) -> list[str]:
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
