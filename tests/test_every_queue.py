"""Every state of the queue, of submissions.txt and of a run's folder: the call ends, and doubles no job."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from test_cluster_jobs import Cluster, cluster_of, leave

from mpicampaign.base.commands import CommandResult
from mpicampaign.run.cluster import Ended
from mpicampaign.run.cluster_jobs import CUT_SECONDS, GRACE_SECONDS, SETTLE_SECONDS

OLDER, NEWER = "1", "2"
HELD, LAUNCH_FAILED = "JobHeldUser", "launch failed requeued held"
ALIVE = (("PENDING", "Priority"), ("PENDING", HELD), ("RUNNING", "None"), ("NONSENSE", "None"))
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED")
STATES = (None, *ALIVE, ("PENDING", LAUNCH_FAILED), *((state, "None") for state in ENDED))
LISTED = ((), (OLDER,), (NEWER,), (OLDER, NEWER))  # those that the list shows; the others it lacks
NOTES = (
    (),
    ("submitting",),
    ("submitting", "refused"),
    ("submitting", "submitted 1"),
    ("adopted 1",),
    ("submitting", "submitted 1", "again after node failure"),
    ("submitting", "submitted 1", "submitting"),
    ("submitting", "submitted 1", "submitting", "submitted 2"),
    ("adopted 1", "submitting", "submitted 2", "again after preempted"),
)
FOLDERS = ("nothing", "exit status", "attempt without", "of another job", "result removed")
STEP = 15.0  # seconds
STEPS = int((CUT_SECONDS + GRACE_SECONDS + SETTLE_SECONDS) / STEP) + 10


class Situation(NamedTuple):
    """What a call meets: a run's two jobs, what is shown and noted of them, and what they left."""

    older: tuple[str, str] | None
    newer: tuple[str, str] | None
    listed: tuple[str, ...]
    notes: tuple[str, ...]
    folder: str
    silent: int  # queries for one job that are not answered

    def job(self, number: str) -> tuple[str, str] | None:
        return self.older if number == OLDER else self.newer

    @property
    def can_be(self) -> bool:
        """Not one where a job is neither shown nor noted: nobody can know of it."""
        known = {*self.listed, *(note.split()[-1] for note in self.notes)}
        return all(self.job(number) is None or number in known for number in (OLDER, NEWER))


def situations() -> Iterator[Situation]:
    found = (Situation(*each) for each in product(STATES, STATES, LISTED, NOTES, FOLDERS, (0, 3)))
    return (each for each in found if each.can_be)


class Site(Cluster):
    """The queue of a situation: lists lack jobs, and queries for one job may not be answered."""

    def meet(self, situation: Situation) -> None:
        [script] = self.scripts
        self.listed, self.left_silent = {*situation.listed, "3"}, situation.silent
        self.calls, self.submissions, self.queue = 2, 0, {}
        for number in (OLDER, NEWER):
            if job := situation.job(number):
                self.queue[number] = (*job, script.job_name)
        lines = (f"2026-01-01T00:00:00Z {script.identity} {note}\n" for note in situation.notes)
        (script.campaign_folder / "submissions.txt").write_text("".join(lines))
        for path in script.folder.glob("attempt-*"):
            path.unlink()
        if situation.folder in ("exit status", "of another job"):
            leave(script, 1, number=OLDER if situation.folder == "exit status" else "99")
        elif situation.folder != "nothing":
            (script.folder / f"attempt-20260101T000001Z-{OLDER}.txt").touch()
        self.jobs = self.new_jobs(script.submitting_lock, self.answer)
        self.jobs.take(script)

    def answer(self, command: list[str], **options: Any) -> CommandResult:
        if command[0] == "scontrol" and self.left_silent:
            self.left_silent -= 1
            return CommandResult(command[0], 1, "", "Unable to contact slurm controller")
        whole = self.queue
        if command[0] == "squeue":
            self.queue = {number: job for number, job in whole.items() if number in self.listed}
        try:
            return super().answer(command, **options)
        finally:
            self.queue = whole

    @property
    def alive(self) -> list[str]:
        """The jobs that may run: at present, or when somebody releases them."""
        return [n for n, (state, why, _) in self.queue.items() if (state, why) in (*ALIVE, STATES[5])]

    def follow(self) -> list[Ended]:
        """Steps until the run has ended, or its job was submitted, or for longer than any wait."""
        for _ in range(STEPS):
            if ended := self.step(STEP):
                return ended
            if self.submissions:
                break
        return []


def check(site: Site, situation: Situation) -> None:
    site.meet(situation)
    ended = site.follow()
    if not ended and not site.submissions:
        assert site.alive, "it waits for nothing"
        for number in site.alive:  # and what it waits for may end
            site.queue[number] = ("FAILED", "None", site.queue[number][2])
        ended = site.follow()
        assert ended or site.submissions, "the job that it waited for has ended"
    assert all(found.status is not None or found.problem for found in ended)
    if site.submissions:
        assert site.alive == ["3"], "a second job"
        assert all(site.step(STEP) == [] for _ in range(5)), "it waits for the new job"
        assert site.submissions == 1
    assert "Traceback" not in "".join(site.said)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Results can be written, which is not tried: that takes longer than all else."""
    monkeypatch.setattr("mpicampaign.run.faults.why_not_writable", lambda *_, **__: "")
    cluster = cluster_of(tmp_path, runs=1)
    return Site(cluster.scripts, cluster.scripts[0].submitting_lock)


@pytest.mark.parametrize(
    "count", [100, pytest.param(1500, marks=pytest.mark.full), pytest.param(None, marks=pytest.mark.soak)]
)
def test_no_state_is_waited_for_without_a_job(site: Site, count: int | None) -> None:
    """``count``: of all situations, or all."""
    chosen = list(situations())
    for situation in random.Random(27).sample(chosen, count or len(chosen)):
        try:
            check(site, situation)
        except AssertionError as error:
            error.add_note(f"{situation}\n{site.said[-5:]}")
            raise
    print(f"{count or len(chosen)} situations")
