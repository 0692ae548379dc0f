"""A page on which figures are drawn, and how it is written as SVG, PNG and PDF.

All places are inches from the lower left corner, and lines and texts are put there directly: matplotlib's own
axes measure and place their ticks and labels anew each time that a figure is written, which took more than
half of the time of a figure.
"""

from __future__ import annotations

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
        shown = fitting(title, WIDTH - 0.2, 11, bold=True)
        self.text(0.1, height + 0.12, shown, size=11, bold=True, upright="center")

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
    ) -> None:
        """Text at a place, which is its left, centre or right end."""
        self._figure.text(
            x,
            y,
            text,
            fontsize=size,
            color=colour,
            ha=align,
            va=upright,
            weight="bold" if bold else "normal",
            rotation=90 if turned else 0,
            rotation_mode="anchor",
            zorder=self._next(),
            transform=self._figure.dpi_scale_trans,
        )

    def key(self, text: str) -> None:
        """What the marks mean, at the foot: the file may be shown without its caption."""
        self.text(0.1, 0.09, fitting(text, WIDTH - 0.2, 7), 7, GREY)

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


def fitting(text: str, width: float, size: float, bold: bool = False) -> str:
    """The text; where it is wider than ``width`` inches, an ellipsis replaces its middle.

    Long names of one campaign often differ at their ends only.
    """
    if width_of(text, size, bold) <= width:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        kept = (fits + too_long) // 2
        narrow = width_of(_without_middle(text, kept), size, bold) <= width
        fits, too_long = (kept, too_long) if narrow else (fits, kept)
    return _without_middle(text, fits)


def _without_middle(text: str, kept: int) -> str:
    head = -(-kept // 2)
    return text[:head] + "…" + text[len(text) - (kept - head) :]


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
