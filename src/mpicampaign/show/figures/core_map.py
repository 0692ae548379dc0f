"""A map of pairs of ranks drawn: a box for each pair, lines where parts of the machine and classes end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpicampaign.show.charts.looks import COLOURS, GREY, INK, SLOW, ink_on, shade
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, outline
from mpicampaign.show.figures.text_width import width_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.show.charts.model import CoreMap
    from mpicampaign.show.figures.page import Point

_LEFT, _ABOVE = 0.75, 0.62  # for the ranks' numbers and the lines beyond the map
_LARGEST_BOX = 0.5
_TEXT = 6.0
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
    field = Place(_LEFT, page.height - _ABOVE - box * count, box * count, box * count)
    places = {
        (down, across): Place(field.left + across * box, field.top - (down + 1) * box, box, box)
        for down in range(count)
        for across in range(count)
    }
    _draw_boxes(page, chart, places)
    _draw_parts(page, chart, field, box)
    page.lines(list(_borders(chart, places)), _BORDER, 1.1, name="classes")
    page.lines([_around(chart, places, key) for key in sorted(chart.marked)], SLOW, 1.3, name="slow")
    _draw_ranks(page, chart, field, box)
    _draw_shades(page, chart, field)
    page.key(_key(chart))
    return page


def _draw_boxes(page: Page, chart: CoreMap, places: dict[tuple[int, int], Place]) -> None:
    """The values' colours; their texts where all of them fit."""
    fields = {
        (down, across): field
        for down, line in enumerate(chart.fields)
        for across, field in enumerate(line)
        if field is not None
    }
    colours = {key: shade(round(field.fraction * _SHADES) / _SHADES) for key, field in fields.items()}
    page.rectangles(list(places.values()), [colours.get(key, "#f2f2f2") for key in places])
    box = next(iter(places.values())).width
    if max(width_of(field.text, _TEXT) for field in fields.values()) > box - 0.04:
        return
    for key, field in fields.items():
        middle = (places[key].left + box / 2, places[key].bottom + box / 2)
        page.text(*middle, field.text, _TEXT, ink_on(colours[key]), align="center")


def _draw_parts(page: Page, chart: CoreMap, field: Place, box: float) -> None:
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


def _borders(chart: CoreMap, places: dict[tuple[int, int], Place]) -> Iterator[list[Point]]:
    """The sides at which fields of different classes meet."""
    for (down, across), place in places.items():
        own = chart.classes[down][across]
        right = chart.classes[down][across + 1] if (down, across + 1) in places else None
        below = chart.classes[down + 1][across] if (down + 1, across) in places else None
        if own is not None and right is not None and own != right:
            yield [(place.right, place.bottom), (place.right, place.top)]
        if own is not None and below is not None and own != below:
            yield [(place.left, place.bottom), (place.right, place.bottom)]


def _around(chart: CoreMap, places: dict[tuple[int, int], Place], key: tuple[int, int]) -> list[Point]:
    """The sides of a field; of a rank with itself those of its whole line."""
    down, across = key
    first, last = (0, len(chart.ranks) - 1) if down == across else (across, across)
    return outline(places[down, first]._replace(width=places[down, last].right - places[down, first].left))


def _draw_ranks(page: Page, chart: CoreMap, field: Place, box: float) -> None:
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


def _draw_shades(page: Page, chart: CoreMap, field: Place) -> None:
    """Which colour is which value: the best and the worst, by the logarithm between them."""
    y, steps = field.bottom - 0.26, 24
    page.text(_LEFT, y + 0.06, chart.worst, 7)
    left = _LEFT + width_of(chart.worst, 7) + 0.1
    places = [Place(left + step * 0.05, y, 0.05, 0.12) for step in range(steps)]
    page.rectangles(places, [shade(step / (steps - 1)) for step in range(steps)])
    page.text(places[-1].right + 0.08, y + 0.06, f"{chart.best} (by the logarithm)", 7)


def _key(chart: CoreMap) -> str:
    parts = [_PARTS[part] for part in sorted(set(chart.edges.values()))]
    said = [f"black lines: where a {' or '.join(parts)} ends, the larger the thicker"] if parts else []
    classes = {each for line in chart.classes for each in line if each is not None}
    said += ["orange: borders of latency classes"] if len(classes) > 1 else []
    said += ["framed: shown to be slow"] if chart.marked else []
    return "; ".join([*said, f"grey: not measured, or the {chart.of} itself"])
