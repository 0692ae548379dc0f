"""The jobs of one campaign on a scheduler: submitted once, watched, submitted again where that helps.

The files in a run's folder are the truth; the queue only shows what is still to come. A failed query changes
nothing, and an unknown state is never a success.
"""

from __future__ import annotations

import fcntl
import getpass
import os
import re
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpicampaign.collect.runs import exit_status
from mpicampaign.collect.submissions import SUBMISSIONS, SUBMITTING, read_submissions
from mpicampaign.commands import CommandResult, call
from mpicampaign.errors import UnreadableError
from mpicampaign.schedulers.scheduler import (
    ACTIVE,
    CANCELLED,
    DONE,
    HELD,
    LAUNCH_FAILED,
    NODE_FAIL,
    OUT_OF_MEMORY,
    PREEMPTED,
    TIMEOUT,
    UNKNOWN,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from mpicampaign.jobs.prepare import Script
    from mpicampaign.schedulers import BatchScheduler
    from mpicampaign.schedulers.scheduler import QueuedJob

BURST = 50  # submissions between two looks at files and queue
SUBMIT_TRIES = 3  # of one job; PATIENT_TRIES for a busy controller or a limit on jobs
PATIENT_TRIES = 10
BUSY = re.compile(
    r"contact|timed? ?out|temporar|try again|not responding|backlog|busy|connection refused", re.I
)
TOO_MANY = re.compile(r"submit ?limit|submit job|MaxSubmit|MAX_PEND|pending job|job slot limit", re.I)
REFUSALS_IN_A_BURST = 3  # the other jobs then wait for the next look
GRACE_SECONDS = 30.0  # until a network file system must show the files of an ended job
FIRST_WAIT, LONGEST_WAIT, BACK_OFF = 2.0, 60.0, 1.5  # seconds between two queries

VANISHED = "no longer known to the scheduler"
# States for which the cluster is to blame, not the run, and how often a run is then submitted again.
RETRIES = {NODE_FAIL: 2, LAUNCH_FAILED: 2, PREEMPTED: 2, VANISHED: 2}
ADVICE = {
    TIMEOUT: "raise time_limit in the campaign file",
    OUT_OF_MEMORY: "request more memory with directives, or use smaller messages",
    CANCELLED: "the same command runs it again",
    NODE_FAIL: "look at the node; the same command runs it again",
    LAUNCH_FAILED: "a node can't start jobs: its log says why; the same command runs it again",
    PREEMPTED: "choose another partition or qos; the same command runs it again",
    VANISHED: "the same command runs it again",
}


@dataclass(slots=True)
class ClusterJob:
    """A run in flight. ``since``: when its job was first seen to have ended or to be absent.

    ``held``: the id of the job that was reported as held.
    """

    script: Script
    id: str = ""
    refusals: int = 0
    left_exit_status: bool = False
    held: str = ""
    retries: Counter[str] = field(default_factory=Counter)
    since: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has ended; ``problem`` is empty where its files have the result or the reason."""

    script: Script
    status: int | None
    problem: str = ""


class ClusterJobs:
    """The jobs in flight, each until its run has ended; `step` is one look at files and queue."""

    def __init__(
        self,
        scheduler: BatchScheduler,
        lock: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        run: Callable[..., CommandResult] = call,
    ) -> None:
        self._scheduler, self._lock, self._say, self._clock, self._run = scheduler, lock, say, clock, run
        self._jobs: dict[str, ClusterJob] = {}
        self._next_query = 0.0
        self._wait = FIRST_WAIT
        self._silent = False  # whether the last query had no answer
        self._waited_for_orphan = False  # whether the last submission of a killed call has ended
        self._log = lock.with_name(SUBMISSIONS)
        self.queries = 0

    def take(self, script: Script) -> None:
        """Add a run; the next `step` submits it, unless its job is in the queue already."""
        self._jobs[script.job_name] = ClusterJob(script)
        self._next_query = 0.0

    @property
    def names(self) -> set[str]:
        """The names of the jobs in flight."""
        return set(self._jobs)

    def step(self) -> list[Ended]:
        """Look at the files of all runs, and at the queue when it is time; submit jobs."""
        if not self._waited_for_orphan:
            with submitting(self._lock):
                self._waited_for_orphan = True
        ended = [found for job in self._jobs.values() if (found := self._finished(job))]
        if (
            self._jobs.keys() - {found.script.job_name for found in ended}
            and self._clock() >= self._next_query
        ):
            listing = self._listing()
            if listing is not None:
                ended = self._after_query(listing)
        for found in ended:
            self._jobs.pop(found.script.job_name, None)
        return ended

    def _finished(self, job: ClusterJob) -> Ended | None:
        """Files alone show success; a failure needs the queue, too: the job may be requeued."""
        if job.script.output.exists():
            return Ended(job.script, 0)
        if job.id and not job.left_exit_status and exit_status(job.script.folder, job.id) is not None:
            job.left_exit_status = True
            self._next_query = min(self._next_query, self._clock() + FIRST_WAIT)
        return None

    # The queue

    def _listing(self) -> dict[str, QueuedJob] | None:
        """Our jobs by name, see `by_name`; None where the scheduler does not answer."""
        self.queries += 1
        jobs, problem = query(self._scheduler, self._run)
        if self._silent and not problem:
            self._say("the scheduler answers again")
            self._silent = False
            self._wait = FIRST_WAIT
        self._next_query = self._clock() + self._wait
        self._wait = min(LONGEST_WAIT, self._wait * BACK_OFF)
        if problem:
            if not self._silent:
                self._say(f"the scheduler does not answer ({problem}); jobs go on, trying again")
            self._silent = True
            return None
        return by_name(jobs)

    def _after_query(self, listing: dict[str, QueuedJob]) -> list[Ended]:
        ended, to_submit = [], []
        for name, job in self._jobs.items():
            found = self._judge(job, listing.get(name))
            if isinstance(found, Ended):
                ended.append(found)
            elif found:
                to_submit.append(job)
        refused = 0
        for job in to_submit[:BURST]:
            problem = self._submit(job)
            refused += bool(problem)
            if problem and self._gives_up(job, problem):
                ended.append(Ended(job.script, None, f"not submitted after {job.refusals} tries: {problem}"))
            if (problem and BUSY.search(problem)) or refused == REFUSALS_IN_A_BURST:
                break  # the others may be refused for the same reason
        if len(to_submit) > BURST and not refused:
            self._next_query = 0.0
        return ended

    def _judge(self, job: ClusterJob, queued: QueuedJob | None) -> Ended | bool:
        """How the run ended, or whether it must be submitted."""
        if done := self._finished(job):
            return done
        if queued and (queued.state in (*ACTIVE, UNKNOWN)):
            self._adopt(job, queued)
            return False
        if queued and queued.state == LAUNCH_FAILED and not self._cancelled(job, queued):
            return False  # it is still in the queue: a second job would be one too many
        if not job.id:
            if not queued or not self._may_have_just_ended(job, queued):
                return True
            job.id = queued.id
        if queued and queued.id != job.id:
            queued = None
        return self._after_end(job, queued)

    def _may_have_just_ended(self, job: ClusterJob, queued: QueuedJob) -> bool:
        """Whether the job has ended well and its files must appear here soon.

        If not, it left no result, or it belongs to a folder that was removed since.
        """
        if queued.state != DONE or exit_status(job.script.folder, queued.id) is not None:
            return False
        noted = read_submissions(self._log).get(job.script.run.identity, [])
        return any(note.endswith(f" {queued.id}") for note in noted) or noted[-1:] == [SUBMITTING]

    def _adopt(self, job: ClusterJob, queued: QueuedJob) -> None:
        """Take over the job in the queue: submitted before a kill or by hand, or requeued."""
        if not job.id:
            self._note(job, f"adopted {queued.id}")
            self._say(f"{job.script.label}: job {queued.id} is in the queue already, {queued.description}")
        if queued.state == HELD and job.held != queued.id:
            release = f"'{self._scheduler.release} {queued.id}' lets it start"
            self._say(f"{job.script.label}: job {queued.id} is held, {queued.description}; {release}")
            job.held = queued.id
        job.id, job.since = queued.id, None

    def _cancelled(self, job: ClusterJob, queued: QueuedJob) -> bool:
        answer = self._run([self._scheduler.cancel, queued.id])
        if answer.status != 0:
            self._say(
                f"{job.script.label}: job {queued.id} is not cancelled ({answer.last_line}), trying again"
            )
        return answer.status == 0

    def _after_end(self, job: ClusterJob, queued: QueuedJob | None) -> Ended | bool:
        """The end of a run whose job ended, or vanished, without a result; or whether to submit it again."""
        state, description = (queued.state, queued.description) if queued else (VANISHED, VANISHED)
        status = exit_status(job.script.folder, job.id)
        if status is not None and state not in RETRIES:
            note = f"job {job.id}: {description}; {ADVICE[state]}" if state in ADVICE else ""
            return Ended(job.script, status, note)
        if status is not None and state == VANISHED:
            return Ended(job.script, status)
        job.since = self._clock() if job.since is None else job.since
        if state in (DONE, VANISHED) and self._clock() - job.since < GRACE_SECONDS:
            return False  # its files may not be visible yet
        if job.retries[state] < RETRIES.get(state, 0):
            job.retries[state] += 1
            self._say(f"{job.script.label}: job {job.id} {description}: submitted again")
            job.id, job.since = "", None
            self._note(job, f"again after {state}")
            return True
        advice = ADVICE.get(state, f"no exit status was left: look at the logs in {job.script.log.parent}")
        return Ended(job.script, None, f"job {job.id}: {description}; {advice}")

    # Submission

    def _submit(self, job: ClusterJob) -> str:
        """Submit a job; returns why it was not accepted, or nothing."""
        job.left_exit_status = False
        # noted before it is done: if this call is killed in between, the next one must expect the job
        self._note(job, SUBMITTING)
        answer = submit(self._scheduler, job.script, self._lock, self._run)
        number = self._scheduler.read_submitted(answer.out) if answer.status == 0 else ""
        if number:
            self._note(job, f"submitted {number}")
            job.id, job.refusals = number, 0
            return ""
        job.refusals += 1
        # the next query shows whether it was accepted after all
        self._next_query = min(self._next_query, self._clock() + FIRST_WAIT * job.refusals)
        return answer.last_line

    def _gives_up(self, job: ClusterJob, problem: str) -> bool:
        """Whether to stop trying; with other jobs of ours in flight, a limit on jobs is waited for."""
        patient = (BUSY.search(problem) or TOO_MANY.search(problem)) is not None
        others = any(other.id for other in self._jobs.values())
        if (patient and others) or job.refusals < (PATIENT_TRIES if patient else SUBMIT_TRIES):
            self._say(f"{job.script.label}: not submitted yet ({problem}), trying again")
            return False
        return True

    def _note(self, job: ClusterJob, note: str) -> None:
        """Append to the campaign's submissions.txt, from which records count a run's submissions."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{stamp} {job.script.run.identity} {note}\n")
        except OSError as error:
            self._say(f"{job.script.label}: {note}, but {SUBMISSIONS} can't be written: {error.strerror}")


