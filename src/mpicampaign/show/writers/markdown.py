"""Grids as Markdown for documents."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from mpicampaign.show.writer import TextWriter
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.show.grids import Box, Grid


def markdown_text(text: str) -> str:
    """The text so that no renderer takes a part of it for markup, HTML or a cell's end."""
    text = html.escape(visible(text), quote=False)
    return re.sub(r"([\\`*_|~#$\[\]])", r"\\\1", text)


def grids_to_markdown(grids: Iterable[Grid]) -> str:
    """Each grid under its title, its footnotes below."""
    return "\n\n".join(_grid(grid) for grid in grids) + "\n"


def _grid(grid: Grid) -> str:
    rule = "|" + "---|" * grid.names + "---:|" * (len(grid.header) - grid.names)
    lines = ["| " + " | ".join(_box(box) for box in line) + " |" for line in grid.lines]
    header = "| " + " | ".join(markdown_text(head) for head in grid.header) + " |"
    notes = [f"<sup>{mark}</sup> {markdown_text(words)}  " for mark, words in grid.footnotes]
    table = "\n".join([f"### {markdown_text(grid.title)}", "", header, rule, *lines])
    return "\n".join([table, "", *notes]) if notes else table


def _box(box: Box) -> str:
    marks = f"<sup>{','.join(box.marks)}</sup>" if box.marks else ""
    return markdown_text(box.text) + marks


def _whole(grids: Sequence[Grid], legend: str) -> str:
    return grids_to_markdown(grids) + (f"\n{markdown_text(legend)}\n" if legend else "")


WRITER = TextWriter(".md", _whole)
