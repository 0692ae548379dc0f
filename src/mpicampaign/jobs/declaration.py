"""What a campaign declares of a run, from which its identity is made. Pure.

It can be computed on any machine, before anything is built: nothing in it is observed. What leaves a
measurement as it is takes no part: folders, time limits, accounts, titles, comments, templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.campaign.model import CORES, HostGroup, Placement, System
from mpicampaign.mpis import measurement

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Benchmark, Mpi, TransportSettings
    from mpicampaign.jobs.launchers import Job
    from mpicampaign.records import Case

# Raised by hand when the way of measuring changes, with a line of history in docs/formats.md: every finished
# run of that suite or kernel is then another run. tests/test_measurement_guard.py fails where one was
# forgotten. An MPI library has its own: mpicampaign.mpis.
MEASUREMENT_OF_SUITE = {"imb": 1, "osu": 1, "kernel": 1}
VERSION_OF_KERNEL = {
    "tree_gather": 1,
    "tree_merge": 1,
    "point_to_point": 1,
    "core_pairs": 1,
    "b_eff": 1,
    "latency_bandwidth": 1,
}

# Of each definition, what takes part; the rest decides nothing about a measurement.
_OF_SYSTEM = ("scheduler", "launcher", "modules", "source", "directives", "launcher_options", "hosts_from")
_OF_GROUP = (
    *("hosts", "members", "partition", "constraint", "queue", "exclusive", "hint", "threads_per_core"),
    *("memory", "gres", "switches", "directives"),
)
_OF_PLACEMENT = (
    *("nodes", "ranks_per_node", "transport", "sockets", "binding", "loopback"),
    *("launcher_options", "program_prefix"),
)
_NO_SYSTEM = System("", "", None, "")  # type: ignore[arg-type]  # for its defaults
_NO_GROUP = HostGroup("", "")
_NO_PLACEMENT = Placement("", 0, 0, "")


def declare(case: Case, job: Job, benchmark: Benchmark) -> dict[str, Any]:
    """What the campaign declares of a case, key by key; a key at its default is left out."""
    system, group, placement = job.system, job.group, job.placement
    fabric = None if placement.loopback else job.fabric
    declared = {
        "system": case.system,
        "host_group": case.host_group,
        "placement": case.placement,
        "benchmark": case.benchmark,
        **_given(system, _NO_SYSTEM, _OF_SYSTEM, ""),
        "prefix": system.prefix_name,
        "evidence": "" if system.evidence else "off",
        **_of_mpi(system.mpi),
        **_given(group, _NO_GROUP, _OF_GROUP, "host_group."),
        "host_group.cores": group.cores if placement.ranks_per_node == CORES else "",
        **_given(placement, _NO_PLACEMENT, _OF_PLACEMENT, "placement."),
        "fabric": fabric.name if fabric else "",
        "fabric.interface": fabric.interface if fabric else "",
        "fabric.device": fabric.device if fabric else "",
        **_of_benchmark(benchmark),
    }
    given = {key: value for key, value in declared.items() if value not in ("", None, [])}
    return given | {f"environment.{name}": value for name, value in system.environment.items()}


def _given(item: object, default: object, names: tuple[str, ...], prefix: str) -> dict[str, Any]:
    """The fields of a definition that are not at their defaults."""
    values = {name: getattr(item, name) for name in names}
    return {
        prefix + name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value != getattr(default, name)
    }


def _of_mpi(mpi: Mpi) -> dict[str, Any]:
    """The library by its name; where the campaign file describes it, by that description, too."""
    found: dict[str, Any] = {"mpi": mpi.name, "measurement.mpi": _raised(measurement(mpi.name))}
    if not mpi.own:
        return found
    settings = {name: _settings(each) for name, each in mpi.transports.items()}
    settings |= {"unbound": _settings(mpi.unbound)} if mpi.unbound else {}
    own = {
        "launcher": mpi.launcher,
        "command": mpi.command,
        "pmi": mpi.pmi,
        "options": list(mpi.options),
        "environment": mpi.environment or "",
        **settings,
    }
    return found | {f"mpi.{key}": value for key, value in own.items()}


def _settings(settings: TransportSettings) -> dict[str, Any]:
    return {"options": list(settings.options), "environment": settings.environment}


def _of_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    provider = benchmark.provider
    version = VERSION_OF_KERNEL.get(benchmark.program, 1) if provider.kind == "bundled" else 1
    return {
        "suite": benchmark.suite,
        "program": benchmark.program,
        "arguments": list(benchmark.arguments),
        "provider": provider.kind,
        "provider.location": provider.location,
        "provider.modules": list(provider.modules),
        "measurement.suite": _raised(MEASUREMENT_OF_SUITE.get(benchmark.suite, 1)),
        "measurement.kernel": _raised(version),
    }


def _raised(number: int) -> int | str:
    """The number of a way of measuring; 1, the default, is left out."""
    return number if number > 1 else ""
