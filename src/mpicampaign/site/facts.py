"""What the doctor found on a site: plain data. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

from mpicampaign.base.units import format_significant
from mpicampaign.schedulers import Scheduler
from mpicampaign.schedulers.listings import NodeClass, Queue


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface of a node. ``megabits``: its speed in Mbit/s, ``None`` if unknown."""

    name: str
    up: bool
    megabits: int | None
    hardware: bool  # whether the speed is that of a card, not of a virtual interface
    routed: bool  # whether it has a route, and so an address

    @property
    def usable(self) -> bool:
        return self.up and self.routed


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an RDMA device; ``gigabits``: its rate in Gbit/s. ``network``: as of `network_of`."""

    device: str
    number: str
    active: bool
    gigabits: float | None
    network: str = ""


@dataclass(frozen=True, slots=True)
class NodeProbe:
    """What a probe found on one node. ``programs``: paths of the programs found, by name."""

    host: str
    sockets: int
    cores: int
    cpus: int  # hyper-threads of a core count as CPUs
    interfaces: tuple[Interface, ...] = ()
    ports: tuple[Port, ...] = ()
    programs: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    model: str = ""  # of the CPUs
    memory: int | None = None  # in bytes
    numa_domains: int = 0  # 0 where the node does not show them
    l3_caches: int = 0

    @property
    def fabrics(self) -> list[Interface]:
        return [interface for interface in self.interfaces if interface.usable]

    @property
    def active_ports(self) -> list[Port]:
        return [port for port in self.ports if port.active]


@dataclass(frozen=True, slots=True)
class SiteLibrary:
    """An MPI library: its name in campaign files, and how to get it."""

    mpi: str
    module: str = ""
    prefix: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A proposed host group: like nodes, with what a probe found there, or why it found nothing.

    ``seen_on``: all hosts whose probe found this.
    """

    name: str
    nodes: NodeClass
    probe: NodeProbe | None = None
    unknown: str = ""
    seen_on: tuple[str, ...] = ()

    @property
    def sockets(self) -> int | None:
        return self.probe.sockets if self.probe else self.nodes.members[0].sockets

    @property
    def cores(self) -> int | None:
        return self.probe.cores if self.probe else self.nodes.members[0].cores

    @property
    def hardware(self) -> str:
        """Sockets, cores, memory and model of a node, as far as known."""
        seen = self.probe or self.nodes.members[0]
        facts = {
            "sockets of a node": self.sockets,
            "cores": self.cores,
            "hyper-threads" if self.cores else "CPUs": seen.cpus if seen.cpus != self.cores else None,
            "memory": f"{format_significant(seen.memory / 2**30)} GiB" if seen.memory else None,
            "model": seen.model,
        }
        return ", ".join(f"{name}: {fact}" for name, fact in facts.items() if fact)


@dataclass(frozen=True, slots=True)
class Site:
    """All that is known of a site. The first library is used in the campaign file.

    ``imb``: whether that library can run IMB here, as far as known. ``as_root``: the user is root.
    """

    scheduler: Scheduler
    groups: tuple[NodeGroup, ...]
    queues: tuple[Queue, ...] = ()
    libraries: tuple[SiteLibrary, ...] = ()
    modules: str = ""  # message: how many were found, or why none
    notes: tuple[str, ...] = ()
    host: str = ""
    imb: bool = True
    as_root: bool = False
