"""Documents as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from mpicampaign.base.text import visible
from mpicampaign.show.document import (
    Box,
    Caption,
    Grid,
    Heading,
    Items,
    Node,
    Paragraph,
    Statement,
    Text,
    plain,
)
from mpicampaign.show.writer import TextWriter


def markdown_text(text: Text) -> str:
    """The text so that no renderer takes a part of it for markup, HTML or a cell's end."""
    escaped = html.escape(visible(plain(text)), quote=False)
    return re.sub(r"([\\`*_|~#$\[\]])", r"\\\1", escaped)


def markdown(document: Iterable[Node]) -> str:
    """The document, a blank line between its parts."""
    return "\n\n".join(map(_part, document)) + "\n"


def _part(node: Node) -> str:
    match node:
        case Heading(text):
            return f"## {markdown_text(text)}"
        case Caption(text):
            return text
        case Paragraph(text):
            return markdown_text(text)
        case Items(items):
            return "\n".join(f"- {markdown_text(item)}" for item in items)
        case Statement(text, details):
            return "- " + "\n  - ".join(map(markdown_text, (text, *details)))
        case Grid():
            return _grid(node)


def _grid(grid: Grid) -> str:
    """Under its title where it has one, its footnotes below."""
    title = [f"### {markdown_text(grid.title)}", ""] if grid.title else []
    numbers = len(grid.header) - grid.names - grid.remarks
    rule = "|" + "---|" * grid.names + "---:|" * numbers + "---|" * grid.remarks
    lines = [_line([*map(_box, line), *[""] * (len(grid.header) - len(line))]) for line in grid.boxes]
    notes = [f"<sup>{mark}</sup> {markdown_text(text)}  " for mark, text in grid.footnotes]
    table = [*title, _line(map(markdown_text, grid.header)), rule, *lines]
    return "\n".join([*table, "", *notes] if notes else table)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _box(box: Box) -> str:
    marks = f"<sup>{','.join(box.marks)}</sup>" if box.marks else ""
    return markdown_text(box.text) + marks


WRITER = TextWriter(".md", markdown)
