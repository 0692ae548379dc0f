"""The campaign as the rest of the program sees it: typed, frozen, complete and already checked.

Each key of a campaign file is defined once, here: the JSON Schema, docs/campaign.md, the checks of the file's
shape and the reading come from the fields below; the first line of a class describes its entry in the
documentation. `mpicampaign.campaign.file` reads the files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from mpicampaign.base.errors import Problem
from mpicampaign.base.expectation import PERCENT, Limit
from mpicampaign.base.keys import (
    ATTRIBUTES,
    ATTRIBUTES_TEXT,
    FLOP_RATE,
    LINE,
    NAME,
    NAME_RULE,
    NAMES,
    Kind,
    Values,
    choice,
    chosen,
    count,
    entries,
    entry,
    flag,
    key,
    kind_of,
    mapping,
    schema_of,
    table,
)
from mpicampaign.base.network_devices import LINKS
from mpicampaign.base.presentation import PUBLICATION_RULE, TABLE_SIZES, Presentation, ReferenceChoice
from mpicampaign.base.records import (
    ALL_PAIRS,
    BLOCKS,
    NEW_SERIES,
    NODE,
    PAIR,
    RANKED,
    REPEATS,
    STRONG,
    TO_REFERENCE,
    UNRANKED,
    WEAK,
    defined_name,
)
from mpicampaign.base.units import format_size
from mpicampaign.base.yaml_lines import Document, Key
from mpicampaign.campaign import kinds
from mpicampaign.campaign.kinds import CORES as CORES
from mpicampaign.mpis import MPIS, libfabric
from mpicampaign.schedulers import SCHEDULERS, is_local
from mpicampaign.suites import SUITES
from mpicampaign.suites.own import TAKE

_LAUNCHERS = [library.launcher.name for library in MPIS.built_in()]
_OF_SCHEDULERS = [scheduler.launcher for scheduler in SCHEDULERS.built_in() if scheduler.launcher]
_PROVIDERS = ("wheel", "bundled", "path", "source", "module", "conda", "spack")
_PROVIDERS_TEXT = (
    "wheel: the Python environment. bundled: a kernel of this project. path: a file, a folder or the PATH. "
    "source: a folder of source, built for each system by `build`. module: the PATH after modules are "
    "loaded. conda: an environment. spack: an installed package."
)
_OF_FABRIC = "{interface}, {device} and {provider} are replaced by those of the fabric."
BETWEEN_NODES = ("tcp", "ibv", "ofi")
_DIRECTIVES_TEXT = "One option per line, as after #SBATCH or #BSUB."


@entry("fabric", "Fabric")
@dataclass(frozen=True, slots=True)
class HostFabric:
    """A physical network between the hosts of a host group.

    ``bytes_per_second`` is the line rate, the physical bound of one direction.
    """

    name: str
    transport: str = key(
        choice(BETWEEN_NODES),
        "Transport that uses it",
        "tcp: over a network interface. ibv: verbs, over a device. ofi: libfabric, by a provider.",
        "tcp",
        required=True,
    )
    interface: str = key(kinds.DEVICE, "Network interface on the nodes", "", "eth0")
    device: str = key(
        kinds.DEVICE, "Device on the nodes", "In /sys/class/infiniband or /sys/class/cxi.", "mlx5_0"
    )
    provider: str = key(choice(libfabric.PROVIDERS), "Provider of libfabric", "Needed with ofi.", "efa")
    link: str = key(
        choice(LINKS),
        "Link of the device",
        "If given, a claim; otherwise ibv is verbs on any link.",
        "roce",
    )
    bytes_per_second: float | None = key(
        kinds.RATE, "Line rate of one direction", "", "1 Gbit/s", name="rate"
    )


# +shm: between nodes, with shared memory within each.
SHM, BOTH = "shm", "+shm"
LEVELS = ("sockets", "numa_domains", "l3_caches")  # what ranks of a node are spread over
TRANSPORTS = (SHM, *BETWEEN_NODES, *(f"{transport}{BOTH}" for transport in BETWEEN_NODES))


@entry("settings", "Settings")
@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Options of an MPI library's launcher, and environment variables.

    Both are tokens, never shell text.
    """

    options: tuple[str, ...] = key(
        kinds.TOKENS, "Launcher options", _OF_FABRIC, ["--mca", "btl", "self,tcp"], default=[]
    )
    environment: dict[str, str] = key(
        kinds.ENVIRONMENT, "Environment variables", _OF_FABRIC, {"FI_PROVIDER": "tcp"}, default={}
    )


