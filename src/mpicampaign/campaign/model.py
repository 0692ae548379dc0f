"""The campaign as the rest of the program sees it: typed, frozen, complete and already checked.

Nothing here reads files; `mpicampaign.campaign.file` builds these objects from YAML. Names and
defaults are described in workflow/schemas/campaign.schema.json, from which docs/campaign.md is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from mpicampaign.presentation import Presentation, ReferenceChoice
from mpicampaign.schedulers import is_local

CORES = "cores"  # ranks_per_node: one rank on each physical core


@dataclass(frozen=True, slots=True)
class Fabric:
    """A physical network of a host group: which transport reaches it, through which interface or device."""

    name: str
    transport: str  # "tcp" or "ibv"
    interface: str = ""  # network interface for tcp, such as eth0
    device: str = ""  # device for ibv, such as mlx5_0
    bytes_per_second: float | None = None  # line rate, the physical bound of one direction


@dataclass(frozen=True, slots=True)
class Mpi:
    """An MPI library: how it is launched, and what makes it use and report a transport.

    ``transports`` maps shm, tcp, ibv to the settings that force it; ``{interface}`` and ``{device}``
    inside them stand for the fabric's.
    """

    name: str
    launcher: str  # its own; the scheduler's may replace it: System.launcher
    transports: dict[str, TransportSettings]
    command: str = "mpirun"
    environment: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    unbound: TransportSettings | None = None  # switches the library's own binding off
    pmi: str = ""  # the srun --mpi= that fits
    own: bool = False  # defined or changed by the campaign file, not as it is built in


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Launcher options and environment variables, as tokens: never shell text."""

    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class System:
    """A cluster, cloud or machine under test."""

    name: str
    scheduler: str
    mpi: Mpi
    launcher: str  # that of the library, or the scheduler's own
    prefix: str = ""  # where a site's own MPI lies: PREFIX/bin, PREFIX/lib; "" = modules or PATH
    prefix_name: str = ""  # the prefix as the campaign file names it: a path, or wheel
    login_hosts: tuple[str, ...] = ()  # host name patterns by which a machine is known as this system
    modules: tuple[str, ...] = ()
    source: tuple[str, ...] = ()  # files to source before modules are loaded
    programs: dict[str, str] = field(
        default_factory=dict
    )  # where programs lie here, whatever the provider says
    environment: dict[str, str] = field(default_factory=dict)
    directives: tuple[str, ...] = ()  # extra scheduler directives, verbatim
    launcher_options: tuple[str, ...] = ()
    hosts_from: str = "scheduler"  # or "list": the host group's hosts are named to the launcher
    evidence: bool = True  # whether the evidence library is preloaded into the ranks

    @property
    def local(self) -> bool:
        """Whether job scripts run on the machine that starts them, since there is no scheduler."""
        return is_local(self.scheduler)


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Like hosts of a system, and how the scheduler is asked for them."""

    name: str
    system: str
    hosts: tuple[str, ...] = ()  # as the scheduler takes them, or the host list without one
    members: tuple[
        str, ...
    ] = ()  # host name patterns that belong to the group: evidence is held against them
    partition: str = ""
    constraint: str = ""
    queue: str = ""
    reservation: str = ""
    account: str = ""
    qos: str = ""
    licenses: str = ""
    exclusive: bool = False
    hint: str = ""
    threads_per_core: int | None = None
    memory: str = ""
    gres: str = ""
    switches: str = ""
    requeue: bool | None = None  # None: as the scheduler is configured
    cores: int | None = None  # physical cores of a node, needed for full-node placements
    directives: tuple[str, ...] = ()
    fabrics: dict[str, Fabric] = field(default_factory=dict)

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of the campaign file with their values, for the scheduler."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class Placement:
    """A mapping of ranks to nodes, sockets and cores, with the transport that the label claims."""

    name: str
    nodes: int
    ranks_per_node: int | str  # a count, or CORES
    transport: str  # shm, tcp, ibv, any
    sockets: int | None = None  # how many sockets of a node the ranks are dealt over; None: not claimed
    binding: str = "core"  # core: our per-rank wrapper; none: nobody binds; library: launcher_options bind
    loopback: bool = False  # tcp inside one node, over the loopback interface
    fabric: str = ""  # the name of the host group's fabric, where it has several of the transport
    launcher_options: tuple[str, ...] = ()
    program_prefix: tuple[str, ...] = ()  # command before the program, such as numactl --cpunodebind=0 --
    description: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a benchmark's program comes from."""

    kind: str  # wheel, bundled, path, module, conda, spack
    location: str = ""  # path, conda prefix, spack spec
    modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A program with its parameters."""

    name: str
    suite: str  # imb, osu, kernel: which parser reads the output
    program: str
    arguments: tuple[str, ...]
    provider: Provider
    ranks_minimum: int = 1
    figure_sizes: tuple[int, ...] = ()  # message sizes (B) at which tables show bandwidth; () = campaign's


@dataclass(frozen=True, slots=True)
class MatrixEntry:
    """One block of the campaign: every host group × placement × benchmark named here, so many repeats."""

    host_groups: tuple[str, ...]
    placements: tuple[str, ...]
    benchmarks: tuple[str, ...]
    repeats: int
    time_limit: int  # seconds of one run


@dataclass(frozen=True, slots=True)
class Campaign:
    """One configuration, one comparison."""

    name: str
    title: str
    seed: int
    systems: dict[str, System]
    host_groups: dict[str, HostGroup]
    placements: dict[str, Placement]
    benchmarks: dict[str, Benchmark]
    matrix: tuple[MatrixEntry, ...]
    node_hours_cap: float | None = None
    table_sizes: tuple[int, ...] = (1024, 8192, 32768)
    reference: tuple[ReferenceChoice, ...] = ()
    file: str = ""

    @property
    def presentation(self) -> Presentation:
        """How its results are to be shown."""
        sizes = {name: found.figure_sizes for name, found in self.benchmarks.items() if found.figure_sizes}
        return Presentation(self.title, self.table_sizes, sizes, reference=self.reference)
