"""Documents as HTML: every text is made visible (see `text.visible`) and escaped, so none becomes markup.

No other programs than a page's own run, and without them everything is still there.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from string import Template
from typing import NamedTuple

from markupsafe import Markup, escape

from mpicampaign.base.places import shipped
from mpicampaign.base.text import visible
from mpicampaign.show import document
from mpicampaign.show.writer import TextWriter

# HTML needs no ends of these; a long report has ten thousand
_WITHOUT_END = ("input", "li", "td", "th", "tr")
# Elements by the first token of a role; the role itself is the class of the others.
_BARE = {"strong": "b", "heading": "h3", "interval": "span"}
_SECTIONS = {"": "section", "chart": "section", "said": "div", "picture": "div", "answer": "article"}


def element(tag: str, inner: str = "", **attributes: str | float | bool | None) -> Markup:
    """An element around text; attributes without a value are left out.

    ``_`` in names stands for ``-``, and at their end for nothing.
    """
    texts = [
        f" {_attribute(name)}" if value is True else f' {_attribute(name)}="{_safe(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False and value != ""
    ]
    start = f"<{tag}{''.join(texts)}"
    if tag == "path" and not inner:
        return Markup(f"{start}/>")
    return Markup(f"{start}>{_safe(inner)}{'' if tag in _WITHOUT_END else f'</{tag}>'}")


def _safe(text: object) -> Markup:
    """The text made visible and escaped, unless it is markup."""
    return text if isinstance(text, Markup) else _escaped(str(text))


@lru_cache(maxsize=10_000)  # names, heads and roles are the same in many cells
def _escaped(text: str) -> Markup:
    return escape(visible(text))


@cache
def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _lines(parts: Iterable[str]) -> Markup:
    return _joined("\n", parts)


def _joined(between: str, parts: Iterable[str]) -> Markup:
    """Parts joined, those that are text escaped; `Markup.join` would copy each part."""
    return Markup(between.join([part if isinstance(part, Markup) else escape(part) for part in parts]))


def html_text(text: document.Text) -> Markup:
    """The text with its links and roles."""
    if isinstance(text, str):
        return _safe(text)
    return _span(text) if isinstance(text, document.Span) else _joined("", map(html_text, text))


def _span(span: document.Span) -> Markup:
    inner = html_text(span.text)
    inner = element("a", inner, href=span.link) if span.link else inner
    if not span.role and not span.hint:
        return inner
    first, _, rest = span.role.partition(" ")
    if first in _BARE:
        return element(_BARE[first], inner)
    tag = "small" if first == "small" else "abbr" if span.hint else "span"
    return element(tag, inner, class_=rest if first == "small" else span.role, title=span.hint)


def html(nodes: Iterable[document.PageNode]) -> Markup:
    """The nodes one below the other, without the frame of a page."""
    return _lines(map(_node, nodes))


def _node(node: document.PageNode) -> Markup:
    match node:
        case document.Section():
            return _section(node)
        case document.Fold(summary, nodes, role, is_open):
            inner = _lines([element("summary", html_text(summary)), html(nodes)])
            return element("details", inner, class_=role, open=is_open)
        case document.Drawing(markup, anchor, caption, title):
            head = element("strong", html_text(title))
            inner = _lines([head, markup, element("figcaption", html_text(caption))])
            return element("figure", inner, id=anchor) if caption else markup
        case document.Verbatim(text, label):
            lines = _lines(_safe(line) for line in text.expandtabs().splitlines())
            return element("pre", lines, tabindex=0, role="region", aria_label=label)
        case document.Grid():
            return _framed_grid(node)
    return _text_node(node)


def _text_node(
    node: document.Heading | document.Caption | document.Paragraph | document.Items | document.Statement,
) -> Markup:
    match node:
        case document.Heading(text, level, anchor):
            return element(f"h{level}", html_text(text), id=anchor)
        case document.Caption(text):
            return element("p", html_text(text), class_="legend")
        case document.Paragraph(text, role):
            return element("p", html_text(text), class_=role)
        case document.Items(items, role, label):
            return _list(items, role, label)
        case document.Statement(text, details):
            return _lines([element("p", html_text(text)), _list(details)])


def _list(items: Iterable[document.Text], role: str = "", label: str = "") -> Markup:
    lines = _lines(element("li", html_text(item)) for item in items)
    return element("ul", lines, class_=role, aria_label=label)


def _section(section: document.Section) -> Markup:
    """A chart has its heading's text as name: Chromium does not follow an id to what was never in view."""
    first, role = section.nodes[0], section.role
    name = document.plain(first.text) if role == "chart" and isinstance(first, document.Heading) else ""
    return element(_SECTIONS[role], html(section.nodes), class_=role, id=section.anchor, aria_label=name)


# Grids


def _framed_grid(grid: document.Grid) -> Markup:
    """The table in a frame that the keyboard can move, where it has a label; its footnotes below."""
    table = _table(grid)
    if grid.label:
        label = grid.label
        table = element(
            "div", table, class_="wide", id=grid.anchor, tabindex=0, role="region", aria_label=label
        )
    notes = [
        element("p", element("sup", mark) + " " + html_text(text), class_="legend")
        for mark, text in grid.footnotes
    ]
    return _lines([table, *notes])


