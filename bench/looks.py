"""Repeats that are looked at several times: how often they err and what they find, simulated.

bench/run_all looks [--cases 600] [--seed 42] [--parts until_decided races after_reports]

As docs/statistics.md prints it: `repeats: until decided`, races of settings, and repeats that were added
after a report, read after each.
"""

import math
from collections.abc import Sequence

import numpy as np
from common import options, usually
from verdicts import COURSES, NOISE, Array, Source, candidates, even

from mpicampaign.base.expectation import LOOKS, looks_to_decide
from mpicampaign.verdicts.compare import compare
from mpicampaign.verdicts.looks import LookRule, decide, lead, level_to_win
from mpicampaign.verdicts.rows import TimedRun

CASES = usually(600, smallest=2)
NOISES = ("quiet", "drift 5", "states", "autoc.", "days", "t3")
TOLERANCE = 0.02  # of races
MOST = 24  # rows after reports


def heading(*others: str) -> str:
    return (
        f"  {'':4}" + "".join(f"{course:>9}" for course in NOISES) + "".join(f"{text:>13}" for text in others)
    )


def rows(source: Source, course: str, truth: Sequence[float], n: int) -> Array:
    """Costs of rows in even order: rows x candidates x one cell."""
    layout = even(source, len(truth), n)
    costs = COURSES[course](source, np.array([begin for begin, _ in layout]))
    in_rows = np.empty((n, len(truth)))
    for place, (_, who) in enumerate(layout):
        in_rows[place // len(truth), who] = costs[place]
    return (in_rows + np.log(truth))[:, :, None]


# ---- until decided


def rates_decided(source: Source, course: str, truth: Sequence[float], cases: int) -> tuple[float, ...]:
    """How often one as good as the best leaves, how often exactly those remain; runs of each candidate."""
    best, k = min(truth), len(truth)
    false = right = runs = 0.0
    for _ in range(cases):
        decision = decide(rows(source, course, truth, looks_to_decide(k)[-1]))
        [cell] = decision.cells
        false += any(truth[who] == best for who in decision.left_after)
        right += all(truth[who] == best for who in cell.remaining)
        runs += (sum(decision.left_after.values()) + decision.rows * len(cell.remaining)) / k
    return false / cases, right / cases, runs / cases


def until_decided(cases: int, source: Source) -> None:
    print("Until decided: false of alike ones by noise; where one is better by 1, 2 %: found, runs of each")
    print(heading("1 %", "2 %", "2 % t3"))
    for k in (2, 3, 4, 8):
        few = max(cases // (1 if k < 8 else 4), 2)
        false = [rates_decided(source, course, [1.0] * k, few)[0] for course in NOISES]
        line = "".join(f"{rate:9.3f}" for rate in false)
        for course, better in (("quiet", 1.01), ("quiet", 1.02), ("t3", 1.02)):
            _, right, runs = rates_decided(source, course, [1.0] + [better] * (k - 1), few)
            line += f"{right:7.2f}{runs:6.1f}"
        print(f"  {k:4}{line}", flush=True)


# ---- races


def race(source: Source, truth: Array) -> tuple[dict[int, tuple[int, float]], int]:
    """The candidate that replaces the default in each cell, and its lead; how many runs it took.

    ``truth``: candidates x cells. Each block is on other nodes, 3 % apart.
    """
    nodes = 0.03 * source.standard_normal((LOOKS[-1], 1, 1))
    costs = nodes + np.log(truth) + NOISE * source.standard_normal((LOOKS[-1], *truth.shape))
    rule = LookRule(TOLERANCE, level_to_win(*truth.shape))
    runs, blocks = 0, 0
    while (decision := decide(costs[:blocks], rule)).running:
        runs += len(decision.running) * (decision.due - blocks)
        blocks = decision.due
    won = ((place, cell.best) for place, cell in enumerate(decision.cells) if cell.wins)
    return {place: (best, lead(costs[:blocks, :, place], best, 0)) for place, best in won}, runs


def rates_of_races(source: Source, truth: Array, cases: int) -> str:
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


def races(cases: int, source: Source) -> None:
    print("candidates, cells, faster: any wrong one, the right one, runs, ratio shown less the true one")
    for k, cells in ((4, 1), (6, 12), (12, 20)):
        for faster in (0.0, 0.02, 0.03, 0.05):
            truth = np.ones((k, cells))
            truth[-1, 0] = 1 - faster
            rates = rates_of_races(source, truth, max(cases // (1 if cells == 1 else 4), 1))
            print(f"  {k:2} {cells:2}  {faster:.0%}  {rates}", flush=True)


# ---- after reports


def shown(runs: Sequence[Sequence[TimedRun]]) -> bool:
    """Whether any two are called different."""
    return any(pair.shown for pair in compare(runs).pairs.values())


def rates_after_reports(
    source: Source, course: str, truth: Sequence[float], reported: int, cases: int
) -> tuple[float, ...]:
    """How often any two are called different: at the report, if tested again after each row, with bets."""
    counts = np.zeros(3)
    for _ in range(cases):
        layout = even(source, len(truth), MOST)
        costs = COURSES[course](source, np.array([begin for begin, _ in layout]))
        runs = candidates(layout, costs, truth)
        added = [
            [run._replace(looks=int(row >= reported)) for row, run in enumerate(of_candidate)]
            for of_candidate in runs
        ]
        at_report = shown([of_candidate[:reported] for of_candidate in runs])
        again, bets = (
            any(shown([of_candidate[:n] for of_candidate in made]) for n in range(reported + 1, MOST + 1))
            for made in (runs, added)
        )
        counts += at_report, at_report or again, at_report or bets
    return tuple(counts / cases)


def after_reports(cases: int, source: Source) -> None:
    print(f"Any two called different: at the report, tested again after each row up to {MOST}, with bets")
    alike = [(course, 1.0) for course in NOISES]
    for k, reported in ((2, 6), (2, 8), (3, 8), (4, 8)):
        few = max(cases // (1 if k == 2 else 2 * k), 2)
        for course, better in (*alike, ("quiet", 1.01), ("quiet", 1.02), ("t3", 1.02)):
            rates = rates_after_reports(source, course, [1.0] + [better] * (k - 1), reported, few)
            what = "alike" if better == 1 else f"{better - 1:.0%} worse"
            line = "".join(f"{rate:8.3f}" for rate in rates)
            print(f"  {k} candidates, {reported} repeats, {course:9} {what:9}{line}", flush=True)


PARTS = {part.__name__: part for part in (until_decided, races, after_reports)}


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, PARTS, cases=CASES, seed=42)
    for part in given.parts:
        PARTS[part](given.cases, np.random.default_rng(given.seed))
