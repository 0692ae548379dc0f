"""Which slow nodes are found, and how often that errs: simulated, as docs/statistics.md prints it.

bench/run_all slow_nodes [--machines 300] [--seed 33] [--parts by_noise]
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from common import options, usually
from statistics_errors import NOISES

from mpicampaign.base.waves import ROUNDS as WAVE_ROUNDS
from mpicampaign.statistics.against_controls import Round
from mpicampaign.statistics.slow_members import (
    FEW,
    LOOKS,
    SCREEN,
    TOLERANCE,
    Search,
    SlowMember,
    search,
    search_waves,
)

MACHINES = usually(300, smallest=1)
NODES = usually((16, 128, 1024), smallest=(16, 32))
ROUNDS = 26  # the most that a search takes
RUN, DAY = 1 / 60, 24.0  # h: a round; until the last of others' jobs ends
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
    hours: float  # until the slow one was named, or all had been measured


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
    return judged(names, effects, so_far, rounds, DAY + len(rounds) * RUN)


def judged(
    names: Sequence[str], effects: Array, so_far: Search, rounds: Sequence[Round], hours: float
) -> Outcome:
    slow = dict(zip(names, effects - np.median(effects) > np.log1p(TOLERANCE), strict=True))
    named = {each.member for each in so_far.named}
    runs = sum(len(each.costs) for each in rounds) / len(names)
    return Outcome(any(not slow[each] for each in named), names[0] in named, runs, so_far, hours)


def idle_once(above: float, machine: Machine, source: np.random.Generator) -> Outcome:
    """As ReFrame's --distribute=idle: each idle node once, against a reference, here the median of all."""
    names, effects = drawn(machine, source)
    costs = effects + machine.noise(source, (1, machine.nodes), machine.scatter)[0]
    idle = source.permutation(machine.nodes)[: machine.nodes // 2]
    far = [place for place in idle if costs[place] - np.median(costs[idle]) > np.log1p(above)]
    named = tuple(SlowMember(names[place], above, 0.0, 1.0, 1, 1) for place in far)
    return judged(names, effects, Search(named=named), [], RUN)


def in_waves(machine: Machine, source: np.random.Generator) -> Outcome:
    """Half of the nodes come late, some at a time; between two looks others take a tenth of all."""
    names, effects = drawn(machine, source)
    rounds: list[Round] = []
    waiting, wave, found = list(source.permutation(names)), 0, Search()
    now, named_after = 0.0, 0.0
    while waiting:
        many = machine.nodes // 2 if wave == 0 else int(source.integers(1, machine.nodes // 4))
        taken, waiting = waiting[:many], waiting[many:]
        others = [name for name in names if name not in (*taken, *waiting)]
        members = [*taken, *others[: max(12 - len(taken), 0)]]
        costs = effects + machine.noise(source, (ROUNDS, machine.nodes), machine.scatter)
        now = max(now, DAY * (1 - len(waiting) / (machine.nodes - machine.nodes // 2)))
        there, made, first = {*members}, 0, wave * WAVE_ROUNDS
        while len(due := rounds_due(members, Search(confirm=_of_wave(found, first)))) > made:
            for made in range(made + 1, len(due) + 1):  # noqa: B020
                own = dict(zip(names, costs[made - 1].tolist(), strict=True))
                rounds.append(Round(first + made, {each: own[each] for each in due[made] if each in there}))
            found = search_waves(rounds, machine.nodes)
            there -= {each for each in members if source.random() < 0.1}
        now += made * RUN
        if not named_after and names[0] in {each.member for each in found.named}:
            named_after = now
        waiting += [each for each in taken if each in found.not_decided and each not in there]
        wave += 1
    return judged(names, effects, found, rounds, named_after or now)


def _of_wave(found: Search, first: int) -> dict[int, tuple[str, ...]]:
    return {number - first: who for number, who in found.confirm.items() if 0 < number - first < WAVE_ROUNDS}


Measure = Callable[[Machine, np.random.Generator], Outcome]


class Rates(NamedTuple):
    """Shares of machines, and means over them; ``said``: of those named, how many were called dependent."""

    false: float
    found: float
    runs: float
    hours: float
    said: float


def rates(machine: Machine, machines: int, source: np.random.Generator, measure: Measure = outcome) -> Rates:
    made = [measure(machine, source) for _ in range(machines)]
    said = [each.member in one.search.dependent for one in made for each in one.search.named]
    columns = [[*map(float, of_all)] for of_all in zip(*(each[:3] + each[4:] for each in made), strict=True)]
    return Rates(*(float(np.mean(column)) for column in (*columns, said or [np.nan])))


def by_noise(machines: int, source: np.random.Generator) -> None:
    print("Noise 2 %, natural spread 0.5 %: healthy machines with any named, runs a node; 5 % found, runs")
    for count, (name, noise) in product(NODES, INDEPENDENT.items()):
        healthy, slow = (rates(Machine(count, noise, slower=more), machines, source) for more in (0.0, 0.05))
        shown = f"{healthy.false:.3f} {healthy.runs:4.1f}  {slow.found:.3f} {slow.runs:4.1f}"
        print(f"  {count:4} {name:11} {shown}", flush=True)


WAYS: dict[str, Measure] = {
    **{"waves": in_waves, "one job that names all": outcome},
    **{f"idle nodes once, {above:.0%} above": partial(idle_once, above) for above in (0.05, 0.1)},
}


def late(machines: int, source: np.random.Generator) -> None:
    print("Half of the nodes busy, up to a day: healthy machines with any named, 5 % found, after hours, by")
    print(f"  {'':16}" + "".join(f"{way:>28}" for way in WAYS))
    for count, (name, noise) in product(NODES, INDEPENDENT.items()):
        shown = ""
        for way in WAYS.values():
            healthy, slow = (
                rates(Machine(count, noise, slower=more), machines, source, way) for more in (0.0, 0.05)
            )
            shown += f"{healthy.false:12.3f} {slow.found:8.3f} {slow.hours:6.2f}"
        print(f"  {count:4} {name:11}{shown}", flush=True)


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
