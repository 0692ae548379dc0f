"""Widths of texts in the font of figures, without loading it: font/widths.json (tests/test_text_width.py)."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path

FONT = "DejaVu Sans"
FOLDER = Path(__file__).with_name("font")
UNITS = 2048  # of the font, to its size
_UNKNOWN = UNITS  # an ideograph, the widest of what other fonts draw


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """How wide the text is (inches); ``size`` in printer's points."""
    widths = _widths()["bold" if bold else "normal"]
    return sum(widths.get(sign, _UNKNOWN) for sign in text) * size / UNITS / 72


@cache
def _widths() -> dict[str, dict[str, int]]:
    """For each weight, the widths of its characters (units of the font)."""
    widths: dict[str, dict[str, int]]
    widths = json.loads((FOLDER / "widths.json").read_text(encoding="utf-8"))
    return widths
