"""Start-up over ranks, and what a job asked its scheduler for, against what it got."""

from __future__ import annotations

import json
from pathlib import Path

import build_records as make
import pytest
from evidence_texts import CLAIM, INTEL_SHM, RUN, evidence_text, rank_lines, read
from test_verdict import SERIES

from mpicampaign.base.records import (
    CONTRADICTED,
    FAILED,
    Header,
    Record,
    read_records,
    record_from,
    record_line,
    write_records,
)
from mpicampaign.collect.startup import startup
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import Evidence, read_evidence
from mpicampaign.evidence.judge import judge
from mpicampaign.evidence.request import request_findings
from mpicampaign.questions.scaling.draw import scaling_charts
from mpicampaign.questions.scaling.find import STARTUP, scalings
from mpicampaign.report.columns import VALUES
from mpicampaign.report.make import tables, to_csv, to_markdown
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.view import DEFAULT

LAUNCH = 1_764_142_345_000_000  # us
WHOLE = ((100, 110, 600), (150, 200, 700))  # ms after the launch: program, MPI_Init and its end, of each rank


def read_times(
    ranks: tuple[tuple[int, ...], ...] = WHOLE, job: str = f"job launched_us={LAUNCH}\njob launch_ms=900\n"
) -> dict[str, float]:
    lines = [
        f"rank {number} start.startup_us={' '.join(str(LAUNCH + 1000 * each) for each in moments)}\n"
        for number, moments in enumerate(ranks)
    ]
    text = "#mpicampaign-evidence 2\n" + job + "".join(lines)
    return startup(read_evidence(text, "#mpicampaign-claim 1\nclaim ranks=2\n"))


@pytest.mark.parametrize(
    "ranks",
    [
        ((-1, 110, 600), (150, 200, 700)),  # began before it was launched
        ((100, 110, 600), (150, 200, 921)),  # left MPI_Init after the launcher had ended
    ],
)
def test_where_clocks_differ_only_the_time_within_mpi_init_is_known(
    ranks: tuple[tuple[int, ...], ...],
) -> None:
    assert set(read_times(ranks)) == {"ranks", "MPI_Init"}


@pytest.mark.parametrize("job", ["", "job launched_us=x\njob launch_ms=900\n", f"job launched_us={LAUNCH}\n"])
def test_without_the_launch_only_the_time_within_mpi_init_is_known(job: str) -> None:
    assert set(read_times(job=job)) == {"ranks", "MPI_Init"}


def runs(placement: str, ranks: int, seconds: float) -> list[Record]:
    """Repeats of a benchmark; each of them recorded its start-up."""
    times = {"ranks": ranks, "start-up": seconds, "MPI_Init": seconds / 2, "launcher": seconds / 4}
    return make.case_runs(placement, startup=times)


LISTED = [*runs("X", 2, 0.3), *runs("X nodes=2", 4, 0.5)]


def test_it_stands_over_the_ranks_and_in_data() -> None:
    comparison = compare(LISTED)
    found = {each.metric.name: each for each in scalings(comparison) if each.kind == STARTUP}
    assert {name: [(p.ranks, p.median) for p in each.points] for name, each in found.items()} == {
        "start-up": [(2, 0.3), (4, 0.5)],
        "MPI_Init": [(2, 0.15), (4, 0.25)],
        "launcher": [(2, 0.075), (4, 0.125)],
    }
    shown = to_markdown(comparison)
    assert (
        "## Start-up over the number of ranks" in shown
        and "| PingPong: g X | 4 | 1 | 6 | 0.5 s | 0.25 s | 0.125 s |" in shown
    )
    charts = [each for each in scaling_charts(Scene(comparison, DEFAULT)) if "Start-up" in each.title]
    assert [panel.title for panel in charts[0].panels] == ["start-up", "MPI_Init", "launcher"]
    assert charts[0].own_scales, "the axis of one is not that of the others"
    alone = compare(runs("X", 2, 0.3))
    assert "Start-up" not in to_markdown(alone)
    assert "PingPong,start-up,2,MPI_Init,MPI_Init,,s,6,6,6,0.15" in to_csv(alone)
    failed = make.run("X", 7, status=FAILED, reason="gone")
    lines = tables(compare([*alone.records, failed]), "csv", table=VALUES)
    assert b"start-up,2,7,,,,,false,failed,gone" in lines


