"""The command that starts the ranks, and the variables that steer the MPI library. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from mpicampaign.campaign.model import HostFabric, HostGroup, Placement, System, TransportSettings
from mpicampaign.mpis import libfabric, library_launcher
from mpicampaign.mpis.mpi import Launch, Launcher
from mpicampaign.schedulers import SCHEDULERS, Scheduler, batch_scheduler


@dataclass(frozen=True, slots=True)
class Job:
    """What a launcher starts: a number of ranks per node of a host group, or of these hosts of it."""

    system: System
    group: HostGroup
    placement: Placement
    ranks_per_node: int
    hosts: tuple[str, ...]

    @property
    def ranks(self) -> int:
        return self.placement.nodes * self.ranks_per_node

    @property
    def keeps_nodes(self) -> bool:
        """Whether each allocation has the same nodes: this machine, or those that its group lists.

        With LSF, a name in the list may be that of many hosts.
        """
        scheduler = batch_scheduler(self.system.scheduler)
        if scheduler is None:
            return True
        listed = scheduler.read_hosts(",".join(self.hosts)) if "hosts" in scheduler.granted else ()
        return len(listed) == self.placement.nodes

    @property
    def settings(self) -> list[TransportSettings]:
        """The MPI library's settings for this job; later ones override earlier ones."""
        mpi = self.system.mpi
        settings = [TransportSettings(mpi.options, mpi.environment)]
        if self.placement.binding != "library" and mpi.unbound:
            settings.append(mpi.unbound)
        if self.placement.settings in mpi.transports:
            settings.append(mpi.transports[self.placement.settings])
        return settings

    @property
    def interface(self) -> str:
        """The network interface that a placement over TCP names; else empty."""
        if self.placement.loopback:
            return "lo"
        over_tcp = "tcp" in (self.placement.transport, self.provider)
        return self._fabric_value("interface") if over_tcp else ""

    @property
    def device(self) -> str:
        """The device that a placement over another network names; else empty."""
        return "" if "tcp" in (self.placement.transport, self.provider) else self._fabric_value("device")

    @property
    def provider(self) -> str:
        """The provider of libfabric that the placement's fabric names; else empty."""
        return self._fabric_value("provider")

    @property
    def line_rate(self) -> float | None:
        """The rate of the link between nodes, B/s in one direction; None where unknown or not used."""
        fabric = self.fabric
        crosses = fabric is not None and self.placement.nodes > 1 and not self.placement.loopback
        return fabric.bytes_per_second if fabric and crosses else None

    @property
    def fabric(self) -> HostFabric | None:
        """The network of the placement's transport between nodes, if any."""
        for fabric in self.group.fabrics.values():
            if self.placement.fabric in ("", fabric.name) and fabric.transport == self.placement.transport:
                return fabric
        return None

    def _fabric_value(self, attribute: str) -> str:
        return str(getattr(self.fabric, attribute)) if self.fabric else ""

    def fill(self, text: str) -> str:
        """A setting with the fabric's interface, device and provider filled in."""
        for name in ("interface", "device", "provider"):
            text = text.replace(f"{{{name}}}", getattr(self, name))
        return text


def command_tokens(job: Job) -> list[str]:
    """The launch command without the program."""
    scheduler, placement = _launching(job.system), job.placement
    options = (*job.system.launcher_options, *placement.launcher_options)
    if scheduler:
        pmi, bind = job.system.mpi.pmi, placement.binding == "library"
        more = {"threads": placement.threads} if placement.threads else {}  # others' may not know them
        tokens = scheduler.launch(placement.nodes, job.ranks_per_node, pmi=pmi, bind=bind, **more)
    else:
        tokens = _of_library(job.system).tokens(_launch(job, options))
    return [*tokens, *options, *placement.program_prefix]


def rank_variables(system: System) -> tuple[str, str]:
    """The environment variables with the number of a rank, and with its number on its node."""
    launcher = _launching(system) or _of_library(system)
    return launcher.rank_variable, launcher.local_rank_variable


def _launching(system: System) -> Scheduler | None:
    """The scheduler, if it starts the ranks itself."""
    scheduler = SCHEDULERS[system.scheduler]
    return scheduler if scheduler.launcher == system.launcher else None


def _of_library(system: System) -> Launcher:
    launcher = library_launcher(system.launcher)
    assert launcher is not None  # checked with the campaign file
    return launcher


def transport_settings(job: Job) -> dict[str, str]:
    """The variables that configure the MPI library for this placement."""
    network = job.interface or job.device
    merged = libfabric.variables(job.provider, network) if job.provider else {}
    for settings in job.settings:
        merged |= {key: job.fill(value) for key, value in settings.environment.items()}
    return merged


def environment(job: Job) -> dict[str, str]:
    """The variables that the job script exports: the system's own override, and then the placement's."""
    return transport_settings(job) | job.system.environment | placement_variables(job.placement)


def placement_variables(placement: Placement) -> dict[str, str]:
    """The variables of a placement's own."""
    threads = {"OMP_NUM_THREADS": str(placement.threads)} if placement.threads else {}
    return threads | placement.environment


def _launch(job: Job, options: tuple[str, ...]) -> Launch:
    """The job as the launcher of an MPI library needs it."""
    return Launch(
        command=job.system.mpi.command,
        nodes=job.placement.nodes,
        ranks_per_node=job.ranks_per_node,
        options=tuple(job.fill(option) for settings in job.settings for option in settings.options),
        further=options,
        environment=environment(job),
        hosts=named_hosts(job),
        scheduler=job.system.scheduler,
        prefix=job.system.prefix,
    )


def named_hosts(job: Job) -> tuple[str, ...]:
    """The hosts of a job that the campaign file lists; empty where a scheduler chooses them."""
    return job.hosts[: job.placement.nodes] if job.system.hosts_from == "list" else ()


def claimed_settings(job: Job) -> dict[str, str]:
    """The variables that configure the MPI library or make the placement, as the script exports them."""
    exported = environment(job)
    return {name: exported[name] for name in transport_settings(job) | placement_variables(job.placement)}
