"""What a person sees of `mpicampaign run`: a line for each run, the time left, the answer, nothing else."""

from __future__ import annotations

import io
from dataclasses import replace

import build_records as make
import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy

from mpicampaign.base.records import FAILED, NOT_AVAILABLE, Record
from mpicampaign.jobs.prepare import Prepared, prepare
from mpicampaign.jobs.run import Run
from mpicampaign.run.durations import estimate
from mpicampaign.run.progress import Progress, headline


@pytest.fixture
def campaign(project: ProjectCopy) -> Prepared:
    return prepare(write_trivial(project), results=project.folder / "results")


def write_result(script: Run, seconds: int, reason: str = "") -> None:
    """What these functions read of a result."""
    ended = f"job ended=2026-01-02T10:{seconds // 60:02}:{seconds % 60:02}Z"
    absent = [f"job not_available={reason}"] if reason else []
    make.write_result(script.output.parent, *absent, "job started=2026-01-02T10:00:00Z", ended, output="")


def of(prepared: Prepared, placement: str) -> list[Run]:
    return [script for script in prepared.runs if script.case.placement == placement]


def test_an_estimate_comes_from_earlier_runs_and_else_from_the_time_limits(campaign: Prepared) -> None:
    assert estimate(campaign.pending) == "at most 4 min, the sum of their time limits"
    one, two = of(campaign, "one"), of(campaign, "two")
    write_result(one[0], 200)
    assert estimate(campaign.pending) == "about 10 min, as earlier runs took"  # 3 runs of the benchmark
    write_result(two[0], 0, reason="needs 2 sockets")
    assert estimate(campaign.pending) == "about 3 min, as earlier runs took"  # the other one is absent again


def test_the_line_of_a_run_shows_no_value_as_nothing_and_no_maximum_of_a_run_that_gave_up() -> None:
    run = make.run("TCP", 1, make.pingpong(2.5e-3, 400.0))
    whole = run.series[0]
    assert "maximum bandwidth 0.0004 MB/s" in headline(run)
    ends = {name: [*values[:2], None] for name, values in whole.columns.items()}
    stopped = replace(whole, columns={**ends, "size": whole.columns["size"][:3]})
    line = headline(replace(run, series=(stopped,)))
    assert "maximum" not in line and "sizes above " in line and "were given up" in line


def test_what_is_not_available_is_one_line_for_a_placement_and_is_not_counted(campaign: Prepared) -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.expect(campaign.runs)
    absent, made = of(campaign, "two"), of(campaign, "one")
    progress.finished(made[0].label, Record(made[0].case, "osu", 1, FAILED, "it crashed"), 1)
    for run in absent:
        progress.finished(run.label, Record(run.case, "osu", run.repeat, NOT_AVAILABLE, "needs 2 sockets"), 0)
    progress.finished(made[1].label, Record(made[1].case, "osu", 2, FAILED, "it crashed"), 1)
    assert stream.getvalue().splitlines() == [
        "[1/4] one trivial r01: FAILED: it crashed",
        "two: n/a: needs 2 sockets",
        "[2/2] one trivial r02: FAILED: it crashed",
    ]
