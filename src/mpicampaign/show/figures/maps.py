"""Maps drawn, dark for slow: a box for each pair of ranks or nodes, or for each node of a machine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from mpicampaign.show.charts.looks import COLOURS, GREY, INK, SLOW, ink_on, shade
from mpicampaign.show.charts.model import CoreMap, NodeBox, NodeMap
from mpicampaign.show.figures.page import KEY, WIDTH, Area, Page, Point, outline, widest
from mpicampaign.show.figures.text_width import width_of

T = TypeVar("T")
_LARGEST_BOX = 0.5
_WITHOUT = "#f2f2f2"  # what has no value
_TEXT = 6.0


def _draw_scale(page: Page, left: float, y: float, ends: tuple[str, str], fractions: Sequence[float]) -> None:
    """Which colour is which value."""
    page.text(left, y + 0.06, ends[0], 7)
    left += width_of(ends[0], 7) + 0.1
    places = [Area(left + step * 0.05, y, 0.05, 0.12) for step in range(len(fractions))]
    page.rectangles(places, list(map(shade, fractions)))
    page.text(places[-1].right + 0.08, y + 0.06, ends[1], 7)


# Pairs: lines where parts of the machine and classes end

_LEFT, _ABOVE = 0.75, 0.62  # for the ranks' numbers and the lines beyond the map
_SHADES = 48  # boxes of one shade are one path in the file
_BORDER = COLOURS[4]  # between classes
_WIDTHS = {1: 0.7, 2: 1.5, 3: 2.6}  # of lines, by the part of the machine that ends there
_BEYOND = 0.09  # inches that a line goes beyond the map for each part that ends there
_PARTS = {1: "NUMA node", 2: "socket", 3: "node"}


def draw_core_map(chart: CoreMap) -> Page:
    """From the ranks at the left to those above."""
    count = len(chart.ranks)
    box = min(_LARGEST_BOX, (WIDTH - _LEFT - 0.15) / count)
    page = Page(_ABOVE + box * count + 0.35 + KEY, chart.title)
    field = Area(_LEFT, page.height - _ABOVE - box * count, box * count, box * count)
    places = {
        (down, across): Area(field.left + across * box, field.top - (down + 1) * box, box, box)
        for down in range(count)
        for across in range(count)
    }
    _draw_pairs(page, chart, places)
    _draw_parts(page, chart, field, box)
    page.lines(list(_borders(chart, places)), _BORDER, 1.1, name="classes")
    page.lines([_around(chart, places, key) for key in sorted(chart.marked)], SLOW, 1.3, name="slow")
    _draw_ranks(page, chart, field, box)
    ends = chart.worst, f"{chart.best} (by the logarithm)"
    _draw_scale(page, _LEFT, field.bottom - 0.26, ends, [step / 23 for step in range(24)])
    page.key(_key(chart))
    return page


def _known(lines: Sequence[Sequence[T | None]]) -> dict[tuple[int, int], T]:
    """What there is at each place: down, then across."""
    places = ((down, across, one) for down, line in enumerate(lines) for across, one in enumerate(line))
    return {(down, across): one for down, across, one in places if one is not None}


def _draw_pairs(page: Page, chart: CoreMap, places: dict[tuple[int, int], Area]) -> None:
    """The values' colours; their texts where all of them fit."""
    fields = _known(chart.fields)
    colours = {key: shade(round(field.fraction * _SHADES) / _SHADES) for key, field in fields.items()}
    page.rectangles(list(places.values()), [colours.get(key, _WITHOUT) for key in places])
    box = next(iter(places.values())).width
    if max(width_of(field.text, _TEXT) for field in fields.values()) > box - 0.04:
        return
    for key, field in fields.items():
        page.text(*places[key].middle, field.text, _TEXT, ink_on(colours[key]), align="center")


def _draw_parts(page: Page, chart: CoreMap, field: Area, box: float) -> None:
    """Lines between NUMA nodes, sockets and nodes, through the map and beyond."""
    for part, width in _WIDTHS.items():
        beyond = part * _BEYOND
        lines: list[list[Point]] = []
        for place in (place for place, ends in chart.edges.items() if ends == part):
            x, y = field.left + place * box, field.top - place * box
            lines.append([(x, field.bottom), (x, field.top + beyond)])
            lines.append([(field.left - beyond, y), (field.right, y)])
        page.lines(lines, "#ffffff", width + 1.2)  # black alone is lost among dark boxes
        page.lines(lines, INK, width, name=f"parts-{part}")


def _borders(chart: CoreMap, places: dict[tuple[int, int], Area]) -> Iterator[list[Point]]:
    """The sides at which fields of different classes meet."""
    classes = _known(chart.classes)
    for (down, across), own in classes.items():
        place = places[down, across]
        if classes.get((down, across + 1), own) != own:
            yield [(place.right, place.bottom), (place.right, place.top)]
        if classes.get((down + 1, across), own) != own:
            yield [(place.left, place.bottom), (place.right, place.bottom)]


