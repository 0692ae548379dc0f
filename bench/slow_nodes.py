"""Which slow nodes are found, and how often that errs: simulated, as docs/statistics.md prints it.

bench/slow_nodes.py [--machines 300] [--seed 33] [--parts by_noise]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from common import options, usually
from statistics_errors import NOISES

from mpicampaign.base.waves import ROUNDS as WAVE_ROUNDS
from mpicampaign.statistics.against_controls import Round
from mpicampaign.statistics.slow_members import FEW, LOOKS, SCREEN, TOLERANCE, Search, search, search_waves

MACHINES = usually(300, smallest=1)
NODES = usually((16, 128, 1024), smallest=(16, 32))
ROUNDS = 26  # the most that a search takes
Array = npt.NDArray[np.float64]


def rounds_due(members: Collection[str], found: Search) -> dict[int, tuple[str, ...]]:
    """The members of each round that a search needs up to its next look, also of those that are done."""
    everyone = tuple(sorted(members))
    first = LOOKS[0][0] if not found.confirm and len(everyone) <= FEW else SCREEN
    return {**found.confirm, **dict.fromkeys(range(1, first + 1), everyone)}


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


def student(source: np.random.Generator, shape: tuple[int, int], scatter: float) -> Array:
    """Student's t with 3 degrees of freedom, with this standard deviation."""
    return NOISES["t3"](source, shape, scatter / np.sqrt(3))


INDEPENDENT = {"normal": NOISES["normal"], "t3": student, "exponential": NOISES["exponential"]}
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


def drawn(machine: Machine, source: np.random.Generator) -> tuple[list[str], Array]:
    """The names of the nodes, and what each takes by itself."""
    effects = machine.spread * source.standard_normal(machine.nodes)
    if machine.slower:
        effects[0] = np.median(effects) + np.log1p(machine.slower)
    return [f"n{number:04}" for number in range(machine.nodes)], effects


def outcome(machine: Machine, source: np.random.Generator) -> Outcome:
    """Of one machine, measured round by round until nothing is due."""
    names, effects = drawn(machine, source)
    costs = effects + machine.noise(source, (ROUNDS, machine.nodes), machine.scatter)
    rounds: list[Round] = []
    so_far = Search()
    while len(due := rounds_due(names, so_far)) > len(rounds):
        for number in range(len(rounds) + 1, len(due) + 1):
            own = dict(zip(names, costs[number - 1].tolist(), strict=True))
            rounds.append(Round(number, {each: own[each] for each in due[number]}))
        so_far = search(rounds)
    return judged(names, effects, so_far, rounds)


def judged(names: Sequence[str], effects: Array, so_far: Search, rounds: Sequence[Round]) -> Outcome:
    slow = dict(zip(names, effects - np.median(effects) > np.log1p(TOLERANCE), strict=True))
    named = {each.member for each in so_far.named}
    runs = sum(len(each.costs) for each in rounds) / len(names)
    return Outcome(any(not slow[each] for each in named), names[0] in named, runs, so_far)


def in_waves(machine: Machine, source: np.random.Generator) -> Outcome:
    """Half of the nodes come late, some at a time; between two looks others take a tenth of all."""
    names, effects = drawn(machine, source)
    rounds: list[Round] = []
    waiting, wave, found = list(source.permutation(names)), 0, Search()
    while waiting:
        many = machine.nodes // 2 if wave == 0 else int(source.integers(1, machine.nodes // 4))
        taken, waiting = waiting[:many], waiting[many:]
        others = [name for name in names if name not in (*taken, *waiting)]
        members = [*taken, *others[: max(12 - len(taken), 0)]]
        costs = effects + machine.noise(source, (ROUNDS, machine.nodes), machine.scatter)
        there, made, first = {*members}, 0, wave * WAVE_ROUNDS
        while len(due := rounds_due(members, Search(confirm=_of_wave(found, first)))) > made:
            for made in range(made + 1, len(due) + 1):  # noqa: B020
                own = dict(zip(names, costs[made - 1].tolist(), strict=True))
                rounds.append(Round(first + made, {each: own[each] for each in due[made] if each in there}))
            found = search_waves(rounds, machine.nodes)
            there -= {each for each in members if source.random() < 0.1}
        waiting += [each for each in taken if each in found.not_decided and each not in there]
        wave += 1
    return judged(names, effects, found, rounds)


def _of_wave(found: Search, first: int) -> dict[int, tuple[str, ...]]:
    return {number - first: who for number, who in found.confirm.items() if 0 < number - first < WAVE_ROUNDS}


Measure = Callable[[Machine, np.random.Generator], Outcome]


class Rates(NamedTuple):
    """Shares of machines, and means over them; ``said``: of those named, how many were called dependent."""

    false: float
    found: float
    runs: float
    said: float


def rates(machine: Machine, machines: int, source: np.random.Generator, measure: Measure = outcome) -> Rates:
    made = [measure(machine, source) for _ in range(machines)]
    said = [each.member in one.search.dependent for one in made for each in one.search.named]
    columns = ([one.false for one in made], [one.found for one in made], [one.runs for one in made])
    return Rates(*(float(np.mean(column)) for column in (*columns, said or [np.nan])))


def late(machines: int, source: np.random.Generator) -> None:
    by_noise(machines, source, in_waves)


def by_noise(machines: int, source: np.random.Generator, measure: Measure = outcome) -> None:
    print("Noise 2 %, natural spread 0.5 %: healthy machines with any named, runs a node; 5 % found, runs")
    for count, (name, noise) in product(NODES, INDEPENDENT.items()):
        healthy, slow = (
            rates(Machine(count, noise, slower=more), machines, source, measure) for more in (0.0, 0.05)
        )
        shown = f"{healthy.false:.3f} {healthy.runs:4.1f}  {slow.found:.3f} {slow.runs:4.1f}"
        print(f"  {count:4} {name:11} {shown}", flush=True)


def dependent(machines: int, source: np.random.Generator) -> None:
    print(
        "Autocorrelation 0.7: healthy machines with any named, of these called dependent; of sound ones found"
    )
    for count in NODES:
        healthy = rates(Machine(count, correlated), machines, source)
        slow = rates(Machine(count, NOISES["normal"], slower=0.05), machines, source)
        print(f"  {count:4}  {healthy.false:.3f} {healthy.said:.2f}  {slow.said:.2f}", flush=True)


PARTS = {part.__name__: part for part in (by_noise, late, dependent)}


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, PARTS, machines=MACHINES, seed=33)
    for part in given.parts:
        PARTS[part](given.machines, np.random.default_rng(given.seed))


if __name__ == "__main__":
    main(sys.argv[1:])