@entry("mpi", "MPI library")
@dataclass(frozen=True, slots=True)
class Mpi:
    """An MPI library: how it is launched, and what makes it use and report a transport.

    ``transports``: the settings that force each of `TRANSPORTS`. ``own``: the campaign file defines or
    changes it.
    """

    name: str
    launcher: str = key(kinds.registered(_LAUNCHERS), "Launcher", "", "openmpi", required=True)
    transports: dict[str, TransportSettings] = key(
        chosen(TransportSettings, TRANSPORTS),
        "Settings that force each transport",
        "The library supports only these. tcp+shm, ibv+shm, ofi+shm: for placements with `within_node: shm`.",
        {"shm": {"environment": {"I_MPI_FABRICS": "shm"}}},
        required=True,
    )
    command: str = key(kinds.COMMAND, "Launch command", "", "mpiexec", default="mpirun")
    environment: dict[str, str] = key(
        kinds.ENVIRONMENT, "Environment variables of every run", "", {"I_MPI_DEBUG": 5}, default={}
    )
    options: tuple[str, ...] = key(kinds.TOKENS, "Launcher options of every run", "", "-prot", default=[])
    unbound: TransportSettings | None = key(
        TransportSettings,
        "Settings that turn off the library's own binding",
        "",
        {"options": ["--bind-to", "none"]},
    )
    pmi: str = key(
        kinds.WORD, "Kind of PMI", "For srun --mpi=; without it srun cannot launch the library.", "pmix"
    )
    own: bool = False


_PROGRAMS = mapping(None, kinds.PROGRAM_PATH)
_ADDED = "Added to the system's."
_INSTEAD = "Overrides the system's."


@entry("system_mpi", "MPI library of a system (`mpi: [{…}]`)", text=NAME_RULE)
@dataclass(frozen=True, slots=True)
class SystemMpi:
    """One of several MPI libraries of a system: its name alone, or with what it needs there."""

    mpi: str = key(NAME, "MPI library", "As for a system with one library.", "openmpi5", required=True)
    name: str = key(NAME, "Its name here", "Default: the library's.", "openmpi-4.1")
    launcher: str = key(kinds.registered([*_LAUNCHERS, *_OF_SCHEDULERS]), "Launcher", _INSTEAD, "srun")
    prefix: str = key(kinds.PREFIX, "Folder of the MPI library", _INSTEAD, "wheel")
    programs: dict[str, str] = key(
        _PROGRAMS, "Programs of this library", _ADDED, {"IMB-MPI1": "/apps/imb-impi/IMB-MPI1"}
    )
    modules: tuple[str, ...] = key(kinds.MODULES, "Modules to load", _ADDED, "openmpi/5.0")
    environment: dict[str, str] = key(
        kinds.ENVIRONMENT, "Environment variables", _ADDED, {"OMPI_MCA_pml": "ucx"}
    )
    launcher_options: tuple[str, ...] = key(kinds.TOKENS, "Extra launcher options", _ADDED, "--mca pml ob1")
    system: str = key(
        NAME,
        "System of an earlier file that it replaces",
        "Its finished runs stay finished.",
        "cluster-openmpi",
    )
    host_groups: dict[str, str] = key(
        mapping(NAME, NAME),
        "Host groups of that file",
        "By their names in this file, if they differ.",
        {"milan": "milan-openmpi"},
    )


