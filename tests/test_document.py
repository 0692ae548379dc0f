"""Every part of a document in each plain-text format."""

from __future__ import annotations

from mpicampaign.show.document import (
    Box,
    Caption,
    Fold,
    Grid,
    Heading,
    Items,
    Node,
    Paragraph,
    Span,
    Statement,
    Verbatim,
    text_grid,
)
from mpicampaign.show.writers.html import WRITER as HTML
from mpicampaign.show.writers.html import html
from mpicampaign.show.writers.markdown import markdown

DOCUMENT: tuple[Node, ...] = (
    Heading("PingPong *"),
    Items(("one", "two")),
    Caption("latency"),
    text_grid(
        1, ("row", "", "median", "of"), [("g", "", "1.5", "4 B"), ("group", "", "12", ""), ("h", "none")], 1
    ),
    Statement("g is best", ("2 < 3", "3 < 4")),
    Paragraph("median: of the repeats"),
)


MARKDOWN = r"""## PingPong \*

- one
- two

latency

| row |  | median | of |
|---|---:|---:|---|
| g |  | 1.5 | 4 B |
| group |  | 12 |  |
| h | none |  |  |

- g is best
  - 2 &lt; 3
  - 3 &lt; 4

median: of the repeats
"""


def test_markdown_has_marks_and_escapes() -> None:
    assert markdown(DOCUMENT) == MARKDOWN


def test_html_has_every_part() -> None:
    assert html(DOCUMENT).splitlines()[:4] == [
        "<h2>PingPong *</h2>",
        "<ul><li>one</li>",
        "<li>two</li></ul>",
        CAPTION,
    ]
    text = html(DOCUMENT[4:])
    assert (
        text
        == "<p>g is best</p>\n<ul><li>2 &lt; 3</li>\n<li>3 &lt; 4</li></ul>\n<p>median: of the repeats</p>"
    )


CAPTION = '<p class="legend">latency</p>'


def test_hostile_text_is_escaped_wherever_it_stands_in_html() -> None:
    evil = '</td><script>"\x1b'
    grid = Grid(evil, 1, (evil,), ((Box(evil, (evil,), role=evil, below=(evil,)),),), ((evil, evil),))
    nodes = (grid, Fold(Span(evil, evil, evil, evil), (Verbatim(evil, evil), Items((evil,), evil, evil))))
    for text in (html(nodes), HTML.write([grid])):
        assert "<script" not in text and "\x1b" not in text and "&#34;\\x1b" in text
