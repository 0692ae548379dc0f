"""Grids as aligned text for a terminal: names to the left, figures to the right, marks behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.comparison_text import WIDTH, heading_lines, wrap
from mpicampaign.show.grids import Box
from mpicampaign.show.writer import TextWriter
from mpicampaign.text import clip, display_width, pad

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.show.grids import Grid

_NAME_WIDTH = 10  # what a name keeps of its width when the table is too wide
_GAP = "  "


def grids_to_terminal(grids: Iterable[Grid], width: int = WIDTH) -> str:
    """Every grid under its title, at most ``width`` columns wide; wide ones in parts, names repeated."""
    return "\n\n".join("\n".join(_grid(grid, width)) for grid in grids) + "\n"


def _grid(grid: Grid, width: int) -> list[str]:
    columns = [_column(grid, index, width) for index in range(len(grid.header))]
    if sum(map(_width, columns)) - len(_GAP) > width:  # then figures have two thirds of the line
        most = max(_NAME_WIDTH, width // 3 // grid.names)
        columns[: grid.names] = [_column(grid, index, most) for index in range(grid.names)]
    names, figures = columns[: grid.names], columns[grid.names :]
    lines = heading_lines(clip(grid.title, width))
    for part in _parts(names, figures, width):
        lines += [clip(_GAP.join(texts).rstrip(), width) for texts in zip(*part, strict=True)]
        lines.append("")
    notes = [line for mark, words in grid.footnotes for line in wrap(f"{mark}  {words}", width)]
    return [*lines[:-1], *([""] if notes else []), *notes]


def _column(grid: Grid, index: int, most: int) -> list[str]:
    """Heading and cells of a column, all of one width and at most so wide; texts are cut, marks never."""
    boxes = [Box(grid.header[index]), *(line[index] for line in grid.lines)]
    marks = max(len(_marks(box)) for box in boxes)
    if index < grid.names:
        texts = [clip(box.text, max(1, most - len(_marks(box)))) + _marks(box) for box in boxes]
    else:
        texts = [clip(box.text, max(1, most - marks)) + pad(_marks(box), marks) for box in boxes]
    wide = max(map(display_width, texts))
    return [pad(text, wide, right=index >= grid.names) for text in texts]


def _width(column: Sequence[str]) -> int:
    return display_width(column[0]) + len(_GAP)


def _marks(box: Box) -> str:
    return f" {','.join(box.marks)}" if box.marks else ""


def _parts(names: Sequence[list[str]], figures: Sequence[list[str]], width: int) -> Iterable[list[list[str]]]:
    """The columns of each part: as many as the width holds, at least one of figures."""
    used = sum(map(_width, names)) - len(_GAP)
    part: list[list[str]] = []
    for column in figures:
        if part and used + sum(map(_width, (*part, column))) > width:
            yield [*names, *part]
            part = []
        part.append(column)
    yield [*names, *part]


def _whole(grids: Sequence[Grid], legend: str) -> str:
    return grids_to_terminal(grids) + ("\n" + "\n".join(wrap(legend, WIDTH)) + "\n" if legend else "")


WRITER = TextWriter(".txt", _whole)
