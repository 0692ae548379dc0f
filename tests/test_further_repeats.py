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
from mpicampaign.expectation import UNTIL_KNOWN
from mpicampaign.jobs.further import repeats_of
from mpicampaign.jobs.plan import Plan, check_cap
from mpicampaign.jobs.plan_text import further_text, warnings_text
from mpicampaign.jobs.software import Program
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
  PingPong: {{arguments: -iter 60000 -time 200 -iter_policy off -msglog 0:2 PingPong}}
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
    data = json.loads(plan_json(after))
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


def test_where_disturbed_runs_count_only_those_that_were_made_stay() -> None:
    machine = replace(MACHINE, condition_of=lambda case, repeat, identity: DISTURBED if repeat < 5 else "")
    assert [run.repeat for run in plan(campaign(), machine).further] == [4, 4, 5, 5, 6, 6]
    ranked = plan(replace(campaign(), busy_machine=RANKED), machine)
    assert [run.repeat for run in ranked.further] == [4, 4], "made before the key was set"
    assert further_text(ranked) == (
        "8 runs were disturbed; busy_machine: rank: they are averaged and ranked, and not repeated"
    )


def test_results_stay_described_where_the_program_is_gone() -> None:
    gone = Program("IMB-MPI1", "", "no IMB here")
    made = lambda case, repeat, identity: DISTURBED if repeat < 5 else ""  # noqa: E731
    found = plan(campaign(), replace(MACHINE, condition_of=made, find_program=lambda *_: gone))
    assert not found.runs and [len(case.runs) for case in found.cases] == [4, 4]


def test_further_repeats_stay_within_the_node_hours() -> None:
    machine = replace(MACHINE, condition_of=of_repeats(1, 2, 3))
    capped = plan(replace(campaign(), node_hours_cap=8 / 60), machine)  # 6 runs of a minute on one node
    assert len(capped.further) == 2
    assert [len(case.runs) for case in capped.cases] == [4, 4]
    check_cap(capped, replace(campaign(), node_hours_cap=8 / 60))
    with pytest.raises(UserError):
        check_cap(capped, replace(campaign(), node_hours_cap=5 / 60))


@pytest.mark.parametrize("minutes", range(7, 12))
def test_node_hours_may_be_reached_exactly(minutes: int) -> None:
    """Also if the cap times 3600 is less than its seconds."""
    made = campaign()
    hours = round(minutes * 261 / 60, 9)  # such as 30.45 and 34.8
    long = replace(made, node_hours_cap=hours, matrix=(replace(made.matrix[0], time_limit=60 * 261),))
    found = plan(long, replace(MACHINE, condition_of=of_repeats(1, 2, 3)))
    assert len(found.runs) == minutes
    check_cap(found, replace(campaign(), node_hours_cap=hours))


def test_a_later_disturbed_run_takes_no_node_hours_from_a_further_repeat_that_was_begun() -> None:
    """Else its job runs beside one of another case, and both need more than the campaign allows."""
    made = replace(campaign(), node_hours_cap=7 / 60)
    for first in (case.case for case in plan(made).cases):

        def condition_of(case: Case, repeat: int, identity: str) -> str:
            return DISTURBED if repeat <= 3 else ""

        def begun(case: Case, repeat: int, identity: str, first: Case = first) -> bool:
            return case == first and repeat == 4

        [further] = plan(made, replace(MACHINE, condition_of=condition_of, begun=begun)).further
        assert (further.case, further.repeat) == (first, 4)


def until_known(known_at: int, made: int, cap: float | None = 100) -> Plan:
    """Of a campaign whose repeats up to ``made`` have results, and whose cases are known by so many."""
    machine = replace(
        MACHINE,
        condition_of=lambda case, repeat, identity: QUIET if repeat <= made else "",
        is_known=lambda case, suite, identities: len(identities) >= known_at,
    )
    return plan(replace(campaign(repeats=UNTIL_KNOWN), node_hours_cap=cap), machine)


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


def test_the_cap_ends_repeats_that_go_on_until_known_and_says_so() -> None:
    found = until_known(99, 6, cap=14 / 60)  # two cases of a minute on one node
    assert (len(found.runs), found.capped) == (14, 6)
    assert "node_hours_cap leaves out 6 repeats" in warnings_text(found)[-1]
    assert not any("leaves out" in line for line in warnings_text(until_known(99, 6)))
    with pytest.raises(UserError):
        check_cap(until_known(99, 6, cap=11 / 60), replace(campaign(), node_hours_cap=11 / 60))


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
@pytest.mark.full
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
    assert "r02: " in done.stderr
    assert "On this busy machine" in (project.folder / "results/busy/tables/comparison.txt").read_text()
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
@pytest.mark.full
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
