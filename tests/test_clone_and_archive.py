"""A fresh clone and a source archive: `snakemake --profile cluster` from their roots, on a real Slurm."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from build_campaigns import write_jobs
from cluster_site import PROGRAM
from conftest import PROJECT, executable, succeeded
from minicluster import BLUE, MiniCluster

from mpicampaign.base.records import OK, read_records

pytestmark = pytest.mark.slow

SNAKEMAKE = ["snakemake", "--profile", "cluster", "--config", "campaign=jobs.yaml"]


def source(*arguments: str) -> bytes:
    """A git command on the project; root may ask although another user owns the folder."""
    command = ["git", "-c", f"safe.directory={PROJECT}", "-C", str(PROJECT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, timeout=240).stdout


def clone(folder: Path) -> None:
    source("clone", "--quiet", "--no-hardlinks", str(PROJECT), str(folder))


def unpack_archive(folder: Path) -> None:
    folder.mkdir()
    subprocess.run(["tar", "x", "-C", str(folder)], input=source("archive", "HEAD"), check=True, timeout=240)


@pytest.fixture(scope="module")
def cluster(cluster_parts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    if not (PROJECT / ".git").exists():
        pytest.skip("these sources are no clone: there is nothing to clone or to archive")
    with MiniCluster(tmp_path_factory.mktemp("cluster"), [BLUE]) as running:
        yield running


class Root:
    """A folder on the shared file system, and the user in it."""

    def __init__(self, cluster: MiniCluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        executable(folder / "program", PROGRAM.format(body=""))
        write_jobs(folder, repeats=3, system={"scheduler": "slurm", "launcher": "srun"})
        cluster.give(folder)

    def call(self, *command: str) -> CompletedProcess[str]:
        """With the environment on the PATH, in which another source folder may be installed."""
        path = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"
        environment = {"PYTHONPATH": str(self.folder / "src"), "PATH": path}
        return self.cluster.call(command, cwd=self.folder, timeout=120, env=environment)

    def check_results(self) -> None:
        folder = self.folder / "results/jobs"
        assert (folder / "report.html").is_file()
        assert [record.status for record in read_records(folder / "records.jsonl")[1]] == [OK] * 3

    def submitted(self) -> int:
        """How many jobs of this folder Slurm has ended."""
        jobs = self.cluster.completed_jobs()
        ours = (job for job in jobs if job["Name"].startswith(("trivial-", "batch-")))
        return sum(str(self.folder) in str(job) for job in ours)


@pytest.mark.parametrize("make", [clone, pytest.param(unpack_archive, marks=pytest.mark.full)])
def test_the_literal_command_runs_a_campaign_to_its_report(cluster: MiniCluster, make: object) -> None:
    assert callable(make)
    folder = cluster.folder / make.__name__
    make(folder)
    assert (folder / "cluster").is_symlink()
    root = Root(cluster, folder)
    assert succeeded(root.call(*SNAKEMAKE))
    root.check_results()
    assert "nothing to do, all 3 runs are there" in root.call(*SNAKEMAKE).stderr
    assert root.submitted() == 3


@pytest.mark.full
def test_scripts_submitted_by_hand_are_taken_up(cluster: MiniCluster) -> None:
    """One has ended and one is queued when Snakemake starts: it submits only the third."""
    unpack_archive(cluster.folder / "by-hand")
    root = Root(cluster, cluster.folder / "by-hand")
    rendered = root.call(sys.executable, "-m", "mpicampaign.cli", "render", "--campaign", "jobs.yaml")
    scripts = [Path(line) for line in rendered.stdout.splitlines()]
    assert len(scripts) == 3, rendered.stderr
    assert succeeded(root.call("sbatch", str(scripts[0])))
    cluster.wait_for((scripts[0].parent / "result.txt").exists, 30, "the first job has ended")
    waiting = root.call("sbatch", "--parsable", "--begin=now+1hour", str(scripts[1])).stdout.strip()
    before = (scripts[0].parent / "result.txt").stat().st_ino
    log = root.folder / "results/jobs/submissions.txt"
    with ThreadPoolExecutor(1) as background:
        call = background.submit(root.call, *SNAKEMAKE)
        cluster.wait_for(lambda: log.exists() and f"adopted {waiting}\n" in log.read_text(), 60, "adopted")
        cluster.administer(["scontrol", "update", f"JobId={waiting}", "StartTime=now"])
        done = call.result()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"job {waiting} is in the queue already" in done.stderr
    assert (scripts[0].parent / "result.txt").stat().st_ino == before
    root.check_results()
    assert root.submitted() == 3