def query(scheduler: BatchScheduler, run: Callable[..., CommandResult] = call) -> tuple[list[QueuedJob], str]:
    """All jobs of this user, from one query, and why they are unknown; one of both is empty."""
    answer = run(scheduler.query(getpass.getuser()))
    if scheduler.no_jobs and scheduler.no_jobs in answer.out + answer.err:
        return [], ""
    if answer.status != 0:
        return [], answer.last_line
    try:
        return scheduler.read_queue(answer.out), ""
    except UnreadableError as error:
        return [], str(error)


def by_name(jobs: Iterable[QueuedJob]) -> dict[str, QueuedJob]:
    """The jobs by name; of several with one name an active one, else the latest."""
    found: dict[str, QueuedJob] = {}
    for job in jobs:
        before = found.get(job.name)
        if before is None or (job.state in ACTIVE, _number(job)) > (before.state in ACTIVE, _number(before)):
            found[job.name] = job
    return found


def _number(job: QueuedJob) -> int:
    return int("".join(character for character in job.id.split("_")[0] if character.isdecimal()) or 0)


def submit(
    scheduler: BatchScheduler, script: Script, lock: Path, run: Callable[..., CommandResult] = call
) -> CommandResult:
    """Submit a job script; its command keeps the lock, even if this process is killed."""
    with submitting(lock) as number:
        if scheduler.script_on_stdin:
            return run(list(scheduler.submit), script=script.path, keep_open=[number])
        return run([*scheduler.submit, str(script.path)], keep_open=[number])


@contextmanager
def submitting(lock: Path) -> Iterator[int]:
    """Hold the lock of submissions: a killed call may have left one that is not in the queue yet."""
    number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield number
    finally:
        os.close(number)
