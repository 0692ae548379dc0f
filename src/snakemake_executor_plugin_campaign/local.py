"""Runs on this machine: one at a time, since two measurements would disturb each other."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from mpicampaign.collect.runs import could_not_write
from mpicampaign.execution.execute import LocalJob, wait_for_measurement
from mpicampaign.execution.writable import SECONDS_BETWEEN_WRITES, TRIES, why_not_writable
from mpicampaign.files import refuse_changeable, system_error_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.execution.progress import Progress
    from mpicampaign.jobs.run import Run


class LocalRuns:
    """A thread that makes runs in the plan's order."""

    def __init__(self, progress: Progress, ended: Callable[[Run, int | None, str], None]) -> None:
        self._progress, self._ended = progress, ended
        self._waiting: queue.PriorityQueue[tuple[int, str, Run | None]] = queue.PriorityQueue()
        self._due: dict[str, Run] = {}  # those that wait and are to be made, by their job
        self._stopping = threading.Event()
        self._current: LocalJob | None = None
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def take(self, runs: list[Run]) -> None:
        """Add runs."""
        for run in runs:
            self._due[run.job_name] = run
            self._waiting.put((run.order, run.job_name, run))

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
        self._waiting.put((-1, "", None))
        self._worker.join()

    def _work(self) -> None:
        while True:
            run = self._waiting.get()[2]
            if run is None or self._stopping.is_set():
                return
            if self._due.pop(run.job_name, None) is None:
                continue  # dropped
            problem, status = "", None
            try:
                status = self._execute(run)
            except OSError as error:
                problem = system_error_text(error)
            if self._stopping.is_set() and not run.output.exists():
                return  # interrupted: Snakemake is ending, the run stays due
            self._ended(run, status, problem)

    def _execute(self, run: Run) -> int:
        self._progress.started(run.label)
        wait_for_measurement(self._progress.say, self._stopping.is_set)
        status = 0
        for _ in range(TRIES):  # a run that could not write its results has not failed
            self._wait_until_writable(run)
            # A result that appeared meanwhile counts: made by hand, or by a script that a killed call left.
            if run.output.exists() or self._stopping.is_set():
                return 0
            number, status = self._run(run)
            if not could_not_write(run.folder, number, status):
                break
        return status

    def _wait_until_writable(self, run: Run) -> None:
        problem = why_not_writable(run.campaign_folder)
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