@entry("system", "System")
@dataclass(frozen=True, slots=True)
class System:
    """A cluster, cloud or machine under test.

    ``prefix``: the folder of the MPI library, with bin and lib; empty: modules or the PATH provide it.
    ``prefix_name``: the prefix as the campaign file gives it, a path or wheel. ``source_names``: likewise.
    ``kept_as``: the name in declarations, where it differs.
    """

    name: str
    scheduler: str = key(
        kinds.registered(scheduler.name for scheduler in SCHEDULERS.built_in()),
        "Scheduler",
        "none: scripts run where they are started, on one machine or over a list of hosts.",
        "slurm",
        required=True,
    )
    mpi: Mpi = key(
        Kind(
            {
                "type": ["string", "array"],
                **NAME_RULE,
                "items": kind_of(SystemMpi),
                "minItems": 1,
                "x-type": "name, or list of names and mappings",
            },
            Values.get,
        ),
        "MPI library, or several",
        "A built-in library, one of `mpis`, or `wheel`: that of the Python environment (Intel MPI on x86_64, "
        "MPICH elsewhere).",
        "openmpi5",
        ["intelmpi", {"mpi": "openmpi5", "modules": "openmpi/5.0"}],
        required=True,
    )
    launcher: str = key(
        kinds.registered([*_LAUNCHERS, *_OF_SCHEDULERS]),
        "Launcher",
        "Default: the launcher of the MPI library. Under Slurm, srun may start any library that has a `pmi`.",
        "srun",
    )
    prefix: str = key(
        kinds.PREFIX,
        "Folder of the MPI library",
        "It contains bin and lib. `wheel`: the library's wheel, or one of `make mpis`. Default: modules or "
        "the PATH provide it.",
        "/opt/openmpi-5",
    )
    programs: dict[str, str] = key(
        _PROGRAMS,
        "Programs on this system",
        "Full paths by program name.",
        {"IMB-MPI1": "/apps/imb/2021/IMB-MPI1"},
    )
    login_hosts: tuple[str, ...] = key(
        kinds.HOST_PATTERNS,
        "Host name patterns of the login nodes",
        "They tell which of several systems a machine belongs to.",
        "login*.cluster.example",
        "login[01-03]",
        default=[],
    )
    source: tuple[str, ...] = key(
        kinds.FILES, "Files to source", "Before modules are loaded.", "/etc/profile.d/modules.sh", default=[]
    )
    modules: tuple[str, ...] = key(
        kinds.MODULES, "Modules to load", "", ["gcc/13", "openmpi/5.0"], default=[]
    )
    environment: dict[str, str] = key(
        kinds.ENVIRONMENT,
        "Environment variables",
        "Set in each job, after those of the MPI library; nothing is expanded.",
        {"OMP_NUM_THREADS": 1},
        default={},
    )
    directives: tuple[str, ...] = key(
        kinds.DIRECTIVES, "Extra scheduler directives", _DIRECTIVES_TEXT, "--mail-type=NONE", default=[]
    )
    launcher_options: tuple[str, ...] = key(
        kinds.TOKENS, "Extra launcher options", "", "--mca pml ob1", default=[]
    )
    max_queued: int | None = key(
        count(1, 1000000),
        "Largest number of jobs in the queue",
        "Default: as many as the scheduler accepts.",
        200,
    )
    pack: int = key(
        count(1, 1000),
        "Runs in one job",
        "Short runs share an allocation, one after the other.",
        8,
        default=1,
    )
    hosts_from: str = key(
        choice(("scheduler", "list")),
        "Where the launcher gets the hosts from",
        "list: from its command line, the default without a scheduler.",
        "list",
        default="scheduler",
    )
    evidence: bool = key(
        kinds.ON_OFF,
        "Evidence of the ranks",
        "off: nothing is preloaded into the benchmark, and all runs are unverified.",
        "off",
        default="on",
    )
    prefix_name: str = ""
    source_names: tuple[str, ...] = ()
    kept_as: str = ""

    @property
    def defined(self) -> str:
        """The name in the campaign file, without the MPI library."""
        return defined_name(self.name)

    @property
    def local(self) -> bool:
        """Whether job scripts run on the machine that starts them, without a scheduler."""
        return is_local(self.scheduler)


