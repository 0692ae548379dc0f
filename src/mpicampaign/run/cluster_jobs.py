"""The jobs of one campaign on a scheduler: submitted once, watched, submitted again where that helps.

The files in a run's folder are the truth; the queue only shows what is still to come. A failed query changes
nothing, and an unknown state is never a success.
"""

from __future__ import annotations

from mpicampaign.base.errors import UserError
from mpicampaign.base.files import write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.run_files import attempt_name, attempts_of, result_in
from mpicampaign.collect.runs import ended_by_itself, error_before_output, exit_status, unwritten
from mpicampaign.collect.submissions import ADOPTED, SUBMITTED, SUBMITTING, read_submissions
from mpicampaign.jobs.run import Run
from mpicampaign.run.batches import GIVEN_UP, request, whole_group
from mpicampaign.run.cluster import FIRST_WAIT, Cluster, ClusterJob, Ended
from mpicampaign.run.faults import TRIES, Writable
from mpicampaign.run.scheduler_calls import MAY_LIVE, NoAnswerError, foremost, submitting
from mpicampaign.run.submission import Submission
from mpicampaign.run.waves import lost_nodes
from mpicampaign.schedulers.listings import (
    CANCELLED,
    DONE,
    FAILED,
    HELD,
    LAUNCH_FAILED,
    MANY,
    NODE_FAIL,
    NOT_STARTED,
    OUT_OF_MEMORY,
    PREEMPTED,
    QUEUED,
    RUNNING,
    TIMEOUT,
    QueuedJob,
)
from mpicampaign.schemes.block import LEFT_BEHIND

SETTLE_SECONDS = 10.0  # until a submission whose outcome is unknown is in the queue, if it was accepted
GRACE_SECONDS = 30.0  # until a network file system must show the files of an ended job
CUT_SECONDS = 180.0  # until a list of jobs must be whole: then a run that no note tells of is submitted
KEPT_SECONDS = 300.0  # for which schedulers show a job that has ended

VANISHED = "no longer known to the scheduler"
BLOCK_ENDED = "ended before all its runs"
UNWRITTEN = "results not written"
UNREACHED = "its launcher did not reach the scheduler"
# States for which the cluster is to blame, not the run, and how often a run is then submitted again.
RETRIES = dict.fromkeys(
    (NODE_FAIL, LAUNCH_FAILED, PREEMPTED, VANISHED, NOT_STARTED, BLOCK_ENDED, UNREACHED), 2
)
RETRIES[UNWRITTEN] = TRIES - 1
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
    UNREACHED: "the controller was down or busy; the same command runs it again",
    UNWRITTEN: "is the disk full, a quota used up, or the mount read-only? the same command runs it again",
}
_FILES = "its files may not be visible yet"
NOT_FOLLOWED = "not followed: the scheduler's command refuses its options, see above"


