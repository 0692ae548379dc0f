"""Widths of texts in the font of figures.

Plain characters are measured without matplotlib, whose import takes longer than the pictures of a small
report. font_widths.json holds what matplotlib finds (tests/test_text_width.py writes it).
"""

from __future__ import annotations

import json
import math
import re
import warnings
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

FONT = "DejaVu Sans"  # comes with matplotlib
UNITS = 2048  # of the font, to its size
_GLYPHS = re.compile("ff[il]?|f[il]|.", re.S)  # the font has ligatures


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """How wide the text is (inches); ``size`` in printer's points."""
    advances, kerning = _font_widths()["bold" if bold else "normal"]
    glyphs = _GLYPHS.findall(text)
    if not advances.keys() >= set(glyphs):
        return measured_width(text, size, bold) / 64 / 72
    scale = int(size * 64) / UNITS  # FreeType counts in 64ths of a point, and rounds each advance
    widths = [advances[glyph] for glyph in glyphs]
    widths += [kerning.get(left + right, 0) for left, right in pairwise(glyphs)]
    return sum(math.floor(width * scale + 0.5) for width in widths) / 64 / 72


@cache
def _font_widths() -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Of each weight: advances of glyphs, kerning of pairs (units of the font)."""
    widths: dict[str, tuple[dict[str, int], dict[str, int]]]
    widths = json.loads(Path(__file__).with_name("font_widths.json").read_text(encoding="utf-8"))
    return widths


def measured_width(text: str, size: float, bold: bool) -> int:
    """As matplotlib sets it, in 64ths of a printer's point."""
    from matplotlib.font_manager import FontProperties, findfont, get_font
    from matplotlib.ft2font import LoadFlags

    font = get_font(findfont(FontProperties(family=FONT, weight="bold" if bold else "normal")))
    font.set_size(size, 72)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box is as wide; the caption has the name
        font.set_text(text, 0.0, flags=LoadFlags.NO_HINTING)
    return int(font.get_width_height()[0])
