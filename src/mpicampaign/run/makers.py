"""What makes runs, each a thread: this machine, one run at a time, or a scheduler, which keeps their jobs."""

from __future__ import annotations

import queue
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mpicampaign.base.files import refuse_changeable, system_error_text
from mpicampaign.base.grouping import grouped
from mpicampaign.base.run_files import attempts_of
from mpicampaign.collect.runs import unwritten
from mpicampaign.jobs.run import Run
from mpicampaign.run.batches import ABSENT, Batch, rounds_of, shares_steps
from mpicampaign.run.cluster import Cluster
from mpicampaign.run.cluster_jobs import ClusterJobs
from mpicampaign.run.execute import LocalJob
from mpicampaign.run.faults import SECONDS_BETWEEN_WRITES, TRIES, Writable
from mpicampaign.run.machine_lock import wait_for_measurement
from mpicampaign.run.progress import Progress
from mpicampaign.schedulers import SCHEDULERS, BatchScheduler

TellEnd = Callable[[Run, int | None, str], None]
TellError = Callable[[Exception], None]

MANY = 1_000_000  # places for jobs: there is no queue
# Seconds between two looks at the runs' folders; the more runs, the longer.
SHORTEST_LOOK, LONGEST_LOOK, LOOK_PER_JOB = 0.2, 4.0, 0.005
SECONDS_TO_END = 5.0


class RunMaker(ABC):
    """A thread that makes runs.

    ``ended`` is told of each that has ended: its exit status, and what its files do not say; ``died``, of an
    error of the thread, since the call would wait for it for ever.
    """

    def __init__(self, progress: Progress, ended: TellEnd, died: TellError) -> None:
        self._progress, self._ended, self._died = progress, ended, died
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._guarded, daemon=True)

    @abstractmethod
    def take(self, runs: list[Run]) -> None:
        """Add runs, in the plan's order."""

    @abstractmethod
    def stop(self) -> None:
        """Stop, so that the same command goes on."""

    @abstractmethod
    def _work(self) -> None:
        """Make runs until `stop`."""

    def _guarded(self) -> None:
        try:
            self._work()
        except Exception as error:
            self._died(error)


