"""Runs on this machine: one at a time, since two measurements would disturb each other."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from mpicampaign.base.files import refuse_changeable, system_error_text
from mpicampaign.base.grouping import grouped
from mpicampaign.collect.runs import attempts_of, could_not_write
from mpicampaign.run.batches import ABSENT, Batch, rounds_of, shares_steps
from mpicampaign.run.execute import LocalJob
from mpicampaign.run.machine_lock import wait_for_measurement
from mpicampaign.run.writable import SECONDS_BETWEEN_WRITES, TRIES, why_not_writable
from mpicampaign.schedulers import SCHEDULERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.jobs.run import Run
    from mpicampaign.run.progress import Progress

MANY = 1_000_000  # places for jobs: there is no queue


class LocalRuns:
    """A thread that makes runs in the plan's order."""

    def __init__(
        self,
        progress: Progress,
        ended: Callable[[Run, int | None, str], None],
        died: Callable[[Exception], None],
    ) -> None:
        self._progress, self._ended, self._died = progress, ended, died
        self._waiting: queue.PriorityQueue[tuple[tuple[int, ...], str, Batch | None]] = queue.PriorityQueue()
        self._due: dict[str, Run] = {}  # those that wait and are to be made, by their job
        self._stopping = threading.Event()
        self._current: LocalJob | None = None
        self._next_write = 0.0
        self._worker = threading.Thread(target=self._guarded, daemon=True)
        self._worker.start()

    def take(self, runs: list[Run]) -> None:
        """Add runs."""
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

    def _guarded(self) -> None:
        """Report an error of the thread: the call would wait for it for ever."""
        try:
            self._work()
        except Exception as error:
            self._died(error)

    def _work(self) -> None:
        while True:
            batch = self._waiting.get()[2]
            if batch is None or self._stopping.is_set():
                return
            runs = [run for run in batch.runs if self._due.pop(run.job_name, None) is not None]
            if not runs:
                continue  # dropped
            if batch.rounds:
                self._make_rounds(batch)
                continue
            [run] = runs
            problem, status = "", None
            try:
                status = self._execute(run)
            except OSError as error:
                problem = system_error_text(error)
            if self._stopping.is_set() and not run.output.exists():
                return  # interrupted: the run stays due
            self._ended(run, status, problem)

    def _make_rounds(self, batch: Batch) -> None:
        """Make the rounds of listed hosts by one script; how each run ended is in its files."""
        problem = ""
        try:
            script = batch.write()
            refuse_changeable(script, script.parent)
            self._progress.started(f"{len(batch.runs)} runs side by side")
            self._current = job = LocalJob(script, script.with_suffix(".log"))
            job.wait()
        except OSError as error:
            problem = system_error_text(error)
        finally:
            self._current = None
        for run in batch.runs if not self._stopping.is_set() else ():
            silent = not (run.output.exists() or attempts_of(run.folder))
            hosts = " or ".join(run.job.group.hosts)
            unmade = f"{ABSENT}: {hosts} left no files: does 'ssh -o BatchMode=yes HOST true' work?"
            self._ended(run, 0 if run.output.exists() else 1, problem or (unmade if silent else ""))

    def _execute(self, run: Run) -> int:
        self._progress.started(run.label)
        wait_for_measurement(self._progress.say, self._stopping.is_set)
        status = 0
        for tries in range(TRIES):  # a run that could not write its results has not failed
            self._wait_until_writable(run, write=tries > 0 or time.monotonic() >= self._next_write)
            # A result that appeared meanwhile counts: made by hand, or by a script that a killed call left.
            if run.output.exists() or self._stopping.is_set():
                return 0
            number, status = self._run(run)
            if not could_not_write(run.folder, number, status):
                break
        return status

    def _wait_until_writable(self, run: Run, write: bool) -> None:
        problem = why_not_writable(run.campaign_folder, write=write)
        if write:
            self._next_write = time.monotonic() + SECONDS_BETWEEN_WRITES
        if problem:
            self._progress.say(f"results can't be written: {problem}; waiting until they can")
        while problem and not self._stopping.wait(SECONDS_BETWEEN_WRITES / 10):
            problem = why_not_writable(run.campaign_folder)
            if not problem:
                self._progress.say("results can be written again")

    def _run(self, run: Run) -> tuple[str, int]:
        """Execute a run's script to its end; its job's id and exit status."""
        refuse_changeable(run.path, run.campaign_folder)
        self._current = job = LocalJob(run.path, run.log)
        try:
            return job.id, job.wait()
        finally:
            self._current = None
