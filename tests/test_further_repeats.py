"""Further repeats of disturbed runs: real ones beside a busy loop, interrupted and limited ones."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from builders import MACHINE, campaign, plan
from conftest import ProjectCopy
from default_signals import popen_with_default_signals

from mpicampaign.errors import UserError
from mpicampaign.jobs.further import repeats_of
from mpicampaign.jobs.plan import check_cap, plan_file
from mpicampaign.jobs.plan_text import further_text
from mpicampaign.plan_file import plan_from, plan_json
from mpicampaign.records import DISTURBED, OK, QUIET, RANKED, Case, read_records

CAMPAIGN = """\
campaign: busy
repeats: 1
further_repeats: {further}
busy_machine: {busy}
time_limit: 1 min
systems:
  this-machine: {{scheduler: none, mpi: wheel}}
host_groups:
  local: {{system: this-machine}}
benchmarks:
  PingPong: {{arguments: -iter 20000 -time 1 -iter_policy off -msglog 0:2 PingPong}}
matrix:
  - {{host_groups: local, placements: SHM-1, benchmarks: PingPong}}
"""


@pytest.mark.parametrize(
    ("disturbed", "limit", "further"),
    [
        ((), 3, 0),
        ((2,), 3, 1),
        ((1, 3), 3, 2),
        ((2, 4), 3, 2),
        ((2, 4, 5, 6), 3, 3),
        ((1, 2, 3), 2, 2),
        ((1,), 0, 0),
    ],
)
def test_each_disturbed_run_has_a_further_repeat(
    disturbed: tuple[int, ...], limit: int, further: int
) -> None:
    found = repeats_of(3, limit, lambda repeat: DISTURBED if repeat in disturbed else QUIET)
    assert (found.planned, found.further) == (3, further)


def of_repeats(*disturbed: int) -> Callable[[Case, int, str], str]:
    return lambda case, repeat, identity: DISTURBED if repeat in disturbed else ""


def test_further_repeats_come_last_and_change_no_other_run() -> None:
    before = plan(campaign())
    machine = replace(MACHINE, condition_of=of_repeats(2))
    after = plan(campaign(), machine)
    assert after.runs[: len(before.runs)] == before.runs
    assert [(run.repeat, run.further, run.order) for run in after.runs[6:]] == [(4, True, 7), (4, True, 8)]
    more = {run.identity for run in plan(campaign(repeats=4)).runs}
    assert {run.identity for run in after.runs} == more, "a fourth repeat is the same run"
    assert further_text(after) == "2 further repeats, since 2 runs were disturbed"
    data = json.loads(plan_json(plan_file(after, "")))
    assert [run["further"] for run in data["cases"][0]["runs"]] == [False, False, False, True]
    assert plan_from(data).cases[0].runs[3].further
    for run in data["cases"][0]["runs"]:
        del run["further"]
    assert not plan_from(data).cases[0].runs[3].further, "a plan of an earlier release"


def test_the_campaign_limits_further_repeats() -> None:
    machine = replace(MACHINE, condition_of=of_repeats(1, 2, 3, 4, 5, 6))
    assert len(plan(campaign(), machine).further) == 6
    made = replace(campaign(), further_repeats=1)
    assert further_text(plan(made, machine)) == (
        "2 further repeats, since 8 runs were disturbed: the campaign allows no more"
    )
    assert not plan(replace(campaign(), further_repeats=0), machine).further
    assert not plan(replace(campaign(), busy_machine=RANKED), machine).further


def test_further_repeats_stay_within_the_node_hours() -> None:
    machine = replace(MACHINE, condition_of=of_repeats(1, 2, 3))
    capped = plan(replace(campaign(), node_hours_cap=8 / 60), machine)  # 6 runs of a minute on one node
    assert len(capped.further) == 2
    assert [len(case.identities) for case in capped.cases] == [4, 4]
    check_cap(capped, 8 / 60, "c.yaml")
    with pytest.raises(UserError):
        check_cap(capped, 5 / 60, "c.yaml")


def write(project: ProjectCopy, further: int = 1, busy: str = "unranked") -> None:
    (project.folder / "busy.yaml").write_text(CAMPAIGN.format(further=further, busy=busy))


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
    assert project.call("run", "--campaign", "busy.yaml").returncode == 0
    [output] = [path for path in project.results("busy") if "/r01-" in str(path)]
    lines = output.with_name("evidence.txt").read_text().splitlines()
    [allowed] = [line.partition("=")[2] for line in lines if line.startswith("rank 1 start.allowed=")]
    shutil.rmtree(project.folder / "results/busy")
    return allowed


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.usefixtures("imb")
def test_a_run_beside_a_busy_loop_is_repeated(project: ProjectCopy) -> None:
    write(project, further=2)
    with busy_loop(project):
        done = project.call("run", "--campaign", "busy.yaml")
    assert done.returncode == 0, done.stderr
    _, records = read_records(project.folder / "results/busy/records.jsonl")
    assert [(record.repeat, record.status, record.condition) for record in records] == [
        (repeat, OK, DISTURBED) for repeat in (1, 2, 3)
    ], [record.condition_reason for record in records]
    assert all("waited" in record.condition_reason for record in records)
    assert "r02: " in done.stderr and "this machine was busy" in done.stdout
    state = project.call("status", "--campaign", "busy.yaml").stdout
    assert "2 further repeats, since 3 runs were disturbed: the campaign allows no more" in state
    again = project.call("run", "--campaign", "busy.yaml")
    assert "nothing to do" in again.stdout
    write(project, further=2, busy="rank")
    ranked = project.call("report", "--campaign", "busy.yaml")
    assert ranked.returncode == 0, ranked.stderr
    table = (project.folder / "results/busy/tables/comparison.txt").read_text()
    assert "busy_machine: rank" in " ".join(table.split())


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usefixtures("imb")
def test_a_campaign_that_was_stopped_in_a_further_repeat_goes_on(project: ProjectCopy, number: int) -> None:
    write(project)
    with busy_loop(project):
        campaign = popen_with_default_signals(
            project.command("run", "--campaign", "busy.yaml"),
            cwd=project.folder,
            env=project.environment,
            start_new_session=True,
        )
        folder = project.folder / "results/busy/runs/local/SHM-1/PingPong"
        until(lambda: any(folder.glob("r02-*/attempts/*")))
        [first] = project.results("busy")
        before = (first.stat().st_ino, first.with_name("evidence.txt").read_text())
        os.killpg(campaign.pid, number)
        campaign.wait(60)
    done = project.call("run", "--campaign", "busy.yaml")
    assert done.returncode == 0, done.stderr
    assert len(project.results("busy")) == 2
    assert (first.stat().st_ino, first.with_name("evidence.txt").read_text()) == before


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
