"""Which slow nodes are found, and how often that errs: simulated, as docs/statistics.md prints it.

bench/slow_members.py [--machines 300] [--seed 33]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from common import usually
from statistics_errors import NOISES

from mpicampaign.statistics.against_controls import Round
from mpicampaign.statistics.slow_members import TOLERANCE, Search, rounds_due, search

MACHINES = usually(300, smallest=1)
ROUNDS = 26  # the most that a search takes
Array = npt.NDArray[np.float64]


def modes(source: np.random.Generator, shape: tuple[int, int], scatter: float) -> Array:
    """Each run is in one of two modes, two scatters apart."""
    return scatter * (source.integers(0, 2, shape) * 2 - 1 + 0.2 * source.standard_normal(shape))


def own_spread(source: np.random.Generator, shape: tuple[int, int], scatter: float) -> Array:
    """Each node scatters by half to twice as much."""
    return scatter * 2 ** source.uniform(-1, 1, shape[1]) * source.standard_normal(shape)


def correlated(source: np.random.Generator, shape: tuple[int, int], scatter: float, r: float = 0.7) -> Array:
    """A node keeps a part of what disturbed it in the round before."""
    values = source.standard_normal(shape)
    for before, now in pairwise(values):
        now[:] = r * before + np.sqrt(1 - r * r) * now
    return scatter * values


INDEPENDENT = {name: NOISES[name] for name in ("normal", "t3", "exponential")}
INDEPENDENT |= {"two modes": modes, "own spread": own_spread}


class Machine(NamedTuple):
    """``spread``: of what the nodes take by nature; ``slower``: how much the first one takes beyond that."""

    nodes: int
    noise: Callable[..., Array]
    scatter: float = 0.02
    spread: float = 0.005
    slower: float = 0.0


class Outcome(NamedTuple):
    """``false``: a node was named that is not slower than the median by more than the tolerance."""

    false: bool
    found: bool
    runs: float  # a node
    search: Search


def outcome(machine: Machine, source: np.random.Generator) -> Outcome:
    """Of one machine, measured round by round until nothing is due."""
    names = [f"n{number:04}" for number in range(machine.nodes)]
    effects = machine.spread * source.standard_normal(machine.nodes)
    if machine.slower:
        effects[0] = np.median(effects) + np.log1p(machine.slower)
    costs = effects + machine.noise(source, (ROUNDS, machine.nodes), machine.scatter)
    rounds: list[Round] = []
    found = Search()
    while len(due := rounds_due(names, found)) > len(rounds):
        for number in range(len(rounds) + 1, len(due) + 1):
            own = dict(zip(names, costs[number - 1].tolist(), strict=True))
            rounds.append(Round(number, {each: own[each] for each in due[number]}))
        found = search(rounds)
    slow = dict(zip(names, effects - np.median(effects) > np.log1p(TOLERANCE), strict=True))
    named = {each.member for each in found.named}
    runs = sum(len(each.costs) for each in rounds) / machine.nodes
    return Outcome(any(not slow[each] for each in named), names[0] in named, runs, found)


def outcomes(machine: Machine, machines: int, source: np.random.Generator) -> list[Outcome]:
    return [outcome(machine, source) for _ in range(machines)]


def share(values: Sequence[bool | float]) -> float:
    return float(np.mean(values))


def nodes(machines: int, source: np.random.Generator) -> None:
    print("Nodes, noise 2 %, natural spread 0.5 %: healthy machines with any named; found 5 %; runs a node")
    for count, (name, noise) in product((16, 128, 1024), INDEPENDENT.items()):
        healthy = outcomes(Machine(count, noise), machines, source)
        slow = outcomes(Machine(count, noise, slower=0.05), machines, source)
        false, found = share([each.false for each in healthy]), share([each.found for each in slow])
        print(
            f"  {count:4} {name:11} {false:.3f}  {found:.3f}  {share([each.runs for each in slow]):.1f}",
            flush=True,
        )


def wide(machines: int, source: np.random.Generator) -> None:
    print("Nodes, natural spread, noise: any healthy named; smallest slow-down, found; runs a node; suspects")
    for count, spread, scatter in product((16, 128, 1024), (0.01, 0.02), (0.05, 0.1)):
        machine = Machine(count, NOISES["normal"], scatter, spread)
        healthy = outcomes(machine, machines, source)
        smallest = share([each.search.smallest or np.nan for each in healthy])
        slow = outcomes(machine._replace(slower=smallest), machines, source)
        print(
            f"  {count:4} {spread:.0%} {scatter:3.0%} {share([each.false for each in healthy]):.3f}"
            f"  {smallest:.1%} {share([each.found for each in slow]):.3f}"
            f"  {share([each.runs for each in slow]):.1f}"
            f"  {share([len(each.search.suspects) for each in slow]) / count:.0%}",
            flush=True,
        )


def dependent(machines: int, source: np.random.Generator) -> None:
    print(
        "Nodes, noise 2 %, autocorrelation 0.7: any healthy named; of these said to depend; the same of none"
    )
    for count in (16, 128, 1024):
        for noise in (correlated, NOISES["normal"]):
            healthy = outcomes(Machine(count, noise), machines, source)
            named = [each for one in healthy for each in one.search.named]
            said = [each.member in one.search.dependent for one in healthy for each in one.search.named]
            print(
                f"  {count:4} {share([each.false for each in healthy]):.3f}  {len(named)} {share(said or [0]):.2f}"
            )


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=MACHINES, help="simulated for each rate")
    parser.add_argument("--seed", type=int, default=33)
    parser.add_argument("--parts", nargs="+", default=["nodes", "wide", "dependent"])
    options = parser.parse_args(arguments)
    for part in options.parts:
        globals()[part](options.machines, np.random.default_rng(options.seed))


if __name__ == "__main__":
    main(sys.argv[1:])