def test_records_without_it_are_as_before_and_wrong_ones_refused(tmp_path: Path) -> None:
    record = make.campaign()[0]
    assert b"startup" not in record_line(record)
    write_records(file := tmp_path / "records.jsonl", Header("c"), [record])
    file.write_text(file.read_text().replace('"version": 3', '"version": 2'))
    assert read_records(file)[1] == [record]
    for wrong in (-1.0, float("nan"), float("inf"), "0.3", None):
        with pytest.raises(ValueError, match=r"start-?up|byte"):
            line = json.dumps({**json.loads(record_line(record)), "startup": {"start-up": wrong}})
            record_from(line.encode())


SLURM = "claim scheduler=slurm\nclaim request.partition=main,big\nclaim request.account=Physics\n"
SLURM += "claim request.qos=normal\nclaim request.constraint=ib&milan\nclaim request.hosts=blue1 blue2\n"
GOT = "job host=blue1.site.org\njob env.SLURM_JOB_PARTITION=big\njob env.SLURM_JOB_ACCOUNT=physics\n"
GOT += "job env.SLURM_JOB_QOS=normal\njob env.SLURM_JOB_CONSTRAINTS=ib&milan\n"
GOT += "job env.SLURM_JOB_NODELIST=blue[1-2]\n"
LSF = "claim scheduler=lsf\nclaim request.queue=normal short\nclaim request.account=physics\n"
GOT_OF_LSF = "job host=blue1\njob env.LSB_QUEUE=short\njob env.LSB_PROJECT_NAME=physics\n"
GOT_OF_LSF += "job env.LSB_MCPU_HOSTS=blue1 2 \n"


def verdict_of(text: str) -> tuple[str, tuple[str, ...]]:
    ranks = rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1)
    return judge(read(evidence_text(CLAIM, text, RUN, *ranks)), INTEL_SHM, SERIES)


def read_text(text: str) -> Evidence:
    return read(evidence_text(text))


@pytest.mark.parametrize(
    ("text", "old", "new", "reason"),
    [
        (SLURM + GOT, "PARTITION=big", "PARTITION=other", "partition: the job ran in other, not in main,big"),
        (SLURM + GOT, "ACCOUNT=physics", "ACCOUNT=geo", "account: the job ran in geo, not in Physics"),
        (SLURM + GOT, "QOS=normal", "QOS=low", "qos: the job ran in low, not in normal"),
        (SLURM + GOT, "STRAINTS=ib&", "STRAINTS=", "constraint: the job ran in milan, not in ib&milan"),
        (SLURM + GOT, "blue[1-2]", "blue[1,3]", "hosts of the job: the job got blue[1,3], not blue[1-2]"),
        (LSF + GOT_OF_LSF, "QUEUE=short", "QUEUE=long", "queue: the job ran in long, not in normal short"),
        (LSF + GOT_OF_LSF, "host=blue1", "host=red1", "ranks ran on blue1, but the job got red1"),
    ],
)
def test_a_job_that_got_something_else_is_contradicted(text: str, old: str, new: str, reason: str) -> None:
    altered = text.replace(old, new).replace("HOSTS=blue1", "HOSTS=red1" if "red1" in new else "HOSTS=blue1")
    verdict, reasons = verdict_of(altered)
    assert verdict == CONTRADICTED
    assert any(reason in each for each in reasons), reasons


def test_what_is_not_recorded_or_not_claimed_is_not_judged() -> None:
    asked = len(request_findings(read_text(SLURM + GOT)))
    for line in GOT.splitlines(keepends=True):
        findings = request_findings(read_text(SLURM + GOT.replace(line, "")))
        assert len(findings) == asked - 1 and all(found.outcome == "supports" for found in findings), line
    assert request_findings(read_text(GOT)) == []  # as runs of earlier releases claim
    for names in ("other[1-2]", "n[1-2", "n[2-1]"):  # a scheduler's own names; a damaged list
        assert len(request_findings(read_text(SLURM + GOT.replace("blue[1-2]", names)))) == asked - 1
