"""Pages painted by matplotlib, as PNG and PDF.

Lines and texts are put at their places directly: matplotlib's own axes measure and place their ticks and
labels anew each time that a figure is written, which took more than half of the time of a figure.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mpicampaign.grouping import grouped
from mpicampaign.show.figures.page import SPACING, Lines, Marks, Rectangles, Writing
from mpicampaign.show.figures.text_width import FONT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from mpicampaign.show.figures.page import Page, Place, Point

_DOTS_PER_INCH = 160

# Over matplotlib's defaults, never over a person's own settings: the same bytes for everybody.
_STYLE: dict[Any, Any] = {
    "font.family": FONT,
    "text.parse_math": False,  # a name with dollar signs is no formula
    "text.usetex": False,
    "pdf.fonttype": 3,  # 42 takes 0.3 s more for each figure
}

# What the names of line styles and markers are for matplotlib.
_DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (5, 1.5)), "dotted": (0, (1.5, 1.2))}
_DASHES |= {"dashdot": (0, (5, 1.5, 1.2, 1.5))}
_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "inverted_triangle": "v"}
_MARKERS |= {"plus": "P", "x": "X", "cross": "x", "stroke": "_"}


def paint_file(page: Page, path: Path) -> None:
    """Write a PNG or a PDF: the same bytes whenever the same was drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    # Not savefig, which draws everything a second time before, to lay out what is fixed here.
    canvas: Any  # matplotlib has no types for its writing
    with _plain_style():
        figure = painted(page)
        if path.suffix == ".png":
            figure.set_dpi(_DOTS_PER_INCH)
            canvas = FigureCanvasAgg(figure)
            canvas.print_png(path, metadata={"Software": None})
        else:
            nothing: dict[str, Any] = {"CreationDate": None, "Producer": None, "Creator": None}
            canvas = FigureCanvasPdf(figure)
            canvas.print_pdf(path, metadata={**nothing, "Title": page.title})


@contextmanager
def _plain_style() -> Iterator[None]:
    """Our style over matplotlib's defaults, whatever this machine's settings are."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box replaces it; the caption has the name
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def painted(page: Page) -> Figure:
    """The page as a figure of matplotlib's."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(page.width, page.whole_height), facecolor="white")
    for order, each in enumerate(page.drawn, 1):
        if isinstance(each, Writing):
            _write(figure, each, order)
            continue
        artist = _artist(each)
        artist.set(zorder=order, transform=figure.dpi_scale_trans)  # its places are inches
        figure.add_artist(artist)
    return figure


def _write(figure: Figure, text: Writing, order: int) -> None:
    figure.text(
        text.x,
        text.y,
        text.text,
        linespacing=SPACING,
        fontsize=text.size,
        color=text.colour,
        ha=text.align,
        va=text.upright,
        multialignment=text.align,
        weight="bold" if text.bold else "normal",
        rotation=90 if text.turned else 0,
        rotation_mode="anchor",
        zorder=order,
        transform=figure.dpi_scale_trans,
    )


def _artist(drawn: Lines | Marks | Rectangles) -> Artist:
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.path import Path as Drawn

    match drawn:
        case Lines(lines, colours, width, line, alpha):
            look: dict[str, Any] = {"linewidths": width, "linestyles": [_DASHES[line]], "alpha": alpha}
            return LineCollection([list(each) for each in lines], colors=colours, capstyle="butt", **look)
        case Marks(points, marker, colour, size, hollow):
            xs, ys = [x for x, _ in points], [y for _, y in points]
            look = {"markersize": size, "markerfacecolor": "white" if hollow else colour}
            return Line2D(xs, ys, linestyle="", marker=_MARKERS[marker], color=colour, **look)
        case Rectangles(places, colours):
            alike = grouped(zip(colours, places, strict=True), lambda pair: pair[0])
            paths = [
                Drawn.make_compound_path(*(Drawn(_corners(place), closed=True) for _, place in pairs))
                for pairs in alike.values()
            ]
            return PathCollection(paths, facecolors=list(alike), edgecolors="none", antialiaseds=False)


def _corners(place: Place) -> list[Point]:
    """The corners of a box, the first one again at the end."""
    left, bottom, right, top = place.left, place.bottom, place.right, place.top
    return [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)]
