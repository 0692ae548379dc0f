"""What a job asked its scheduler for, against what it got."""

from __future__ import annotations

import pytest
from evidence_texts import CLAIM, INTEL_SHM, RUN, evidence_text, rank_lines, read
from test_verdict import SERIES

from mpicampaign.base.records import CONTRADICTED
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.judge import judge
from mpicampaign.evidence.request import request_findings

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
