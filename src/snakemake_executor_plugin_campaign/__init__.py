"""Snakemake executor that submits the rendered job scripts.

The script is the job: there is no Snakemake on the node, and no wrapper. The scheduler of the campaign file
gets all jobs at once, and keeps them if this process ends. On a machine without one, one script runs at a
time, in the plan's order.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecMode

from mpicampaign.collect.runs import RunFolder, read_run
from mpicampaign.errors import UserError
from mpicampaign.execution.conditions import further_of, prepare_with_results
from mpicampaign.execution.interrupts import end_in_order
from mpicampaign.execution.progress import Progress
from mpicampaign.execution.set_aside import set_aside
from mpicampaign.jobs.prepare import write_plan, write_script
from mpicampaign.records import DISTURBED, FAILED, MISSING
from mpicampaign.schedulers import batch_scheduler
from snakemake_executor_plugin_campaign.cluster import ClusterRuns
from snakemake_executor_plugin_campaign.local import LocalRuns

if TYPE_CHECKING:
    from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

    from mpicampaign.jobs.prepare import Script

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_default_storage_provider_args=False,
    pass_default_resources_args=False,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
)


class Executor(RealExecutor):  # type: ignore[misc]
    """Runs jobs of the rule ``run``: ``params.script`` is a `prepare.Script`."""

    def __post_init__(self) -> None:
        self._infos: dict[str, SubmittedJobInfo] = {}
        self._progress = Progress()
        self._runs: dict[str, LocalRuns | ClusterRuns] = {}  # by scheduler
        self._taken: set[str] = set()  # names of jobs
        # jobs of disturbed runs, whose success is reported when the further repeat of this name has ended
        self._held: dict[str, list[SubmittedJobInfo]] = {}

    def run_jobs(self, jobs: list[JobExecutorInterface]) -> None:
        """Take all ready jobs at once, in the plan's order."""
        end_in_order()  # Snakemake has set handlers of its own
        self._progress.expect(len(jobs))
        self._taken.update(job.params.script.job_name for job in jobs)
        for job in sorted(jobs, key=lambda job: job.params.script.run.order):
            self.run_job_pre(job)
            self.run_job(job)

    def run_job(self, job: JobExecutorInterface) -> None:
        script = job.params.script
        info = SubmittedJobInfo(job=job)
        self._infos[script.job_name] = info
        self.report_job_submission(info)
        self._take(script)

    def _take(self, script: Script) -> None:
        self._taken.add(script.job_name)
        name = script.run.job.system.scheduler
        if name not in self._runs:
            self._runs[name] = self._new_runs(script)
        self._runs[name].take(script)

    def _new_runs(self, first: Script) -> LocalRuns | ClusterRuns:
        scheduler = batch_scheduler(first.run.job.system.scheduler)
        if scheduler is None:
            return LocalRuns(self._progress, self._ended)
        return ClusterRuns(scheduler, first.submitting_lock, self._progress, self._ended)

    def _ended(self, script: Script, status: int | None, problem: str) -> None:
        """Report how a run ended, from its files, to the user and to Snakemake.

        Snakemake does not know the further repeats that are added meanwhile. It ends, and makes the report,
        when it has heard of all its jobs; so a disturbed run is reported after its further repeat.
        """
        info = self._infos.pop(script.job_name, None)
        waiting = self._held.pop(script.job_name, [])
        further: tuple[Script, ...] = ()
        try:
            run = script.run
            record = read_run(run.case, run.benchmark.suite, RunFolder(script.folder, run.repeat))
            if record.status == FAILED and script.output.exists():
                set_aside(script)  # its exit status was 0, but its output says nothing
            self._progress.finished(script.label, record, status, problem)
            ended_well = script.output.exists() and record.status not in (FAILED, MISSING)
            further = self._further(script) if ended_well and record.condition == DISTURBED else ()
        except Exception as error:
            # Whatever went wrong here, Snakemake needs a report, or it would wait for ever. But it removes
            # the output of a failed job, and this one is good as far as is known.
            self._progress.say(f"{script.label}: its result can't be read: {type(error).__name__}: {error}")
            ended_well = script.output.exists()
        if info is not None and ended_well:
            waiting.append(info)
        elif info is not None:
            self.report_job_error(info)
        if further:
            self._held[further[-1].job_name] = waiting
            for each in further:
                self._take(each)
        else:
            for each_info in waiting:
                self.report_job_success(each_info)

    def _further(self, script: Script) -> tuple[Script, ...]:
        """The further repeats of its case that are due now and were not taken yet, written to disk."""
        config = self.workflow.config
        try:
            now = prepare_with_results(
                Path(config.get("campaign", "campaign.yaml")), config.get("system", "")
            )
            found = further_of(script, now.pending)
            new = tuple(each for each in found if each.job_name not in self._taken)
            for each in new:
                write_script(each)
            if new:
                write_plan(now)
        except (UserError, OSError) as error:  # such as a campaign file that is being edited
            self._progress.say(f"{script.label}: disturbed, but it can't be repeated now: {error}")
            return ()
        self._progress.expect(len(new))
        return new

    def cancel(self) -> None:
        """Stop local runs, leave jobs with the scheduler; the same command resumes all."""
        self.shutdown()

    def shutdown(self) -> None:
        for runs in self._runs.values():
            runs.stop()
        self._progress.close()

    @property
    def cores(self) -> int:
        return 1

    def get_exec_mode(self) -> ExecMode:
        return ExecMode.REMOTE

    def get_python_executable(self) -> str:
        raise NotImplementedError("no Snakemake is started by this executor")
