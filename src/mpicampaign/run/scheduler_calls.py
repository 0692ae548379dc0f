"""Commands of a scheduler: without variables of our shell that would change what they do, or MPI in a job."""

from __future__ import annotations

import fcntl
import getpass
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mpicampaign.base.commands import CommandResult, call
from mpicampaign.base.errors import Problem, UnreadableError, UserError
from mpicampaign.base.this_machine import allocation
from mpicampaign.base.yaml_lines import printable
from mpicampaign.mpis import places, steers
from mpicampaign.run.batches import runs_in_queue
from mpicampaign.schedulers import BatchScheduler, Scheduler
from mpicampaign.schedulers.listings import ACTIVE, IN_THE_QUEUE, UNKNOWN, QueuedJob

BUSY = re.compile(
    r"contact|timed? ?out|temporar|try (again|later)|not (respond|answer)|backlog|busy|connection refused",
    re.I,
)
MAY_LIVE = (*ACTIVE, UNKNOWN)
_MOST_NAMES = 6  # of variables; more are counted


def caller(scheduler: BatchScheduler) -> Callable[..., CommandResult]:
    """`commands.call` for the commands of this scheduler."""
    return partial(call, without=lambda variable: scheduler.ignores(variable) or steers(variable))


def ignored_lines(scheduler: Scheduler) -> list[str]:
    """One line that names the variables of our shell that do not count; empty where there are none.

    Those that an allocation around us set are of no interest to anybody.
    """
    queue = scheduler if isinstance(scheduler, BatchScheduler) else None
    needed, outer = places(), allocation()
    ignored = [
        name
        for name in sorted(os.environ)
        if (steers(name) and name not in needed) or (queue and queue.ignores(name))
        if not (outer and name.startswith(outer.variables))
    ]
    if not ignored:
        return []
    more = f" and {len(ignored) - _MOST_NAMES} more" if len(ignored) > _MOST_NAMES else ""
    names = ", ".join(map(printable, ignored[:_MOST_NAMES])) + more
    return [f"ignored from your shell: {names}; put what you want into the campaign file"]


def usable(answer: CommandResult) -> CommandResult:
    """The answer, unless the command refused its options: waiting does not help then."""
    if answer.misused:
        raise UserError(Problem(answer.failure, hint="is it of another version, or a wrong directive?"))
    return answer


class NoAnswerError(Exception):
    """Nothing can be concluded about a job now."""


class Query:
    """Asks for all jobs of this user; options that the scheduler's version refuses are not tried again.

    ``campaign_folder``: its batches are listed run by run.
    """

    def __init__(
        self,
        scheduler: BatchScheduler,
        run: Callable[..., CommandResult] | None = None,
        campaign_folder: Path | None = None,
    ) -> None:
        self._scheduler, self._campaign_folder = scheduler, campaign_folder
        self._run = run or caller(scheduler)
        user = getpass.getuser()
        self._command, self._plain = scheduler.query(user), scheduler.plain_query(user)

    def jobs(self) -> tuple[list[QueuedJob], str]:
        """All jobs, from one query, and why they are unknown; one of both is empty.

        Raises
        ------
        UserError
            where the scheduler's version refuses the options.
        """
        answer = self._run(self._command)
        if answer.misused and self._plain:
            self._command, self._plain = self._plain, []
            answer = self._run(self._command)
        if self._scheduler.no_jobs and self._scheduler.no_jobs in answer.out + answer.err:
            return [], ""
        if usable(answer).status != 0:
            return [], answer.last_line
        if not answer.out.endswith("\n") and answer.out:
            return [], f"its list of jobs ends within a line: {answer.last_line[:100]!r}"
        try:
            jobs = self._scheduler.read_queue(answer.out)
            return (runs_in_queue(jobs, self._campaign_folder) if self._campaign_folder else jobs), ""
        except (UnreadableError, OSError) as error:
            return [], str(error)

    def alone(self, number: str, token: str) -> list[QueuedJob]:
        """A job, or the tasks of an array, asked for by number; none where the scheduler does not know it.

        ``token``: of the campaign, in the job's name: the scheduler may have used the number again.

        Raises
        ------
        NoAnswerError
            where the scheduler does not answer.
        """
        if not self._scheduler.job_query:
            return []
        answer = self._run([*self._scheduler.job_query, self._scheduler.address(number)])
        if answer.status != 0 and not BUSY.search(answer.last_line):
            return []
        try:
            if answer.status == 0 and (jobs := self._scheduler.read_jobs(answer.out)):
                return [job for job in jobs if token in job.name]
        except UnreadableError as error:
            raise NoAnswerError(str(error)) from None
        raise NoAnswerError(answer.last_line)


def foremost(jobs: Iterable[QueuedJob]) -> QueuedJob:
    """The job that counts among those of one name: it may run, else is in the queue, else the latest."""

    def number(job: QueuedJob) -> int:
        return int("".join(filter(str.isdecimal, job.id.partition("_")[0])) or 0)

    return max(jobs, key=lambda job: (job.state in MAY_LIVE, job.state in IN_THE_QUEUE, number(job)))


@contextmanager
def submitting(lock: Path) -> Iterator[int]:
    """Hold the lock of submissions: a killed call may have left one that is not in the queue yet."""
    number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield number
    finally:
        os.close(number)
