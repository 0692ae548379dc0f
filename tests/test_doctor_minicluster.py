"""mpicampaign doctor on the head of a real Slurm, as an ordinary user; it asks real nodes by real jobs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import succeeded
from minicluster import MiniCluster

from mpicampaign.schedulers.slurm import SCHEDULER as SLURM
from mpicampaign.schedulers.slurm import read_nodes

pytestmark = pytest.mark.slow

Done = subprocess.CompletedProcess[str]


@pytest.fixture
def folder(minicluster: MiniCluster, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of the ordinary user's in the file system that head and nodes share."""
    path = minicluster.home / f"{request.node.name[:40]} %j"
    path.mkdir()
    minicluster.give(path)
    yield path
    shutil.rmtree(path)


def run(cluster: MiniCluster, folder: Path, *arguments: str) -> Done:
    command = [sys.executable, "-m", "mpicampaign.cli", *arguments]
    return cluster.call(command, env=cluster.environment, cwd=folder)


def last_job(cluster: MiniCluster) -> int:
    return max((int(job) for job in cluster.queue()), default=0)


def test_two_groups_are_found_with_their_sockets_cores_and_networks(
    minicluster: MiniCluster, folder: Path
) -> None:
    before = last_job(minicluster)
    done = run(minicluster, folder, "doctor")
    assert done.returncode == 0, done.stderr + done.stdout
    words = done.stdout
    assert "scheduler: Slurm" in words and "partition all: default, at most 1:00:00" in words
    for group, hardware in (
        ("blue (all, blue): 2 nodes, 2 usable: n1, n2", "sockets of a node: 1, cores: 2, memory: "),
        ("red (all, red): 2 nodes, 2 usable: n3, n4", "sockets of a node: 2, cores: 2, memory: "),
    ):
        assert f"host group {group}\n  {hardware}" in words
    assert words.count("network interfaces: eth0 up, ") == words.count("; eth1 up, ") == 2
    assert words.count("RDMA devices: not found") == 2
    assert "hardware as MPICAMPAIGN_SYSFS declares it" in words
    assert last_job(minicluster) == before + 2
    assert [path.name for path in folder.iterdir()] == ["site.yaml"]


def test_the_headers_that_slurm_prints_are_known(minicluster: MiniCluster) -> None:
    """Where a wrapper of a site drops --noheader."""
    for command, read in ((SLURM.site_questions[0], read_nodes), (SLURM.query("root"), SLURM.read_queue)):
        plain = minicluster.call([*command]).stdout
        headed = minicluster.call([word for word in command if word != "--noheader"]).stdout
        assert sorted(headed.splitlines()[1:]) == sorted(plain.splitlines())  # sinfo's order changes
        assert sorted(map(repr, read(headed))) == sorted(map(repr, read(plain)))


@pytest.mark.full
def test_busy_nodes_are_waited_for_so_long_and_the_probe_is_cancelled(
    minicluster: MiniCluster, folder: Path
) -> None:
    holder = minicluster.call(["sbatch", "--parsable", "-pblue", "-N2", "--exclusive", "--wrap=sleep 60"])
    job = holder.stdout.strip()
    try:
        minicluster.wait_for(lambda: minicluster.queue()[job] == "RUNNING", 20, "the nodes are busy")
        done = run(minicluster, folder, "doctor", "--partition", "blue", "--time-limit", "2 s")
        assert done.returncode == 0, done.stderr
        assert f"probe job {int(job) + 1} had not started after 2 s (PENDING" in done.stdout
        assert "sockets of a node: 1, cores: 2 (from the scheduler)" in done.stdout
        states = minicluster.queue()
        assert (states[job], states[str(int(job) + 1)]) == ("RUNNING", "CANCELLED")
        assert succeeded(run(minicluster, folder, "plan", "--campaign", "site.yaml"))
    finally:
        minicluster.call(["scancel", job])
        minicluster.wait_for(lambda: minicluster.queue()[job] == "CANCELLED", 20, "the nodes are free")


@pytest.mark.full
def test_a_folder_that_nodes_do_not_see_is_named_as_the_reason(minicluster: MiniCluster) -> None:
    """Each node has its own /tmp: Slurm cannot write the log there, and the output is not visible."""
    done = run(minicluster, minicluster.home, "doctor", "--partition", "red", "--output", "/tmp/site.yaml")
    assert done.returncode == 0, done.stderr
    assert "its output is not seen in /tmp: is that folder shared with the nodes?" in done.stdout


@pytest.mark.full
def test_a_controller_that_is_down_is_reported_and_nothing_is_written(
    cluster_parts: None, tmp_path: Path
) -> None:
    with MiniCluster(tmp_path) as cluster:
        cluster.stop_controller()
        done = run(cluster, cluster.home, "doctor")
        assert done.returncode == 2
        assert "this site cannot be examined: sinfo failed with exit status 1: " in done.stderr
        assert "Unable to contact slurm controller" in done.stderr
        assert list(cluster.home.iterdir()) == []
