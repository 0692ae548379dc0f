"""Repeats that were added after a report, read after each: how often verdicts err and what they find.

bench/bets.py [--cases 600] [--seed 42]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from common import usually
from verdicts import COURSES, Source, candidates, even

from mpicampaign.verdicts.compare import compare
from mpicampaign.verdicts.rows import TimedRun

CASES = usually(600, smallest=2)
NOISES = ("quiet", "drift 5", "states", "autoc.", "days", "t3")
MOST = 24  # rows


def shown(runs: Sequence[Sequence[TimedRun]]) -> bool:
    """Whether any two are called different."""
    return any(pair.shown for pair in compare(runs).pairs.values())


def after_each_row(
    source: Source, course: str, truth: Sequence[float], reported: int, cases: int
) -> tuple[float, float, float]:
    """How often any two are called different: at the report, if tested again after each row, with bets."""
    at_report = again = bets = 0
    for _ in range(cases):
        layout = even(source, len(truth), MOST)
        costs = COURSES[course](source, np.array([begin for begin, _ in layout]))
        runs = candidates(layout, costs, truth)
        added = [[run._replace(looks=int(row >= reported)) for row, run in enumerate(own)] for own in runs]
        first = shown([own[:reported] for own in runs])
        at_report += first
        again += any(shown([own[:n] for own in runs]) for n in range(reported, MOST + 1))
        bets += first or any(shown([own[:n] for own in added]) for n in range(reported + 1, MOST + 1))
    return at_report / cases, again / cases, bets / cases


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="simulated for each rate")
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args(arguments)
    source = np.random.default_rng(options.seed)
    print(f"Any two called different: at the report, tested again after each row up to {MOST}, with bets")
    for k, reported in ((2, 6), (2, 8), (3, 8), (4, 8)):
        cases = max(options.cases // (1 if k == 2 else 2 * k), 2)
        for course, better in (
            *((course, 1.0) for course in NOISES),
            *(("quiet", 1.01), ("quiet", 1.02), ("t3", 1.02)),
        ):
            rates = after_each_row(source, course, [1.0] + [better] * (k - 1), reported, cases)
            what = "alike" if better == 1 else f"{better - 1:.0%} worse"
            said = "".join(f"{rate:8.3f}" for rate in rates)
            print(f"  {k} candidates, {reported} repeats, {course:9} {what:9}{said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
