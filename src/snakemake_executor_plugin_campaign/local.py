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
    from mpicampaign.jobs.prepare import Script


class LocalRuns:
    """A thread that executes scripts in the plan's order."""

    def __init__(self, progress: Progress, ended: Callable[[Script, int | None, str], None]) -> None:
        self._progress, self._ended = progress, ended
        self._waiting: queue.PriorityQueue[tuple[int, str, Script | None]] = queue.PriorityQueue()
        self._due: dict[str, Script] = {}  # those that wait and are to be made, by their job
        self._stopping = threading.Event()
        self._current: LocalJob | None = None
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def take(self, scripts: list[Script]) -> None:
        """Add runs."""
        for script in scripts:
            self._due[script.job_name] = script
            self._waiting.put((script.run.order, script.job_name, script))

    @property
    def due(self) -> list[Script]:
        """The runs that have not begun."""
        return list(self._due.values())

    def drop(self, scripts: list[Script]) -> None:
        """Do not make these runs."""
        for script in scripts:
            self._due.pop(script.job_name, None)

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
            script = self._waiting.get()[2]
            if script is None or self._stopping.is_set():
                return
            if self._due.pop(script.job_name, None) is None:
                continue  # dropped
            problem, status = "", None
            try:
                status = self._execute(script)
            except OSError as error:
                problem = system_error_text(error)
            if self._stopping.is_set() and not script.output.exists():
                return  # interrupted: Snakemake is ending, the run stays due
            self._ended(script, status, problem)

    def _execute(self, script: Script) -> int:
        self._progress.started(script.label)
        wait_for_measurement(script.measuring_lock, self._progress.say, self._stopping.is_set)
        status = 0
        for _ in range(TRIES):  # a run that could not write its results has not failed
            self._wait_until_writable(script)
            # A result that appeared meanwhile counts: made by hand, or by a script that a killed call left.
            if script.output.exists() or self._stopping.is_set():
                return 0
            number, status = self._run(script)
            if not could_not_write(script.folder, number, status):
                break
        return status

    def _wait_until_writable(self, script: Script) -> None:
        problem = why_not_writable(script.campaign_folder)
        if problem:
            self._progress.say(f"results can't be written: {problem}; waiting until they can")
        while problem and not self._stopping.wait(SECONDS_BETWEEN_WRITES / 10):
            problem = why_not_writable(script.campaign_folder)
            if not problem:
                self._progress.say("results can be written again")

    def _run(self, script: Script) -> tuple[str, int]:
        """Run a script to its end; its job's id and exit status."""
        refuse_changeable(script.path, script.campaign_folder)
        self._current = job = LocalJob(script.path, script.log)
        try:
            return job.id, job.wait()
        finally:
            self._current = None
