"""Every part of a document in each plain-text format."""

from __future__ import annotations

from dataclasses import replace

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
    plain,
)
from mpicampaign.show.writers.html import WRITER as HTML
from mpicampaign.show.writers.html import html
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.show.writers.terminal import terminal_text

DOCUMENT: tuple[Node, ...] = (
    Heading("PingPong *"),
    Items(("one", "two")),
    Caption("latency"),
    Grid(
        "",
        1,
        ("row", "", "median", "of"),
        (("g", "", "1.5", "4 B"), ("group", "", "12", ""), ("h", "none")),
        remarks=1,
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


def test_html_has_every_part() -> None:
    assert html(DOCUMENT).splitlines()[:4] == [
        "<h2>PingPong *</h2>",
        "<ul><li>one",
        "<li>two</ul>",
        CAPTION,
    ]
    text = html(DOCUMENT[4:])
    assert text == "<p>g is best</p>\n<ul><li>2 &lt; 3\n<li>3 &lt; 4</ul>\n<p>median: of the repeats</p>"


CAPTION = '<p class="legend">latency</p>'


def test_html_shows_links_roles_and_hints_which_other_formats_leave_out() -> None:
    text = (Span(("1 ", Span("b", "strong")), link="#x"), Span("*", "warn", hint='"modes"'))
    assert plain(text) == "1 b*"
    link, sign = '<a href="#x">1 <b>b</b></a>', '<abbr class="warn" title="&#34;modes&#34;">*</abbr>'
    assert html([Paragraph(text)]) == f"<p>{link}{sign}</p>"
    assert terminal_text([Paragraph(text)]) == markdown([Paragraph(text)]).replace("\\", "") == "1 b*\n"


def test_hostile_text_is_escaped_wherever_it_stands_in_html() -> None:
    evil = '</td><script>"\x1b'
    grid = Grid(evil, 1, (evil,), ((Box(evil, (evil,), role=evil, below=(evil,)),),), ((evil, evil),))
    nodes = (grid, Fold(Span(evil, evil, evil, evil), (Verbatim(evil, evil), Items((evil,), evil, evil))))
    for text in (html(nodes), HTML.write([grid])):
        assert "<script" not in text and "\x1b" not in text and "&#34;\\x1b" in text


def test_a_framed_cell_has_its_head_for_narrow_screens() -> None:
    grid = Grid(
        "", 1, ("a", ("latency ", Span("µs", "small"))), (("g", 1.5), ("h", "n/a", "more")), label="t"
    )
    text = html([grid])
    assert text.count('data-head="latency µs"') == 2 and text.count("data-head") == 2
    assert "data-head" not in html([replace(grid, label="")])


def test_a_page_of_tables_runs_no_script_and_shows_titles_and_footnotes() -> None:
    grid = Grid(
        "PingPong: median", 1, ("group", "SHM"), ((Box("g"), Box("1.5", ("a",))),), (("a", "one run"),)
    )
    page = HTML.write([grid])
    assert "script-src 'none'" in page.replace("&#39;", "'") and "<script" not in page
    assert "<title>PingPong: median</title>" in page and "<caption>PingPong: median</caption>" in page
    assert "1.5<sup>a</sup></tbody>" in page and '<p class="legend"><sup>a</sup> one run</p>' in page
