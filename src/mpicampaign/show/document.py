"""A document before any format: headings, texts and grids, which `mpicampaign.show.writers` write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Heading:
    """What a part of the document is about."""

    words: str


@dataclass(frozen=True, slots=True)
class Caption:
    """What the grid below shows, in this program's own words: no writer has to escape them."""

    words: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    words: str


@dataclass(frozen=True, slots=True)
class Items:
    """Sentences, each in lines of its own."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and below it what it rests on."""

    words: str
    details: tuple[str, ...]


class Box(NamedTuple):
    """The text of one cell, and the marks of its footnotes."""

    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: ``names`` columns of words at its left, then figures; ``footnotes`` by their marks.

    ``title``: of one that stands alone; one without a title belongs to the heading or caption above it.
    ``remarks``: how many columns at the right hold words. The last cell of a short line stands for the rest.
    """

    title: str
    names: int
    header: tuple[str, ...]
    lines: tuple[tuple[Box, ...], ...]
    footnotes: tuple[tuple[str, str], ...] = ()
    remarks: int = 0


Node = Heading | Caption | Paragraph | Items | Statement | Grid


def text_grid(names: int, header: Sequence[str], lines: Iterable[Sequence[str]], remarks: int = 0) -> Grid:
    """A grid without title, marks and footnotes."""
    boxes = tuple(tuple(map(Box, line)) for line in lines)
    return Grid("", names, tuple(header), boxes, remarks=remarks)
