"""A document before any format: headings, texts and grids, which `mpicampaign.show.writers` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text with its look and link on a page; other formats write the text alone.

    ``role``: what it is, by which its look is chosen. ``link``: where it leads. ``hint``: what it means.
    """

    text: Text
    role: str = ""
    link: str = ""
    hint: str = ""


Text = str | Span | tuple["str | Span", ...]


def plain(text: Text) -> str:
    """The text without links and roles."""
    if isinstance(text, str):
        return text
    return plain(text.text) if isinstance(text, Span) else "".join(map(plain, text))


@dataclass(frozen=True, slots=True)
class Heading:
    """What a part of the document is about; ``level`` from 1 to 3."""

    text: Text
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Caption:
    """What the grid below shows, in this program's own terms: no writer has to escape them."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: Text
    role: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """Sentences or links, each in lines of its own; ``label``: what they are, for screen readers."""

    items: tuple[Text, ...]
    role: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and below it what it rests on."""

    text: str
    details: tuple[str, ...]


Value = str | int | float | bool | None
Kind = type[str] | type[int] | type[float] | type[bool]


class Box(NamedTuple):
    """A cell: its text, the marks of its footnotes, and the value that it stands for, in SI units.

    The rest is for pages. ``ends``: of its interval. ``role``: by which its look is chosen, that of its
    column where empty. ``columns``: over which the cell goes. ``below``: further lines. ``fold``: details at
    its end.
    """

    text: Text
    marks: tuple[str, ...] = ()
    value: float | None = None
    role: str = ""
    columns: int = 1
    below: tuple[Text, ...] = ()
    fold: Fold | None = None
    ends: tuple[float, float] | None = None


Line = tuple[Box | Value, ...]


class LineOnPage(NamedTuple):
    """What a page shows of a line."""

    role: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: ``names`` columns of names at its left, then numbers; ``footnotes`` by their marks.

    A cell that is nothing but its value stands for itself. ``kinds``: of the values, for programs.

    ``title``: of one that stands alone; one without a title belongs to the heading or caption above it.
    ``remarks``: how many columns at the right hold text. The last cell of a short line spans the rest.

    For pages: ``role``: by which the look is chosen. ``label``: names the frame in which a wide grid
    scrolls; without a label it has no frame. ``anchor``: of the frame. ``largest_first``: columns that are
    first sorted so. ``si_units``: of the values of columns. ``on_page``: one for each line, or none.
    """

    title: Text
    names: int
    header: tuple[Text, ...]
    lines: tuple[Line, ...]
    footnotes: tuple[tuple[str, str], ...] = ()
    remarks: int = 0
    role: str = "plain"
    label: str = ""
    anchor: str = ""
    largest_first: frozenset[int] = frozenset()
    si_units: Mapping[int, str] = field(default_factory=dict)
    on_page: tuple[LineOnPage, ...] = ()
    kinds: tuple[Kind, ...] = ()

    @property
    def boxes(self) -> list[tuple[Box, ...]]:
        """The lines for readers."""
        return [tuple(map(_box, line)) for line in self.lines]

    @property
    def values(self) -> list[tuple[Value, ...]]:
        """The lines for programs."""
        return [tuple(cell.value if isinstance(cell, Box) else cell for cell in line) for line in self.lines]


def _box(cell: Box | Value) -> Box:
    return cell if isinstance(cell, Box) else Box("" if cell is None else str(cell))


Node = Heading | Caption | Paragraph | Items | Statement | Grid


# Only in pages


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page; ``title``: in the table of contents."""

    nodes: tuple[PageNode, ...]
    anchor: str = ""
    role: str = ""
    title: str = ""


def titled(anchor: str, title: str, *nodes: PageNode) -> Section:
    """A section below its title."""
    return Section((Heading(title), *nodes), anchor, "", title)


@dataclass(frozen=True, slots=True)
class Fold:
    """What is hidden below its summary until the reader opens it."""

    summary: Text
    nodes: tuple[PageNode, ...]
    role: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a page draws, as its own markup; with a caption, and a title above, it is a figure."""

    markup: Markup
    anchor: str = ""
    caption: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text whose lines stay as they are."""

    text: str
    label: str


PageNode = Node | Section | Fold | Drawing | Verbatim