@entry("host_group", "Host group")
@dataclass(frozen=True, slots=True)
class HostGroup:
    """Like hosts of a system, and how to request them from the scheduler.

    ``requeue``: ``None`` leaves the choice to the scheduler. ``kept_as``: the name in declarations and
    folders, where it differs.
    """

    name: str
    system: str = key(NAME, "System it belongs to", "", "cluster", required=True)
    hosts: tuple[str, ...] = key(
        kinds.HOSTS,
        "Hosts",
        "Slurm: the node list. LSF: as for bsub -m. No scheduler: in order of use; default: this machine.",
        ["node01", "node02"],
        "node[01-16]",
        default=[],
    )
    members: tuple[str, ...] = key(
        kinds.HOST_PATTERNS,
        "Host name patterns of the group",
        "A run on any other host is contradicted. Default: no claim; without a scheduler the hosts, if they "
        "are names.",
        "node0*",
        "node[01-16]",
        default=[],
    )
    partition: str = key(kinds.WORD, "Partition", "Slurm only.", "compute")
    constraint: str = key(
        kinds.CONSTRAINT, "Constraint", "Slurm only, with the operators & | * ( ) [ ].", "skylake&ib"
    )
    queue: str = key(kinds.WORD, "Queue", "LSF only.", "normal")
    reservation: str = key(kinds.RESERVATION, "Reservation", "Slurm and LSF.", "bench", "user1#0")
    account: str = key(kinds.WORD, "Account or project", "Slurm and LSF.", "proj42")
    qos: str = key(kinds.WORD, "Quality of service", "Slurm only.", "high")
    licenses: str = key(kinds.WORD, "Licences", "Slurm only, as for sbatch --licenses.", "fabric:1")
    exclusive: bool = key(flag(), "Whole nodes for each job", "Slurm and LSF.", True, default=False)
    hint: str = key(
        choice(("compute_bound", "memory_bound", "multithread", "nomultithread")),
        "Hint",
        "Slurm only, as for sbatch --hint.",
        "nomultithread",
    )
    threads_per_core: int | None = key(
        count(1, 16), "Threads per core", "Slurm only, as for sbatch --threads-per-core.", 1
    )
    memory: str = key(
        kinds.MEMORY, "Memory of a node", "Slurm only, as for sbatch --mem; 0 is all of it.", "64G"
    )
    gres: str = key(kinds.WORD, "Generic resources", "Slurm only, as for sbatch --gres.", "gpu:1")
    gpu_type: str = key(
        NAME,
        "Type of GPU",
        "With `gpus_per_node`: as in Slurm's gres, or LSF's gmodel.",
        "a100",
    )
    switches: str = key(kinds.SWITCHES, "Switches", "Slurm only, as for sbatch --switches.", "1@10:00")
    requeue: bool | None = key(
        flag(), "Requeue after a failure of the node", "Slurm and LSF. Default: the scheduler decides.", False
    )
    cores: int | None = key(
        count(1, 100000),
        "Physical cores of a node",
        "Needed on clusters for one rank per core; counted on this machine.",
        32,
    )
    node_memory: int | None = key(
        kinds.SIZE,
        "Memory of a node that the ranks can use",
        "For input sizes; known on this machine.",
        "256 GiB",
    )
    core_peak: float | None = key(
        FLOP_RATE,
        "Peak rate of a core",
        "In double precision. Tables show HPL as a fraction of it.",
        "41.6 Gflop/s",
    )
    directives: tuple[str, ...] = key(
        kinds.DIRECTIVES, "Extra scheduler directives", _DIRECTIVES_TEXT, ["--mem=0"], default=[]
    )
    attributes: dict[str, str] = key(ATTRIBUTES, *ATTRIBUTES_TEXT, default={})
    fabrics: dict[str, HostFabric] = key(
        table(HostFabric, NAME),
        "Fabrics",
        "Networks between these hosts, by name. tcp, ibv and ofi between nodes need one.",
        {"eth": {"transport": "tcp", "interface": "eth0"}},
        default={},
    )
    kept_as: str = ""

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of the campaign file with their values, for the scheduler."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "kept_as"}


@entry(
    "placement",
    "Placement",
    "How ranks are mapped to nodes, sockets and cores, with a transport. It is a claim: each run records "
    "evidence for or against it.",
)
@dataclass(frozen=True, slots=True)
class Placement:
    """A mapping of ranks to nodes, sockets and cores, with the transport that the label claims.

    ``kept_as``: the name in declarations and folders, where it differs.
    """

    name: str
    nodes: int = key(kinds.NODES, "Nodes", "", 2, [2, 4, 8], required=True)
    ranks_per_node: int | str = key(
        kinds.RANKS_PER_NODE,
        "Ranks on each node",
        f"`{CORES}`: one rank on each physical core.",
        2,
        CORES,
        [1, CORES],
        required=True,
    )
    transport: str = key(
        choice(("shm", *BETWEEN_NODES, "any")),
        "Transport",
        "any: the library chooses.",
        "shm",
        required=True,
    )
    within_node: str = key(
        choice(("network", SHM)),
        "What carries messages within a node",
        "network: the transport itself. shm: shared memory, as in production.",
        "shm",
        default="network",
    )
    sockets: int | None = key(
        count(1, 64), "Sockets of a node that the ranks are spread over", "Default: no claim.", 2
    )
    numa_domains: int | None = key(
        count(1, 64),
        "NUMA domains of a node that the ranks are spread over",
        "As the kernel shows them: several in a socket with NPS2, NPS4 or SNC. Default: no claim.",
        2,
    )
    l3_caches: int | None = key(
        count(1, 64), "L3 caches of a node that the ranks are spread over", "Default: no claim.", 1
    )
    binding: str = key(
        choice(("core", "none", "library")),
        "What binds ranks to cores",
        "core: mpicampaign binds each rank to one physical core. none: nothing does. library: "
        "`launcher_options` or `program_prefix` do.",
        "none",
        default="core",
    )
    loopback: bool = key(flag(), "TCP inside one node, over the loopback interface", "", True, default=False)
    fabric: str = key(
        NAME, "Fabric", "Needed where a host group has several fabrics of the transport.", "roce"
    )
    environment: dict[str, str] = key(
        kinds.ENVIRONMENTS,
        "Environment variables",
        "Set in each job, after those of the system.",
        {"UCX_TLS": ["rc", "ud"], "UCX_RNDV_THRESH": "8k"},
        default={},
    )
    launcher_options: tuple[str, ...] = key(
        kinds.OPTIONS,
        "Extra launcher options",
        "",
        "-cpu_bind=MAP_CPU:0,15",
        {"ob1": "--mca pml ob1", "ucx": "--mca pml ucx"},
        default=[],
    )
    program_prefix: tuple[str, ...] = key(
        kinds.TOKENS, "Command before the program", "", "numactl --cpunodebind=0 --", default=[]
    )
    threads: int | None = key(
        kinds.THREADS,
        "Threads of each rank",
        "OMP_NUM_THREADS; with binding core each rank has as many cores. Default: one core, and no variable.",
        4,
        [1, 2, 4],
    )
    gpus_per_node: int | None = key(
        count(1, 64), "GPUs on each node", "Requested from Slurm and LSF. See docs/applications.md.", 4
    )
    gpu_binding: str = key(
        kinds.GPU_BINDING,
        "Which GPUs each rank has",
        "rank: its share, by PCI address. closest: its share, on its own NUMA node where possible. Numbers: "
        "these, one rank after the other. none: all. library: `launcher_options` or `program_prefix` decide.",
        "closest",
        "0,2",
        default="rank",
    )
    description: str = key(LINE, "Description", "", "two cores of one socket")
    kept_as: str = ""

    @property
    def settings(self) -> str:
        """The name of its settings among an MPI library's `TRANSPORTS`."""
        return self.transport + (BOTH if self.within_node == SHM else "")

    @property
    def ranks(self) -> object:
        """Equal for placements of as many ranks, as far as the campaign file tells."""
        per_node = self.ranks_per_node
        return (self.nodes, per_node) if isinstance(per_node, str) else self.nodes * per_node

    @property
    def gpus(self) -> list[int]:
        """The GPUs of a node that its ranks share: those that `gpu_binding` names, or all."""
        if self.gpu_binding[:1].isdigit():
            return [int(number) for number in self.gpu_binding.split(",")]
        return [*range(self.gpus_per_node or 0)]


