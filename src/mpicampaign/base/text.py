"""Foreign text as people read it, shared by tables, figures and the report.

Names, reasons and outputs come from other machines. `visible` makes any of them one harmless line;
what a format needs beyond that (HTML, Markdown, CSV) is done where the format is written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, takewhile

# Control, format, surrogate, private and unassigned characters, line and paragraph separators: they
# move cursors, change colours or reverse text, and are never part of an honest name.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""The text as one line: characters that act instead of being seen become escapes, such as ``\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def visible_lines(text: str) -> str:
    """A text of several lines that is printed for people: characters that act become escapes."""
    return "\n".join(map(visible, text.split("\n")))


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _INVISIBLE:
        return character
    return character.encode("unicode_escape").decode("ascii")


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


@cache
def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def clip(text: str, width: int) -> str:
    """The text, cut to so many columns with an ellipsis at its end where it is longer."""
    if display_width(text) <= width:
        return text
    ends = accumulate(map(_character_width, text))
    return text[: sum(1 for _ in takewhile(lambda end: end < width, ends))] + "…"


def clip_middle(text: str, width: int) -> str:
    """The text, cut to so many columns with an ellipsis in its middle where it is longer."""
    if display_width(text) <= width:
        return text
    ends = accumulate(map(_character_width, reversed(text)))
    at_end = sum(1 for _ in takewhile(lambda end: end <= width - width // 2, ends))
    return clip(text, width // 2) + text[len(text) - at_end :]


def names_in(texts: Sequence[str], width: int) -> list[str]:
    """The texts cut to so many columns, at the end or in the middle, so that those that differ still do.

    Not cut where neither keeps them apart.
    """
    for cut in (clip, clip_middle):
        short = [cut(text, width) for text in texts]
        if len(set(short)) == len(set(texts)):
            return short
    return list(texts)


def pad(text: str, width: int, right: bool = False) -> str:
    """The text clipped and filled to exactly so many columns."""
    text = clip(text, width)
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def repeats_text(repeats: Iterable[int]) -> str:
    """``repeat 2``, ``repeats 1-3, 5``."""
    numbers = set(repeats)
    spans = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans_of(numbers))
    return f"repeat {spans}" if len(numbers) == 1 else f"repeats {spans}"


def spans_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """``1, 2, 3, 5`` as (1, 3) and (5, 5)."""
    spans: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans


def listed(names: Sequence[str], last: str = "and") -> str:
    """``A, B and C``."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def line_of(text: str, position: int) -> int:
    """The number of the line that holds a character."""
    return text.count("\n", 0, position) + 1


def counted(count: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def in_ranks(count: int | None) -> str:
    """``1 rank``, ``2 ranks``."""
    return "unknown ranks" if count is None else counted(count, "rank")
