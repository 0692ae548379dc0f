"""How nodes of one host group are configured: which differ from the majority, and in what.

No benchmark is compared: any run tells the facts of its nodes. Of each node its last run counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import MPI_LIBRARY, Record, defined_name
from mpicampaign.collect.observed_software import PROGRAM
from mpicampaign.evidence.findings import number
from mpicampaign.evidence.machine_state import site_of
from mpicampaign.evidence.node_facts import FACTS, device_of
from mpicampaign.statistics.medians import median

_NAMES = {"bios": "BIOS", "cpu_model": "CPU model", "memory_kb": "memory", "infiniband": "RDMA devices"}
_NAMES |= {
    "smt": "SMT",
    "mpi_library_file": "MPI library",
    "numa_nodes": "NUMA nodes",
    "numa_balancing": "NUMA balancing",
}
_UNITS = {"speed.": " Mb/s", "scaling_min_freq": " kHz", "scaling_max_freq": " kHz"}
MEMORY = "memory_kb"
MEMORY_ALIKE = 0.02  # of the median: firmware and kernel take a little more on some nodes


class Difference(NamedTuple):
    """A fact of a node that is not that of the majority; ``usual`` is empty where there is none.

    ``of``: how many nodes have the usual value, of how many that recorded the fact.
    """

    fact: str
    value: str
    usual: str
    of: tuple[int, int]

    def __str__(self) -> str:
        """``speed of eth0 100 Mb/s (63 of 64 nodes have 1000 Mb/s)``."""
        name, device = device_of(self.fact)
        unit, count = _UNITS.get(name, ""), f"{self.of[0]} of {self.of[1]} nodes"
        usual = f"{count} have {self.usual}{unit}" if self.usual else "no majority"
        name = _NAMES.get(name, name).removesuffix(".")
        return f"{name}{f' of {device}' if device else ''} {self.value}{unit} ({usual})"


class OddNodes(NamedTuple):
    """Nodes that differ from the others in the same facts."""

    nodes: tuple[str, ...]
    differences: tuple[Difference, ...]


class Configurations(NamedTuple):
    """A host group whose nodes are configured differently, with the nodes that differ."""

    system: str
    host_group: str
    odd: tuple[OddNodes, ...]


def configurations(records: Iterable[Record]) -> tuple[Configurations, ...]:
    """Nodes configured unlike the others, by host group; empty where all agree."""
    known = [record for record in records if record.nodes]
    groups = grouped(
        known, lambda record: (site_of(record), record.case.machine[0], defined_name(record.case.machine[1]))
    )
    by_group = (Configurations(*key[1:], odd_nodes(runs)) for key, runs in groups.items())
    return tuple(group for group in by_group if group.odd)


def odd_nodes(records: Iterable[Record]) -> tuple[OddNodes, ...]:
    """The nodes of one host group that differ from the majority, those with the same differences together."""
    by_node: dict[str, list[Difference]] = {}
    for fact, values in _facts(records).items():
        for node, difference in _odd(fact, _alike(values) if fact == MEMORY else values):
            by_node.setdefault(node, []).append(difference)
    together = grouped(sorted(by_node), lambda node: tuple(by_node[node]))
    return tuple(OddNodes(tuple(nodes), differences) for differences, nodes in together.items())


def _odd(fact: str, values: Mapping[str, str]) -> Iterator[tuple[str, Difference]]:
    counts = Counter(values.values())
    usual, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if 2 * count <= len(values):
        usual, count = "", 0
    for node, value in values.items():
        if value != usual:
            yield node, Difference(fact, value, usual, (count, len(values)))


def _facts(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """What the last run of each node recorded, by fact and node."""
    hardware: dict[str, Mapping[str, str]] = {}
    facts: dict[str, dict[str, str]] = {}
    for record in sorted(records, key=lambda record: record.started):
        hardware |= record.nodes
        for fact, value in _software(record):
            facts.setdefault(fact, {}).update(dict.fromkeys(record.nodes, value))
    for node, recorded in hardware.items():
        for fact, value in recorded.items():
            if device_of(fact)[0] in FACTS:
                facts.setdefault(fact, {})[node] = value
    return facts


def _software(record: Record) -> Iterator[tuple[str, str]]:
    """The MPI library and the program; each library and benchmark of the campaign has its own."""
    suffix = f".{record.case.library}" if record.case.library else ""
    names = {
        "mpi_library_file": f"mpi_library_file{suffix}",
        MPI_LIBRARY: f"{MPI_LIBRARY}{suffix}",
        PROGRAM: f"{PROGRAM}.{defined_name(record.case.benchmark)}",
    }
    for key, fact in names.items():
        if value := record.metadata.get(key):
            yield fact, value


def _alike(values: Mapping[str, str]) -> dict[str, str]:
    """Sizes of memory in GiB; those near the median are one."""
    sizes = {node: size / 2**20 for node, value in values.items() if (size := number(value))}
    middle = median(list(sizes.values())) if sizes else 0.0
    near = {
        node: middle if abs(size - middle) <= MEMORY_ALIKE * middle else size for node, size in sizes.items()
    }
    return {node: f"{size:.0f} GiB" for node, size in near.items()}