@entry(
    "provider",
    "Provider",
    "Where a program comes from. The kind alone may be given as a text.",
    text={"x-type": "text or mapping", "if": {"type": "string"}, "then": {"enum": list(_PROVIDERS)}},
)
@dataclass(frozen=True, slots=True)
class Provider:
    """Where a benchmark's program comes from.

    ``location_name``: the location as the campaign file gives it.
    """

    kind: str = key(choice(_PROVIDERS), "Kind", _PROVIDERS_TEXT, "module", required=True)
    location: str = key(
        kinds.LOCATION,
        "Path, folder of the source or the conda environment, or Spack spec",
        "",
        "/apps/imb/IMB-MPI1",
        "osu-micro-benchmarks",
    )
    modules: tuple[str, ...] = key(
        kinds.MODULES, "Modules to load", "In addition to those of the system.", "imb/2021.8", default=[]
    )
    build: str = key(
        LINE,
        "Command that builds the program",
        "Provider source only: called by bash in a copy of the folder, with the MPI library's wrappers as "
        "MPICC, MPICXX, MPIFC, CC, CXX and FC.",
        "make IMB-MPI1",
    )
    location_name: str = ""


@entry("own_metric", "Metric of your own program")
@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A number in the outputs of a program of one's own."""

    name: str
    unit: str = key(
        LINE,
        "Unit of the printed number",
        "Times, bandwidths such as MB/s and rates such as Gflop/s are converted; any other unit is shown "
        "as it is.",
        "us",
        required=True,
    )
    better: str = key(choice(("higher", "lower")), "Which values are better", "", "lower", required=True)
    pattern: str = key(
        LINE,
        "Regular expression",
        "Python's, searched in each line. Its group `value`, or its only group, is the number; with a group "
        "`size` the metric is one over message sizes. Default: the metric is the time to solution, in s, of "
        "the whole launch.",
        "^rate ([0-9.]+)$",
    )
    take: str = key(
        choice(TAKE),
        "Which value counts if several lines match",
        "Default: there must be one. Not for metrics over sizes.",
        "last",
    )


