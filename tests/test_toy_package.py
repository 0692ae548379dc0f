"""A suite, a scheduler and an MPI library from another package, from check to table.

The scheduler is PBS Professional, as its guides have it, over a stand-in for its commands; the MPI library
and the benchmark are real.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ProjectCopy, succeeded

from mpicampaign.base.records import OK, VERIFIED, read_records

TESTS = Path(__file__).parent
PACKAGE = TESTS / "toy_package"
CAMPAIGN = """\
campaign: toy
busy_machine: rank # tests share this machine
systems:
  site: {{scheduler: pbs, mpi: toympi, prefix: wheel, programs: {{toy_ring: {program}}}}}
host_groups:
  nodes: {{system: site, queue: workq, account: proj, exclusive: true, requeue: false}}
placements:
  SHM: {{nodes: 1, ranks_per_node: 2, transport: shm, binding: none}}
matrix:
  - {{host_groups: nodes, placements: [SHM, SHM-1], benchmarks: toy_ring, repeats: 2, time_limit: 1 min}}
"""
pytestmark = [pytest.mark.mpi, pytest.mark.slow]


class Site:
    """A machine with PBS, and the toy package installed beside the project."""

    def __init__(self, project: ProjectCopy) -> None:
        self.project = project
        self.state = project.folder / "pbs"
        self.state.mkdir()
        self.results = project.folder / "results" / "toy"
        self.program = project.folder / "toy_ring"
        self.write(CAMPAIGN.format(program=self.program))

    def write(self, text: str) -> None:
        (self.project.folder / "toy.yaml").write_text(text)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        paths = {
            "PYTHONPATH": f"{self.project.folder / 'src'}{os.pathsep}{PACKAGE}",
            "PATH": f"{TESTS / 'pbs_standin'}{os.pathsep}{self.project.environment['PATH']}",
            "PBS_STANDIN": str(self.state),
        }
        return self.project.call(*arguments, variables=paths)

    def campaign(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.call(command, "--campaign", "toy.yaml", *arguments)

    def jobs(self) -> list[dict[str, str]]:
        return [json.loads(path.read_text()) for path in self.state.glob("*.json")]


@pytest.fixture
def site(project: ProjectCopy) -> Site:
    found = Site(project)
    compiler = Path(sys.prefix) / "bin" / "mpicc"
    if not compiler.is_file():
        pytest.skip("the environment holds no Intel MPI")
    environment = {**os.environ, "I_MPI_ROOT": sys.prefix}
    source = PACKAGE / "toy_ring.c"
    subprocess.run([compiler, "-O2", "-o", found.program, source], env=environment, check=True)
    return found


@pytest.mark.full
def test_from_check_to_table(site: Site) -> None:
    checked = site.campaign("check")
    assert succeeded(checked) and "this machine: site" in checked.stdout
    planned = site.campaign("plan")
    assert succeeded(planned) and "toy_ring" in planned.stdout

    rendered = site.campaign("render")
    assert succeeded(rendered)
    script = Path(rendered.stdout.splitlines()[0]).read_text()
    assert script.rstrip().endswith('measure mpiexec.hydra -np 2 "$rank" "$program"')
    assert f"program={site.program}" in script

    assert succeeded(site.campaign("run"))
    assert [job["job_state"] for job in site.jobs()] == ["F"] * 4
    records = read_records(site.results / "records.jsonl")[1]
    assert [(record.status, record.verdict) for record in records] == [(OK, VERIFIED)] * 4, records
    assert {record.suite for record in records} == {"ring"}
    assert {record.job_id for record in records} == {f"{number}.pbs-server" for number in range(1, 5)}
    table = (site.results / "tables" / "comparison.txt").read_text()
    captions = [f"{metric} at {size}" for metric in ("time", "imbalance") for size in ("1 B", "32 KiB")]
    assert all(caption in table for caption in captions) and "2/2" in table
    assert "4 of 4 rankings of placements: too few repeats to say which is best" in table

    again = site.campaign("run")
    assert succeeded(again) and len(site.jobs()) == 4  # nothing is submitted again


def test_the_doctor_reads_its_site(site: Site) -> None:
    done = site.call("doctor", "--scheduler", "pbs", "--output", "site.yaml", "--time-limit", "20 s")
    assert succeeded(done)
    text = (site.project.folder / "site.yaml").read_text()
    assert "scheduler: pbs" in text and "queue: workq" in text
    assert all(job["job_state"] == "F" for job in site.jobs()), "no probe job is left behind"