def _table(grid: document.Grid) -> Markup:
    caption = [element("caption", html_text(grid.title))] if grid.title else []
    heads = _lines(_head(grid, column, text) for column, text in enumerate(grid.header))
    head = element("thead", element("tr", heads))
    looks = grid.on_page or [document.LineOnPage()] * len(grid.lines)
    columns = [_column(grid, place) for place in range(max(map(len, [grid.header, *grid.lines])))]
    lines = (_line(grid, columns, boxes, look) for boxes, look in zip(grid.boxes, looks, strict=True))
    return element("table", _lines([*caption, head, element("tbody", _lines(lines))]), class_=grid.role)


def _head(grid: document.Grid, column: int, text: document.Text) -> Markup:
    largest = "descending" if column in grid.largest_first else ""
    kind = "number" if largest or _is_number(grid, column) else ""
    si = grid.si_units.get(column, "")
    return element("th", html_text(text), scope="col", data_kind=kind, data_first=largest, data_si=si)


def _is_number(grid: document.Grid, column: int) -> bool:
    return grid.names <= column < len(grid.header) - grid.remarks


class _Column(NamedTuple):
    """``role``: of its cells; ``head``: what they are, for a narrow screen, where a line is a list."""

    is_first: bool
    role: str
    head: str


def _column(grid: document.Grid, column: int) -> _Column:
    """How a column is written: numbers to the right, but in comparisons, whose cells have roles."""
    number = _is_number(grid, column) and not grid.role.startswith("comparison")
    named = grid.label and column < len(grid.header)
    head = document.plain(grid.header[column]) if named else ""
    return _Column(column == 0, "number" if number else "", head)


def _line(
    grid: document.Grid, columns: Sequence[_Column], boxes: Sequence[document.Box], look: document.LineOnPage
) -> Markup:
    if not grid.on_page and len(boxes) < len(grid.header):
        boxes = [*boxes[:-1], boxes[-1]._replace(columns=len(grid.header) - len(boxes) + 1)]
    cells = [_cell(column, box) for column, box in zip(columns, boxes, strict=False)]
    return element("tr", _lines(cells), class_=look.role, id=look.anchor)


def _cell(column: _Column, box: document.Box) -> Markup:
    """The first cell of a line names it, unless it has a role."""
    marks = element("sup", ",".join(box.marks)) if box.marks else ""
    inner = html_text(box.text) + marks if marks else html_text(box.text)
    inner = _lines([inner, *map(html_text, box.below)]) if box.below else inner
    inner = inner + _node(box.fold) if box.fold else inner
    span = box.columns if box.columns > 1 else None
    if column.is_first and not box.role:
        return element("th", inner, scope="row", colspan=span)
    value, (low, high) = _in_full(box.value), map(_in_full, box.ends or (None, None))
    role, head = box.role or column.role, column.head
    return element(
        "td", inner, class_=role, data_head=head, data_v=value, data_low=low, data_high=high, colspan=span
    )


def _in_full(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")


def to_page(nodes: Sequence[document.Node]) -> str:
    """A page of its own, without scripts."""
    titles = [document.plain(node.title) for node in nodes if isinstance(node, document.Grid)]
    return framed(", ".join(titles[:1]) or "Tables", html(nodes))


WRITER = TextWriter(".html", to_page)


# What a page has around its document: style, programs, and what a browser may load and run


TEMPLATES = shipped("templates/report")


def framed(
    title: str,
    body: Markup,
    *,
    header: Markup | None = None,
    contents: Mapping[str, str] | None = None,
    programs: Sequence[Markup] = (),
) -> str:
    """The whole page.

    Parameters
    ----------
    contents : titles of parts by anchor, the table of contents
    programs : scripts, which alone may run
    """
    return Template(_shipped("page.html").rstrip()).substitute(
        policy=" ".join(map(script_hash, programs)) or "'none'",
        title=escape(visible(title)),
        style=_shipped("style.css").rstrip(),
        top=_header(header, contents or {}) + _contents(contents or {}),
        body=body,
        programs="".join(f"<script>{program}</script>\n" for program in programs),
    )


def _header(header: Markup | None, contents: Mapping[str, str]) -> str:
    skip = f'<a class="skip" href="#{escape(next(iter(contents), ""))}">Skip to the answers</a>'
    return f"{skip}\n<header>\n{header}\n</header>\n" if header else ""


def _contents(contents: Mapping[str, str]) -> str:
    links = [f'<a href="#{escape(anchor)}">{escape(name)}</a>' for anchor, name in contents.items()]
    return Template(_shipped("contents.html")).substitute(links="\n".join(links)) if links else ""


def program(name: str) -> Markup:
    """One of the page's own scripts."""
    return Markup(_shipped(name))


def _shipped(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def script_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script, so that no other one runs."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