@entry("benchmark", "Benchmark")
@dataclass(frozen=True, slots=True)
class Benchmark:
    """A program with its parameters.

    ``kept_as``: the name in declarations and folders, where it differs.
    """

    name: str
    suite: str = key(
        kinds.registered(suite.name for suite in SUITES.built_in() if not suite.only_imported),
        "Suite",
        "How the output is read. `kernel`: that of one of mpicampaign's kernels.",
        "imb",
        required=True,
    )
    program: str = key(kinds.PROGRAM, "Program", "Its file name.", "IMB-MPI1", required=True)
    provider: Provider = key(
        Provider,
        "Provider",
        "`bundled`: one of mpicampaign's kernels, whose name is the program's.",
        "wheel",
        {"kind": "path", "location": "/apps/imb/IMB-MPI1"},
        required=True,
    )
    arguments: tuple[str, ...] = key(
        kinds.TOKENS, "Arguments", "", "-iter 1000 PingPong", ["-iter", 1000, "PingPong"], default=[]
    )
    parameters: dict[str, str] = key(
        kinds.PARAMETERS,
        "Parameters",
        "Values for the program's input file (docs/applications.md), and for {NAME} in the arguments.",
        {"N": [22320, 44640], "NB": 180, "P": 2, "Q": 2},
        default={},
    )
    inputs: tuple[str, ...] = key(
        kinds.FILES,
        "Input files",
        "Copied into the folder that the program starts in.",
        "data/mesh.bin",
        default=[],
    )
    metrics: dict[str, OwnMetric] = key(
        table(OwnMetric, kinds.METRIC_NAME),
        "Metrics",
        "Suite own only: what to read from outputs, by name; see docs/own-programs.md.",
        {"rate": {"pattern": "^rate ([0-9.]+)$", "unit": "cells/s", "better": "higher"}},
    )
    whole: tuple[str, ...] = key(
        kinds.PATTERNS,
        "Lines of a complete output",
        "Suite own only: patterns as for grep -E. A run without a line for each has failed.",
        "^done$",
        default=[],
    )
    refused: str = key(
        LINE,
        "Line by which the program reports a failure",
        "Suite own only: a pattern as for grep -E.",
        "^ERROR",
    )
    scaling: str = key(
        choice((STRONG, WEAK)),
        "What stays the same with more ranks",
        "Suites own, hpl and hpcc. strong: the problem. weak: each rank's share of it. It sets how reports "
        "read times, and makes no run due.",
        STRONG,
    )
    ranks_minimum: int = key(count(1, 1000000), "Smallest number of ranks", "", 2, default=1)
    kept_as: str = ""


@entry("race", "Race")
@dataclass(frozen=True, slots=True)
class Race:
    """Find the best of two or more candidates, such as settings of a library; `race: {}` has all defaults.

    ``tolerance``: a fraction.
    """

    tolerance: float = key(
        PERCENT,
        "Difference that does not matter",
        "Settings that win by less are not written.",
        "2 %",
        default="2 %",
    )


IDLE, ALL_NODES = "idle", "all"  # nodes of a round


@entry(
    "each",
    "Each node or pair (`each: {…}`)",
    "Find the slow nodes and links of a machine. The unit alone may be given as a text.",
    text={"x-type": "node, pair or mapping", "if": {"type": "string"}, "then": {"enum": [NODE, PAIR]}},
)
@dataclass(frozen=True, slots=True)
class Each:
    """Measure each node of a host group, or each pair of its nodes, to find the slow ones.

    ``tolerance``: a fraction. ``at_once``, ``nodes_per_job``: ``None`` for all.
    """

    unit: str = key(
        choice((NODE, PAIR)),
        "What each run measures",
        "node: with placements on one node. pair: with placements on two; above 128 nodes, random pairs.",
        NODE,
        required=True,
    )
    tolerance: float = key(
        PERCENT, "Difference that does not matter", "Nodes slower by less are not slow.", "2 %", default="2 %"
    )
    at_once: int | None = key(
        count(1, 100_000),
        "Nodes or pairs that run at the same time",
        "If all at once would share a network. Default: all of a round.",
        16,
    )
    nodes_per_job: int | None = key(
        count(1, 100_000),
        "Nodes in one job",
        "If the scheduler allows no more. 1 node, or 2 for pairs: a job for each run. Default: all.",
        64,
    )
    take: str = key(
        choice((IDLE, ALL_NODES)),
        "Which nodes are measured at once",
        "idle: those that are free; those that others use follow once they are free, within time_when_busy. "
        "all: a job waits for all its nodes, as it does for pairs.",
        ALL_NODES,
        default=IDLE,
    )

    @property
    def nodes(self) -> int:
        """The nodes of a member."""
        return 2 if self.unit == PAIR else 1

    @property
    def takes_all(self) -> bool:
        """Whether a job waits for all its nodes, whoever uses them."""
        return (self.unit, self.take) != (NODE, IDLE)

    @property
    def fewest(self) -> int:
        """The fewest hosts among which a slow one shows: three nodes, or two pairs, are compared."""
        return 2 + self.nodes

    @property
    def alone(self) -> bool:
        """Whether each run has a job of its own."""
        return self.nodes_per_job is not None and self.nodes_per_job < 2 * self.nodes


