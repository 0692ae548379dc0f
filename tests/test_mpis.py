"""The room for MPI libraries: its files are consistent, and another package brings a library."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import MACHINE, script_of

from mpicampaign import mpis
from mpicampaign.campaign.file import load_campaign
from mpicampaign.collect.alike import of_import
from mpicampaign.imports.facts import read_facts
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.mpis.mpi import MpiLibrary
from mpicampaign.registry import Registry
from mpicampaign.site.modules import mpi_modules, program_library

TOY = """\
import re
from mpicampaign.mpis.mpi import Launcher, MpiLibrary

def tokens(launch):
    hosts = ["--on", launch.host_slots] if launch.hosts else []
    return [launch.command, "--ranks", str(launch.ranks), *hosts, *launch.options]

MPI = MpiLibrary(
    name="toy",
    title="Toy MPI",
    launcher=Launcher("toyrun", "TOY_RANK", "TOY_LOCAL_RANK", tokens, ("toyrun",)),
    settings={
        "command": "toyrun",
        "pmi": "pmix",
        "environment": {"TOY_REPORT": 1},
        "transports": {"shm": {}, "tcp": {"options": ["--net", "{interface}"]}},
    },
    measurement=3,
    version=re.compile(r"Toy MPI release (\\S+)"),
    report=lambda output: {"shm"} if "toy: all ranks share memory" in output else None,
    of_module=lambda module: "toy" if module.startswith("toympi/") else None,
    mpirun_says=re.compile(r"toyrun "),
    prefix_variable="TOY_HOME",
    variables=("TOY_",),
)
"""
CAMPAIGN = """\
campaign: toys
systems: {here: {scheduler: none, mpi: toy, prefix: /opt/toy, hosts_from: list}}
host_groups:
  local: {system: here, cores: 2, hosts: [n1, n2], fabrics: {eth: {transport: tcp, interface: eth0}}}
benchmarks: {PingPong: {provider: {kind: path, location: /apps/IMB-MPI1}}}
matrix: [{host_groups: local, placements: [SHM, TCP], benchmarks: PingPong, repeats: 1}]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package with an MPI library, installed as pip leaves it."""
    (tmp_path / "toympi.py").write_text(TOY)
    info = tmp_path / "toympi-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toympi\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mpicampaign.mpis]\ntoy = toympi:MPI\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(mpis, "MPIS", Registry("mpicampaign.mpis", "MPI", MpiLibrary))


def planned(folder: Path, old: str = "", new: str = "") -> Plan:
    assert old in CAMPAIGN
    path = folder / "campaign.yaml"
    path.write_text(CAMPAIGN.replace(old, new) if old else CAMPAIGN)
    return make_plan(load_campaign(path), ["here"], MACHINE)


def scripts(plan: Plan) -> dict[str, str]:
    return {run.case.placement: script_of(run).text() for run in plan.runs}


@pytest.mark.usefixtures("toy")
def test_it_is_known_by_what_it_leaves_in_outputs_scripts_and_modules() -> None:
    output = "Toy MPI release 7.1\ntoy: all ranks share memory\n"
    script = "export TOY_REPORT=1\ntoyrun --ranks 2 ./IMB-MPI1 PingPong\n"
    facts = read_facts("a/b.out", output, script)
    assert (facts["mpi"], facts["transport"], facts["mpi_library"]) == ("toy", "shm", "Toy MPI 7.1")
    assert of_import({**facts, "command": "toyrun IMB-MPI1"})["settings"] == "TOY_REPORT=1"
    assert mpis.reported_transports("toy", output) == {"shm"}
    assert mpis.launch_commands()[0] == "mpirun" and "toyrun" in mpis.launch_commands()
    assert [library.mpi for library in mpi_modules(["toympi/7", "gcc/13", "openmpi/4.1"])] == [
        "toy",
        "openmpi4",
    ]
    library = program_library("/opt/toy/bin/mpirun", "toyrun 7.1")
    assert library is not None and library.mpi == "toy"
