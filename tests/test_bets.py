"""Repeats that were added after a report: bets, which hold at any time, and what the next report says."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import build_records as make
import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy

from mpicampaign.base import planned_looks
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.planned_looks import looks_planned
from mpicampaign.base.records import IMPORTED_FROM, MERGED_FROM
from mpicampaign.cli.plan import _sights as sights
from mpicampaign.cli.report import report_of
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.looks import FILE, note_look, read_looks
from mpicampaign.jobs.prepare import Prepared
from mpicampaign.run import new_runs
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.new_runs import read_requests
from mpicampaign.verdicts.compare import UNEVEN_ADDED, compare
from mpicampaign.verdicts.rank_tests import gains, probability_at_any_time
from mpicampaign.verdicts.rows import TimedRun

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
        make.write_result(run.output.parent, *lines, output=output)
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
    text = " ".join(reported(project, 10).split())
    assert said in text and "No clear difference" in text
    assert said in (folder / "report.html").read_text()
    assert " ".join((folder / "tables/comparison.txt").read_text().split()).count(said) == 2
    assert {record.looks for record in collect_all(folder)} == {0, 1} and len(read_looks(folder)) == 2


@pytest.mark.parametrize("metadata", [{IMPORTED_FROM: "a folder"}, {MERGED_FROM: "a bundle"}])
def test_no_look_at_results_of_others_is_noted(tmp_path: Path, metadata: dict[str, str]) -> None:
    run = make.run("A", identity="0123456789ab")
    note_look(tmp_path, [replace(run, metadata=metadata)])
    assert read_looks(tmp_path) == []
    note_look(tmp_path, [run])
    assert [look.runs for look in read_looks(tmp_path)] == [{run.identity}]


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