@entry("matrix_entry", "Matrix entry")
@dataclass(frozen=True, slots=True)
class MatrixEntry:
    """Every host group × placement × benchmark named here is a case.

    Variants of what is named here count, too: MPI libraries of a host group, values of lists.

    ``time_limit``: of one run, in seconds.
    """

    host_groups: tuple[str, ...] = key(NAMES, "Host groups", "", ["skylake", "milan"], required=True)
    placements: tuple[str, ...] = key(NAMES, "Placements", "", ["SHM-1", "SHM-2", "TCP"], required=True)
    benchmarks: tuple[str, ...] = key(NAMES, "Benchmarks", "", "PingPong", required=True)
    repeats: int = key(kinds.RUNS, "Repeats of each case", "Default: the campaign's.", 10)
    time_limit: int = key(kinds.DURATION, "Time limit of one run", "Default: the campaign's.", "45 min")
    mpis: tuple[str, ...] = key(NAMES, "MPI libraries", "Default: all of the system.", ["openmpi5"])
    blocks: str = key(
        choice((TO_REFERENCE, ALL_PAIRS)),
        "Measure the cases side by side, in blocks",
        "A block is one repeat of all cases of a host group with one number of nodes, on the same nodes. "
        "Its candidates (placements, MPI libraries, values of lists) are compared within it: with the "
        f"first one named, or in all pairs. repeats is then {BLOCKS} by default.",
        TO_REFERENCE,
    )
    race: Race | None = key(
        Race,
        "Find the best candidate",
        "The first one named is the default. results/NAME/settings has the winner. Replaces repeats. See "
        "docs/statistics.md.",
        {"tolerance": "2 %"},
    )
    each: Each | None = key(
        Each,
        "Measure each node, or each pair, of the host groups",
        "The host groups list their hosts. Replaces repeats. See docs/machine.md.",
        NODE,
        {"unit": PAIR, "at_once": 16},
    )


@entry("schedule", "Schedule")
@dataclass(frozen=True, slots=True)
class Schedule:
    """When the campaign is run again by cron or a timer, and what each tick makes.

    Times in seconds, ``at`` in minutes after midnight; ``limit`` is 0 where the file gives none.
    """

    every: int = key(
        kinds.DURATION, "Time from tick to tick", "Whole minutes.", "20 min", "1 day", required=True
    )
    series: str = key(
        choice((REPEATS, NEW_SERIES)),
        "What a tick runs",
        "repeats: one repeat of each case, until the campaign is complete. new: a new series; the finished "
        "one is kept in history/.",
        NEW_SERIES,
        required=True,
    )
    at: int = key(kinds.TIME_OF_DAY, "Time of day", "Only if `every` is in days.", "2:30", default="4:00")
    limit: int = key(
        kinds.DURATION,
        "Time limit of a tick",
        "A tick that takes longer gets SIGTERM; a later tick goes on. Default: `every`.",
        "3 h",
    )
    notify: tuple[str, ...] = key(
        kinds.TOKENS,
        "Command to call when a tick has found something",
        "Its last argument is a file with the text.",
        "~/bin/mail-to-me",
        default=[],
    )
    textfile: str = key(
        kinds.TEXTFILE,
        "File that each tick writes for Prometheus's node_exporter",
        "In the folder of its textfile collector.",
        "/var/lib/node_exporter/textfile/nightly.prom",
    )


