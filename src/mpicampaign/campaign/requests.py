"""What each case of a campaign asks of its suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign import this_machine
from mpicampaign.suites.suite import Request
from mpicampaign.units import parse_size

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Benchmark, HostGroup, Placement, System


def request_of(
    benchmark: Benchmark,
    placement: Placement,
    group: HostGroup,
    system: System | None,
    ranks_per_node: int,
    time_limit: int = 0,
) -> Request:
    """A benchmark in a placement on a host group; ``time_limit`` in s."""
    here = system is not None and system.local and not group.hosts
    return Request(
        benchmark.program,
        benchmark.arguments,
        benchmark.parameters,
        tuple(Path(file).name for file in benchmark.inputs),
        placement.nodes,
        ranks_per_node,
        _memory(group, here),
        this_machine.physical_cores() if here and group.cores is None else group.cores,
        time_limit,
    )


def _memory(group: HostGroup, here: bool) -> int | None:
    """The memory (B) that a node has for the ranks: no more than the scheduler is asked for."""
    requested = _requested(group.memory)
    available = group.node_memory or (this_machine.memory() if here else None)
    return min(filter(None, (requested, available)), default=None)


def _requested(memory: str) -> int | None:
    """Slurm's --mem in bytes: MiB without a unit; 0 asks for all of it."""
    if memory in ("", "0"):
        return None
    return parse_size(f"{memory}iB" if memory[-1].isalpha() else f"{memory}MiB")
