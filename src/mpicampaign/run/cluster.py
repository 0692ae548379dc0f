"""The runs that one call has with a scheduler: their jobs, and notes on them."""

from __future__ import annotations

import getpass
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.commands import CommandResult
from mpicampaign.base.files import append_lines
from mpicampaign.base.grouping import grouped
from mpicampaign.collect.submissions import SUBMISSIONS, SUBMITTED
from mpicampaign.jobs.run import Run
from mpicampaign.run.faults import Faults
from mpicampaign.run.scheduler_calls import Query, caller, submitting, usable
from mpicampaign.schedulers import BatchScheduler
from mpicampaign.schedulers.listings import Limits, QueuedJob

FIRST_WAIT, LONGEST_WAIT, BACK_OFF = 2.0, 60.0, 1.5  # seconds between two queries


@dataclass(slots=True)
class ClusterJob:
    """A run in flight. ``since``: when its job was first seen to have ended or to be absent.

    ``due``: it is to be submitted. ``alone``: in a submission of its own, since one of several was refused,
    or since its job had ended without a result. ``held``: the id of the job that was reported as held.
    ``seen``: when its job was last known to be in the queue. ``outages``: how often results could not be
    written before it was submitted. ``unlisted``: its job is known, but missing in the list. ``runs``: its
    job was running when it was last seen. ``waits``: it is said that its job or its files are waited for.
    """

    run: Run
    id: str = ""
    due: bool = False
    alone: bool = False
    refusals: int = 0
    left_exit_status: bool = False
    held: str = ""
    seen: float = 0.0
    outages: int = 0
    unlisted: bool = False
    runs: bool = False
    waits: bool = False
    retries: Counter[str] = field(default_factory=Counter)
    since: float | None = None


class Ended(NamedTuple):
    """A run that has ended; ``problem`` is empty where its files have the result or the reason."""

    run: Run
    status: int | None
    problem: str = ""


class Cluster:
    """``jobs``: those in flight, by the names of their runs' jobs. ``next_query``: when, on the clock (s).

    ``lock``: held during submissions, in the campaign's folder. ``run``: starts the scheduler's commands.
    """

    def __init__(
        self,
        scheduler: BatchScheduler,
        lock: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        run: Callable[..., CommandResult] | None = None,
    ) -> None:
        self.scheduler, self.lock, self.say, self.clock = scheduler, lock, say, clock
        self.run = run or caller(scheduler)
        self.folder, self.log = lock.parent, lock.with_name(SUBMISSIONS)
        self.query = Query(scheduler, self.run, self.folder)
        self.jobs: dict[str, ClusterJob] = {}
        self.notes_of: dict[str, list[str]] = {}  # in the log, by a run's identity
        self.faults = Faults()
        self.next_query = 0.0
        self._wait = FIRST_WAIT
        self._site: list[str] = []  # what it says of its limits
        self._limits: dict[tuple[str, str, str], Limits] = {}

    @property
    def ids(self) -> set[str]:
        """The ids of jobs that are known to be in the queue."""
        return {job.id for job in self.jobs.values() if job.id}

    def query_within(self, seconds: float) -> None:
        """Ask for the queue after so many seconds at the latest."""
        self.next_query = min(self.next_query, self.clock() + seconds)

    def listing(self) -> dict[str, list[QueuedJob]] | None:
        """Our jobs in the queue by name; None where the scheduler does not answer."""
        jobs, problem = self.query.jobs()
        self.next_query = self.clock() + self._wait
        self._wait = min(LONGEST_WAIT, self._wait * BACK_OFF)
        if problem:
            self.no_answer(problem)
            return None
        return grouped(jobs, lambda job: job.name)

    def answered(self) -> None:
        """Note that the scheduler answers."""
        if self.faults.silent.end(self.clock()):
            self.say("the scheduler answers again")
            self._wait = FIRST_WAIT

    def no_answer(self, problem: str) -> None:
        """Note that the scheduler does not answer."""
        if self.faults.silent.begin(self.clock()):
            self.say(f"the scheduler does not answer ({problem}); jobs go on, trying again")

    def note(self, jobs: Sequence[ClusterJob], note: str) -> None:
        """`append` to the campaign's submissions.txt; reports a failure to write."""
        try:
            self.append(jobs, note)
        except OSError as error:
            self.say(f"{jobs[0].run.label}: {note}, but {SUBMISSIONS} can't be written: {error.strerror}")

    def append(self, jobs: Sequence[ClusterJob], note: str) -> None:
        """Append to the campaign's submissions.txt, from which records count a run's submissions."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines = []
        for job in jobs:
            identity = job.run.identity
            text = f"{note} {job.id}" if note == SUBMITTED else note
            self.notes_of.setdefault(identity, []).append(text)
            lines.append(f"{stamp} {identity} {text}")
        append_lines(self.log, lines)

    def submit(self, script: Path) -> CommandResult:
        """Submit a script; the command keeps the lock, even if this process is killed."""
        with submitting(self.lock) as number:
            if self.scheduler.script_on_stdin:
                return self.run(list(self.scheduler.submit), script=script, keep_open=[number])
            return self.run([*self.scheduler.submit, str(script)], keep_open=[number])

    def cancelled(self, job: ClusterJob, queued: QueuedJob) -> bool:
        """Cancel a job of a run; whether the scheduler took that."""
        answer = usable(self.run([self.scheduler.cancel, self.scheduler.address(queued.id)]))
        if answer.status != 0:
            self.say(f"{job.run.label}: job {queued.id} is not cancelled ({answer.last_line}), trying again")
        return answer.status == 0

    def limits(self, run: Run) -> Limits:
        """What the site allows jobs like that of a run; it is asked once."""
        group = run.job.group
        key = group.partition, group.account, group.qos
        if not self._site:
            answers = map(self.run, self.scheduler.limit_queries(getpass.getuser()))
            self._site = [answer.out if answer.status == 0 else "" for answer in answers]
        if key not in self._limits:
            self._limits[key] = self.scheduler.read_limits(self._site, *key)
        return self._limits[key]
