"""The kept widths of the figures' font against matplotlib's; run as a program, this file writes them anew."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from mpicampaign.show.figures import text_width
from mpicampaign.show.figures.text_width import UNITS, measured_width, width_of

PLAIN = [*map(chr, range(32, 127)), *"×·–…½µ°±≥≤−→"]
LIGATURES = ["ff", "fi", "fl", "ffi", "ffl"]
FILE = Path(text_width.__file__).with_name("font_widths.json")


def font_widths(bold: bool) -> tuple[dict[str, int], dict[str, int]]:
    """Advances and kerning at a size where matplotlib's 64ths of a point are the font's own units."""
    advances = {glyph: measured_width(glyph, UNITS / 64, bold) for glyph in PLAIN + LIGATURES}
    pairs = {left + right: (left, right) for left in PLAIN for right in PLAIN}
    kerning = {
        pair: measured_width(pair, UNITS / 64, bold) - advances[left] - advances[right]
        for pair, (left, right) in pairs.items()
        if pair not in LIGATURES
    }
    return advances, {pair: width for pair, width in kerning.items() if width}


def test_texts_are_as_wide_as_matplotlib_sets_them() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        text = "".join(chance.choices([*PLAIN, *"fffil"], k=chance.randrange(20)))
        size, bold = chance.choice([3.0, 6.5, 7, 8, 8 * 0.93, 11, 11 * 0.93**2]), chance.random() < 0.5
        assert width_of(text, size, bold) == measured_width(text, size, bold) / 64 / 72, (text, size, bold)
    assert width_of("é", 8) == measured_width("é", 8, False) / 64 / 72  # not in the table


def test_plain_texts_load_no_matplotlib() -> None:
    code = (
        "import sys; from mpicampaign.show.figures.text_width import width_of; width_of('IMB: 1 × 2', 8);"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


if __name__ == "__main__":
    kept = {"normal": font_widths(bold=False), "bold": font_widths(bold=True)}
    FILE.write_text(json.dumps(kept, ensure_ascii=False, indent=None) + "\n", encoding="utf-8")
