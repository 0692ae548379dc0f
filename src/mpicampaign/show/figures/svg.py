"""Pages as SVG, for files and for the report: text stays text, places have a tenth of a printer's point.

A report holds dozens of them, so they are short: what looks the same is drawn together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby, pairwise
from typing import Any, TypeVar

from markupsafe import Markup

from mpicampaign.base.grouping import grouped
from mpicampaign.show.figures.page import (
    GRID,
    SPACING,
    Area,
    Drawn,
    Lines,
    Marks,
    Page,
    Point,
    Rectangles,
    Writing,
    points_of,
)
from mpicampaign.show.figures.text_width import FONT
from mpicampaign.show.writers.html import element

T = TypeVar("T")

_DASHES = {"dashed": (5, 1.5), "dotted": (1.5, 1.2), "dashdot": (5, 1.5, 1.2, 1.5)}  # in widths of the line
# Markers 10 wide and high: from their middle to the first corner, then from corner to corner.
_MARKERS: dict[str, tuple[Point, ...]] = {
    "square": ((-5, -5), (10, 0), (0, 10), (-10, 0)),
    "triangle": ((0, -5), (5, 10), (-10, 0)),
    "inverted_triangle": ((0, 5), (5, -10), (-10, 0)),
    "diamond": ((0, -7), (7, 7), (-7, 7), (-7, -7)),
    "plus": (
        *((-2, -5), (4, 0), (0, 3), (3, 0), (0, 4), (-3, 0)),
        *((0, 3), (-4, 0), (0, -3), (-3, 0), (0, -4), (3, 0)),
    ),
    "x": (
        *((-5, -2), (3, -3), (2, 2), (2, -2), (3, 3), (-2, 2)),
        *((2, 2), (-3, 3), (-2, -2), (-2, 2), (-3, -3), (2, -2)),
    ),
    "cross": ((-5, -5), (10, 10), (-5, -5), (-5, 5), (10, -10)),
    "stroke": ((-5, 0), (10, 0)),
}
_ANCHORS = {"center": "middle", "right": "end"}
_DROPS = {"center_baseline": 0.36, "center": 0.36, "top": 0.76, "bottom": -0.24}  # of a baseline, in sizes


def svg_file(page: Page, drawn: Markup) -> str:
    """The page as a file of its own; ``drawn``: what is on it, see `drawing`."""
    size = {"width": f"{page.width * 72:.1f}pt", "height": f"{page.whole_height * 72:.1f}pt"}
    white = element("path", d="M0 0h9999v9999H0z", fill="white")
    inner = element("title", page.title) + white + drawn + Markup().join(_drawn(page, page.heading))
    return svg(page, inner, titled=True, xmlns="http://www.w3.org/2000/svg", **size) + "\n"


def svg(page: Page, inner: Markup, *, titled: bool = False, **attributes: str | float) -> Markup:
    """An element of the page's size; ``titled``: with the room of its title."""
    top = 0.0 if titled else page.whole_height - page.height
    box = f"0 {top * 72:.3g} {page.width * 72:.1f} {(page.whole_height - top) * 72:.1f}"
    fonts = f"{FONT},Verdana,Arial,sans-serif"
    return element("svg", inner, viewBox=box, font_family=fonts, fill="none", **attributes)


def drawing(page: Page) -> Markup:
    """All that is drawn on the page: grids below, texts above, and of these those of one look together."""
    looks = grouped(sorted(page.drawn, key=_layer), _look).values()
    return Markup().join(part for alike in looks for part in _drawn(page, alike))


def _layer(drawn: Drawn) -> int:
    return 2 if isinstance(drawn, Writing) else 0 if isinstance(drawn, Lines) and drawn.name == GRID else 1


def _look(drawn: Drawn) -> object:
    match drawn:
        case Writing():
            return drawn.size, drawn.colour, drawn.align, drawn.bold, drawn.turned
        case Lines(name=name) if name == GRID:
            return drawn.width
    return id(drawn)


