"""The command that starts the ranks, as tokens, for each launcher. No I/O; sources in docs/method.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.campaign.model import TransportSettings
from mpicampaign.schedulers import SCHEDULERS

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Fabric, HostGroup, Placement, System
    from mpicampaign.schedulers import Scheduler


@dataclass(frozen=True, slots=True)
class Job:
    """What a launcher has to start: so many ranks on so many nodes of a host group."""

    system: System
    group: HostGroup
    placement: Placement
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        return self.placement.nodes * self.ranks_per_node

    @property
    def settings(self) -> list[TransportSettings]:
        """The MPI library's settings for this job, in the order in which they apply."""
        mpi = self.system.mpi
        found = [TransportSettings(mpi.options, mpi.environment)]
        if self.placement.binding != "library" and mpi.unbound:
            found.append(mpi.unbound)
        if self.placement.transport in mpi.transports:
            found.append(mpi.transports[self.placement.transport])
        return found

    @property
    def interface(self) -> str:
        """The network interface that a TCP placement names; empty where none is claimed."""
        if self.placement.transport != "tcp":
            return ""
        return "lo" if self.placement.loopback else self._fabric_value("interface")

    @property
    def device(self) -> str:
        """The InfiniBand device that an IBV placement names; empty where none is claimed."""
        return self._fabric_value("device") if self.placement.transport == "ibv" else ""

    @property
    def line_rate(self) -> float | None:
        """B/s in one direction of the link between nodes; None where there is none or no rate is given."""
        fabric = self.fabric
        crosses = fabric is not None and self.placement.nodes > 1 and not self.placement.loopback
        return fabric.bytes_per_second if fabric and crosses else None

    @property
    def fabric(self) -> Fabric | None:
        """The network that the placement's transport uses between nodes; None where there is none."""
        for fabric in self.group.fabrics.values():
            if self.placement.fabric in ("", fabric.name) and fabric.transport == self.placement.transport:
                return fabric
        return None

    def _fabric_value(self, attribute: str) -> str:
        return str(getattr(self.fabric, attribute)) if self.fabric else ""

    def fill(self, text: str) -> str:
        """A setting with the fabric's interface and device in place of its two marks."""
        return text.replace("{interface}", self.interface).replace("{device}", self.device)


@dataclass(frozen=True, slots=True)
class Launcher:
    """How ranks learn their numbers, and how the command line is made."""

    rank_variable: str
    local_rank_variable: str
    tokens: Callable[[Job], list[str]]


def command_tokens(job: Job) -> list[str]:
    """The launch command up to, not including, the program."""
    system, placement = job.system, job.placement
    scheduler = _launching(system)
    tokens = _by_scheduler(scheduler, job) if scheduler else LAUNCHERS[system.launcher].tokens(job)
    return [*tokens, *system.launcher_options, *placement.launcher_options, *placement.program_prefix]


def rank_variables(system: System) -> tuple[str, str]:
    """The environment variables that hold the number of a rank, and its number on its node."""
    launcher = _launching(system) or LAUNCHERS[system.launcher]
    return launcher.rank_variable, launcher.local_rank_variable


def _launching(system: System) -> Scheduler | None:
    """The scheduler, where it starts the ranks itself."""
    scheduler = SCHEDULERS[system.scheduler]
    return scheduler if scheduler.launcher == system.launcher else None


def _by_scheduler(scheduler: Scheduler, job: Job) -> list[str]:
    placement, bind = job.placement, job.placement.binding == "library"
    return scheduler.launch(placement.nodes, job.ranks_per_node, pmi=job.system.mpi.pmi, bind=bind)


def transport_settings(job: Job) -> dict[str, str]:
    """The variables that steer the MPI library for this placement."""
    merged: dict[str, str] = {}
    for settings in job.settings:
        merged |= {key: job.fill(value) for key, value in settings.environment.items()}
    return merged


def environment(job: Job) -> dict[str, str]:
    """The variables that the job script exports, the system's own last."""
    return transport_settings(job) | job.system.environment


def _options(job: Job) -> list[str]:
    return [job.fill(option) for settings in job.settings for option in settings.options]


def named_hosts(job: Job) -> tuple[str, ...]:
    """The hosts of a job where no scheduler tells them to the launcher; none where one does."""
    return job.group.hosts[: job.placement.nodes] if job.system.hosts_from == "list" else ()


def _host_list(job: Job, slots: bool) -> str:
    return ",".join(f"{host}:{job.ranks_per_node}" if slots else host for host in named_hosts(job))


def _hydra(job: Job) -> list[str]:
    hosts = _host_list(job, slots=False)
    place = ["-hosts", hosts] if hosts else []
    counts = ["-n", str(job.ranks), "-ppn", str(job.ranks_per_node)]
    return [job.system.mpi.command, *counts, *place, *_options(job)]


def _openmpi(job: Job) -> list[str]:
    hosts = _host_list(job, slots=True)
    place = ["--host", hosts] if hosts else []
    prefix = ["--prefix", job.system.prefix] if hosts and job.system.prefix else []
    # Open MPI hands its own OMPI_MCA_ variables to remote ranks, all others only on demand.
    names = [name for name in environment(job) if not name.startswith("OMPI_MCA_")]
    exported = [token for name in names for token in ("-x", name)]
    counts = ["-np", str(job.ranks), "--map-by", f"ppr:{job.ranks_per_node}:node"]
    return [job.system.mpi.command, *counts, *prefix, *place, *_options(job), *exported]


def _platform(job: Job) -> list[str]:
    hosts = _host_list(job, slots=True)
    place = ["-hostlist", hosts] if hosts else ["-np", str(job.ranks)]
    if job.system.scheduler == "lsf":
        place = []  # -lsf, one of the library's options, takes hosts and ranks from LSF
    exported = [token for key, value in environment(job).items() for token in ("-e", f"{key}={value}")]
    return [job.system.mpi.command, *place, *_options(job), *exported]


LAUNCHERS = {
    "hydra": Launcher("PMI_RANK", "MPI_LOCALRANKID", _hydra),
    "openmpi": Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", _openmpi),
    "platform": Launcher("MPI_RANKID", "MPI_LOCALRANKID", _platform),
}
