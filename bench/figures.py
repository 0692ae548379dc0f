"""Figures of 13 host groups × 4 placements × 5 repeats as SVG, PNG and PDF, compared with savefig."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from unittest.mock import patch

from common import alternate, line, ratio, title, usually

from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.records import OK, VERIFIED, Case, Record, Series
from mpicampaign.show.figures import draw
from mpicampaign.show.figures.draw import draw_all
from mpicampaign.show.figures.page import FORMATS
from mpicampaign.show.figures.painted import painted

HOST_GROUPS = usually(13, smallest=2)
PLACEMENTS = {"SHM-1": (1.5e-7, 9e9), "SHM-2": (3e-7, 6e9), "IBV": (2e-6, 3e9), "TCP": (3e-5, 1e8)}
REPEATS = 5
ROUNDS = usually(5, smallest=1)


def main() -> None:
    comparison = compare([record for group in range(HOST_GROUPS) for record in runs(f"group{group}")])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        count = len(draw_all(comparison, folder))  # finds fonts, imports modules
        title(f"Figures: {count} of {HOST_GROUPS} host groups × {len(PLACEMENTS)} placements, each")
        ours, svg, beside = alternate(
            ROUNDS,
            lambda: draw_all(comparison, folder, formats=FORMATS),
            lambda: draw_all(comparison, folder),
            lambda: draw_by_savefig(comparison, folder),
        )
        line("SVG, PNG and PDF", [seconds / count for seconds in ours])
        line("SVG alone", [seconds / count for seconds in svg])
        line("SVG, PNG and PDF by savefig", [seconds / count for seconds in beside])
        ratio("  times ours", ours, beside)


def runs(group: str) -> list[Record]:
    """PingPong runs with a scatter of a few per cent."""
    noise = random.Random(group)
    cases = [(Case("s", group, name, "PingPong"), *speeds) for name, speeds in PLACEMENTS.items()]
    return [
        Record(case, "imb", n, OK, verdict=VERIFIED, series=(pingpong(noise, latency, bandwidth),))
        for case, latency, bandwidth in cases
        for n in range(1, REPEATS + 1)
    ]


def pingpong(noise: random.Random, latency: float, bandwidth: float) -> Series:
    sizes = [0.0, *(float(2**power) for power in range(25))]
    times = [(latency + size / bandwidth) * noise.uniform(0.96, 1.04) for size in sizes]
    rates = [size / time for size, time in zip(sizes, times, strict=True)]
    return Series("PingPong", 2, {"size": [*sizes], "time": [*times], "bandwidth": [*rates]})


def draw_by_savefig(comparison: Comparison, folder: Path) -> None:
    """Draw all figures, and write them as in matplotlib's documentation."""
    with patch.object(draw, "_write", lambda page, _, path: painted(page).savefig(path, dpi=160)):
        draw_all(comparison, folder, formats=FORMATS)


if __name__ == "__main__":
    main()