def _drawn(page: Page, alike: Sequence[Drawn]) -> Iterator[Markup]:
    match alike[0]:
        case Writing(size=size, colour=colour, align=align, bold=bold, turned=turned):
            texts = Markup().join(_text(page, text) for text in alike if isinstance(text, Writing))
            look: dict[str, Any] = {"fill": colour, "text_anchor": _ANCHORS.get(align)}
            look |= {"font_weight": "bold" if bold else None, "transform": "rotate(-90)" if turned else None}
            yield element("g", texts, font_size=f"{size:.3g}", **look)
        case Lines(_, _, width, style, alpha):
            drawn = [each for each in alike if isinstance(each, Lines)]
            colours = [colour for each in drawn for colour in each.colours]
            lines = [line for each in drawn for line in each.lines]
            for colour, of_colour in _by_colour(colours, lines).items():
                text = Markup("".join(path_of(page, points_of(line)) for line in of_colour))  # else cached
                look = {"stroke": colour, "stroke_dasharray": dashes(style, width)}
                opacity = None if alpha == 1 else alpha
                yield element("path", d=text, stroke_width=f"{width:.3g}", stroke_opacity=opacity, **look)
        case Marks(points, "circle", colour, size, hollow):  # the round ends of lines without length
            path = "".join(path_of(page, [point]) for point in points)
            for stroke, width in ((colour, size + 1), ("white", size - 1))[: 1 + hollow]:
                yield element("path", d=path, stroke=stroke, stroke_width=width, stroke_linecap="round")
        case Marks(points, marker, colour, size, hollow):
            path = "".join(
                f"M{_numbers(place)}{marker_path(marker, size)}" for place in _places(page, points)
            )
            yield element("path", d=path, stroke=colour, fill="white" if hollow else colour)
        case Rectangles(places, colours):
            for colour, boxes in _by_colour(colours, places).items():
                path = "".join(_box(page, box) for box in boxes)
                yield element("path", d=path, fill=colour, shape_rendering="crispEdges")


def _by_colour(colours: Sequence[str], shapes: Sequence[T]) -> dict[str, list[T]]:
    pairs = grouped(zip(colours, shapes, strict=True), lambda pair: pair[0])
    return {colour: [shape for _, shape in of_colour] for colour, of_colour in pairs.items()}


def _box(page: Page, place: Area) -> str:
    corners = [(place.left, place.bottom), (place.left, place.top), (place.right, place.top)]
    return path_of(page, [*corners, (place.right, place.bottom)]) + "z"


def _text(page: Page, text: Writing) -> Markup:
    """An element for each line of the text; those of turned texts lie on a turned page."""
    x, y = (place / 10 for place in _places(page, [(text.x, text.y)])[0])
    x, y = (-y, x) if text.turned else (x, y)
    lines = text.text.split("\n")
    first = y + text.size * (_DROPS[text.upright] - (len(lines) - 1) / 2 * SPACING)
    return Markup().join(
        element("text", line, x=f"{x:g}", y=f"{first + number * text.size * SPACING:.1f}")
        for number, line in enumerate(lines)
    )


def path_of(page: Page, line: Iterable[Point]) -> str:
    """A path through points of the page; one alone is a line without length."""
    places = _places(page, line)
    steps = [(x - left, y - above) for (left, above), (x, y) in pairwise(places)] or [(0, 0)]
    parts = (
        command + _numbers(chain.from_iterable(alike) if command == "l" else map(sum, alike))
        for command, alike in groupby(steps, _command)
    )
    return f"M{_numbers(places[0])}{''.join(parts)}"


def _command(step: tuple[int, int]) -> str:
    """A path's command: horizontal and vertical lines are written shorter."""
    x, y = step
    return "l" if bool(x) == bool(y) else "h" if x else "v"


def dashes(line: str, width: float) -> str:
    """The lengths of a style's dashes and gaps; none where it has none."""
    return " ".join(f"{length * width:.3g}" for length in _DASHES.get(line, ()))


def marker_path(marker: str, size: float) -> str:
    """A marker around the place where the path is."""
    if marker == "circle":
        r, d = f"{size / 2:.3g}", f"{size:.3g}"
        return f"m-{r} 0a{r} {r} 0 1 0 {d} 0 {r} {r} 0 1 0-{d} 0z"
    corners = (round(number * size) for corner in _MARKERS[marker] for number in corner)
    end = "" if marker in ("cross", "stroke") else "z"
    return f"m{_numbers(corners)}{end}"


def _places(page: Page, points: Iterable[Point]) -> list[tuple[int, int]]:
    """Tenths of printer's points from the upper left corner."""
    height = page.whole_height
    return [(round(x * 720), round((height - y) * 720)) for x, y in points]


def _numbers(tenths: Iterable[int]) -> str:
    """Tenths as numbers of a path."""
    return " ".join(map(_number, tenths)).replace(" -", "-")


@cache  # a page has few places
def _number(tenths: int) -> str:
    text = f"{tenths / 10:g}"
    return text.replace("0.", ".") if abs(tenths) < 10 else text
