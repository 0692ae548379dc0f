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

from mpicampaign.base.commands import CommandResult
from mpicampaign.base.errors import Problem, UnreadableError, UserError
from mpicampaign.base.files import append_lines, refuse_changeable, system_error_text, write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.host_lists import short
from mpicampaign.collect.runs import attempts_of, could_not_write, ended_by_itself, exit_status
from mpicampaign.collect.submissions import REFUSED, SUBMISSIONS, SUBMITTING, read_submissions
from mpicampaign.jobs.run import RESULT
from mpicampaign.run.batches import (
    ABSENT,
    Batch,
    batches_of,
    runs_in_queue,
    shares_steps,
    states_file,
    whole_group,
)
from mpicampaign.run.faults import Faults
from mpicampaign.run.scheduler_calls import caller
from mpicampaign.run.writable import SECONDS_BETWEEN_WRITES, TRIES, why_not_writable
from mpicampaign.schedulers.node_states import node_states
from mpicampaign.schedulers.scheduler import (
    ACTIVE,
    CANCELLED,
    DONE,
    FAILED,
    HELD,
    IN_THE_QUEUE,
    LAUNCH_FAILED,
    NODE_FAIL,
    NOT_STARTED,
    OUT_OF_MEMORY,
    PREEMPTED,
    QUEUED,
    TIMEOUT,
    UNKNOWN,
    NodeState,
)
from mpicampaign.schemes.block import LEFT_BEHIND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from mpicampaign.campaign.model import System
    from mpicampaign.jobs.run import Run
    from mpicampaign.schedulers import BatchScheduler
    from mpicampaign.schedulers.scheduler import QueuedJob

# Runs that are submitted between two looks at the files, and so the largest array. Runs of one array stand
# next to each other in the queue: a larger one would undo more of the plan's random order.
BURST = 100
SUBMIT_TRIES = 3  # of one job; PATIENT_TRIES for a busy controller or a limit on jobs
PATIENT_TRIES = 10
BUSY = re.compile(
    r"contact|timed? ?out|temporar|try (again|later)|not (respond|answer)|backlog|busy|connection refused",
    re.I,
)
TOO_MANY = re.compile(r"submit ?limit|submit job|MaxSubmit|MAX_PEND|pending job|job slot limit", re.I)
REFUSALS_IN_A_BURST = 3  # the other jobs then wait for the next look
SETTLE_SECONDS = 10.0  # until a submission whose outcome is unknown is in the queue, if it was accepted
GRACE_SECONDS = 30.0  # until a network file system must show the files of an ended job
CUT_SECONDS = 180.0  # until a list of jobs must be whole: then a run that no note tells of is submitted
KEPT_SECONDS = 300.0  # for which schedulers show a job that has ended
FIRST_WAIT, LONGEST_WAIT, BACK_OFF = 2.0, 60.0, 1.5  # seconds between two queries

_TAKEN = ("submitted ", "adopted ")  # beginnings of notes with a job's id
VANISHED = "no longer known to the scheduler"
BLOCK_ENDED = "ended before all its runs"
UNWRITTEN = "results not written"
MAY_LIVE = (*ACTIVE, UNKNOWN)
# States for which the cluster is to blame, not the run, and how often a run is then submitted again.
RETRIES = {NODE_FAIL: 2, LAUNCH_FAILED: 2, PREEMPTED: 2, VANISHED: 2, NOT_STARTED: 2, UNWRITTEN: TRIES - 1}
RETRIES |= {BLOCK_ENDED: 2}
ADVICE = {
    TIMEOUT: "raise time_limit in the campaign file",
    OUT_OF_MEMORY: "request more memory with directives, or use smaller messages",
    CANCELLED: "the same command runs it again",
    NODE_FAIL: "look at the node; the same command runs it again",
    LAUNCH_FAILED: "a node can't start jobs: its log says why; the same command runs it again",
    PREEMPTED: "choose another partition or qos; the same command runs it again",
    VANISHED: "the same command runs it again",
    BLOCK_ENDED: "the same command goes on with it",
    NOT_STARTED: "are the results' folder and its logs writable on the node? the same command runs it again",
    UNWRITTEN: "is the disk full, a quota used up, or the mount read-only? the same command runs it again",
}
NOT_FOLLOWED = "not followed: the scheduler's command refuses its options, see above"


