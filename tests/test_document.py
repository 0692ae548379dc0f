"""Every part of a document in each plain-text format."""

from __future__ import annotations

from mpicampaign.show.document import Caption, Heading, Items, Node, Paragraph, Statement, text_grid
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.show.writers.terminal import terminal_text

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

TERMINAL = """\
PingPong *
──────────
  one
  two

  latency
  row    median  of
  g         1.5  4 B
  group      12
  h      none

  g is best
    2 < 3
    3 < 4

median: of the
  repeats
"""

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


def test_a_terminal_has_columns_and_indents() -> None:
    assert terminal_text(DOCUMENT, 20) == TERMINAL


def test_markdown_has_marks_and_escapes() -> None:
    assert markdown(DOCUMENT) == MARKDOWN


def test_an_empty_document_is_an_empty_line() -> None:
    assert terminal_text(()) == markdown(()) == "\n"
