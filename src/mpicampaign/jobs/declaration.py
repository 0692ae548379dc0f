"""What a campaign declares of a run: the source of the run's identity. Pure.

Nothing in it is observed, so that any machine can compute it before anything is built. It leaves out what
does not affect a measurement: folders, time limits, accounts, titles, comments, templates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mpicampaign.base.identity import METRIC
from mpicampaign.base.records import Case
from mpicampaign.campaign.model import (
    CORES,
    LEVELS,
    SHM,
    Benchmark,
    HostGroup,
    Mpi,
    Placement,
    System,
    TransportSettings,
)
from mpicampaign.jobs.inputs import Input
from mpicampaign.jobs.launchers import Job
from mpicampaign.mpis import facts
from mpicampaign.suites import SUITES

# The keys of each definition that affect a measurement.
_OF_SYSTEM = ("scheduler", "launcher", "modules", "source", "directives", "launcher_options", "hosts_from")
_OF_GROUP = (
    *("hosts", "members", "partition", "constraint", "queue", "exclusive", "hint", "threads_per_core"),
    *("memory", "gres", "switches", "directives"),
)
_OF_PLACEMENT = (
    *("nodes", "ranks_per_node", "transport", "sockets", "binding", "loopback", "threads"),
    *LEVELS[1:],
    *("within_node", "launcher_options", "program_prefix", "gpus_per_node", "gpu_binding"),
)
_NO_SYSTEM = System("", "", None, "")  # type: ignore[arg-type]  # for its defaults
_NO_GROUP = HostGroup("", "")
_NO_PLACEMENT = Placement("", 0, 0, "")


def declare(case: Case, job: Job, benchmark: Benchmark, inputs: Iterable[Input] = ()) -> dict[str, Any]:
    """What the campaign declares of a case, under the names that it is kept as; defaults are left out."""
    system, group, placement = job.system, job.group, job.placement
    fabric = None if placement.loopback else job.fabric
    declared = {
        "system": case.system,
        "host_group": case.host_group,
        "placement": case.placement,
        "benchmark": case.benchmark,
        **_given(system, _NO_SYSTEM, _OF_SYSTEM, ""),
        "source": list(system.source_names or system.source),
        "prefix": system.prefix_name,
        "evidence": "" if system.evidence else "off",
        **_of_mpi(system.mpi, placement),
        **_given(group, _NO_GROUP, _OF_GROUP, "host_group."),
        "host_group.cores": group.cores if placement.ranks_per_node == CORES else "",
        "host_group.gpu_type": group.gpu_type if placement.gpus_per_node else "",
        **_given(placement, _NO_PLACEMENT, _OF_PLACEMENT, "placement."),
        "placement.environment": placement.environment or "",
        "fabric": fabric.name if fabric else "",
        "fabric.interface": fabric.interface if fabric else "",
        "fabric.device": fabric.device if fabric else "",
        "fabric.provider": fabric.provider if fabric else "",
        "fabric.link": fabric.link if fabric else "",
        **_of_benchmark(benchmark),
        **{f"parameters.{name}": value for name, value in benchmark.parameters.items()},
        **{f"input.{file.name}": file.sha256 for file in inputs},
    }
    given = {key: value for key, value in declared.items() if value not in ("", None, [])}
    return given | {f"environment.{name}": value for name, value in system.environment.items()}


def _given(item: object, default: object, names: tuple[str, ...], prefix: str) -> dict[str, Any]:
    """The fields that are not at their defaults."""
    values = {name: getattr(item, name) for name in names}
    return {
        prefix + name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value != getattr(default, name)
    }


def _of_mpi(mpi: Mpi, placement: Placement) -> dict[str, Any]:
    """The library's name, and its description where the campaign file has one.

    Settings of later releases are declared by the placements that use them.
    """
    declared: dict[str, Any] = {"mpi": mpi.name, "measurement.mpi": _raised(facts(mpi.name).measurement)}
    if not mpi.own:
        return declared
    settings = {
        name: _settings(transport_settings)
        for name, transport_settings in mpi.transports.items()
        if name in (SHM, "tcp", "ibv", placement.settings)
    }
    settings |= {"unbound": _settings(mpi.unbound)} if mpi.unbound else {}
    description = {
        "launcher": mpi.launcher,
        "command": mpi.command,
        "pmi": mpi.pmi,
        "options": list(mpi.options),
        "environment": mpi.environment or "",
        **settings,
    }
    return declared | {f"mpi.{key}": value for key, value in description.items()}


def _settings(settings: TransportSettings) -> dict[str, Any]:
    return {"options": list(settings.options), "environment": settings.environment}


def _of_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    provider = benchmark.provider
    suite = SUITES[benchmark.suite]
    version = suite.versions.get(benchmark.program, 1) if provider.kind == "bundled" else 1
    return {
        "suite": benchmark.suite,
        "program": benchmark.program,
        "arguments": list(benchmark.arguments),
        "provider": provider.kind,
        "provider.location": provider.location_name or provider.location,
        "provider.modules": list(provider.modules),
        "provider.build": provider.build,
        "measurement.suite": _raised(suite.measurement),
        "measurement.kernel": _raised(version),
    }


def reading_of(benchmark: Benchmark) -> dict[str, Any]:
    """How the outputs of a program of one's own are read: no part of a run. Empty for other suites."""
    if not benchmark.metrics:
        return {}
    parts = ("pattern", "unit", "better", "take")
    metrics = {
        METRIC + name: {part: getattr(metric, part) for part in parts}
        for name, metric in benchmark.metrics.items()
    }
    return {
        "benchmark": benchmark.name,
        **metrics,
        "whole": list(benchmark.whole),
        "refused": benchmark.refused,
    }


def _raised(number: int) -> int | str:
    """A measurement number; 1, the default, is left out."""
    return number if number > 1 else ""
