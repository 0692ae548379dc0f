"""Submits the runs of a call that are due, as far as the queue has places for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mpicampaign.base.commands import CommandResult
from mpicampaign.base.files import refuse_changeable, system_error_text
from mpicampaign.base.text import counted
from mpicampaign.collect.submissions import REFUSED, SUBMITTED, SUBMITTING
from mpicampaign.jobs.render import minutes
from mpicampaign.jobs.run import Run
from mpicampaign.run.batches import Batch, batches_of, whole_group
from mpicampaign.run.cluster import FIRST_WAIT, Cluster, ClusterJob, Ended
from mpicampaign.run.durations import Durations
from mpicampaign.run.scheduler_calls import BUSY, usable
from mpicampaign.schedulers.listings import MANY

# Runs that are submitted between two looks at the files. Those of one request stand next to each other in the
# queue, so that a drift of the machine over a burst falls between requests. With a hundred bursts in a call
# that is a hundredth of its drift at most, and far less on average: which request comes first is random in
# each, as the plan's order is. Runs that all ask for the same keep that order, in an array of any size.
BURST, BURSTS = 100, 100
SUBMIT_TRIES = 3  # of one job; PATIENT_TRIES for a busy controller or a limit on jobs
PATIENT_TRIES = 10
TOO_MANY = re.compile(r"submit ?(limit|job)|MaxSubmit|MAX_PEND|pending job|job (slot limit|array)", re.I)
A_DAY = 24 * 60  # minutes that a pack asks for at most: a QOS may allow less than its partition
REFUSALS_IN_A_BURST = 3  # the other jobs then wait for the next look


class Submission:
    """What the scheduler refused in this call is remembered until the next look at the queue, or for good."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.room = MANY  # jobs in flight when the scheduler accepted no more
        self._most = 0  # of them so far
        self._largest = MANY  # array that a limit on jobs may allow, once one was refused
        self.requests: set[object] = set()  # of all runs of this call
        self._expected = 0  # runs, at the begin
        self._durations = Durations()
        self._says_packs = True
        self._said_times: set[tuple[int, int]] = set()  # minutes that jobs asked for, and may have

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
        self._expected = max(self._expected, len(jobs))
        alike = due and len(self.requests) == 1
        burst = max(BURST, self._cluster.limits(due[0].run).tasks if alike else self._expected // BURSTS)
        blocks = {_block(job) for job in due[:burst]} - {None}
        return [job for number, job in enumerate(due) if number < burst or _block(job) in blocks]

    def _pack(self, run: Run) -> int:
        """How many runs may be one job: as many as bring a burst into the queue, and as its time allows."""
        allowed, pack = min(self._cluster.limits(run).jobs, self._most or MANY), run.job.system.pack
        if allowed >= BURST:
            return pack
        seconds = 60 * (self._cluster.limits(run).minutes - minutes(run.time_limit))
        in_time = 1 + seconds // max(1, round(self._durations.expected_or_limit(run)))
        waiting = min(len(self._cluster.jobs), max(BURST, self._expected // BURSTS))
        in_a_day = max(1, A_DAY // minutes(run.time_limit))
        forced = min(-(-waiting // allowed), in_time, in_a_day)
        if forced > pack and self._says_packs:
            self._says_packs = False
            several = run.job.keeps_nodes or len({job.run.case for job in self._cluster.jobs.values()}) > 1
            alone = "one run a job, so that repeats get other nodes; hosts: in the host group allows several"
            few = f"the site allows {counted(allowed, 'job')} at a time"
            self._cluster.say(f"{few}: {f'up to {forced} runs a job' if several else alone}")
        return max(pack, forced)

    def _places(self, jobs: Iterable[ClusterJob]) -> Counter[str]:
        """How many further jobs the queue takes, by system, with whichever MPI libraries."""
        systems = {job.run.job.system.defined: job.run for job in jobs}
        in_flight = (job for job in self._cluster.jobs.values() if job.id)
        queued = Counter(name for name, _ in {(job.run.job.system.defined, job.id) for job in in_flight})
        most = {
            name: min(self.room, run.job.system.max_queued or MANY, self._cluster.limits(run).jobs)
            for name, run in systems.items()
        }
        return Counter({name: number - queued[name] for name, number in most.items()})

    def submit_due(self) -> list[Ended]:
        """Submit; returns the runs that are given up, since the scheduler refuses them."""
        due, ended = self.due(), list[Ended]()
        by_name = {job.run.job_name: job for job in due}
        alone = {name for name, job in by_name.items() if job.alone}
        refused = 0
        self._durations = Durations()  # with the results since
        largest = min(self._cluster.limits(due[0].run).tasks, self._largest) if due else 1
        runs, scheduler = [job.run for job in due], self._cluster.scheduler
        for batch in batches_of(runs, scheduler, self._places(due), alone, self._pack, largest):
            jobs = [by_name[run.job_name] for run in batch.runs]
            problem = self._submit(batch, jobs)
            refused += bool(problem)
            if problem and self._gives_up(batch, jobs, problem):
                message = f"not submitted after {jobs[0].refusals} tries: {problem}"
                ended += [Ended(run, None, message) for run in batch.runs]
            if (problem and self._concerns_all(problem, batch)) or refused == REFUSALS_IN_A_BURST:
                break
        return ended

    def _concerns_all(self, problem: str, batch: Batch) -> bool:
        """Whether all further jobs would be refused, too: a busy controller, or a limit on jobs (noted)."""
        if TOO_MANY.search(problem) and len(batch.tasks) > 1:
            self._largest = len(batch.tasks) // 2
        elif TOO_MANY.search(problem):
            self.room = len(self._cluster.ids)
            self._most = max(self._most, self.room)
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
            script = batch.write(self._allowed_time(batch))
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
        too_many = TOO_MANY.search(answer.last_line) is not None
        # with no other job of ours, a pack is refused for its own time or size
        too_large = len(batch.tasks) == 1 and not cluster.ids
        for job in jobs:
            job.due = too_many and len(batch.tasks) > 1  # in smaller arrays
            job.refusals += not job.due
            job.alone = job.alone or (refused and len(jobs) > 1 and (too_large or not too_many))
        # the next query shows whether it was accepted after all
        cluster.query_within(FIRST_WAIT * jobs[0].refusals)
        return answer.last_line

    def _allowed_time(self, batch: Batch) -> int:
        """How many minutes a job may take; says once that a longer one may wait for ever: Slurm takes it."""
        run = batch.runs[0]
        allowed, needed = self._cluster.limits(run).minutes, batch.least_minutes
        if needed > allowed and (needed, allowed) not in self._said_times:
            self._said_times.add((needed, allowed))
            why = f"asks for {needed} min, and partition, QOS or account allow {allowed}"
            todo = "lower time_limit, or name another partition or qos"
            self._cluster.say(f"{run.label}: its job may wait for ever: it {why}; {todo}")
        return allowed

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
