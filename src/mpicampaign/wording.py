"""Numbers and foreign text as people read them: shared by tables, figures and the report.

Names, reasons and outputs come from other machines. `visible` makes any of them one harmless line;
what a format needs beyond that (HTML, Markdown, CSV) is done where the format is written.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from mpicampaign.dimension import COUNT
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.dimension import Dimension
    from mpicampaign.statistics.medians import Interval

# Control, format, surrogate, private and unassigned characters, line and paragraph separators: they
# move cursors, change colours or reverse text, and are never part of an honest name.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""The text as one line: what would act instead of being seen becomes an escape, such as ``\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _INVISIBLE:
        return character
    return character.encode("unicode_escape").decode("ascii")


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def clip(text: str, width: int) -> str:
    """The text, cut to so many columns with an ellipsis at its end where it is longer."""
    if display_width(text) <= width:
        return text
    while text and display_width(text) > width - 1:
        text = text[:-1]
    return text + "…"


def pad(text: str, width: int, right: bool = False) -> str:
    """The text clipped and filled to exactly so many columns."""
    text = clip(text, width)
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def unit_of(dimension: Dimension, bandwidth_unit: str = "MB/s") -> str:
    """The unit in which `number` writes metrics of this dimension."""
    return dimension.unit(bandwidth_unit).name


def number(value: float, dimension: Dimension, bandwidth_unit: str = "MB/s") -> str:
    """The value without its unit: ``0.246`` for 246 ns, ``9121`` for 9.121e9 B/s."""
    return dimension.number(value, bandwidth_unit)


def quantity(value: float, dimension: Dimension, bandwidth_unit: str = "MB/s") -> str:
    """The value with its unit: ``0.246 µs``; a count alone."""
    if dimension is COUNT:
        return number(value, dimension)
    return f"{number(value, dimension, bandwidth_unit)} {unit_of(dimension, bandwidth_unit)}"


def bounds(interval: Interval | None, dimension: Dimension, bandwidth_unit: str = "MB/s") -> str:
    """An interval without unit: ``[0.241, 0.270]``; empty where there is none."""
    if interval is None:
        return ""
    low, high = (number(value, dimension, bandwidth_unit) for value in (interval.low, interval.high))
    return f"[{low}, {high}]"


def percent(fraction: float) -> str:
    """``96.9 %`` for 0.96875."""
    return f"{100 * fraction:.1f} %"


def probability(p: float) -> str:
    """``p = 0.0022``, or ``p < 0.0001``."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def size_range(sizes: Iterable[int]) -> str:
    """``4 MiB``, or ``512 KiB-4 MiB`` or ``2-4 MiB`` where several sizes are meant."""
    ordered = sorted(set(sizes))
    if not ordered:
        return ""
    low, high = format_size(ordered[0]), format_size(ordered[-1])
    if low == high:
        return low
    unit = high.split()[-1]
    return f"{low.removesuffix(f' {unit}')}-{high}"


def repeats_words(repeats: Iterable[int]) -> str:
    """``repeat 2``, ``repeats 1-3, 5``."""
    ordered = sorted(set(repeats))
    spans: list[tuple[int, int]] = []
    for repeat in ordered:
        if spans and repeat == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], repeat)
        else:
            spans.append((repeat, repeat))
    words = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
    return f"repeat {words}" if len(ordered) == 1 else f"repeats {words}"
