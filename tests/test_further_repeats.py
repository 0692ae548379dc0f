"""Further repeats: real ones of disturbed runs, and bets on those that are added after a report."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import build_records as make
import pytest
from build_campaigns import AnyMachine, campaign, plan, write_campaign, write_trivial
from conftest import ProjectCopy, succeeded

from mpicampaign.base import planned_looks
from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.planned_looks import looks_planned
from mpicampaign.base.records import DISTURBED, OK, QUIET, RANKED
from mpicampaign.cli.plan import _sights as sights
from mpicampaign.cli.report import report_of
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.looks import FILE, read_looks
from mpicampaign.jobs.plan import Plan
from mpicampaign.jobs.plan_text import further_text
from mpicampaign.jobs.prepare import Prepared
from mpicampaign.run import new_runs
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.new_runs import read_requests
from mpicampaign.verdicts.compare import UNEVEN_ADDED, compare
from mpicampaign.verdicts.rank_tests import gains, probability_at_any_time
from mpicampaign.verdicts.rows import TimedRun


def test_where_disturbed_runs_count_only_those_that_were_made_stay() -> None:
    machine = AnyMachine(condition_of=lambda case, repeat, identity: DISTURBED if repeat < 5 else "")
    assert [run.repeat for run in plan(campaign(), machine).further] == [4, 4, 5, 5, 6, 6]
    ranked = plan(replace(campaign(), busy_machine=RANKED), machine)
    assert [run.repeat for run in ranked.further] == [4, 4], "made before the key was set"
    assert further_text(ranked) == (
        "8 runs were disturbed; busy_machine: rank: they are averaged and ranked, and not repeated"
    )


def until_known(known_at: int, made: int) -> Plan:
    """Of a campaign whose repeats up to ``made`` have results, and whose cases are known by so many."""
    machine = AnyMachine(
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
    lines = output.read_text().splitlines()
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
    assert succeeded(project.ask("report", "--campaign", "busy.yaml"))
    table = (project.folder / "results/busy/tables/comparison.txt").read_text()
    assert "busy_machine: rank" in " ".join(table.split())


EVEN = "ABBAABBABAABBAABABBAABBA"  # rows of two
# B takes longer by so much, but in one row; what the machine does is more, so that six repeats show nothing
COURSE = (0.0, 0.02, 0.01, 0.04, 0.03, 0.05, 0.0, 0.02, 0.01, 0.04, 0.03, 0.05)
LEADS = (0.011, 0.019, -0.009, 0.012, 0.01, 0.013, 0.018, 0.011, 0.009, 0.013, 0.01, 0.009)


def candidates(rows: int, reported: int, orders: str = EVEN) -> list[list[TimedRun]]:
    """A and B, of whose rows the first were planned before a report."""
    firsts = [orders[2 * (row % (len(orders) // 2))] for row in range(rows)]
    a = [
        TimedRun(120.0 * row + 60 * (first == "B"), COURSE[row], looks=int(row >= reported))
        for row, first in enumerate(firsts)
    ]
    b = [
        TimedRun(120.0 * row + 60 * (first == "A"), COURSE[row] + LEADS[row], looks=int(row >= reported))
        for row, first in enumerate(firsts)
    ]
    return [a, b]


def test_bets_count_at_any_time_for_the_one_that_is_better_now() -> None:
    rising = [float(n) for n in range(1, 9)]
    sure = probability_at_any_time(rising)
    assert sure == 2 / gains(rising)[-1] < 0.05 and probability_at_any_time([-n for n in rising]) == sure
    assert probability_at_any_time([*rising, *[-9.0] * 4]) == sure, "they had been enough"
    assert probability_at_any_time([*rising, *[-9.0] * 9]) > 0.05
    assert probability_at_any_time([0.0, 1.0, -1.0]) == 1.0


def test_what_the_report_showed_stands_unless_the_medians_turn() -> None:
    a, b = candidates(8, 6)
    far = [run._replace(cost=run.cost + 1) for run in b[:6]]
    first = compare([a[:6], far]).pairs[0, 1]
    for last, stands in ((1.0, True), (-3.0, False)):
        others = [run._replace(cost=last) for run in b[6:]] * (1 if stands else 4)
        others = [run._replace(begin=(run.begin or 0) + 240 * n) for n, run in enumerate(others)]
        pair = compare([a, [*far, *others]]).pairs[0, 1]
        assert pair.added is not None and pair.added.bets is not stands
        assert (pair.p == first.p) is stands and bool(pair.shown) is stands


def test_new_rows_of_two_that_stood_one_after_the_other_are_tested_for_the_first_time() -> None:
    """And additions in uneven order not at all."""
    a, b = candidates(8, 0)
    before = [[TimedRun(86400.0 * day + n, 0.5) for n in range(6)] for day in (-3, -2)]
    pair = compare([[*before[0], *a], [*before[1], *b]]).pairs[0, 1]
    assert pair.tested and pair.added is None
    uneven = compare(candidates(10, 6, "AB")).pairs[0, 1]
    assert (uneven.tested, uneven.reason) == (False, UNEVEN_ADDED)


def test_the_pairs_share_the_error_of_the_bets() -> None:
    a, b = candidates(12, 6)
    c = [run._replace(begin=(run.begin or 0) + 30, cost=run.cost + 0.0001) for run in a]
    verdict = compare([a, b, c])
    pair = verdict.pairs[0, 1]
    assert pair.alone is not None and pair.p == pytest.approx(3 * pair.alone)


# ---- a folder of results


def planned(project: ProjectCopy, repeats: int) -> Prepared:
    return prepare_with_results(write_trivial(project, repeats=repeats), results=project.folder / "results")


def made(project: ProjectCopy, repeats: int) -> Prepared:
    """All that are due, one after the other; those of "two" take longer."""
    for run in planned(project, repeats).pending:
        row = run.repeat - 1
        begin = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(minutes=2 * row, seconds=run.order or 0)
        seconds = f"{begin:%Y-%m-%dT%H:%M:%SZ}"
        time = 0.5 * (1 + COURSE[row]) * (1 + LEADS[row] * (run.case.placement == "two"))
        lines = [f"job started={seconds}", f"job ended={seconds}", "job exit_status=0"]
        output = make.OSU_OUTPUT.replace("0.50", f"{time:.6f}")
        make.write_result(run.result, *lines, output=output)
    return planned(project, repeats)


def reported(project: ProjectCopy, repeats: int) -> str:
    """The terminal's report after the runs, and the page."""
    prepared = made(project, repeats)
    report_of(prepared)
    return (prepared.folder / "tables/summary.txt").read_text()


