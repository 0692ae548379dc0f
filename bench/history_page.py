"""The page of a long history: 2,000 ticks of 50 curves, analysed, written and first drawn in a browser."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from common import PROJECT, usually

sys.path.insert(0, str(PROJECT / "tests"))

from browser import CHROMIUM, browser
from history_data import curve, key, noise

from mpicampaign.history.changes import analyse_curves, events
from mpicampaign.history.overview import Overview, SeriesEntry
from mpicampaign.show.report.history import write_history_page

TICKS, CURVES, ROUNDS = usually((2000, 50, 5), smallest=(100, 2, 1))
_DRAWN = "performance.getEntriesByName('drawn').length"


def main() -> None:
    made = [
        curve(noise(TICKS, 0.95, TICKS // 2, seed=number), key("TCP", f"bandwidth at {number} B"))
        for number in range(CURVES)
    ]
    with tempfile.TemporaryDirectory() as folder:
        log, page = Path(folder) / "changes.jsonl", Path(folder) / "history.html"
        begin = time.perf_counter()
        analyse_curves(made, log)
        print(f"history page, {TICKS} ticks of {CURVES} curves: analysed for the first time in ", end="")
        print(f"{time.perf_counter() - begin:.1f} s, ", end="")
        begin = time.perf_counter()
        analysis = analyse_curves(made, log)
        found = tuple(events(analysis.curves))
        print(f"again in {time.perf_counter() - begin:.2f} s")
        series = tuple(SeriesEntry(p.tick, p.time, CURVES, CURVES, False, False) for p in made[0].points)
        history = Overview("c", series, analysis.curves, found, (), analysis.tested, (TICKS, 0, 0), ())
        begin = time.perf_counter()
        write_history_page(page, history)
        print(f"  written in {time.perf_counter() - begin:.2f} s, {page.stat().st_size / 1e6:.2f} MB")
        if CHROMIUM is None:
            print("  first drawing: not measured, no chromium")
            return
        print(f"  first drawing after {_first_drawing(page):.2f} s (median of {ROUNDS}; limit 2 s)")


def _first_drawing(page: Path) -> float:
    """Seconds from the beginning of the navigation."""
    found = []
    with browser() as opened:
        for _ in range(ROUNDS):
            opened.open("about:blank")
            opened.open(page.as_uri())
            opened.wait(_DRAWN)
            found.append(opened.value("performance.getEntriesByName('drawn')[0].startTime") / 1000)
    return statistics.median(found)


if __name__ == "__main__":
    main()