@dataclass(slots=True)
class ClusterJob:
    """A run in flight. ``since``: when its job was first seen to have ended or to be absent.

    ``due``: it is to be submitted. ``alone``: in a submission of its own, since one of several was refused,
    or since its job had ended without a result. ``held``: the id of the job that was reported as held.
    ``seen``: when its job was last known to be in the queue. ``outages``: how often results could not be
    written before it was submitted. ``unlisted``: its job is known, but missing in
    the list.
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
    retries: Counter[str] = field(default_factory=Counter)
    since: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has ended; ``problem`` is empty where its files have the result or the reason."""

    run: Run
    status: int | None
    problem: str = ""


class _NoAnswerError(Exception):
    """Nothing can be concluded about a run from this look at the queue."""


class ClusterJobs:
    """The jobs in flight, each until its run has ended; `step` is one look at files and queue."""

    def __init__(
        self,
        scheduler: BatchScheduler,
        lock: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        run: Callable[..., CommandResult] | None = None,
    ) -> None:
        self._scheduler, self._lock, self._say, self._clock = scheduler, lock, say, clock
        self._run = run or caller(scheduler)
        self._jobs: dict[str, ClusterJob] = {}
        self._query = Query(scheduler, self._run, lock.parent)
        self._next_query = self._next_write = 0.0
        self._wait = FIRST_WAIT
        self._faults = Faults()
        self._gone: set[str] = set()  # ids of jobs and arrays that the scheduler does not know
        self._cut = False  # whether the last list of jobs was not whole
        self._asks = True  # whether it is to be asked for further jobs that are missing in the last list
        self._answered = True  # whether it answered each query since
        self._waited_for_orphan = False  # whether the last submission of a killed call has ended
        self._room: int | None = None  # jobs in flight when the scheduler accepted no more
        self._alone = False  # whether it refused an array for a limit on jobs
        self._log = lock.with_name(SUBMISSIONS)
        self._noted: dict[str, list[str]] = {}
        self._said: set[tuple[str, str]] = set()
        self.queries = 0

    def take(self, run: Run) -> None:
        """Add a run; the next `step` submits it, unless its job is in the queue already."""
        self._jobs[run.job_name] = ClusterJob(run)
        self._next_query = 0.0

    @property
    def names(self) -> set[str]:
        """The names of the jobs in flight."""
        return set(self._jobs)

    @property
    def submits(self) -> bool:
        """Whether the next step submits jobs, without another look at the queue."""
        return bool(self._due())

    def step(self) -> list[Ended]:
        """Look at the files of all runs, and at the queue when it is time; submit jobs.

        A free place in the queue is filled without a look at the queue: the last one showed what is absent.
        All runs end where the scheduler's commands refuse their options: waiting would not help. Nothing is
        done while results cannot be written: a submission would not be noted.
        """
        ended: list[Ended] = []
        if not self._writable():
            return ended
        try:
            for act in (self._look, self._submit_due):
                finished = act()
                self._forget(finished)
                ended += finished
        except UserError as error:
            self._say(f"{error}\n    jobs in the queue go on; the same command takes them up")
            jobs = self._jobs.values()
            ended += [self._finished(job) or Ended(job.run, None, NOT_FOLLOWED) for job in jobs]
            self._jobs.clear()
        return ended

    def summary(self) -> list[str]:
        """What went wrong with the cluster so far, a line for each kind of fault."""
        return list(self._faults.lines(self._clock()))

    def _writable(self) -> bool:
        """Whether files can be written in the campaign's folder; reports a change."""
        clock, unwritable = self._clock(), self._faults.unwritable
        write = unwritable.now or clock >= self._next_write
        if write:
            self._next_write = clock + SECONDS_BETWEEN_WRITES
        problem = why_not_writable(self._lock.parent, write=write)
        if not problem and unwritable.end(clock):
            self._say("results can be written again")
        if problem and unwritable.begin(clock):
            self._say(f"results can't be written: {problem}; jobs go on, waiting until they can")
        return not problem

    def _look(self) -> list[Ended]:
        if not self._waited_for_orphan:
            with submitting(self._lock):
                self._waited_for_orphan = True
            self._noted = read_submissions(self._log)
        ended = [end for job in self._jobs.values() if (end := self._finished(job))]
        if self._jobs.keys() - {end.run.job_name for end in ended} and self._clock() >= self._next_query:
            listing = self._listing()
            if listing is not None:
                ended = self._after_query(listing)
        return ended

    def _forget(self, ended: list[Ended]) -> None:
        for end in ended:
            job = self._jobs.pop(end.run.job_name, None)
            if job and job.id and end.status == 0:  # the attempts of its job beside the result
                earlier = attempts_of(end.run.folder)
                self._faults.requeued += any(path.name.endswith(f"-{job.id}") for path in earlier)

    def _finished(self, job: ClusterJob) -> Ended | None:
        """Files alone show success; a failure needs the queue, too: the job may be requeued."""
        if job.run.output.exists():
            return Ended(job.run, 0)
        if job.id and not job.left_exit_status and exit_status(job.run.folder, job.id) is not None:
            job.left_exit_status = True
            self._next_query = min(self._next_query, self._clock() + FIRST_WAIT)
        return None

    # The queue

    def _listing(self) -> dict[str, list[QueuedJob]] | None:
        """Our jobs by name; None where the scheduler does not answer."""
        self.queries += 1
        jobs, problem = self._query.jobs()
        self._next_query = self._clock() + self._wait
        self._wait = min(LONGEST_WAIT, self._wait * BACK_OFF)
        if problem:
            self._no_answer(problem)
            return None
        return grouped(jobs, lambda job: job.name)

    def _no_answer(self, problem: str) -> None:
        if self._faults.silent.begin(self._clock()):
            self._say(f"the scheduler does not answer ({problem}); jobs go on, trying again")

    def _after_query(self, listing: dict[str, list[QueuedJob]]) -> list[Ended]:
        """What became of the runs; those with notes come first, which show whether the list is whole."""
        self._room = None  # a limit may have been raised
        self._cut, self._asks, self._answered = False, True, True
        ended = []
        self._give_up_lost_nodes(listing)
        for job in sorted(self._jobs.values(), key=lambda job: not self._numbers(job)):
            try:
                outcome = self._judge(job, listing.get(job.run.job_name, []))
            except _NoAnswerError as error:
                if problem := str(error):
                    self._no_answer(problem)
                    self._answered = False
                outcome = False
            if isinstance(outcome, Ended):
                ended.append(outcome)
            else:
                job.due = outcome
        if self._answered and self._faults.silent.end(self._clock()):
            self._say("the scheduler answers again")
            self._wait = FIRST_WAIT
        return ended

    def _judge(self, job: ClusterJob, listed: list[QueuedJob]) -> Ended | bool:
        """How the run ended, or whether it must be submitted; ``listed``: its jobs in the list."""
        if done := self._finished(job):
            return done
        known = self._known(job, listed)
        if known and (latest := foremost(known)).state in MAY_LIVE:
            self._adopt(job, latest)
            return False
        failed = [each for each in known if each.state == LAUNCH_FAILED]
        if not all(self._cancelled(job, each) for each in failed):
            return False  # it is still in the queue: a second job would be one too many
        if job.id:
            return self._after_end(job, next((each for each in known if each.id == job.id), None))
        return self._is_absent(job, known) and (self._left(job, "its job is gone") or True)

    def _give_up_lost_nodes(self, listing: dict[str, list[QueuedJob]]) -> None:
        """Cancel jobs of many nodes that wait for one that cannot be had; their runs are submitted again."""
        waiting: dict[str, list[ClusterJob]] = {}
        for job in self._jobs.values():
            listed = listing.get(job.run.job_name)
            if listed and shares_steps(job.run, self._scheduler) and foremost(listed).state == QUEUED:
                waiting.setdefault(foremost(listed).id, []).append(job)
        for number, jobs in waiting.items():
            states = self._states([job.run for job in jobs])
            hosts = {host for job in jobs for host in job.run.job.group.hosts}
            lost = [f"{host} is {states[host]}" for host in hosts if states and not states[host].usable]
            queued = foremost(listing[jobs[0].run.job_name])
            if lost and self._cancelled(jobs[0], queued):
                self._say(
                    f"job {number} waits for nodes that cannot be had ({'; '.join(lost)}): submitted again"
                )
                for job in jobs:
                    job.id, listing[job.run.job_name] = "", [queued._replace(state=CANCELLED)]

    def _left(self, job: ClusterJob, why: str) -> Ended | None:
        """The end of a run whose part of a block began on nodes that no later job gets; noted for plans."""
        run = job.run
        folders = [run.campaign_folder / each for each in run.part]
        begun = any((each / RESULT).exists() or ended_by_itself(each) for each in folders)
        noted = run.folder / LEFT_BEHIND  # by the job itself, where it was requeued on other nodes
        if not noted.exists():
            if not begun or run.job.keeps_nodes:
                return None
            write_whole(noted, f"{why}\n")
        return Ended(run, None, "its block was left: " + noted.read_text(encoding="utf-8").strip())

    def _known(self, job: ClusterJob, listed: list[QueuedJob]) -> list[QueuedJob]:
        """The jobs of a run that the scheduler knows: the listed ones, and noted ones that the list lacks.

        A list that was cut between two lines looks complete. So the scheduler is asked for each of them.
        """
        if any(each.state in MAY_LIVE for each in listed):
            job.unlisted = False
            return listed
        known = list(listed)
        for number in self._numbers(job):
            if all(each.id != number for each in listed) and (asked := self._ask(job, number)):
                self._list_is_cut(job, asked)
                known.append(asked)
        return known

    def _numbers(self, job: ClusterJob) -> list[str]:
        """The id of its job in flight, or else of all its jobs that were noted."""
        noted = (note for note in self._notes(job) if note.startswith(_TAKEN))
        return [job.id] if job.id else list(dict.fromkeys(note.partition(" ")[2] for note in noted))

    def _notes(self, job: ClusterJob) -> list[str]:
        return self._noted.get(job.run.identity, [])

    def _ask(self, job: ClusterJob, number: str) -> QueuedJob | None:
        """The job with this number, from a query of its own; None where the scheduler does not know it.

        Raises
        ------
        _NoAnswerError
            where it does not answer, or where the present list lacks enough jobs to be asked of.
        """
        array = number.partition("_")[0]
        for asked in dict.fromkeys((array, number)):
            if asked in self._gone:
                return None
            if not self._answered or not (self._asks or job.unlisted):
                raise _NoAnswerError
            tasks = self._query.alone(asked, job.run.token)
            if not tasks:
                self._gone.add(asked)
                return None
        return tasks[0]._replace(id=number, name=job.run.job_name)

    def _list_is_cut(self, job: ClusterJob, missing: QueuedJob) -> None:
        """Note that a job is missing in the list: no further one is asked for now, as many may be missing.

        Those that were missing before are: a job of somebody else's stays missing.
        """
        if not self._cut:
            if not self._faults.lists_cut:
                self._say(
                    f"{job.run.label}: job {missing.id} is missing in the scheduler's list, which is cut"
                )
            self._faults.lists_cut += 1
        self._cut = True
        if missing.state in MAY_LIVE and not job.unlisted:
            job.unlisted, self._asks = True, False

    def _is_absent(self, job: ClusterJob, known: list[QueuedJob]) -> bool:
        """Whether a run has no job in flight; ``known``: its earlier ones, which have ended.

        A submission that was cut off, by a timeout or a kill, may still be accepted, and the files of a job
        that has ended well may come late; after a while, they were removed. In a list that was cut, a job may
        be missing that no note tells of.
        """
        wait = SETTLE_SECONDS if self._notes(job)[-1:] == [SUBMITTING] else 0.0
        if self._cut and not self._numbers(job):
            wait = CUT_SECONDS
        if any(self._may_have_just_ended(job, each) for each in known):
            wait = max(wait, GRACE_SECONDS)
        job.since = self._clock() if job.since is None else job.since
        return self._clock() - job.since >= wait

    def _may_have_just_ended(self, job: ClusterJob, known: QueuedJob) -> bool:
        """Whether the job has ended well and its files must appear here soon.

        If not, it left no result, or it belongs to a folder that was removed since.
        """
        if known.state != DONE or exit_status(job.run.folder, known.id) is not None:
            return False
        return known.id in self._numbers(job) or self._notes(job)[-1:] == [SUBMITTING]

    def _adopt(self, job: ClusterJob, queued: QueuedJob) -> None:
        """Take over the job in the queue: submitted before a kill or by hand, or requeued."""
        if not job.id:
            self._note([job], f"adopted {queued.id}")
            self._say_of(job, f"job {queued.id} is in the queue already, {queued.description}")
        if queued.state == HELD and job.held != queued.id:
            release = f"'{self._scheduler.release} {self._scheduler.address(queued.id)}' lets it start"
            self._say_of(job, f"job {queued.id} is held, {queued.description}; {release}")
            job.held = queued.id
        job.id, job.since, job.seen = queued.id, None, self._clock()

    def _cancelled(self, job: ClusterJob, queued: QueuedJob) -> bool:
        answer = _usable(self._run([self._scheduler.cancel, self._scheduler.address(queued.id)]))
        if answer.status != 0:
            self._say(f"{job.run.label}: job {queued.id} is not cancelled ({answer.last_line}), trying again")
        return answer.status == 0

    def _after_end(self, job: ClusterJob, last: QueuedJob | None) -> Ended | bool:
        """The end of a run whose job ended, or vanished, without a result; or whether to submit it again."""
        job.since = self._clock() if job.since is None else job.since
        state, description = (last.state, last.description) if last else self._vanished(job)
        status = exit_status(job.run.folder, job.id)
        outage = self._faults.unwritable.times > job.outages
        if self._could_not_write(job, state, status) or (state == FAILED and status is None and outage):
            state, description = UNWRITTEN, f"could not write to {job.run.campaign_folder}"
        if (job.run.part or job.run.each) and not ended_by_itself(job.run.folder):
            ends = (FAILED, TIMEOUT, DONE) if job.run.each else (FAILED, TIMEOUT)
            status, state = None, BLOCK_ENDED if state in ends else state
        if status is not None and state not in RETRIES:
            note = f"job {job.id}: {description}; {ADVICE[state]}" if state in ADVICE else ""
            return Ended(job.run, status, note)
        if status is not None and state == VANISHED:
            return Ended(job.run, status)
        if (state in (DONE, BLOCK_ENDED) or not last) and self._clock() - job.since < GRACE_SECONDS:
            return False  # its files may not be visible yet
        if state in RETRIES and (left := self._left(job, f"job {job.id} {description}")):
            return left
        known = outage and state in (UNWRITTEN, NOT_STARTED)  # to be over by now
        if known or job.retries[state] < RETRIES.get(state, 0):
            job.retries[state] += not known
            self._faults.again[state] += 1
            self._say_of(job, f"job {job.id} {description}: submitted again")
            job.id, job.since, job.alone = "", None, True
            self._note([job], f"again after {state}")
            return True
        advice = ADVICE.get(state, f"no exit status was left: look at the logs in {job.run.log.parent}")
        return Ended(job.run, None, f"job {job.id}: {description}; {advice}")

    def _say_of(self, job: ClusterJob, text: str) -> None:
        """Of a job that measures many members one line, not one for each of its runs."""
        label = job.run.label
        if job.run.each:
            label = " ".join(whole_group(job.run))
        if not job.run.each or (label, text) not in self._said:
            self._say(f"{label}: {text}")
        self._said.add((label, text))

    def _could_not_write(self, job: ClusterJob, state: str, status: int | None) -> bool:
        """Whether a job failed since it could not write; ``status``: from its files, else the scheduler's."""
        if state == FAILED and not status:
            asked = self._ask(job, job.id)
            status = asked.exit_status if asked else None
        return state in (FAILED, VANISHED) and could_not_write(job.run.folder, job.id, status)

    def _vanished(self, job: ClusterJob) -> tuple[str, str]:
        """State and description of a job that the scheduler does not know.

        Slurm forgets a task at once that is cancelled before it starts; it keeps all others for a while.
        """
        array, task, _ = job.id.partition("_")
        just_now = job.since is not None and job.since - job.seen < KEPT_SECONDS
        if task and array not in self._gone and just_now:
            return CANCELLED, "cancelled before it started"
        return VANISHED, VANISHED

    # Submission

    def _due(self) -> list[ClusterJob]:
        """What is to be submitted, in the plan's order; nothing while the queue has no place for it.

        Nothing either while results cannot be written.
        """
        if self._faults.unwritable.now:
            return []
        apart = {job.run.part for job in self._jobs.values() if job.run.part and not job.due}
        due = [job for job in self._jobs.values() if job.due and job.run.part not in apart]
        places = self._places(due)
        due = [job for job in due if places[_system(job).defined] > 0]
        blocks = {_block(job) for job in due[:BURST]} - {None}
        return [job for number, job in enumerate(due) if number < BURST or _block(job) in blocks]

    def _places(self, jobs: Iterable[ClusterJob]) -> Counter[str]:
        """How many further jobs the queue takes, by system, with whichever MPI libraries."""
        systems = {_system(job).defined: _system(job) for job in jobs}
        queued = Counter(
            name for name, _ in {(_system(job).defined, job.id) for job in self._jobs.values() if job.id}
        )
        places: Counter[str] = Counter()
        for name, system in systems.items():
            limits = [limit for limit in (self._room, system.max_queued) if limit is not None]
            places[name] = min((limit - queued[name] for limit in limits), default=BURST)
        return places

    def _submit_due(self) -> list[Ended]:
        """Submit; returns the runs that are given up, since the scheduler refuses them."""
        due, ended = self._with_nodes(self._due())
        by_name = {job.run.job_name: job for job in due}
        alone = {name for name, job in by_name.items() if job.alone or self._alone}
        refused = 0
        for batch in batches_of([job.run for job in due], self._scheduler, self._places(due), alone):
            jobs = [by_name[run.job_name] for run in batch.runs]
            problem = self._submit(batch, jobs)
            refused += bool(problem)
            if problem and self._gives_up(batch, jobs, problem):
                message = f"not submitted after {jobs[0].refusals} tries: {problem}"
                ended += [Ended(run, None, message) for run in batch.runs]
            if (problem and self._concerns_all(problem)) or refused == REFUSALS_IN_A_BURST:
                break
        return ended

    def _with_nodes(self, due: list[ClusterJob]) -> tuple[list[ClusterJob], list[Ended]]:
        """The jobs whose nodes can be had; those of `each` end where one cannot: none waits for it."""
        ended: dict[str, Ended] = {}
        of_each = [job for job in due if shares_steps(job.run, self._scheduler)]
        for several in grouped(of_each, lambda job: states_file(job.run)).values():
            states = self._states([job.run for job in several])
            for job in several if states else []:
                lost = [
                    f"{host} is {states[host]}" for host in job.run.job.group.hosts if not states[host].usable
                ]
                if lost:
                    ended[job.run.job_name] = Ended(job.run, None, f"{ABSENT}: {'; '.join(lost)}")
        return [job for job in due if job.run.job_name not in ended], list(ended.values())

    def _states(self, runs: list[Run]) -> dict[str, NodeState]:
        """The states of the nodes of runs, kept for the analysis; empty where the scheduler does not say."""
        file = states_file(runs[0])
        earlier = node_states(self._lock.parent, whole_group(runs[0]))
        hosts = list(dict.fromkeys([*(host for run in runs for host in run.job.group.hosts), *earlier]))
        query = self._scheduler.state_query(hosts)
        answer = self._run(query) if query else None
        states = self._scheduler.read_states(answer.out) if answer and answer.status == 0 else {}
        if not states:
            return {}
        known = {short(host): state for host, state in states.items()}  # LSF prints full names
        states = {
            host: known.get(short(host), NodeState(False, "unknown to the scheduler")) for host in hosts
        }
        file.parent.mkdir(exist_ok=True)
        lines = (f"{host}|{state.native_state}|{state.reason}\n" for host, state in states.items())
        write_whole(file, "".join(lines))
        return states

    def _longest(self, batch: Batch) -> int | None:
        """How many minutes the queue gives a job of rounds, which may be cut: the next one goes on."""
        group = batch.runs[0].job.group
        query = self._scheduler.longest_query(group.partition) if batch.rounds else []
        answer = self._run(query) if query else None
        return self._scheduler.read_longest(answer.out) if answer and answer.status == 0 else None

    def _concerns_all(self, problem: str) -> bool:
        """Whether all further jobs would be refused, too: a busy controller, or a limit on jobs (noted)."""
        if TOO_MANY.search(problem):
            self._alone = True
            self._room = len({job.id for job in self._jobs.values() if job.id})
        return (BUSY.search(problem) or TOO_MANY.search(problem)) is not None

    def _submit(self, batch: Batch, jobs: list[ClusterJob]) -> str:
        """Submit runs; returns why they were not accepted, or nothing."""
        for job in jobs:
            job.left_exit_status = job.due = False
            job.outages = self._faults.unwritable.times
            job.since = None
        try:
            # noted before it is done: if this call is killed in between, the next one must expect the job
            self._append(jobs, SUBMITTING)
            script = batch.write(self._longest(batch))
            for path in {script, *(each.path for each in batch.runs)}:
                refuse_changeable(path, self._lock.parent)
            answer = submit(self._scheduler, script, self._lock, self._run)
        except OSError as error:
            answer = CommandResult("", 1, err=system_error_text(error))
        number = self._scheduler.read_submitted(answer.out) if answer.status == 0 else ""
        if number:
            ids = batch.ids(number)
            for job in jobs:
                job.id, job.refusals, job.seen = ids[job.run.job_name], 0, self._clock()
            self._note(jobs, "submitted", with_id=True)
            return ""
        refused = answer.status is not None and not BUSY.search(answer.last_line)
        if refused:
            self._note(jobs, REFUSED)
        else:
            self._no_answer(answer.last_line)
        _usable(answer)
        for job in jobs:
            job.refusals += 1
            job.alone = job.alone or (refused and len(jobs) > 1)
        # the next query shows whether it was accepted after all
        self._next_query = min(self._next_query, self._clock() + FIRST_WAIT * jobs[0].refusals)
        return answer.last_line

    def _gives_up(self, batch: Batch, jobs: list[ClusterJob], problem: str) -> bool:
        """Whether to stop trying; with other jobs of ours in flight, a limit on jobs is waited for."""
        patient = (BUSY.search(problem) or TOO_MANY.search(problem)) is not None
        others = any(other.id for other in self._jobs.values())
        tries = PATIENT_TRIES if patient else SUBMIT_TRIES
        if (patient and others) or batch.can_be_split or jobs[0].refusals < tries:
            more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
            self._say(f"{jobs[0].run.label}{more}: not submitted yet ({problem}), trying again")
            return False
        return True

    def _note(self, jobs: list[ClusterJob], note: str, *, with_id: bool = False) -> None:
        """Append to the campaign's submissions.txt; reports a failure to write."""
        try:
            self._append(jobs, note, with_id=with_id)
        except OSError as error:
            self._say(f"{jobs[0].run.label}: {note}, but {SUBMISSIONS} can't be written: {error.strerror}")

    def _append(self, jobs: list[ClusterJob], note: str, *, with_id: bool = False) -> None:
        """Append to the campaign's submissions.txt, from which records count a run's submissions."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines = []
        for job in jobs:
            identity, text = job.run.identity, f"{note} {job.id}" if with_id else note
            self._noted.setdefault(identity, []).append(text)
            lines.append(f"{stamp} {identity} {text}")
        append_lines(self._log, lines)


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
        if _usable(answer).status != 0:
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
        _NoAnswerError
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
            raise _NoAnswerError(str(error)) from None
        raise _NoAnswerError(answer.last_line)


def _usable(answer: CommandResult) -> CommandResult:
    """The answer, unless the command refused its options: waiting does not help then."""
    if answer.misused:
        raise UserError(Problem(answer.failure, hint="is it of another version, or a wrong directive?"))
    return answer


def by_name(jobs: Iterable[QueuedJob]) -> dict[str, QueuedJob]:
    """The `foremost` job of each name."""
    return {name: foremost(several) for name, several in grouped(jobs, lambda job: job.name).items()}


def foremost(jobs: Iterable[QueuedJob]) -> QueuedJob:
    """Of jobs with one name the one that counts: that may run, else is in the queue, else the latest."""

    def number(job: QueuedJob) -> int:
        return int("".join(filter(str.isdecimal, job.id.partition("_")[0])) or 0)

    return max(jobs, key=lambda job: (job.state in MAY_LIVE, job.state in IN_THE_QUEUE, number(job)))


def _block(job: ClusterJob) -> tuple[object, ...] | None:
    """The same for runs that are submitted together, however many they are."""
    if job.run.each:
        return whole_group(job.run)
    return (job.run.block, job.run.repeat) if job.run.block else None


def _system(job: ClusterJob) -> System:
    return job.run.job.system


def submit(
    scheduler: BatchScheduler, script: Path, lock: Path, run: Callable[..., CommandResult]
) -> CommandResult:
    """Submit a script; the command keeps the lock, even if this process is killed."""
    with submitting(lock) as number:
        if scheduler.script_on_stdin:
            return run(list(scheduler.submit), script=script, keep_open=[number])
        return run([*scheduler.submit, str(script)], keep_open=[number])


@contextmanager
def submitting(lock: Path) -> Iterator[int]:
    """Hold the lock of submissions: a killed call may have left one that is not in the queue yet."""
    number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield number
    finally:
        os.close(number)
