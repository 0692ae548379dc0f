"""Snakemake executor that runs the rendered job scripts themselves.

The script is the job: no Snakemake on the node, no wrapper. On a machine without a scheduler one
script runs at a time, in the plan's order, since two measurements would disturb each other.
"""

from __future__ import annotations

import queue
import signal
import threading
from typing import TYPE_CHECKING, Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecMode

from mpicampaign.collect import RunFolder, read_run
from mpicampaign.execute import LocalJob, wait_for_measurement
from mpicampaign.plan_text import waiting_text
from mpicampaign.progress import Progress
from mpicampaign.records import FAILED
from mpicampaign.set_aside import set_aside

if TYPE_CHECKING:
    from pathlib import Path

    from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

SUBMIT = {"slurm": "sbatch job.sh", "lsf": "bsub < job.sh"}
SUBMIT_BY_HAND = (
    "jobs of a {scheduler} system can't be submitted from here yet: write the scripts with "
    "'mpicampaign render', submit each with '{command}', and call again: finished results are taken up"
)

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_default_storage_provider_args=False,
    pass_default_resources_args=False,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
)


def end_as_by_ctrl_c() -> None:
    """Let SIGTERM and SIGHUP end Snakemake as Ctrl-C does.

    Its own answer to SIGTERM is to finish all jobs that it handed over, which here are all there are.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup ignores SIGHUP; only the main thread may set handlers
        if (
            signal.getsignal(number) is not signal.SIG_IGN
            and threading.current_thread() is threading.main_thread()
        ):
            signal.signal(number, signal.default_int_handler)


class Executor(RealExecutor):  # type: ignore[misc]
    """Runs jobs of the rule ``run``: ``params.script`` is a `prepare.Script`."""

    def __post_init__(self) -> None:
        self._waiting: queue.PriorityQueue[tuple[int, int, Any]] = queue.PriorityQueue()
        self._stopping = threading.Event()
        self._current: LocalJob | None = None
        self._progress = Progress()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def run_jobs(self, jobs: list[JobExecutorInterface]) -> None:
        """Take all ready jobs at once, in the plan's order."""
        end_as_by_ctrl_c()
        self._progress.expect(len(jobs))
        for job in sorted(jobs, key=lambda job: job.params.script.run.order):
            self.run_job_pre(job)
            self.run_job(job)

    def run_job(self, job: JobExecutorInterface) -> None:
        scheduler = job.params.script.run.job.system.scheduler
        if scheduler != "none":
            raise WorkflowError(SUBMIT_BY_HAND.format(scheduler=scheduler, command=SUBMIT[scheduler]))
        info = SubmittedJobInfo(job=job)
        self.report_job_submission(info)
        self._waiting.put((job.params.script.run.order, job.jobid, info))

    def _work(self) -> None:
        while True:
            _, _, info = self._waiting.get()
            if info is None or self._stopping.is_set():
                return
            try:
                self._execute(info)
            except Exception as error:
                # Whatever went wrong here, Snakemake must hear of it: silence would wait for ever.
                self.report_job_error(info, msg=f"{type(error).__name__}: {error}")

    def _execute(self, info: SubmittedJobInfo) -> None:
        script = info.job.params.script
        self._progress.started(script.label)
        wait_for_measurement(script.measuring_lock, self._say_waiting, self._stopping.is_set)
        # A result that appeared meanwhile, made by hand or by an orphan of a killed call, is taken.
        status = 0 if script.output.exists() or self._stopping.is_set() else self._run(script.path)
        if self._stopping.is_set() and not script.output.exists():
            return  # interrupted: Snakemake is ending, the run is made again next time
        run = script.run
        record = read_run(run.case, run.benchmark.suite, RunFolder(script.folder, run.repeat))
        if record.status == FAILED and script.output.exists():
            set_aside(script)  # its exit status was 0, but its output says nothing
        self._progress.finished(script.label, record, status)
        if script.output.exists():
            self.report_job_success(info)
        else:
            self.report_job_error(info)

    def _say_waiting(self, owner: str) -> None:
        self._progress.waiting(waiting_text(owner))

    def _run(self, script: Path) -> int:
        self._current = LocalJob(script)
        try:
            return self._current.wait()
        finally:
            self._current = None

    def cancel(self) -> None:
        """Stop the run in progress and forget the waiting ones; all of them stay to be done."""
        self.shutdown()

    def shutdown(self) -> None:
        self._stopping.set()
        current = self._current
        if current is not None:
            current.stop()
        self._waiting.put((-1, 0, None))
        self._worker.join()
        self._progress.close()

    @property
    def cores(self) -> int:
        return 1

    def get_exec_mode(self) -> ExecMode:
        return ExecMode.REMOTE

    def get_python_executable(self) -> str:
        raise NotImplementedError("no Snakemake is started by this executor")