def _around(chart: CoreMap, places: dict[tuple[int, int], Area], key: tuple[int, int]) -> list[Point]:
    """The sides of a field; of a rank with itself those of its whole line."""
    down, across = key
    first, last = (0, len(chart.ranks) - 1) if down == across else (across, across)
    return outline(places[down, first]._replace(width=places[down, last].right - places[down, first].left))


def _draw_ranks(page: Page, chart: CoreMap, field: Area, box: float) -> None:
    """The numbers of the ranks at both sides, as many as there is room for."""
    widest_name = max(width_of(str(rank), 6.5) for rank in chart.ranks) + 0.04
    step = max(1, -(-int(0.14 / box * 100) // 100), math.ceil(widest_name / box) if chart.of != "rank" else 1)
    for place, rank in list(enumerate(chart.ranks))[::step]:
        middle = (place + 0.5) * box
        page.text(field.left - 0.3, field.top - middle, str(rank), 6.5, align="right", room=_LEFT - 0.32)
        page.text(field.left + middle, field.top + 0.3, str(rank), 6.5, align="center", upright="bottom")
    page.text(field.left, field.top + 0.48, f"to {chart.of}", 7.5, GREY)
    page.text(field.right, field.top + 0.48, chart.unit, 7.5, GREY, align="right")
    page.text(0.14, field.top - 0.3, f"from {chart.of}", 7.5, GREY, align="right", turned=True)


def _key(chart: CoreMap) -> str:
    parts = [_PARTS[part] for part in sorted(set(chart.edges.values()))]
    said = [f"black lines: where a {' or '.join(parts)} ends, the larger the thicker"] if parts else []
    several = len({*_known(chart.classes).values()}) > 1
    said += ["orange: borders of latency classes"] if several else []
    said += ["framed: shown to be slow"] if chart.marked else []
    return "; ".join([*said, f"grey: not measured, or the {chart.of} itself"])


# Nodes, rack by rack; those with a frame are named beside the line

_MARGIN = 1.5  # for these names
_NODES_ABOVE, _FOOT = 0.08, 0.38 + KEY
_NODE_SHADES = 32


def draw_node_map(chart: NodeMap) -> Page:
    """Lines of boxes, each named by its first and last node."""
    names = [_ends([node.name for node in line if node]) for line in chart.lines]
    left = widest(names, 1.6, 6.5) + 0.2
    columns = max(map(len, chart.lines))
    box = min(_LARGEST_BOX, (WIDTH - left - _MARGIN) / columns)
    pitch = max(box * 1.1, 0.13)
    page = Page(_NODES_ABOVE + pitch * len(chart.lines) + _FOOT, chart.title)
    placed: list[tuple[NodeBox, Area]] = []
    for number, (name, line) in enumerate(zip(names, chart.lines, strict=True)):
        top = page.height - _NODES_ABOVE - number * pitch
        page.text(left - 0.08, top - box / 2, name, 6.5, GREY, align="right", room=left - 0.1)
        for place, node in enumerate(line):
            if node:
                placed.append((node, Area(left + place * box, top - box, box * 0.94, box * 0.94)))
        said = ", ".join(f"{node.name} {node.text}" for node in line if node and node.text)
        x = left + columns * box + 0.06
        page.text(x, top - box / 2, said, 6.5, bold=True, room=WIDTH - x, tall=pitch)
    _draw_nodes(page, placed, box)
    for frame in chart.frames:
        framed = [outline(place) for node, place in placed if node.frame is frame]
        page.lines(framed, frame.colour, frame.width, name=frame.meaning)
    fractions = [1 - step / 23 for step in range(24)]
    _draw_scale(page, left, KEY + 0.12, ("as most nodes", chart.scale), fractions)
    shown = {node.frame for node, _ in placed}
    page.key("; ".join(frame.meaning for frame in chart.frames if frame in shown))
    return page


def _ends(names: Sequence[str]) -> str:
    return f"{names[0]} – {names[-1]}" if len(names) > 1 else names[0]


def _draw_nodes(page: Page, placed: Sequence[tuple[NodeBox, Area]], box: float) -> None:
    colours = [
        _WITHOUT if node.fraction is None else shade(1 - round(node.fraction * _NODE_SHADES) / _NODE_SHADES)
        for node, _ in placed
    ]
    page.rectangles([place for _, place in placed], colours)
    if box > max(width_of(node.name, _TEXT) for node, _ in placed):
        for (node, place), colour in zip(placed, colours, strict=True):
            page.text(*place.middle, node.name, _TEXT, ink_on(colour), align="center")
