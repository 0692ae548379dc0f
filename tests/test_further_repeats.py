"""Further repeats of disturbed runs: real ones beside busy loops, interrupted and limited ones."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from build_campaigns import MACHINE, campaign, plan, write_campaign
from conftest import ProjectCopy, wait_until
from minicluster import MiniCluster
from on_cluster import cluster_project

from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.records import DISTURBED, OK, QUIET, RANKED
from mpicampaign.jobs.plan import Plan
from mpicampaign.jobs.plan_text import further_text


def test_where_disturbed_runs_count_only_those_that_were_made_stay() -> None:
    machine = replace(MACHINE, condition_of=lambda case, repeat, identity: DISTURBED if repeat < 5 else "")
    assert [run.repeat for run in plan(campaign(), machine).further] == [4, 4, 5, 5, 6, 6]
    ranked = plan(replace(campaign(), busy_machine=RANKED), machine)
    assert [run.repeat for run in ranked.further] == [4, 4], "made before the key was set"
    assert further_text(ranked) == (
        "8 runs were disturbed; busy_machine: rank: they are averaged and ranked, and not repeated"
    )


def until_known(known_at: int, made: int) -> Plan:
    """Of a campaign whose repeats up to ``made`` have results, and whose cases are known by so many."""
    machine = replace(
        MACHINE,
        condition_of=lambda case, repeat, identity: QUIET if repeat <= made else "",
        is_known=lambda case, benchmark, identities: len(identities) >= known_at,
    )
    return plan(replace(campaign(repeats=UNTIL_KNOWN), node_hours_cap=100), machine)


@pytest.mark.parametrize(
    ("known_at", "made", "repeats"),
    [(6, 0, 6), (6, 5, 6), (6, 6, 6), (10, 6, 10), (10, 9, 10), (15, 10, 15), (99, 15, 20), (99, 20, 20)],
)
def test_repeats_go_on_from_look_to_look_until_the_case_is_known(
    known_at: int, made: int, repeats: int
) -> None:
    found = until_known(known_at, made)
    assert {len(case.runs) for case in found.cases} == {repeats}
    assert {case.repeats for case in found.cases} == {6}


def write(project: ProjectCopy, further: int = 1, busy: str = "unranked") -> None:
    arguments = "-iter 60000 -time 200 -iter_policy off -msglog 0:2 PingPong"
    write_campaign(
        project.folder / "busy.yaml",
        repeats=1,
        further_repeats=further,
        busy_machine=busy,
        time_limit="1 min",
        placements="SHM-1",
        benchmarks={"PingPong": {"arguments": arguments}},
    )


@contextmanager
def busy_loop(project: ProjectCopy) -> Iterator[None]:
    """A process that keeps the last CPU of the second rank busy while its run is measured."""
    cpu = core_of_second_rank(project)
    loop = subprocess.Popen(["taskset", "-c", cpu, sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def core_of_second_rank(project: ProjectCopy) -> str:
    """The CPU that a run without a busy loop recorded; its result is removed."""
    project.succeed("run", "--campaign", "busy.yaml")
    [output] = [path for path in project.results("busy") if "/r01-" in str(path)]
    lines = output.with_name("evidence.txt").read_text().splitlines()
    [allowed] = [line.partition("=")[2] for line in lines if line.startswith("rank 1 start.allowed=")]
    shutil.rmtree(project.folder / "results/busy")
    return allowed


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.usefixtures("imb")
def test_a_run_beside_a_busy_loop_is_repeated(project: ProjectCopy) -> None:
    write(project, further=2)
    with busy_loop(project):
        done = project.call("run", "--campaign", "busy.yaml")
    assert done.returncode == 0, done.stderr
    records = project.records("busy")
    assert [(record.repeat, record.status, record.condition) for record in records] == [
        (repeat, OK, DISTURBED) for repeat in (1, 2, 3)
    ], [record.condition_reason for record in records]
    assert all("waited" in record.condition_reason for record in records)
    assert "r02: " in done.stderr
    assert "On this busy machine" in (project.folder / "results/busy/tables/comparison.txt").read_text()
    state = project.ask("status", "--campaign", "busy.yaml").stdout
    assert "2 further repeats, since 3 runs were disturbed: the campaign allows no more" in state
    again = project.call("run", "--campaign", "busy.yaml")
    assert "nothing to do" in again.stdout
    write(project, further=2, busy="rank")
    ranked = project.ask("report", "--campaign", "busy.yaml")
    assert ranked.returncode == 0, ranked.stderr
    table = (project.folder / "results/busy/tables/comparison.txt").read_text()
    assert "busy_machine: rank" in " ".join(table.split())


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usefixtures("imb")
@pytest.mark.full
def test_a_campaign_that_was_stopped_in_a_further_repeat_goes_on(project: ProjectCopy, number: int) -> None:
    write(project)
    with busy_loop(project):
        campaign = project.start("run", "busy.yaml")
        folder = project.folder / "results/busy/runs/local/SHM-1/PingPong"
        wait_until(lambda: any(folder.glob("r02-*/attempts/*")))
        [first] = project.results("busy")
        before = (first.stat().st_ino, first.with_name("evidence.txt").read_text())
        os.killpg(campaign.pid, number)
        campaign.wait(60)
    project.succeed("run", "--campaign", "busy.yaml")
    assert len(project.results("busy")) == 2
    assert (first.stat().st_ino, first.with_name("evidence.txt").read_text()) == before


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.usefixtures("imb")
def test_a_job_of_the_cluster_beside_busy_loops_is_repeated(minicluster: MiniCluster) -> None:
    """One loop for each CPU of this machine, which all nodes share; they end by themselves, too."""
    long = {"arguments": "-iter 100000 -time 200 -iter_policy off -msglog 0:1 PingPong"}
    project = cluster_project(
        minicluster,
        "busy-cluster",
        ("blue", "SHM-1", "PingPong"),
        busy_machine="unranked",
        further_repeats=1,
        time_limit="4 min",
        benchmarks={"PingPong": long},
    )
    with ExitStack() as loops:
        for cpu in ("0", "1"):
            loop = ["timeout", "550", "taskset", "-c", cpu, sys.executable, "-c", "while True: pass"]
            process = loops.enter_context(subprocess.Popen(loop))
            loops.callback(process.terminate)
        records = project.run()
    found = [(record.repeat, record.status, record.condition) for record in records]
    assert found == [(1, OK, DISTURBED), (2, OK, DISTURBED)], [record.condition_reason for record in records]
    assert all("waited" in record.condition_reason for record in records)
