"""Repeats until it is decided: how often they err and what they find, simulated as docs/statistics.md has it.

bench/looks.py [--cases 600] [--seed 42]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from common import usually
from verdicts import COURSES, Array, Source, even

from mpicampaign.base.expectation import looks_to_decide
from mpicampaign.verdicts.looks import decide

CASES = usually(600, smallest=2)
NOISES = ("quiet", "drift 5", "states", "autoc.", "days", "t3")


def rows(source: Source, course: str, truth: Sequence[float], n: int) -> Array:
    """Costs of rows in even order."""
    layout = even(source, len(truth), n)
    costs = COURSES[course](source, np.array([begin for begin, _ in layout]))
    found = np.empty((n, len(truth)))
    for place, (_, who) in enumerate(layout):
        found[place // len(truth), who] = costs[place]
    return found + np.log(truth)


def until_decided(
    source: Source, course: str, truth: Sequence[float], cases: int
) -> tuple[float, float, float]:
    """How often one as good as the best leaves, how often exactly those remain; runs of each candidate."""
    best, k = min(truth), len(truth)
    false = right = runs = 0.0
    for _ in range(cases):
        decision = decide(rows(source, course, truth, looks_to_decide(k)[-1])[:, :, None])
        [cell] = decision.cells
        false += any(truth[who] == best for who in decision.left_after)
        right += all(truth[who] == best for who in cell.remaining)
        runs += (sum(decision.left_after.values()) + decision.rows * len(cell.remaining)) / k
    return false / cases, right / cases, runs / cases


def table_of_looks(source: Source, cases: int) -> None:
    print(
        "Until decided: false of alike ones by noise; found, and runs of each, where one is better by 1, 2 %"
    )
    print(
        f"  {'':4}" + "".join(f"{course:>9}" for course in NOISES) + f"{'1 %':>13}{'2 %':>13}{'2 % t3':>13}"
    )
    for k in (2, 3, 4, 8):
        few = max(cases // (1 if k < 8 else 4), 2)
        false = [until_decided(source, course, [1.0] * k, few)[0] for course in NOISES]
        line = "".join(f"{rate:9.3f}" for rate in false)
        for course, better in (("quiet", 1.01), ("quiet", 1.02), ("t3", 1.02)):
            _, right, runs = until_decided(source, course, [1.0] + [better] * (k - 1), few)
            line += f"{right:7.2f}{runs:6.1f}"
        print(f"  {k:4}{line}", flush=True)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="simulated for each rate")
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args(arguments)
    source = np.random.default_rng(options.seed)
    table_of_looks(source, options.cases)


if __name__ == "__main__":
    main(sys.argv[1:])
