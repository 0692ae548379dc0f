"""What races of settings find, and how often they err: simulated, as docs/statistics.md prints it.

bench/race.py [--cases 400] [--seed 32]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from common import usually
from looks import NOISES, rows

from mpicampaign.base.expectation import LOOKS
from mpicampaign.verdicts.looks import LookRule, decide, lead, level_to_win

CASES = usually(400, smallest=1)
NOISE = 0.01  # of a run
TOLERANCE = 0.02
Array = npt.NDArray[np.float64]


def costs_of(source: np.random.Generator, truth: Array) -> Array:
    """Blocks x candidates x cells; ``truth``: candidates x cells. Each block is on other nodes, 3 % apart."""
    nodes = 0.03 * source.standard_normal((LOOKS[-1], 1, 1))
    return nodes + np.log(truth) + NOISE * source.standard_normal((LOOKS[-1], *truth.shape))


def race(source: np.random.Generator, truth: Array) -> tuple[dict[int, tuple[int, float]], int]:
    """The candidate that replaces the default in each cell, and its lead; how many runs it took."""
    costs, rule = costs_of(source, truth), LookRule(TOLERANCE, level_to_win(*truth.shape))
    runs, blocks = 0, 0
    while (decision := decide(costs[:blocks], rule)).running:
        runs += len(decision.running) * (decision.due - blocks)
        blocks = decision.due
    won = ((place, cell.best) for place, cell in enumerate(decision.cells) if cell.wins)
    return {place: (best, lead(costs[:blocks, :, place], best, 0)) for place, best in won}, runs


def line(source: np.random.Generator, truth: Array, cases: int) -> str:
    """Of races in which the last candidate is the faster one in the first cell."""
    faster = 1 - truth[-1, 0]
    wrong = runs = 0
    leads: list[float] = []
    for _ in range(cases):
        won, made = race(source, truth)
        right = faster > 0 and won.get(0, (0, 0.0))[0] == len(truth) - 1
        leads += [won[0][1]] if right else []
        wrong += len(won) > right
        runs += made
    flattered = f"{math.exp(-np.mean(leads)) - truth[-1, 0]:+.4f}" if leads else ""
    return f"{wrong / cases:.3f}  {len(leads) / cases:.2f}  {runs / cases:.0f}  {flattered}"


def wrong_ones(
    source: np.random.Generator, course: str, candidates: int, rule: LookRule, cases: int
) -> float:
    """How often one of alike candidates replaces the default."""
    made = (rows(source, course, [1.0] * candidates, LOOKS[-1])[:, :, None] for _ in range(cases))
    return sum(decide(costs, rule).cells[0].wins for costs in made) / cases


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="simulated for each line")
    parser.add_argument("--seed", type=int, default=32)
    options = parser.parse_args(arguments)
    source = np.random.default_rng(options.seed)
    print("candidates, cells, faster: any wrong one, the right one, runs, ratio shown less the true one")
    for candidates, cells in ((4, 1), (6, 12), (12, 20)):
        cases = max(options.cases // (1 if cells == 1 else 4), 1)
        for faster in (0.0, 0.02, 0.03, 0.05):
            truth = np.ones((candidates, cells))
            truth[-1, 0] = 1 - faster
            print(f"  {candidates:2} {cells:2}  {faster:.0%}  {line(source, truth, cases)}", flush=True)
    print("All alike, where the tolerance prevents nothing (0 %), by noise: any wrong one")
    print(f"  {'':4}" + "".join(f"{course:>9}" for course in NOISES))
    for candidates in (3, 6):
        rule = LookRule(0.0, level_to_win(candidates, 1))
        rates = (wrong_ones(source, course, candidates, rule, options.cases) for course in NOISES)
        print(f"  {candidates:4}" + "".join(f"{rate:9.3f}" for rate in rates), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
