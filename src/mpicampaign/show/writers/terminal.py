"""Documents as aligned text for a terminal: names to the left, numbers to the right, marks after them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import pairwise

from mpicampaign.base.text import clip, display_width, names_in, pad
from mpicampaign.show.document import Box, Caption, Grid, Heading, Items, Node, Paragraph, Statement, plain
from mpicampaign.show.writer import TextWriter

WIDTH = 100  # in files and pipes
_LEAST_WIDTH = 60
_NAME_WIDTH = 10  # what a name keeps of its width when the table is too wide
_GAP = "  "


def terminal_width() -> int:
    """The columns of the terminal, at least 60; `WIDTH` where the output goes elsewhere."""
    return max(shutil.get_terminal_size((WIDTH, 0)).columns, _LEAST_WIDTH)


def terminal_text(document: Sequence[Node], width: int = WIDTH) -> str:
    """The document in lines of at most ``width`` columns, a blank one between most of its parts."""
    lines = [line for node in document[:1] for line in _lines(node, width)]
    for above, node in pairwise(document):
        joined = isinstance(above, Heading | Caption) and isinstance(node, Items | Grid)
        lines += _lines(node, width) if joined else ["", *_lines(node, width)]
    return "\n".join(lines) + "\n"


def _lines(node: Node, width: int) -> list[str]:
    match node:
        case Heading(text):
            title = clip(plain(text), width)
            return [title, "─" * display_width(title)]
        case Caption(text):
            return [clip(_GAP + text, width)]
        case Paragraph(text):
            return wrap(plain(text), width)
        case Items(items):
            return [line for item in items for line in wrap(plain(item), width, _GAP)]
        case Statement(text, details):
            below = [line for detail in details for line in wrap(detail, width, 2 * _GAP)]
            return [*wrap(text, width, _GAP), *below]
        case Grid():
            return _titled(node, width) if node.title else _aligned(node, width)


def _aligned(grid: Grid, width: int) -> list[str]:
    """A grid without title, indented: columns without any text are left out, remarks are cut."""
    header = [list(map(plain, grid.header))] if any(grid.header) else []
    count, boxes = len(grid.header), grid.boxes
    marks = [max((len(line[i].marks) for line in boxes if i < len(line)), default=0) for i in range(count)]
    marked = (zip(line, marks, strict=False) for line in boxes)
    lines = [*header, *([plain(box.text) + pad("".join(box.marks), n) for box, n in line] for line in marked)]
    parts = [(line, "") if len(line) == count else (line[:-1], line[-1]) for line in lines]
    columns = ([cells[i] for cells, _ in parts if i < len(cells)] for i in range(count))
    widths = [max(map(display_width, column), default=0) for column in columns]
    width += _narrow(widths, [cells for cells, _ in parts[len(header) :]], grid.names, width)
    texts = []
    for cells, rest in parts:
        used = zip(cells, widths, strict=False)
        right = range(grid.names, count - grid.remarks)
        padded = [pad(cell, wide, right=i in right) for i, (cell, wide) in enumerate(used) if wide]
        texts.append(clip((_GAP + _GAP.join([*padded, rest])).rstrip(), width))
    return texts


def _narrow(widths: list[int], lines: Sequence[list[str]], names: int, width: int) -> int:
    """Where a line is too long, host groups are cut first, then placements; numbers never.

    Returns by how much it is still too long, since names are not cut where they differ.
    """
    beyond = 0
    for column in range(min(2, names)):
        lines = [cells for cells in lines if column < len(cells)]  # a line may be a remark alone
        excess = sum(wide + len(_GAP) for wide in widths if wide) - width
        if excess > 0:
            most = max(min(_NAME_WIDTH, widths[column]), widths[column] - excess)
            short = names_in([cells[column] for cells in lines], most)
            for cells, name in zip(lines, short, strict=True):
                cells[column] = name
            widths[column] = max(most, *map(display_width, short))
            beyond += widths[column] - most
    return beyond


def _titled(grid: Grid, width: int) -> list[str]:
    """A grid with title; a wide one in parts with the names repeated."""
    boxes = list(zip(map(Box, grid.header), *grid.boxes, strict=True))
    columns = [_column(column, width, name=index < grid.names) for index, column in enumerate(boxes)]
    if sum(map(_width, columns)) - len(_GAP) > width:  # then numbers have two thirds of the line
        most = max(_NAME_WIDTH, width // 3 // grid.names)
        columns[: grid.names] = [_column(column, most, name=True) for column in boxes[: grid.names]]
        width += max(sum(map(_width, columns[: grid.names])) - (most + len(_GAP)) * grid.names, 0)
    names, numbers = columns[: grid.names], columns[grid.names :]
    lines = _lines(Heading(plain(grid.title)), width)
    for part in _parts(names, numbers, width):
        lines += [clip(_GAP.join(texts).rstrip(), width) for texts in zip(*part, strict=True)]
        lines.append("")
    notes = [line for mark, text in grid.footnotes for line in wrap(f"{mark}  {text}", width)]
    return [*lines[:-1], *([""] if notes else []), *notes]


def _column(boxes: Sequence[Box], most: int, *, name: bool) -> list[str]:
    """Heading and cells of a column, padded to one width; texts are cut at ``most``, marks never.

    Names are not cut where they differ.
    """
    marks = max(len(_marks(box)) for box in boxes)
    if name:
        short = names_in([plain(box.text) for box in boxes], max(1, most - marks))
        texts = [text + _marks(box) for text, box in zip(short, boxes, strict=True)]
    else:
        texts = [clip(plain(box.text), max(1, most - marks)) + pad(_marks(box), marks) for box in boxes]
    wide = max(map(display_width, texts))
    return [pad(text, wide, right=not name) for text in texts]


def _width(column: Sequence[str]) -> int:
    return display_width(column[0]) + len(_GAP)


def _marks(box: Box) -> str:
    return f" {','.join(box.marks)}" if box.marks else ""


def _parts(names: Sequence[list[str]], numbers: Sequence[list[str]], width: int) -> Iterable[list[list[str]]]:
    """The columns of each part: as many as the width holds, at least one of numbers."""
    used = sum(map(_width, names)) - len(_GAP)
    part: list[list[str]] = []
    for column in numbers:
        if part and used + sum(map(_width, (*part, column))) > width:
            yield [*names, *part]
            part = []
        part.append(column)
    yield [*names, *part]


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines of at most ``width`` columns; terms longer than a line are cut."""
    lines, line = [], indent
    for term in text.split():
        term = clip(term, width - len(indent) - 2)
        if line.strip() and display_width(line) + 1 + display_width(term) > width:
            lines.append(line)
            line = indent + "  "
        line += term if not line.strip() else " " + term
    return [*lines, line]


WRITER = TextWriter(".txt", lambda document: terminal_text(document, terminal_width()))
