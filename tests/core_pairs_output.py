"""An invented output of core_pairs: as many nodes, sockets, NUMA nodes and cores as wanted."""

from __future__ import annotations

import random
from itertools import permutations

# By what two ranks share: a core, a NUMA node, a socket, a node, nothing.
LATENCIES = (0.5e-7, 1e-7, 1.6e-7, 3.2e-7, 1.5e-6)
SECONDS = (1e-4, 1.3e-4, 1.8e-4, 2.6e-4, 3e-4)
HEADER = "#mpicampaign-kernel 1\n#@kernel=core_pairs\n#@version=3\n#@ranks={ranks}\n"
COLUMNS = "#@columns.core_pairs=from to latency_seconds bandwidth_seconds class{level}\n"
COLUMNS += "#@columns.contention=from to other_from other_to seconds_alone seconds_together\n"

Place = tuple[int, int, int]  # node, socket, NUMA node


def cyclic(nodes: int, sockets: int, numa: int, cores: int) -> list[Place]:
    """Places of consecutive ranks on the nodes in turn, there on the sockets, there on the NUMA nodes."""
    ranks = range(nodes * sockets * numa * cores)
    return [(r % nodes, r // nodes % sockets, r // nodes // sockets % numa) for r in ranks]


def level(one: Place, other: Place) -> int:
    """What two ranks share, as core_pairs numbers it."""
    same = next((part for part in range(3) if one[part] != other[part]), 3)
    return 4 - same


def core_pairs(places: list[Place], with_level: bool = True, seed: int = 1) -> str:
    """The output; classes are the levels that occur."""
    noise = random.Random(seed)
    pairs = list(permutations(range(len(places)), 2))
    levels = {(a, b): level(places[a], places[b]) for a, b in pairs}
    classes = {found: number for number, found in enumerate(sorted(set(levels.values())))}
    lines = []
    for (a, b), at in levels.items():
        latency, seconds = (times[at] * noise.uniform(1, 1.1) for times in (LATENCIES, SECONDS))
        last = f" {at}" if with_level else ""
        lines.append(f"core_pairs {a} {b} {latency:.3e} {seconds:.3e} {classes[at]}{last}\n")
    header = HEADER.format(ranks=len(places)) + COLUMNS.format(level=" level" if with_level else "")
    agreement = f"#@topology_agreement={len(pairs)}/{len(pairs)}"
    header += f"#@classes={len(classes)}\n{agreement}\n#@pairs_rows=all\n"
    return f"{header}{''.join(lines)}#@end rows={len(lines)} status=ok\n"
