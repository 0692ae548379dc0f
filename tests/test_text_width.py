"""The kept widths of the font of figures against the font's; run as a program, this file writes them anew.

The font is DejaVu Sans 2.37, cut to the letters of Europe and the signs of figures by pyftsubset (fonttools)
with ``--no-hinting --notdef-outline --layout-features=kern``.
"""

from __future__ import annotations

import json

from reportlab.pdfbase.ttfonts import TTFontFile

from mpicampaign.show.figures.converted import FONTS
from mpicampaign.show.figures.text_width import FOLDER, UNITS, width_of

SIGNS = "ÄÅÉßçłńřşůđ Ωλμ Ския ×·–…½µ°±≥≤−→†‡"


def font_widths(file: str) -> dict[str, int]:
    """The widths of all signs of a font."""
    font = TTFontFile(file)  # its widths are thousandths of the size
    return {chr(code): round(font.charWidths[code] * UNITS / 1000) for code in sorted(font.charToGlyph)}


def test_texts_are_as_wide_as_the_font_sets_them() -> None:
    kept = json.loads((FOLDER / "widths.json").read_text(encoding="utf-8"))
    assert kept == {weight: font_widths(file) for weight, file in FONTS.items()}
    assert all(widths.keys() >= {*SIGNS, *map(chr, range(32, 127))} for widths in kept.values())
    assert width_of("M†", 8) == (kept["normal"]["M"] + kept["normal"]["†"]) / UNITS * 8 / 72


if __name__ == "__main__":
    kept = {weight: font_widths(file) for weight, file in FONTS.items()}
    (FOLDER / "widths.json").write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")
