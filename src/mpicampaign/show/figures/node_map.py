"""The nodes of a machine drawn: a box for each, rack by rack, the slow ones framed and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.questions.machine.find import ABSENT, NO_VALUE
from mpicampaign.questions.machine.find_searches import SLOW_ONE, UNDECIDED
from mpicampaign.show.charts.looks import GREY, INK, SLOW, ink_on, shade
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, outline, widest
from mpicampaign.show.figures.text_width import width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.show.charts.model import NodeBox, NodeMap

_MARGIN = 1.5  # for the names of marked nodes
_LARGEST_BOX = 0.5
_ABOVE, _FOOT = 0.08, 0.38 + KEY
_SHADES = 32
_NO_VALUE = "#f2f2f2"
_FRAMES = {SLOW_ONE: (SLOW, 1.6), UNDECIDED: (INK, 0.8), ABSENT: (GREY, 0.4), NO_VALUE: (GREY, 0.4)}


def draw_node_map(chart: NodeMap) -> Page:
    """Lines of boxes, each named by its first and last node."""
    names = [_ends(line) for line in chart.lines]
    left = widest(names, 1.6, 6.5) + 0.2
    columns = max(map(len, chart.lines))
    box = min(_LARGEST_BOX, (WIDTH - left - _MARGIN) / columns)
    pitch = max(box * 1.1, 0.13)
    page = Page(_ABOVE + pitch * len(chart.lines) + _FOOT, chart.title)
    placed: list[tuple[NodeBox, Place]] = []
    for number, (name, line) in enumerate(zip(names, chart.lines, strict=True)):
        top = page.height - _ABOVE - number * pitch
        page.text(left - 0.08, top - box / 2, name, 6.5, GREY, align="right", room=left - 0.1)
        boxes = [
            (node, Place(left + place * box, top - box, box * 0.94, box * 0.94))
            for place, node in enumerate(line)
            if node
        ]
        placed += boxes
        said = ", ".join(f"{node.name} {node.text}".strip() for node, _ in boxes if node.text)
        x = left + columns * box + 0.06
        page.text(x, top - box / 2, said, 6.5, bold=True, room=WIDTH - x, tall=pitch)
    _draw_boxes(page, placed, box)
    _draw_key(page, chart, left)
    return page


def _ends(line: Sequence[NodeBox | None]) -> str:
    names = [node.name for node in line if node]
    return f"{names[0]} – {names[-1]}" if len(names) > 1 else names[0]


def _draw_boxes(page: Page, placed: Sequence[tuple[NodeBox, Place]], box: float) -> None:
    page.rectangles([place for _, place in placed], [_colour(node) for node, _ in placed])
    if box > max(width_of(node.name, 6.0) for node, _ in placed):
        for node, place in placed:
            middle = (place.left + place.width / 2, place.bottom + place.height / 2)
            page.text(*middle, node.name, 6.0, ink_on(_colour(node)), align="center")
    for mark, (colour, width) in _FRAMES.items():
        framed = [place for node, place in placed if node.mark == mark]
        page.lines([outline(place) for place in framed], colour, width, name=mark)


def _colour(node: NodeBox) -> str:
    """Dark is slow."""
    return _NO_VALUE if node.fraction is None else shade(1 - round(node.fraction * _SHADES) / _SHADES)


def _draw_key(page: Page, chart: NodeMap, left: float) -> None:
    """The colours, and those frames that occur."""
    y, steps, before = KEY + 0.12, 24, "as most nodes"
    page.text(left, y + 0.06, before, 7)
    start = left + width_of(before, 7) + 0.1
    places = [Place(start + step * 0.05, y, 0.05, 0.12) for step in range(steps)]
    page.rectangles(places, [shade(1 - step / (steps - 1)) for step in range(steps)])
    page.text(places[-1].right + 0.08, y + 0.06, chart.scale, 7)
    marks = {node.mark for line in chart.lines for node in line if node}
    said = {
        SLOW_ONE: "orange frame: shown to be slow",
        UNDECIDED: "black frame: not decided",
        ABSENT: "grey: not measured",
        NO_VALUE: "grey: without a value",
    }
    page.key("; ".join(text for mark, text in said.items() if mark in marks))