class LocalRuns(RunMaker):
    """Runs on this machine: one at a time, since two measurements would disturb each other."""

    def __init__(self, progress: Progress, ended: TellEnd, died: TellError) -> None:
        super().__init__(progress, ended, died)
        self._waiting: queue.PriorityQueue[tuple[tuple[int, ...], str, Batch | None]] = queue.PriorityQueue()
        self._due: dict[str, Run] = {}  # those that wait and are to be made, by their job
        self._current: LocalJob | None = None
        self._writable = Writable(progress.say, "waiting until they can")
        self._worker.start()

    def take(self, runs: list[Run]) -> None:
        self._due |= {run.job_name: run for run in runs}
        by_shape = grouped(runs, lambda run: shares_steps(run, SCHEDULERS[run.job.system.scheduler]))
        batches = [Batch(((run,),)) for run in by_shape.get(False, [])]
        batches += rounds_of(by_shape.get(True, []), Counter({run.job.system.defined: MANY for run in runs}))
        for batch in batches:
            first = batch.runs[0]
            self._waiting.put((first.place, first.job_name, batch))

    @property
    def due(self) -> list[Run]:
        """The runs that have not begun."""
        return list(self._due.values())

    def drop(self, runs: list[Run]) -> None:
        """Do not make these runs."""
        for run in runs:
            self._due.pop(run.job_name, None)

    def stop(self) -> None:
        """Stop the present run and drop the waiting ones; all of them stay due."""
        self._stopping.set()
        current = self._current
        if current is not None:
            current.stop()
        self._waiting.put(((), "", None))
        self._worker.join()

    def _work(self) -> None:
        while True:
            batch = self._waiting.get()[2]
            if batch is None or self._stopping.is_set():
                return
            runs = [run for run in batch.runs if self._due.pop(run.job_name, None) is not None]
            if runs and batch.rounds:
                self._make_rounds(batch)
            elif runs and not self._make(runs[0]):
                return

    def _make(self, run: Run) -> bool:
        """Make a run; False where it was interrupted, and stays due."""
        problem, status = "", None
        try:
            status = self._execute(run)
        except OSError as error:
            problem = system_error_text(error)
        if self._stopping.is_set() and not run.has_result:
            return False
        self._ended(run, status, problem)
        return True

    def _make_rounds(self, batch: Batch) -> None:
        """Make the rounds of listed hosts by one script; how each run ended is in its files."""
        problem = ""
        try:
            script = batch.write()
            self._progress.started(f"{len(batch.runs)} runs side by side")
            self._run(script, script.with_suffix(".log"), script.parent)
        except OSError as error:
            problem = system_error_text(error)
        for run in batch.runs if not self._stopping.is_set() else ():
            silent = not (run.has_result or attempts_of(run.folder))
            hosts = " or ".join(run.job.hosts)
            unmade = f"{ABSENT}: {hosts} left no files: does 'ssh -o BatchMode=yes HOST true' work?"
            self._ended(run, 0 if run.has_result else 1, problem or (unmade if silent else ""))

    def _execute(self, run: Run) -> int:
        self._progress.started(run.label)
        wait_for_measurement(self._progress.say, self._stopping.is_set)
        status = 0
        for tries in range(TRIES):  # a run that could not write its results has not failed
            while not self._writable.now(run.campaign_folder, write=tries > 0):
                if self._stopping.wait(SECONDS_BETWEEN_WRITES / 10):
                    break
            # A result that appeared meanwhile counts: made by hand, or by a script that a killed call left.
            if run.has_result or self._stopping.is_set():
                return 0
            number, status = self._run(run.path, run.log, run.campaign_folder)
            if not (problem := unwritten(run.folder, number, status)):
                break
            self._progress.say(f"{run.label}: {problem}{', trying again' if tries < TRIES - 1 else ''}")
        return status

    def _run(self, script: Path, log: Path, top: Path) -> tuple[str, int]:
        """Execute a script to its end; its job's id and exit status."""
        refuse_changeable(script, top)
        self._current = job = LocalJob(script, log)
        try:
            return job.id, job.wait()
        finally:
            self._current = None


class ClusterRuns(RunMaker):
    """Submits and watches the jobs of runs, which the scheduler keeps whether or not this process lives."""

    def __init__(
        self, progress: Progress, ended: TellEnd, died: TellError, scheduler: BatchScheduler, lock: Path
    ) -> None:
        super().__init__(progress, ended, died)
        self._jobs = ClusterJobs(Cluster(scheduler, lock, progress.say))
        self._new: queue.SimpleQueue[list[Run]] = queue.SimpleQueue()
        self._worker.start()

    def take(self, runs: list[Run]) -> None:
        """Submit runs, those with the same request together."""
        self._new.put(runs)

    def stop(self) -> None:
        """Leave the jobs to the scheduler; the same command resumes them."""
        self._stopping.set()
        self._worker.join(SECONDS_TO_END)  # a command to a busy scheduler goes on by itself
        for line in self._jobs.summary():
            self._progress.say(line)
        if names := self._jobs.names:
            message = f"{len(names)} runs are left to the scheduler; the same command resumes them, "
            self._progress.say(message + "'mpicampaign cancel' cancels their jobs")

    def _work(self) -> None:
        while not self._stopping.is_set():
            while not self._new.empty():
                for run in self._new.get():
                    self._jobs.take(run)
            try:
                ends = self._jobs.step()
            except OSError as error:
                # such as a file server that does not answer: nothing is known of the runs
                ends = []
                self._progress.say(f"can't look at the runs ({system_error_text(error)}), trying again")
                self._stopping.wait(LONGEST_LOOK)
            for end in ends:
                self._ended(*end)
            if not self._jobs.submits:
                look = SHORTEST_LOOK + LOOK_PER_JOB * len(self._jobs.names)
                self._stopping.wait(min(LONGEST_LOOK, look))