@entry(title="Campaign file")
@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One configuration, one comparison: which benchmarks are run, where, in which placements and how often.

    Times in seconds, sizes in bytes.
    """

    name: str = key(
        NAME,
        "Name of the campaign",
        "Results are in results/NAME.",
        "two-groups",
        required=True,
        name="campaign",
    )
    title: str = key(LINE, "Title of tables and report", "Default: the name.", "Old and new nodes compared")
    include: tuple[str, ...] = key(
        kinds.FILES,
        "Campaign files that this one extends",
        "Later files and this one take precedence.",
        "site.yaml",
        default=[],
    )
    seed: int = key(count(0, 2**63 - 1), "Seed of the order of runs", "", 20181001, default=1)
    repeats: int = key(
        kinds.RUNS,
        "Repeats of each case",
        "until known: 6 to 20, until each ranked metric's interval is within 5 % of its median. until "
        "decided: up to 24 (of more than three candidates 26), until the first ranked metric shows which "
        "placement and MPI library is best; others leave at planned looks. Both end with node_hours_cap.",
        10,
        "until known",
        default=6,
    )
    further_repeats: int | None = key(
        count(0, 10000),
        "Largest number of further repeats of a case",
        "Disturbed runs are repeated while node_hours_cap allows it. If the machine moves between states, "
        "all cases are, until each has its repeats in one state. Default: as many as repeats, for "
        "states twice as many.",
        3,
    )
    busy_machine: str = key(
        choice((UNRANKED, RANKED)),
        "How disturbed runs are treated",
        "unranked: repeated, and not averaged or ranked. rank: like quiet runs, and every table says so.",
        RANKED,
        default=UNRANKED,
    )
    time_when_busy: int = key(
        kinds.DURATION,
        "Time limit of a call on a busy machine",
        "Without a scheduler: if eight of its last ten runs were disturbed, a call leaves out what does not "
        "fit, long runs first. With each: how long it waits for nodes that others use. Default: no limit.",
        "5 min",
    )
    time_limit: int = key(
        kinds.DURATION, "Time limit of one run", "Also H:MM or H:MM:SS.", "45 min", "90 s", default="10 min"
    )
    node_hours_cap: float | None = key(
        kinds.NUMBER,
        "Largest number of node-hours that the plan may take",
        "A plan that exceeds it at full time limits is refused.",
        100,
    )
    table_sizes: tuple[int, ...] = key(
        kinds.SIZES,
        "Message sizes at which tables show bandwidth",
        "With a unit, or in bytes.",
        [1024, "1MiB"],
        default=[format_size(size).replace(" ", "") for size in TABLE_SIZES],
    )
    schedule: Schedule | None = key(
        Schedule, "Schedule of repeated runs", "See docs/schedule.md.", {"every": "1 day", "series": "new"}
    )
    systems: dict[str, System] = key(
        table(System, NAME, minProperties=1),
        "Systems",
        "The clusters, clouds or machines under test, by name.",
        {"cluster": {"scheduler": "slurm", "mpi": "openmpi5"}},
        required=True,
    )
    host_groups: dict[str, HostGroup] = key(
        table(HostGroup, NAME, minProperties=1),
        "Host groups",
        "Like hosts of a system, by name.",
        {"milan": {"system": "cluster", "constraint": "milan"}},
        required=True,
    )
    placements: dict[str, Placement] = key(
        table(Placement, NAME),
        "Placements",
        "Changes to the built-in ones, and additions, by name.",
        {"SHM-4": {"nodes": 1, "ranks_per_node": 4, "sockets": 2, "transport": "shm"}},
    )
    mpis: dict[str, Mpi] = key(
        table(Mpi, NAME),
        "MPI libraries",
        "Changes to the built-in ones, and additions, by name.",
        {"openmpi5": {"environment": {"OMPI_MCA_pml": "ob1"}}},
    )
    benchmarks: dict[str, Benchmark] = key(
        table(Benchmark, NAME),
        "Benchmarks",
        "Changes to the built-in ones, and additions, by name.",
        {"PingPong": {"arguments": "-iter 1000 PingPong"}},
    )
    matrix: tuple[MatrixEntry, ...] = key(
        entries(MatrixEntry, type="array", minItems=1),
        "Matrix",
        "What is run: a list of entries.",
        [{"host_groups": "milan", "placements": ["SHM-1", "SHM-2"], "benchmarks": "PingPong"}],
        required=True,
    )
    reference: tuple[ReferenceChoice, ...] = key(
        entries(
            ReferenceChoice,
            **{"type": ["string", "array"], "x-type": "list of names or mappings", **PUBLICATION_RULE},
        ),
        "Published values to show beside the campaign's own",
        "Publications in reference/, by name or with a choice of rows (below).",
        ["b_eff-t3e"],
        [{"name": "stfc-2017", "host_groups": ["scarf15"]}],
    )
    expect: tuple[Limit, ...] = key(
        entries(Limit, type="array", minItems=1),
        "Acceptance contract",
        "What `mpicampaign judge` checks.",
        [{"benchmark": "PingPong", "metric": "latency at 0 B", "at_most": "2 us"}],
    )
    file: str = ""
    document: Document = field(default_factory=Document, compare=False, repr=False)  # the places of its keys
    warnings: tuple[Problem, ...] = ()  # doubtful, but not refused

    def where(self, benchmark: str) -> Key:
        """The key path of a benchmark's definition; of its first name in the matrix if it is built in."""
        benchmark = defined_name(benchmark)
        definition = ("benchmarks", benchmark)
        if self.document.is_own(definition):
            return definition
        lists = (("matrix", index, "benchmarks") for index in range(len(self.matrix)))
        named = (key for names in lists for key, name in self.document.items(names) if name == benchmark)
        return next(named, definition)

    @property
    def presentation(self) -> Presentation:
        """How to show its results."""
        return Presentation(self.title, self.table_sizes, reference=self.reference)


@cache
def campaign_schema() -> dict[str, Any]:
    """The JSON Schema of campaign files."""
    return schema_of(Campaign)
