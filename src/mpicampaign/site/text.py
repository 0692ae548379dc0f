"""The doctor's findings as text: found, not found, not examined. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from mpicampaign.base.units import format_rate
from mpicampaign.base.yaml_lines import printable, shortened
from mpicampaign.schedulers import BatchScheduler, Scheduler
from mpicampaign.schedulers.listings import NodeClass
from mpicampaign.site.facts import Interface, NodeGroup, NodeProbe, Port, Site

_MAX_QUEUES = 10


def site_lines(site: Site) -> list[str]:
    """One printable line for each item examined."""
    lines = [f"scheduler: {site.scheduler.title}", *_queues(site), *_libraries(site)]
    for group in site.groups:
        lines += _group(site, group)
    return [printable(line) for line in [*lines, *site.notes]]


def _queues(site: Site) -> Iterator[str]:
    if not isinstance(site.scheduler, BatchScheduler):
        return
    queue_name = site.scheduler.queue_term
    for queue in site.queues[:_MAX_QUEUES]:
        marks = [mark for mark, is_so in (("default", queue.default), ("not open", not queue.open)) if is_so]
        limit = [f"at most {queue.time_limit}"] if queue.time_limit else []
        facts = ", ".join([*marks, *limit, *queue.notes])
        yield f"{queue_name} {queue.name}" + (f": {facts}" if facts else "")
    if len(site.queues) > _MAX_QUEUES:
        yield f"and {len(site.queues) - _MAX_QUEUES} {queue_name}s more"


def _libraries(site: Site) -> Iterator[str]:
    yield f"modules: {site.modules}"
    for number, library in enumerate(site.libraries):
        name = library.module or library.about or library.mpi
        yield f"MPI library: {name}" + (" (used in the campaign file)" if number == 0 else "")
    if not site.libraries:
        yield "MPI library: not found"


def _group(site: Site, group: NodeGroup) -> Iterator[str]:
    if site.scheduler.local:
        yield "this machine:"
    else:
        yield f"host group {group.name} {_nodes(site, group.nodes)}"
        for note in selection_notes(site.scheduler, group.nodes):
            yield f"  {note}"
    if group.probe:
        yield f"  {group.hardware} (seen on {shortened(', '.join(group.seen_on), 80)})"
        for line in _probe(group.probe):
            yield f"  {line}"
    else:
        if group.hardware:
            yield f"  {group.hardware} (from the scheduler)"
        yield f"  networks, RDMA devices, programs: not examined: {group.unknown}"


def _nodes(site: Site, nodes: NodeClass) -> str:
    """``(compute, milan): 2 nodes, 2 usable: m1, m2``."""
    keys = site.scheduler.host_group(nodes) if isinstance(site.scheduler, BatchScheduler) else {}
    where = ", ".join(filter(None, (nodes.queue, keys.get("constraint"))))
    names = shortened(", ".join(nodes.names), 80)
    return f"({where}): {len(nodes.names)} nodes, {nodes.usable} usable: {names}"


def selection_notes(scheduler: Scheduler, nodes: NodeClass) -> Iterator[str]:
    """How jobs get to these nodes where no features select them, and notes on them."""
    keys = scheduler.host_group(nodes) if isinstance(scheduler, BatchScheduler) else {}
    if keys.get("directives"):
        yield "no feature separates these nodes from others of the queue: jobs avoid the others by name"
    elif nodes.others and not any(keys.get(key) for key in ("constraint", "hosts")):
        yield "nothing separates these nodes from others of the queue: jobs may run on the others, too"
    yield from nodes.notes


def _probe(probe: NodeProbe) -> Iterator[str]:
    interfaces = "; ".join(_interface(interface) for interface in probe.interfaces)
    yield f"network interfaces: {interfaces or 'not found'}"
    yield f"RDMA devices: {'; '.join(_port(port) for port in probe.ports) or 'not found'}"
    for name in ("mpirun", "mpicc", "numactl", "taskset", "IMB-MPI1", "osu_latency"):
        version = probe.versions.get(name, "")
        program = probe.programs.get(name, "not found") + (f" ({version})" if version else "")
        yield f"{name} on the PATH: {program}"
    if not {"numactl", "taskset"} & probe.programs.keys():
        yield (
            "placements that bind ranks (SHM-1, SHM-2, TCP, IBV) are n/a without numactl and taskset: "
            "ask for numactl, or for util-linux"
        )
    elif "numactl" not in probe.programs:
        yield "taskset binds the ranks, and first touch places their memory, as there is no numactl"


def _interface(interface: Interface) -> str:
    speed = format_rate(interface.megabits * 1e6 / 8) if interface.megabits else "speed unknown"
    if interface.megabits and not interface.hardware:
        speed += " (virtual)"
    state = "up" if interface.up else "not up"
    return f"{interface.name} {state}, {speed}" + ("" if interface.routed else ", no IPv4 route")


def _port(port: Port) -> str:
    rate = f", {format_rate(port.gigabits * 1e9 / 8)}" if port.gigabits else ""
    state = "active" if port.active else "not active"
    return ", ".join(filter(None, (f"{port.device} port {port.number} {state}", port.network))) + rate
