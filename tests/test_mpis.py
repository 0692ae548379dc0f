"""The room for MPI libraries: its files are consistent, and another package brings a library."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import MACHINE, script_of

from mpicampaign import mpis
from mpicampaign.campaign.file import load_campaign
from mpicampaign.collect.common_settings import of_import
from mpicampaign.errors import UserError
from mpicampaign.imports.facts import read_facts
from mpicampaign.imports.job_script import read_job_script
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.jobs.render import script_text
from mpicampaign.mpis import MPIS
from mpicampaign.mpis.mpi import MpiLibrary
from mpicampaign.registry import Registry
from mpicampaign.site.names import mpi_modules, program_library

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
    return {run.case.placement: script_text(script_of(run)) for run in plan.runs}


@pytest.mark.usefixtures("toy")
def test_a_library_of_another_package_is_planned_and_rendered(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert {case.declared["measurement.mpi"] for case in plan.cases} == {3}
    assert {case.declared["launcher"] for case in plan.cases} == {"toyrun"}
    assert not [key for case in plan.cases for key in case.declared if key.startswith("mpi.")]
    text = scripts(plan)
    assert 'toyrun --ranks 2 --on n1:2 "$rank"' in text["SHM"]
    assert 'toyrun --ranks 2 --on n1:1,n2:1 --net eth0 "$rank"' in text["TCP"]
    assert "TOY_HOME=/opt/toy" in text["SHM"] and "TOY_REPORT=1" in text["SHM"]
    assert "TOY_RANK" in text["SHM"] and "TOY_LOCAL_RANK" in text["SHM"]


@pytest.mark.usefixtures("toy")
def test_a_campaign_changes_it_key_by_key_and_is_checked(tmp_path: Path) -> None:
    changed = planned(tmp_path, "campaign: toys\n", "campaign: toys\nmpis: {toy: {options: [-v]}}\n")
    assert 'toyrun --ranks 2 --on n1:2 -v "$rank"' in scripts(changed)["SHM"]
    assert {case.declared["mpi.pmi"] for case in changed.cases} == {"pmix"}
    described = "systems: {here: {scheduler: none, mpi: mine"
    mine = "mpis: {mine: {launcher: toyrun, transports: {shm: {}, tcp: {}}}}\n"
    own = planned(tmp_path, "systems: {here: {scheduler: none, mpi: toy", mine + described)
    assert 'mpirun --ranks 2 --on n1:2 "$rank"' in scripts(own)["SHM"]
    with pytest.raises(UserError, match="no settings for transport ibv"):
        planned(tmp_path, "[SHM, TCP]", "[SHM, IBV]")
    with pytest.raises(UserError, match="launched by toyrun"):
        planned(tmp_path, "mpi: toy", "mpi: toy, launcher: hydra")
    with pytest.raises(UserError, match="did you mean 'toy'"):
        planned(tmp_path, "mpi: toy", "mpi: toi")


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


def test_built_in_libraries_need_no_other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Registry, "_plugins", property(lambda _: pytest.fail("entry points were read")))
    plan = planned(tmp_path, "mpi: toy, prefix: /opt/toy", "mpi: mpich-ofi")
    assert len(scripts(plan)) == 2


def test_launch_commands_are_those_of_job_scripts() -> None:
    assert sorted(mpis.launch_commands()) == sorted(
        ["mpirun", "mpiexec", "jsrun", "orterun", "prun", "ibrun", "aprun"]
    )
    assert read_job_script("orterun -n 2 ./osu_latency\n").program == "osu_latency"


@pytest.mark.parametrize("name", list(MPIS))
def test_each_library_says_how_it_is_launched(name: str) -> None:
    library = MPIS[name]
    assert mpis.library_launcher(library.launcher.name) is library.launcher
    assert library.definition["transports"].keys() == {"shm", "tcp", "ibv"}
    assert library.measurement >= 1 and library.variables


@pytest.mark.parametrize(("machine", "name"), [("x86_64", "intelmpi"), ("aarch64", "mpich-ofi")])
def test_one_library_has_a_wheel_for_a_machine(machine: str, name: str) -> None:
    assert mpis.wheel_library(machine) == name


@pytest.mark.parametrize(
    ("variable", "steers"),
    [
        *(("I_MPI_DEBUG", True), ("OMPI_MCA_btl", True), ("PMIX_x", True), ("PRTE_x", True), ("MV2_x", True)),
        *(("MPIR_CVAR_x", True), ("MPICH_x", True), ("FI_PROVIDER", True), ("UCX_TLS", True)),
        *(("PSM2_x", True), ("OMP_NUM_THREADS", True), ("PATH", False), ("MY_MPI", False)),
    ],
)
def test_variables_that_steer_a_library(variable: str, steers: bool) -> None:
    assert mpis.steers(variable) is steers