class ClusterJobs:
    """The jobs in flight, each until its run has ended; `step` is one look at files and queue."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self._scheduler = cluster, cluster.scheduler
        self._say, self._clock = cluster.say, cluster.clock
        self._submission = Submission(cluster)
        self._jobs, self._faults = cluster.jobs, cluster.faults
        waiting = "jobs go on, waiting until they can"
        self._writable = Writable(cluster.say, waiting, cluster.clock, self._faults.unwritable)
        self._gone: set[str] = set()  # ids of jobs and arrays that the scheduler does not know
        self._cut = False  # whether the last list of jobs was not whole
        self._asks = True  # whether it is to be asked for further jobs that are missing in the last list
        self._answered = True  # whether it answered each query since
        self._waited_for_orphan = False  # whether the last submission of a killed call has ended
        self._said: set[str] = set()
        self._names_in: dict[str, set[str]] = {}  # the runs of each job in the last list
        self._waiting: set[str] = set()  # jobs that waited for lost nodes at the last look

    def take(self, run: Run) -> None:
        """Add a run; the next `step` submits it, unless its job is in the queue already."""
        self._jobs[run.job_name] = ClusterJob(run)
        self._submission.requests.add(request([run]))
        self.cluster.next_query = 0.0

    @property
    def names(self) -> set[str]:
        """The names of the jobs in flight."""
        return set(self._jobs)

    @property
    def submits(self) -> bool:
        """Whether the next step submits jobs, without another look at the queue."""
        return bool(self._submission.due())

    def step(self) -> list[Ended]:
        """Look at the files of all runs, and at the queue when it is time; submit jobs.

        A free place in the queue is filled without a look at the queue: the last one showed what is absent.
        All runs end where the scheduler's commands refuse their options: waiting would not help. Nothing is
        done while results cannot be written: a submission would not be noted.
        """
        ended: list[Ended] = []
        if not self._writable.now(self.cluster.folder):
            return ended
        try:
            for act in (self._look, self._submission.submit_due):
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

    def _look(self) -> list[Ended]:
        cluster = self.cluster
        if not self._waited_for_orphan:
            with submitting(cluster.lock):
                self._waited_for_orphan = True
            cluster.notes_of = read_submissions(cluster.log)
        ended = [end for job in self._jobs.values() if (end := self._finished(job))]
        if self._jobs.keys() - {end.run.job_name for end in ended} and self._clock() >= cluster.next_query:
            listing = cluster.listing()
            if listing is not None:
                ended = self._after_query(listing)
        return ended

    def _forget(self, ended: list[Ended]) -> None:
        for end in ended:
            job = self._jobs.pop(end.run.job_name, None)
            if job and job.id and end.status == 0:  # the attempts of its job beside the result
                earlier = attempts_of(end.run.folder)
                self._faults.requeued += any(attempt_name(path).endswith(f"-{job.id}") for path in earlier)

    def _finished(self, job: ClusterJob) -> Ended | None:
        """Files alone show success; a failure needs the queue, too: the job may be requeued."""
        if job.run.has_result:
            return Ended(job.run, 0)
        if job.id and not job.left_exit_status and exit_status(job.run.folder, job.id) is not None:
            job.left_exit_status = True
            self.cluster.query_within(FIRST_WAIT)
        return None

    # ---- what the queue shows

    def _after_query(self, listing: dict[str, list[QueuedJob]]) -> list[Ended]:
        """What became of the runs; those with notes come first, which show whether the list is whole."""
        self._submission.room = MANY  # a limit may have been raised
        self._cut, self._asks, self._answered = False, True, True
        self._names_in.clear()
        for queued in (queued for several in listing.values() for queued in several):
            self._names_in.setdefault(queued.id, set()).add(queued.name)
        ended = self._give_up_waiting(listing)
        self._forget(ended)
        for job in sorted(self._jobs.values(), key=lambda job: not self._numbers(job)):
            try:
                outcome = self._judge(job, listing.get(job.run.job_name, []))
            except NoAnswerError as error:
                if problem := str(error):
                    self.cluster.no_answer(problem)
                    self._answered = False
                outcome = False
            if isinstance(outcome, Ended):
                ended.append(outcome)
            else:
                job.due = outcome
        if self._answered:
            self.cluster.answered()
        return ended

    def _judge(self, job: ClusterJob, listed: list[QueuedJob]) -> Ended | bool:
        """How the run ended, or whether it must be submitted; ``listed``: its jobs in the list."""
        if done := self._finished(job):
            return done
        known = self._known(job, listed)
        if known and (latest := foremost(known)).state in MAY_LIVE:
            self._adopt(job, latest)
            return False
        failed = [queued for queued in known if queued.state == LAUNCH_FAILED]
        if not all(self.cluster.cancelled(job, queued) for queued in failed):
            return False  # it is still in the queue: a second job would be one too many
        if job.id:
            return self._after_end(job, next((queued for queued in known if queued.id == job.id), None))
        return self._is_absent(job, known) and (self._left(job, "its job is gone") or True)

    def _give_up_waiting(self, listing: dict[str, list[QueuedJob]]) -> list[Ended]:
        """Cancel jobs that wait for a node that cannot be had; their nodes are asked for again.

        Only those that waited for it at the last look, too: else it may be their own that has just begun.
        """
        of_each = [
            (foremost(listed), job)
            for job in self._jobs.values()
            if job.run.each and (listed := listing.get(job.run.job_name))
        ]
        own = {host for found, job in of_each if found.state == RUNNING for host in job.run.job.hosts}
        queued = [(found, job) for found, job in of_each if found.state == QUEUED]
        before, self._waiting = self._waiting, set()
        ended: list[Ended] = []
        for number, waiting in grouped(queued, lambda found_job: found_job[0].id).items():
            runs = [job.run for _, job in waiting]
            lost, _ = lost_nodes(self._scheduler, runs, own) or ({}, [])
            if lost:
                self._waiting.add(number)
                if number in before and self.cluster.cancelled(waiting[0][1], waiting[0][0]):
                    why = "; ".join(f"{host} is {state}" for host, state in lost.items())
                    self._say(f"job {number} {GIVEN_UP} that it cannot have ({why}): cancelled")
                    ended += [Ended(run, None, GIVEN_UP) for run in runs]
        return ended

    def _left(self, job: ClusterJob, why: str) -> Ended | None:
        """The end of a run whose part of a block began on nodes that no later job gets; noted for plans."""
        run = job.run
        folders = [run.campaign_folder / folder for folder in run.part]
        begun = any(result_in(folder) or ended_by_itself(folder) for folder in folders)
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
        if any(queued.state in MAY_LIVE for queued in listed):
            job.unlisted = False
            return listed
        known = list(listed)
        for number in self._numbers(job):
            if all(queued.id != number for queued in listed) and (asked := self._ask(job, number)):
                self._list_is_cut(job, asked)
                known.append(asked)
        return known

    def _numbers(self, job: ClusterJob) -> list[str]:
        """The id of its job in flight, or else of all its jobs that were noted."""
        noted = (note.partition(" ") for note in self._notes(job))
        taken = (number for action, _, number in noted if action in (SUBMITTED, ADOPTED))
        return [job.id] if job.id else list(dict.fromkeys(taken))

    def _notes(self, job: ClusterJob) -> list[str]:
        return self.cluster.notes_of.get(job.run.identity, [])

    def _ask(self, job: ClusterJob, number: str) -> QueuedJob | None:
        """The job with this number, from a query of its own; None where the scheduler does not know it.

        Raises
        ------
        NoAnswerError
            where it does not answer, or where the present list lacks enough jobs to be asked of.
        """
        array = number.partition("_")[0]
        for asked in dict.fromkeys((array, number)):
            if asked in self._gone:
                return None
            if not self._answered or not (self._asks or job.unlisted):
                raise NoAnswerError
            tasks = self.cluster.query.alone(asked, job.run.draft.token)
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
                    f"{job.run.label}: job {missing.id} is missing from the scheduler's list, which is cut"
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
        numbers, unclear = self._numbers(job), self._notes(job)[-1:] == [SUBMITTING]
        wait, why = SETTLE_SECONDS if unclear else 0.0, "a submission was cut off and may be accepted yet"
        if self._cut and not numbers:
            wait, why = CUT_SECONDS, "its job may be missing from the scheduler's list, which is cut"
        # ended well without a result or an exit status; else it belongs to a folder that was removed since
        if any(
            queued.state == DONE
            and exit_status(job.run.folder, queued.id) is None
            and (unclear or queued.id in numbers)
            for queued in known
        ):
            wait, why = max(wait, GRACE_SECONDS), f"a job of it has ended, and {_FILES}"
        return not self._waits(job, wait, why)

    def _waits(self, job: ClusterJob, seconds: float, why: str) -> bool:
        """Whether to wait, for so long since the job was known to have ended or to be absent; why is said."""
        waits = self._since(job) < seconds
        if waits and not job.waits:
            self._say_of(job, f"{why}; waiting for up to {seconds:.0f} s")
        job.waits = waits
        return waits

    def _since(self, job: ClusterJob) -> float:
        """How long (s) the job has been known to have ended or to be absent."""
        job.since = self._clock() if job.since is None else job.since
        return self._clock() - job.since

    def _adopt(self, job: ClusterJob, queued: QueuedJob) -> None:
        """Take over the job in the queue: submitted before a kill or by hand, or requeued."""
        if not job.id:
            self.cluster.note([job], f"{ADOPTED} {queued.id}")
            self._say_of(job, f"job {queued.id} is in the queue already, {queued.description}")
        if queued.state == HELD and job.held != queued.id:
            release = f"'{self._scheduler.release} {self._scheduler.address(queued.id)}' lets it start"
            self._say_of(job, f"job {queued.id} is held, {queued.description}; {release}")
            job.held = queued.id
        if job.runs and queued.state == QUEUED:
            self._say_of(job, f"job {queued.id} was requeued, {queued.description}")
        job.id, job.since, job.seen = queued.id, None, self._clock()
        job.runs, job.waits = queued.state == RUNNING, False

    # ---- the end of a job without a result

    def _after_end(self, job: ClusterJob, last: QueuedJob | None) -> Ended | bool:
        """The end of a run whose job ended, or vanished, without a result; or whether to submit it again."""
        self._since(job)
        state, description = (last.state, last.description) if last else self._vanished(job)
        status = exit_status(job.run.folder, job.id)
        outage = self._faults.unwritable.times > job.outages
        problem = self._unwritten(job, state, status)
        if problem or (state == FAILED and status is None and outage):
            state, description = UNWRITTEN, problem or f"could not write to {job.run.campaign_folder}"
        if state in (FAILED, DONE) and self._scheduler.unreached.search(
            error_before_output(job.run.folder, job.id)
        ):
            state, description = UNREACHED, f"failed: {UNREACHED}"
        fellows = self._names_in.get(job.id, set())
        shared = len(fellows) > 1 and not (job.run.part or job.run.each)
        begun = any(path.name.endswith(f"-{job.id}") for path in attempts_of(job.run.folder))
        several = shared or job.run.part or job.run.each
        if several and not ended_by_itself(job.run.folder, job.id if shared else ""):
            ends = (FAILED, TIMEOUT, DONE) if shared or job.run.each else (FAILED, TIMEOUT)
            status, state = None, BLOCK_ENDED if state in ends else state
        # its job made others of its runs, and had no time for this one
        goes_on = shared and not begun and state in RETRIES and not self._jobs.keys() >= fellows
        if status is not None and state == VANISHED:
            return Ended(job.run, status)
        if status is not None and state not in RETRIES:
            note = f"job {job.id}: {description}; {ADVICE[state]}" if state in ADVICE else ""
            return Ended(job.run, status, note)
        unsure = state in (DONE, BLOCK_ENDED) or not last
        if self._waits(job, GRACE_SECONDS if unsure else 0.0, f"job {job.id} {description}: {_FILES}"):
            return False
        if state in RETRIES and (ended := self._left(job, f"job {job.id} {description}")):
            return ended
        is_over = outage and state in (UNWRITTEN, NOT_STARTED)
        if is_over or goes_on or job.retries[state] < RETRIES.get(state, 0):
            what = " before all its runs: the next one goes on" if goes_on else ": submitted again"
            self._say_of(job, f"job {job.id} {description}{what}", once=goes_on)
            if not goes_on:
                job.retries[state] += not is_over
                self._faults.again[state] += 1
            job.id, job.since, job.alone = "", None, begun or not shared
            self.cluster.note([job], f"again after {state}")
            return True
        advice = ADVICE.get(state, f"no exit status was written: look at the logs in {job.run.log.parent}")
        return Ended(job.run, None, f"job {job.id}: {description}; {advice}")

    def _say_of(self, job: ClusterJob, text: str, once: bool = False) -> None:
        """Print a line once for a job that measures many members, not for each of its runs."""
        label = " ".join(whole_group(job.run)) if job.run.each else job.run.label
        line = text if once else f"{label}: {text}"
        if line not in self._said or not (once or job.run.each):
            self._say(line)
        self._said.add(line)

    def _unwritten(self, job: ClusterJob, state: str, status: int | None) -> str:
        """Where a job that failed could not write; ``status``: from its files, else the scheduler's."""
        if state == FAILED and not status:
            asked = self._ask(job, job.id)
            status = asked.exit_status if asked else None
        return unwritten(job.run.folder, job.id, status) if state in (FAILED, VANISHED, DONE) else ""

    def _vanished(self, job: ClusterJob) -> tuple[str, str]:
        """State and description of a job that the scheduler does not know.

        Slurm forgets a task at once that is cancelled before it starts; it keeps all others for a while.
        """
        array, task, _ = job.id.partition("_")
        just_now = job.since is not None and job.since - job.seen < KEPT_SECONDS
        if task and array not in self._gone and just_now:
            return CANCELLED, "cancelled before it started"
        return VANISHED, VANISHED