def test_repeats_added_after_a_report_are_bet_on_and_both_reports_say_so(project: ProjectCopy) -> None:
    folder = planned(project, 6).folder
    said = "4 repeats were added after the first report (6 repeats): tested by bets"
    assert "No clear difference" in reported(project, 6)
    assert len(read_looks(folder)) == 1
    less = "the last report; repeats that are added after a report find less:"
    assert less in sights(planned(project, 10))[0] and less not in sights(planned(project, 6))[0]
    assert "No clear difference" in reported(project, 10)
    assert said in (folder / "report.html").read_text()
    assert " ".join((folder / "tables/comparison.txt").read_text().split()).count(said) == 2
    assert {record.looks for record in collect_all(folder)} == {0, 1} and len(read_looks(folder)) == 2


@pytest.mark.parametrize("damage", [b"[" * 100_000, "Grö".encode()[:-1], b"1", b'{"time": 1}', b"[1]"])
@pytest.mark.parametrize(
    ("name", "reader"),
    [
        (FILE, read_looks),
        (planned_looks.FILE, lambda folder: looks_planned(folder, PlanFile("c"))),
        (new_runs.FILE, read_requests),
    ],
)
def test_a_damaged_line_of_a_log_is_none(
    tmp_path: Path, damage: bytes, name: str, reader: Callable[[Path], Sized]
) -> None:
    (tmp_path / name).write_bytes(damage + b"\n")
    assert len(reader(tmp_path)) == 0
