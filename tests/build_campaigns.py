"""Campaigns for all tests.

In code: `campaign` (one system, one host group) and its `plan`, with a machine that has every program.
As a file: `write_campaign` writes one of one system, one host group and one entry of the matrix, with
defaults for what does not matter; `write_trivial` one whose runs take no time.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ProjectCopy, executable

from mpicampaign.base.errors import UserError
from mpicampaign.campaign.file import load_campaign
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
from mpicampaign.jobs.drafts import PlanMachine
from mpicampaign.jobs.local_mpi import LocalMpi
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.jobs.prepare import Prepared
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import Program
from mpicampaign.schemes.unit import Results

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


class AnyMachine(Results):
    """A machine with all programs, and a campaign without results, but for these ``answers``."""

    folder = Path()
    evidence_library = staticmethod(lambda system: "/apps/evidence.so")
    find_mpi = staticmethod(lambda system: LocalMpi(system.mpi.command))
    libraries = staticmethod(lambda system: "")
    physical_cores = staticmethod(lambda: 8)

    def __init__(self, **answers: Any) -> None:
        vars(self).update(answers)

    def find_program(self, system: System, benchmark: Benchmark) -> Program:
        return Program(benchmark.provider.location or benchmark.program, "5" * 64)


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


def plan(made: Campaign, machine: PlanMachine = MACHINE) -> Plan:
    """The plan of a campaign made by `campaign`."""
    return make_plan(made, ["here"], machine)


def prepared_in(results: Path, made: Campaign) -> Prepared:
    """The campaign, planned for its folder below ``results``."""
    return Prepared(made, plan(made, AnyMachine(folder=results / made.name)), results)


def with_draft(run: Run, **changes: Any) -> Run:
    """The run with other facts of its case."""
    return replace(run, draft=run.draft._replace(**changes))


ROOT = Path("/results/c")


def script_of(run: Run, root: Path = ROOT) -> Run:
    """A run below the campaign's folder ``root``."""
    return with_draft(run, campaign_folder=root, token="70ce17")


TWO_NODES = {"nodes": 2, "ranks_per_node": 1, "transport": "any", "binding": "none"}
UNBOUND = {"nodes": 1, "ranks_per_node": 2, "transport": "any", "binding": "none"}
OUTPUT = r"# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 0.50\n"
LAUNCHER = f"#!/bin/bash\n{{body}}\n[ -z \"$TRIVIAL_FAILS\" ] || exit 7\nprintf '{OUTPUT}'\n"


def program_at(path: Path, suite: str = "osu") -> dict[str, Any]:
    """A benchmark of a file: a program of this name there."""
    provider = {"kind": "path", "location": str(path)}
    return {"suite": suite, "program": path.name, "provider": provider}


TRUE = program_at(Path("/bin/true"))
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OF_DEBIAN = {  # launcher and compiler of its MPI libraries
    "openmpi4": ("mpirun.openmpi", "mpicc.openmpi"),
    "mpich-ucx": ("mpiexec.mpich", "mpicc.mpich"),
}
Names = str | list[str] | Mapping[str, Any]


def write_campaign(
    path: Path,
    *,
    system: Mapping[str, Any] | None = None,
    group: Mapping[str, Any] | None = None,
    group_name: str = "local",
    placements: Names = "SHM",
    benchmarks: Names = "PingPong",
    entry: Mapping[str, Any] | None = None,
    **sections: Any,
) -> Path:
    """Write a campaign file, named as its campaign: the system ``here`` with the host group ``local``.

    ``placements``, ``benchmarks``: names, or those that the file defines; all of them are in the matrix.
    ``system``, ``group``, ``entry``: further keys of these; one that is None is left out.
    ``sections``: further ones of the file, or others in place of these; one that is None is left out.
    """
    chosen = {
        "placements": [*placements] if isinstance(placements, Mapping) else placements,
        "benchmarks": [*benchmarks] if isinstance(benchmarks, Mapping) else benchmarks,
    }
    made = {
        "campaign": path.stem,
        "systems": {"here": without_none({"scheduler": "none", "mpi": "wheel", **(system or {})})},
        "host_groups": {group_name: without_none({"system": "here", **(group or {})})},
        "placements": dict(placements) if isinstance(placements, Mapping) else None,
        "benchmarks": dict(benchmarks) if isinstance(benchmarks, Mapping) else None,
        "matrix": [{"host_groups": group_name, **chosen, **(entry or {})}],
        **sections,
    }
    path.write_text(yaml.safe_dump(without_none(made), sort_keys=False))
    return path


def write_jobs(folder: Path, *, system: Mapping[str, Any], **changes: Any) -> Path:
    """Write jobs.yaml: jobs on two nodes of the group ``all``, by the folder's ``launch`` and ``program``.

    ``changes``: as `write_campaign` takes them.
    """
    mpi = {"launcher": "hydra", "command": f"{folder}/launch", "pmi": "pmi2", "transports": {}}
    keys = {
        "repeats": 1,
        "time_limit": "1 min",
        "mpis": {"none": mpi},
        "group_name": "all",
        "placements": {"two": TWO_NODES},
        "benchmarks": {"trivial": program_at(folder / "program")},
        **changes,
    }
    return write_campaign(folder / "jobs.yaml", system={"mpi": "none", **system}, **keys)


def of_debian(mpi: str, **environment: object) -> dict[str, Any]:
    """What `write_campaign` takes for an MPI library of Debian, which must be installed."""
    launcher, compiler = OF_DEBIAN[mpi]
    if not shutil.which(launcher) or not shutil.which(compiler):
        pytest.skip(f"{launcher} and {compiler} are not installed")
    variables = {"MPICC": compiler, **AS_ROOT, **environment}
    return {"mpis": {mpi: {"command": launcher}}, "system": {"mpi": mpi, "environment": variables}}


def problems_of(path: Path) -> list[str]:
    """The errors of a campaign file, each with the text of its line and its hint."""
    lines = ["", *path.read_text().splitlines()]
    try:
        load_campaign(path)
    except UserError as error:
        return [f"{lines[p.line or 0].strip()} | {p.message} | {p.hint}" for p in error.problems]
    return []


def with_pattern(node: Any) -> Iterator[dict[str, Any]]:
    """The parts of a schema that have a pattern."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node
        node = [value for name, value in node.items() if name != "examples"]
    for inner in node if isinstance(node, list) else ():
        yield from with_pattern(inner)


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def write_trivial(project: ProjectCopy, name: str = "trivial", body: str = "", **changes: Any) -> Path:
    """Write NAME.yaml; its launcher lies beside the tree, does ``body`` first, and fails for TRIVIAL_FAILS.

    It starts nothing and writes the shortest valid output. ``changes``: as `write_campaign` takes them.
    No rank records anything: the runs are unverified.
    """
    launcher = executable(project.folder.parent / "launch", LAUNCHER.format(body=body))
    keys: dict[str, Any] = {
        "repeats": 2,
        "time_limit": "1 min",
        "mpis": {"none": {"launcher": "hydra", "command": str(launcher), "transports": {}}},
        "placements": {"one": UNBOUND, "two": UNBOUND},
        "benchmarks": {"trivial": TRUE},
        **changes,
    }
    keys["system"] = {"mpi": "none", **keys.get("system", {})}
    return write_campaign(project.folder / f"{name}.yaml", **keys)
