"""Submits the runs of a call that are due, as far as the queue has places for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mpicampaign.base.commands import CommandResult
from mpicampaign.base.files import refuse_changeable, system_error_text
from mpicampaign.collect.submissions import REFUSED, SUBMITTED, SUBMITTING
from mpicampaign.run.batches import Batch, batches_of, whole_group
from mpicampaign.run.cluster import FIRST_WAIT, Cluster, ClusterJob, Ended
from mpicampaign.run.scheduler_calls import BUSY, usable

# Runs that are submitted between two looks at the files, and so the largest array. Runs of one array stand
# next to each other in the queue: a larger one would undo more of the plan's random order.
BURST = 100
SUBMIT_TRIES = 3  # of one job; PATIENT_TRIES for a busy controller or a limit on jobs
PATIENT_TRIES = 10
TOO_MANY = re.compile(r"submit ?limit|submit job|MaxSubmit|MAX_PEND|pending job|job slot limit", re.I)
REFUSALS_IN_A_BURST = 3  # the other jobs then wait for the next look


class Submission:
    """What the scheduler refused in this call is remembered until the next look at the queue, or for good."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.room: int | None = None  # jobs in flight when the scheduler accepted no more
        self._alone = False  # whether it refused an array for a limit on jobs

    def due(self) -> list[ClusterJob]:
        """What is to be submitted, in the plan's order; nothing while the queue has no place for it.

        Nothing either while results cannot be written.
        """
        if self._cluster.faults.unwritable.now:
            return []
        jobs = self._cluster.jobs.values()
        in_queue = {job.run.part for job in jobs if job.run.part and not job.due}
        due = [job for job in jobs if job.due and job.run.part not in in_queue]
        places = self._places(due)
        due = [job for job in due if places[job.run.job.system.defined] > 0]
        blocks = {_block(job) for job in due[:BURST]} - {None}
        return [job for number, job in enumerate(due) if number < BURST or _block(job) in blocks]

    def _places(self, jobs: Iterable[ClusterJob]) -> Counter[str]:
        """How many further jobs the queue takes, by system, with whichever MPI libraries."""
        systems = {job.run.job.system.defined: job.run.job.system for job in jobs}
        in_flight = (job for job in self._cluster.jobs.values() if job.id)
        queued = Counter(name for name, _ in {(job.run.job.system.defined, job.id) for job in in_flight})
        limits = {name: (self.room, system.max_queued) for name, system in systems.items()}
        return Counter(
            {
                name: min((most - queued[name] for most in both if most is not None), default=BURST)
                for name, both in limits.items()
            }
        )

    def submit_due(self) -> list[Ended]:
        """Submit; returns the runs that are given up, since the scheduler refuses them."""
        due, ended = self.due(), list[Ended]()
        by_name = {job.run.job_name: job for job in due}
        alone = {name for name, job in by_name.items() if job.alone or self._alone}
        refused = 0
        runs = [job.run for job in due]
        for batch in batches_of(runs, self._cluster.scheduler, self._places(due), alone):
            jobs = [by_name[run.job_name] for run in batch.runs]
            problem = self._submit(batch, jobs)
            refused += bool(problem)
            if problem and self._gives_up(batch, jobs, problem):
                message = f"not submitted after {jobs[0].refusals} tries: {problem}"
                ended += [Ended(run, None, message) for run in batch.runs]
            if (problem and self._concerns_all(problem)) or refused == REFUSALS_IN_A_BURST:
                break
        return ended

    def _longest(self, batch: Batch) -> int | None:
        """How many minutes the queue gives a job of rounds, which may be cut: the next one goes on."""
        scheduler = self._cluster.scheduler
        partition = batch.runs[0].job.group.partition
        text = self._cluster.answer(scheduler.longest_query(partition)) if batch.rounds else ""
        return scheduler.read_longest(text) if text else None

    def _concerns_all(self, problem: str) -> bool:
        """Whether all further jobs would be refused, too: a busy controller, or a limit on jobs (noted)."""
        if TOO_MANY.search(problem):
            self._alone = True
            self.room = len(self._cluster.ids)
        return _can_pass(problem)

    def _submit(self, batch: Batch, jobs: list[ClusterJob]) -> str:
        """Submit runs; returns why they were not accepted, or nothing."""
        cluster = self._cluster
        for job in jobs:
            job.left_exit_status = job.due = False
            job.outages = cluster.faults.unwritable.times
            job.since = None
        try:
            # noted before it is done: if this call is killed in between, the next one must expect the job
            cluster.append(jobs, SUBMITTING)
            script = batch.write(self._longest(batch))
            for path in {script, *(run.path for run in batch.runs)}:
                refuse_changeable(path, cluster.folder)
            answer = cluster.submit(script)
        except OSError as error:
            answer = CommandResult("", 1, err=system_error_text(error))
        number = cluster.scheduler.read_submitted(answer.out) if answer.status == 0 else ""
        if number:
            ids = batch.ids(number)
            for job in jobs:
                job.id, job.refusals, job.seen = ids[job.run.job_name], 0, cluster.clock()
            cluster.note(jobs, SUBMITTED)
            return ""
        refused = answer.status is not None and not BUSY.search(answer.last_line)
        if refused:
            cluster.note(jobs, REFUSED)
        else:
            cluster.no_answer(answer.last_line)
        usable(answer)
        for job in jobs:
            job.refusals += 1
            job.alone = job.alone or (refused and len(jobs) > 1)
        # the next query shows whether it was accepted after all
        cluster.query_within(FIRST_WAIT * jobs[0].refusals)
        return answer.last_line

    def _gives_up(self, batch: Batch, jobs: Sequence[ClusterJob], problem: str) -> bool:
        """Whether to stop trying; with other jobs of ours in flight, a limit on jobs is waited for."""
        patient = _can_pass(problem)
        tries = PATIENT_TRIES if patient else SUBMIT_TRIES
        if (patient and self._cluster.ids) or batch.can_be_split or jobs[0].refusals < tries:
            more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
            label = f"{jobs[0].run.label}{more}"
            self._cluster.say(f"{label}: not submitted yet ({problem}), trying again")
            return False
        return True


def _can_pass(problem: str) -> bool:
    """Whether the scheduler refuses all jobs for a while: a busy controller, or a limit on jobs."""
    return (BUSY.search(problem) or TOO_MANY.search(problem)) is not None


def _block(job: ClusterJob) -> tuple[object, ...] | None:
    """A key that runs share which are submitted together, however many they are."""
    if job.run.each:
        return whole_group(job.run)
    return (job.run.block, job.run.repeat) if job.run.block else None
