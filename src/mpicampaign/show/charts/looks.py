"""How all charts look: colours, line styles and markers by name. Knows nothing of records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Okabe and Ito's colours, which colour-blind readers distinguish, too; their yellow is too pale for lines.
# Dark and light ones take turns, so that neighbours differ in grey print.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#333333", "#CC79A7")
LINES = ("solid", "dashed", "dotted", "dashdot")
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x")
SLOW = "#D55E00"  # around what is shown to be slow
INK = "#000000"
GREY = "#555"
PALE = "#ddd"
TEXT_CONTRAST = 4.5  # of text on white, as WCAG asks for

# Colours of core maps from dark to light: cividis at nine places. Lightness rises all the way, so that it
# reads the same in grey and for colour-blind readers.
SEQUENCE = (
    *("#00224e", "#173b6f", "#3f4c6b", "#5c5d6e", "#777776"),
    *("#938f77", "#b3a56c", "#d5be58", "#fee838"),
)


@dataclass(frozen=True, slots=True)
class Style:
    """How one placement, host group or tree is drawn in all figures; ``ink`` is dark enough for text."""

    colour: str
    line: str
    marker: str

    @property
    def ink(self) -> str:
        """The colour, darkened until text in it is legible on white."""
        return dark_enough(self.colour)


def looks(names: Iterable[str]) -> dict[str, Style]:
    """A look for each name: colour, line and marker all change, so that they differ in grey print, too."""
    return {
        name: Style(COLOURS[i % len(COLOURS)], LINES[i % len(LINES)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(dict.fromkeys(names))
    }


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour ``#rrggbb``, 0 to 1, as WCAG 2 defines it."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it: 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def dark_enough(colour: str) -> str:
    """The colour, darkened until it has `TEXT_CONTRAST` on white."""
    while contrast(colour, "#ffffff") < TEXT_CONTRAST:
        parts = (int(int(colour[i : i + 2], 16) * 0.95) for i in (1, 3, 5))
        colour = "#" + "".join(f"{part:02x}" for part in parts)
    return colour


def shade(fraction: float) -> str:
    """The colour at 0 (dark) to 1 (light) of `SEQUENCE`."""
    place = min(max(fraction, 0.0), 1.0) * (len(SEQUENCE) - 1)
    low = min(int(place), len(SEQUENCE) - 2)
    share = place - low
    pairs = ((SEQUENCE[low][i : i + 2], SEQUENCE[low + 1][i : i + 2]) for i in (1, 3, 5))
    mixed = (round(int(a, 16) * (1 - share) + int(b, 16) * share) for a, b in pairs)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(colour: str) -> str:
    """Black or white, whichever is more legible on the colour."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))
