"""Runs on a cluster: the scheduler keeps their jobs, whether or not this process lives."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from mpicampaign.base.files import system_error_text
from mpicampaign.run.cluster_jobs import ClusterJobs, Ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpicampaign.jobs.run import Run
    from mpicampaign.run.progress import Progress
    from mpicampaign.schedulers import BatchScheduler

# Seconds between two looks at the runs' folders; the more runs, the longer.
SHORTEST_LOOK, LONGEST_LOOK, LOOK_PER_JOB = 0.2, 4.0, 0.005
SECONDS_TO_END = 5.0


class ClusterRuns:
    """A thread that submits and watches the jobs of runs."""

    def __init__(
        self,
        scheduler: BatchScheduler,
        submitting_lock: Path,
        progress: Progress,
        ended: Callable[[Run, int | None, str], None],
        died: Callable[[Exception], None],
    ) -> None:
        self._progress, self._ended, self._died = progress, ended, died
        self._jobs = ClusterJobs(scheduler, submitting_lock, progress.say)
        self._new: queue.SimpleQueue[list[Run]] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._guarded, daemon=True)
        self._worker.start()

    def take(self, runs: list[Run]) -> None:
        """Add runs, in the plan's order; those that ask for the same are submitted together."""
        self._new.put(runs)

    def stop(self) -> None:
        """Leave the jobs to the scheduler; the same command resumes them."""
        self._stopping.set()
        self._worker.join(SECONDS_TO_END)  # a command to a busy scheduler goes on by itself
        for line in self._jobs.summary():
            self._progress.say(line)
        left = len(self._jobs.names)
        if left:
            message = f"{left} runs are left to the scheduler; the same command resumes them, "
            self._progress.say(message + "'mpicampaign cancel' cancels their jobs")

    def _guarded(self) -> None:
        """Report an error of the thread: the call would wait for it for ever."""
        try:
            self._work()
        except Exception as error:
            self._died(error)

    def _work(self) -> None:
        while not self._stopping.is_set():
            while not self._new.empty():
                for run in self._new.get():
                    self._jobs.take(run)
            for found in self._step():
                self._ended(found.run, found.status, found.problem)
            if not self._jobs.submits:
                look = SHORTEST_LOOK + LOOK_PER_JOB * len(self._jobs.names)
                self._stopping.wait(min(LONGEST_LOOK, look))

    def _step(self) -> list[Ended]:
        try:
            return self._jobs.step()
        except OSError as error:
            # such as a file server that does not answer: nothing is known of the runs
            self._progress.say(f"can't look at the runs ({system_error_text(error)}), trying again")
            self._stopping.wait(LONGEST_LOOK)
            return []
