"""What races of settings find, and how often they err: simulated, as docs/statistics.md prints it.

bench/race.py [--cases 400] [--seed 32]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from common import usually

from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.race import confirmed, fresh_blocks, race, winners

CASES = usually(400, smallest=1)
NOISE = 0.01  # of a run
Array = npt.NDArray[np.float64]


def costs(source: np.random.Generator, blocks: int, truth: Array) -> Array:
    """Blocks x candidates x cells; ``truth``: candidates x cells. Each block is on other nodes, 3 % apart."""
    nodes = 0.03 * source.standard_normal((blocks, 1, 1))
    return nodes + np.log(truth) + NOISE * source.standard_normal((blocks, *truth.shape))


def replaced(source: np.random.Generator, truth: Array) -> tuple[dict[int, int], int]:
    """The candidate that replaces the default in each cell of a race, and how many runs it took."""
    made, runs = costs(source, 0, truth), 0
    while (found := race(made)).due:
        more = costs(source, found.blocks - len(made), truth)
        runs += len(found.due) * len(more)
        made = np.concatenate([made, more])
    best = winners(found, made)
    if not best:
        return {}, runs
    fresh = costs(source, fresh_blocks(len(best)), truth)
    runs += len({0, *best.values()}) * len(fresh)
    shown = confirmed(fresh, best)
    return {cell: best[cell] for cell, p in shown.items() if p <= LEVEL}, runs


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="simulated for each line")
    parser.add_argument("--seed", type=int, default=32)
    options = parser.parse_args(arguments)
    source = np.random.default_rng(options.seed)
    print("candidates, cells, faster: any wrong one, the right one, runs")
    for candidates, cells in ((4, 1), (6, 12), (12, 20)):
        for faster in (0.0, 0.02, 0.03, 0.05):
            truth = np.ones((candidates, cells))
            truth[-1, 0] = 1 - faster
            wrong = found = total = 0
            for _ in range(options.cases):
                chosen, runs = replaced(source, truth)
                right = {0: candidates - 1} if faster else {}
                wrong += any(right.get(cell) != each for cell, each in chosen.items())
                found += bool(faster) and chosen.get(0) == candidates - 1
                total += runs
            rates = f"{wrong / options.cases:.3f}  {found / options.cases:.2f}  {total / options.cases:.0f}"
            print(f"  {candidates:2} {cells:2}  {faster:.0%}  {rates}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
