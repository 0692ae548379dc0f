"""Campaigns made in code, for tests of the steps after the campaign file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mpicampaign.base.planned_looks import NOTHING_DECIDED
from mpicampaign.campaign.model import (
    Benchmark,
    Campaign,
    HostGroup,
    MatrixEntry,
    Mpi,
    Placement,
    Provider,
    System,
    TransportSettings,
)
from mpicampaign.jobs.local_mpi import LocalMpi
from mpicampaign.jobs.machine import Machine
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import Program
from mpicampaign.schemes.block import Made

INTEL_MPI = Mpi(
    "intelmpi",
    "hydra",
    {
        "shm": TransportSettings(environment={"I_MPI_FABRICS": "shm"}),
        "tcp": TransportSettings(environment={"I_MPI_FABRICS": "ofi", "FI_TCP_IFACE": "{interface}"}),
    },
    environment={"I_MPI_DEBUG": "5"},
    unbound=TransportSettings(environment={"I_MPI_PIN": "off"}),
)
PLACEMENTS = {
    "SHM-1": Placement("SHM-1", 1, 2, "shm", sockets=1),
    "SHM": Placement("SHM", 1, 2, "shm", binding="none"),
}
BENCHMARK = Benchmark("PingPong", "imb", "IMB-MPI1", Provider("path", "/apps/IMB-MPI1"), ("PingPong",))


@dataclass(frozen=True)
class AnyMachine:
    """A machine with all programs, and a campaign without results, unless it is said otherwise."""

    find_program: Callable[..., Program] = lambda system, benchmark: Program(
        benchmark.provider.location or benchmark.program, "5" * 64
    )
    find_mpi: Callable[..., LocalMpi] = lambda system: LocalMpi(system.mpi.command)
    evidence_library: Callable[..., str] = lambda system: "/apps/evidence.so"
    libraries: Callable[..., str] = lambda system: ""
    physical_cores: Callable[[], int] = lambda: 8
    condition_of: Callable[..., str] = lambda case, repeat, identity: ""
    begun: Callable[..., bool] = lambda case, repeat, identity: False
    begun_as: Callable[..., dict[str, Any]] = lambda case: {}
    is_known: Callable[..., bool] = lambda case, benchmark, identities: False
    blocks: Callable[..., dict[Any, int]] = lambda cases: {}
    in_block: Callable[..., Made] = lambda case, repeat, identity, benchmark, time_limit: Made()
    stages: Callable[..., dict[str, Any]] = lambda compared, candidates, ranked: {}
    rounds: Callable[..., Any] = lambda each, screen, benchmarks, earlier: screen
    again: Callable[[], Any] = tuple
    decided: Callable[..., Any] = lambda candidates, ranked: NOTHING_DECIDED
    requested: Callable[..., Any] = lambda case: ()
    is_stopped: Callable[..., bool] = lambda case, repeat, identity, benchmark, time_limit: False


MACHINE = AnyMachine()


def campaign(
    placements: dict[str, Placement] | None = None,
    benchmark: Benchmark = BENCHMARK,
    repeats: int = 3,
    group: dict[str, Any] | None = None,
    **system: Any,
) -> Campaign:
    """A campaign of one system and one host group; ``group`` and ``system`` override their fields."""
    chosen = PLACEMENTS if placements is None else placements
    here = replace(System("here", "none", INTEL_MPI, "hydra"), **system)
    nodes = replace(HostGroup("blue", "here"), **(group or {}))
    entry = MatrixEntry(("blue",), tuple(chosen), (benchmark.name,), repeats, 60)
    benchmarks = {benchmark.name: benchmark}
    return Campaign(
        name="c",
        systems={"here": here},
        host_groups={"blue": nodes},
        placements=chosen,
        benchmarks=benchmarks,
        matrix=(entry,),
    )


def plan(made: Campaign, machine: Machine = MACHINE) -> Plan:
    """The plan of a campaign made by `campaign`."""
    return make_plan(made, ["here"], machine)


ROOT = Path("/results/c")


def script_of(run: Run, root: Path = ROOT) -> Run:
    """A run below the campaign's folder ``root``."""
    return replace(run, campaign_folder=root, token="70ce17")
