"""Which slow links, nodes and switches are found among pairs of nodes, and how often that errs: simulated.

bench/run_all slow_links [--machines 50] [--seed 34] [--parts link leaf]
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from common import options, usually

from mpicampaign.statistics.links import LinkSearch, PairRound, search_links

Array = npt.NDArray[np.float64]
MACHINES = usually(50, smallest=1)
NODES = usually((16, 64), smallest=(16,))
LEAVES = 4
NEAR = -0.6  # of pairs with one leaf switch: a latency of 1.0 in place of 1.8 µs
NOISE, OF_NODES, OF_LINKS, OF_ROUNDS = 0.02, 0.005, 0.003, 0.05


class Fault(NamedTuple):
    """What is slow, by 5 %, a link by 10 %; ``leaves``: whether the topology is known.

    ``tails``: scale of the links' natural spread by Student's t with 3 degrees of freedom.
    """

    node: bool = False
    link: bool = False
    leaf: bool = False
    leaves: bool = True
    noise: float = NOISE
    tails: float = 0.0


FAULTS = {
    "healthy": Fault(),
    "healthy, no topology": Fault(leaves=False),
    "node": Fault(node=True),
    "link": Fault(link=True),
    "link, no topology": Fault(link=True, leaves=False),
    "leaf": Fault(leaf=True),
    "all three": Fault(node=True, link=True, leaf=True),
    "link, heavy tails": Fault(link=True, noise=0.005, tails=0.008),
}


class Machine:
    """Nodes n00, n01, … of four leaf switches; costs are logarithms."""

    def __init__(self, nodes: int, fault: Fault, source: np.random.Generator) -> None:
        self.names = [f"n{number:02}" for number in range(nodes)]
        self.leaves = {name: f"leaf{place * LEAVES // nodes}" for place, name in enumerate(self.names)}
        self._source, self._noise = source, fault.noise
        effects = OF_NODES * source.standard_normal(nodes)
        effects[-1] += np.log(1.05) * fault.node
        leaf = np.arange(nodes) * LEAVES // nodes
        same, slow = np.equal.outer(leaf, leaf), np.logical_or.outer(leaf == 0, leaf == 0)
        if fault.tails:
            links = fault.tails * source.standard_t(3, (nodes, nodes))
        else:
            links = OF_LINKS * source.standard_normal((nodes, nodes))
        links[1, nodes // 2] += np.log(1.1) * fault.link
        self.costs = np.add.outer(effects, effects) + links + NEAR * same + np.log(1.05) * fault.leaf * slow
        self.slower = self._slower(effects, links, same) | {"leaf0": 0.05 * fault.leaf}

    def _slower(self, effects: Array, links: Array, same: npt.NDArray[np.bool_]) -> dict[str, float]:
        """By how much each node and link truly is slower than the median of all, or of its class."""
        upper = np.triu(np.ones_like(same), 1)
        middle = {near: np.median(links[upper & (same == near)]) for near in (False, True)}
        slower = dict(zip(self.names, np.expm1(effects - np.median(effects)).tolist(), strict=True))
        for a, b in np.argwhere(upper).tolist():
            slower[f"{self.names[a]}+{self.names[b]}"] = float(np.expm1(links[a, b] - middle[same[a, b]]))
        return slower

    def measured(self, number: int, pairs: Sequence[tuple[int, int]]) -> PairRound:
        normal = self._source.standard_normal
        noise = OF_ROUNDS * normal() + self._noise * normal(len(pairs))
        costs = (self.costs[pair] + more for pair, more in zip(pairs, noise.tolist(), strict=True))
        return PairRound(
            number,
            {(self.names[a], self.names[b]): float(cost) for (a, b), cost in zip(pairs, costs, strict=True)},
        )

    def sweeps(self) -> list[PairRound]:
        """Two, each of all pairs in rounds by the circle method."""
        rounds: list[PairRound] = []
        count = len(self.names)
        for _ in range(2):
            first, *others = self._source.permutation(count).tolist()
            for turn in range(count - 1):
                circle = [first, *others[turn:], *others[:turn]]
                pairs = [sorted((circle[place], circle[-1 - place])) for place in range(count // 2)]
                rounds.append(self.measured(len(rounds) + 1, [(a, b) for a, b in pairs]))
        return rounds


def searched(machine: Machine, known: bool) -> tuple[LinkSearch, float]:
    """The search at its end, and how many sweeps all its rounds make."""
    rounds, place = machine.sweeps(), {name: number for number, name in enumerate(machine.names)}
    screen, leaves = len(rounds), machine.leaves if known else {}
    found = search_links(rounds, screen, leaves)
    while len(found.links.confirm) > len(rounds) - screen:
        for number in range(len(rounds) + 1, screen + len(found.links.confirm) + 1):
            pairs = [each.split("+") for each in found.links.confirm[number]]
            rounds.append(machine.measured(number, [(place[a], place[b]) for a, b in pairs]))
        found = search_links(rounds, screen, leaves)
    return found, 2 * len(rounds) / screen


def planted(machine: Machine, fault: Fault) -> set[str]:
    names = machine.names
    slow = {names[-1]: fault.node, f"{names[1]}+{names[len(names) // 2]}": fault.link, "leaf0": fault.leaf}
    return {member for member, is_slow in slow.items() if is_slow}


def rates(nodes: int, fault: Fault, machines: int, source: np.random.Generator) -> tuple[float, float, float]:
    """How often anything was named beyond what it is, and all that is slow; the mean of the sweeps."""
    false = found = sweeps = 0.0
    for _ in range(machines):
        machine = Machine(nodes, fault, source)
        search, more = searched(machine, fault.leaves)
        parts = [part for part in (search.nodes, search.links, search.switches) if part]
        named = {each.member: each.at_least for part in parts for each in part.named}
        false += any(at_least > machine.slower.get(each, 0.0) for each, at_least in named.items())
        found += planted(machine, fault) <= named.keys()
        sweeps += more
    return false / machines, found / machines, sweeps / machines


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, FAULTS, machines=MACHINES, seed=34)
    print("Nodes, slow: any node, link or switch named as slower than it is; all that is slow named; sweeps")
    for count, name in product(NODES, given.parts):
        source = np.random.default_rng(given.seed)
        false, found, sweeps = rates(count, FAULTS[name], given.machines, source)
        print(f"  {count:3} {name:21} {false:.3f}  {found:.3f}  {sweeps:.1f}", flush=True)
