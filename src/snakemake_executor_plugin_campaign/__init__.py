"""Snakemake executor that submits the rendered job scripts.

The run is the job: there is no Snakemake on the node, and no wrapper. The scheduler of the campaign file
gets all jobs at once, and keeps them if this process ends. On a machine without one, one script runs at a
time, in the plan's order.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snakemake.shell import shell
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecMode

from mpicampaign.collect.runs import RunFolder, evidence_in, read_run
from mpicampaign.errors import UserError
from mpicampaign.execution.batches import ABSENT
from mpicampaign.execution.busy import LATER, THIS_CALL, fitting, is_left_out, left_out_text
from mpicampaign.execution.conditions import case_of, further_of, met_limit, prepare_with_results
from mpicampaign.execution.progress import Progress
from mpicampaign.execution.scheduler_calls import ignored_lines
from mpicampaign.execution.set_aside import set_aside
from mpicampaign.jobs.blocks import LEFT_BEHIND
from mpicampaign.jobs.prepare import write_plan, write_script
from mpicampaign.records import CONTRADICTED, DISTURBED, FAILED, MISSING, RANKED
from mpicampaign.schedulers import SCHEDULERS, batch_scheduler
from mpicampaign.selection import selection_of
from mpicampaign.verdict.condition import busy_process
from snakemake_executor_plugin_campaign.cluster import ClusterRuns
from snakemake_executor_plugin_campaign.local import LocalRuns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from snakemake.jobs import Job
    from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run
    from mpicampaign.records import Case, Record

# Parts of blocks that are made anew in a call: where every allocation is lost, it ends.
MOST_LOST = 20

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
    """Runs jobs of the rule ``run``: ``params.script`` is its `Run`."""

    def __post_init__(self) -> None:
        self._check: Callable[..., Awaitable[None]] = self.dag.check_and_touch_output
        self.dag.check_and_touch_output = self._check_output
        self._infos: dict[str, SubmittedJobInfo] = {}
        # runs that Snakemake has not heard of
        self._unreported = sum(job.rule.name == "run" for job in self.dag.needrun_jobs())
        self._progress = Progress()
        self._runs: dict[str, LocalRuns | ClusterRuns] = {}  # by scheduler
        self._ending = threading.Lock()
        self._taken: set[str] = set()  # names of jobs
        self._disturbed: set[str] = set()  # cases
        self._further: set[str] = set()  # names of further repeats that Snakemake did not ask for
        self._in_flight: set[str] = set()  # those of them that have not ended
        # disturbed runs, and whether they ended well, to be reported when none is in flight
        self._held: list[tuple[SubmittedJobInfo, bool]] = []
        self._lost: set[tuple[str, ...]] = set()  # parts of blocks that were left
        self._failed: list[tuple[Run, SubmittedJobInfo]] = []  # runs of `each`
        self._absent: set[str] = set()  # what was said of nodes that are not measured
        self._valued: set[Case | None] = set()  # those of which any run ended well
        self._is_late = False  # for further repeats
        self._began = time.monotonic()
        self._busy: Prepared | None = None  # the campaign, once its machine is known to be busy
        self._neighbour = ""  # the process that takes the CPU, by the last disturbed run that named one
        self._postponed: list[Run] = []  # runs that do not fit into the time that a busy machine has left
        self._left: dict[str, Run] = {}  # runs that have no result now, and need none, by their job

    async def _check_output(self, job: Job, **options: Any) -> None:
        """`DAG.check_and_touch_output`, for results without their times, and for runs without a result.

        Results are written once, and a folder that is read-only at that moment would end Snakemake. Nor are
        their times compared with those of the binaries: the clock of a node may differ.
        """
        if job.rule.name != "run":
            await self._check(job, **options)
        elif job.params.script.job_name not in self._left:
            await self._check(job, **options | {"no_touch": True, "check_output_mtime": False})
        else:
            for other in self.dag.depending[job]:  # such as the report, which would wait for the file
                other.input.remove(job.output[0])

    def run_jobs(self, jobs: list[JobExecutorInterface]) -> None:
        """Take all ready jobs at once, in the plan's order."""
        runs = {job.params.script.job_name: job.params.script for job in jobs}
        self._progress.expect([run for name, run in runs.items() if name not in self._taken])
        self._taken |= runs.keys()
        new = []
        for job in sorted(jobs, key=lambda job: job.params.script.order):
            self.run_job_pre(job)
            run = job.params.script
            info = SubmittedJobInfo(job=job)
            self._infos[run.job_name] = info
            self.report_job_submission(info)
            if run.job_name in self._further:
                self._join(run)
            else:
                new.append(run)
        self._take(new)
        with self._ending:
            self._leave_out()

    def run_job(self, job: JobExecutorInterface) -> None:
        self.run_jobs([job])

    def _join(self, run: Run) -> None:
        """A further repeat that was taken before Snakemake came to it, as with ``--jobs 1``."""
        ended = run.job_name not in self._in_flight
        if ended and (info := self._pop(run)) is not None:
            self._report(info, run.output.exists() or run.job_name in self._left)

    def _take(self, runs: list[Run]) -> None:
        by_scheduler: dict[str, list[Run]] = {}
        for run in runs:
            by_scheduler.setdefault(run.job.system.scheduler, []).append(run)
        for name, several in by_scheduler.items():
            if name not in self._runs:
                self._runs[name] = self._new_runs(several[0])
            self._runs[name].take(several)

    def _new_runs(self, first: Run) -> LocalRuns | ClusterRuns:
        name = first.job.system.scheduler
        for line in ignored_lines(SCHEDULERS[name]):
            self._progress.say(line)
        scheduler = batch_scheduler(name)
        if scheduler is None:
            return LocalRuns(self._progress, self._ended)
        return ClusterRuns(scheduler, first.submitting_lock, self._progress, self._ended)

    def _ended(self, run: Run, status: int | None, problem: str) -> None:
        """Report how a run ended; one at a time, though each scheduler has a thread of its own."""
        with self._ending:
            self._report_end(run, status, problem)

    def _report_end(self, run: Run, status: int | None, problem: str) -> None:
        """Report how a run ended, from its files, to the user and to Snakemake.

        Snakemake does not know the further repeats that are added meanwhile. It ends, and makes the report,
        when it has heard of all its jobs; so disturbed runs, and the last one before a block of further
        repeats, are reported after these.
        """
        disturbed = False
        try:
            folder = RunFolder(run.folder, run.repeat)
            record = read_run(run.kept, run.benchmark.suite, folder, reading=run.reading)
            if record.status == FAILED and run.output.exists() and not record.unread:
                set_aside(run)  # its exit status was 0, but its output says nothing
            if problem.startswith(ABSENT):
                self._progress.left_out([run])
                self._leave(run)
                if problem not in self._absent:
                    self._progress.say(problem)
                self._absent.add(problem)
            elif self._is_left(run):
                self._progress.left_out([run])
                self._progress.say(f"{run.label}: {problem}; another block stands in for it")
            else:
                self._progress.finished(run.label, record, status, problem)
            ended_well = run.output.exists() and (record.unread or record.status not in (FAILED, MISSING))
            disturbed = ended_well and record.condition == DISTURBED and not run.each
            if run.block:
                disturbed = disturbed or self._is_made_again(run, record)
            if record.status == FAILED and record.condition == DISTURBED:
                self._leave(run)  # others left it too little time
            if not self.workflow.config.get("once") and not run.each:
                self._look_for_others(run, record.condition)
                if disturbed:
                    self._repeat_disturbed(run)
        except Exception as error:
            # Whatever went wrong here, Snakemake needs a report, or it would wait for ever. But it removes
            # the output of a failed job, and this one is good as far as is known.
            self._progress.say(f"{run.label}: its result can't be read: {type(error).__name__}: {error}")
            ended_well = run.output.exists()
        self._in_flight.discard(run.job_name)
        info = self._pop(run)
        is_last = not self._unreported and not self._in_flight
        waits = disturbed or (is_last and self._take_block(run))
        if ended_well and run.each:
            self._valued.add(run.whole)
        if info is not None and run.each and not ended_well and run.job_name not in self._left:
            self._failed.append((run, info))
        elif info is not None and waits:
            self._held.append((info, ended_well or run.job_name in self._left))
        elif info is not None:
            self._report(info, ended_well or run.job_name in self._left)
        elif not ended_well and run.job_name not in self._left:
            THIS_CALL.failed = True
        self._report_failed_members()
        self._leave_out()
        while self._held and not self._in_flight:
            self._report(*self._held.pop())

    def _is_left(self, run: Run) -> bool:
        """Whether the block of a run was left, and it with it."""
        return bool(run.block) and not run.output.exists() and (run.folder / LEFT_BEHIND).exists()

    def _report_failed_members(self) -> None:
        """Report failed runs of `each` when all have ended: where others have values, they are answers."""
        if any(info.job.params.script.each for info in self._infos.values()):
            return
        for run, info in self._failed:
            if run.whole in self._valued:
                self._leave(run)
            self._report(info, run.job_name in self._left)
        self._failed.clear()

    def _is_made_again(self, run: Run, record: Record) -> bool:
        """Whether the candidates of a run's benchmark are to be measured again, in another block.

        A run that was left, or met its time limit there, is done for Snakemake.
        """
        left = self._is_left(run)
        if left or met_limit(record, run.time_limit):
            self._left[run.job_name] = run
        self._lost |= {run.part} if left else set()
        if left and len(self._lost) > MOST_LOST:
            self._progress.say(f"{run.label}: too many blocks were left: the same command goes on")
            THIS_CALL.failed = True
            return False
        return left or record.verdict == CONTRADICTED

    def _pop(self, run: Run) -> SubmittedJobInfo | None:
        """What Snakemake knows the run by, to be reported now or later; None if it does not know it."""
        info = self._infos.pop(run.job_name, None)
        self._unreported -= info is not None
        return info

    def _report(self, info: SubmittedJobInfo, ended_well: bool) -> None:
        if ended_well:
            self.report_job_success(info)
        else:
            self.report_job_error(info)

    def _prepared(self) -> Prepared:
        """The campaign as it is now."""
        config = self.workflow.config
        file = Path(config.get("campaign", "campaign.yaml"))
        return prepare_with_results(file, config.get("system", ""), selection=selection_of(config))

    def _look_for_others(self, run: Run, condition: str) -> None:
        """Find out, once, whether the machine is plainly not quiet."""
        known = THIS_CALL.is_busy
        THIS_CALL.add(condition)
        if not known and condition == DISTURBED and run.output.exists():
            self._neighbour = busy_process(evidence_in(run.output.parent)) or self._neighbour
        if known or not THIS_CALL.is_busy:
            return
        try:
            now = self._prepared()
        except (UserError, OSError):  # such as a campaign file that is being edited
            return
        if now.campaign.busy_machine != RANKED:
            self._busy = now
            self._progress.repeats_more = False
            self._progress.say(THIS_CALL.text(self._where, self._neighbour))

    @property
    def _where(self) -> str:
        here = self._busy is not None and self._busy.runs_here
        return "this machine is" if here else "the nodes are"

    def _leave_out(self) -> None:
        """On a busy machine: leave out what it does not make now, of the runs that have not begun.

        What does not fit into the time is postponed, as others may end early, and left out behind them.
        """
        local = [runs for runs in self._runs.values() if isinstance(runs, LocalRuns)]
        if self._busy is None or not local:
            return
        [runs] = local
        limit = self._busy.campaign.time_when_busy
        seconds = self._began + limit - time.monotonic() if limit else math.inf
        due = [*runs.due, *self._postponed]
        now = fitting([each for each in due if not is_left_out(each)], self._progress.left.expected, seconds)
        again = [each for each in self._postponed if each.job_name in now]
        self._progress.expect(again)
        runs.take(again)
        later = [each for each in runs.due if each.job_name not in now]
        self._progress.left_out(later)
        runs.drop(later)
        self._postponed = []
        for run in (each for each in due if each.job_name not in now):
            if now and not is_left_out(run):
                self._postponed.append(run)
                continue
            self._leave(run)
            self._in_flight.discard(run.job_name)
            if (info := self._pop(run)) is not None:
                self.report_job_success(info)

    def _leave(self, run: Run) -> None:
        """A later call makes the run; for Snakemake it is done."""
        self._left[run.job_name] = run
        THIS_CALL.left_out = True

    def _repeat_disturbed(self, run: Run) -> None:
        """Take the further repeats of disturbed runs that are due now."""
        if self._busy is not None:
            THIS_CALL.left_out = True
            return
        self._disturbed.add(case_of(run))
        self._take_further(run, "disturbed", lambda now: further_of(self._disturbed, now.pending))

    def _take_block(self, run: Run) -> bool:
        """Take the next repeats of all cases where the machine moves between states; whether there are."""
        if self._busy is not None or self.workflow.config.get("once"):
            return False
        return self._take_further(
            run,
            "the last of its block",
            lambda now: [each for each in now.pending if each.further] if now.plan.blocks else [],
        )

    def _take_further(self, run: Run, which: str, due: Callable[[Prepared], list[Run]]) -> bool:
        """Take the runs that are due by the results now, with their scripts; whether there are any."""
        try:
            now = self._prepared()
            new = [each for each in due(now) if each.job_name not in self._taken]
            if new and not self._has_time(now, new):
                THIS_CALL.left_out = True
                return False
            for each in new:
                write_script(each)
            if new:
                write_plan(now)
        except (UserError, OSError) as error:  # such as a campaign file that is being edited
            self._progress.say(f"{run.label}: {which}, but it can't be repeated now: {error}")
            THIS_CALL.failed = True
            return False
        self._progress.expect(new)
        self._progress.repeats_more |= bool(new)
        names = {each.job_name for each in new}
        self._taken |= names
        self._further |= names
        self._in_flight |= names
        self._take(new)
        return bool(new)

    def _has_time(self, now: Prepared, new: list[Run]) -> bool:
        """Whether further repeats on this machine end before its time for a busy machine does; said once."""
        limit = now.campaign.time_when_busy if now.runs_here else 0
        needed = sum(map(self._progress.left.expected, new))
        if not limit or time.monotonic() + needed <= self._began + limit:
            return True
        if not self._is_late:
            self._progress.say(LATER)
        self._is_late = True
        return False

    def cancel(self) -> None:
        """Stop local runs, leave jobs with the scheduler; the same command resumes all."""
        self._end_own_commands()
        self.shutdown()

    def _end_own_commands(self) -> None:
        """End what builds the kernels or makes the report: Snakemake would wait for it, and then fail."""
        scheduler = self.workflow.scheduler
        commands = [job for job in scheduler.running if job.is_local]
        for job in commands:
            shell.terminate(job.jobid)
        for job in commands:
            scheduler.get_executor(job).shutdown()

    def shutdown(self) -> None:
        for runs in self._runs.values():
            runs.stop()
        self._progress.close()
        if self._busy is not None:
            self._say_what_is_left()

    def _say_what_is_left(self) -> None:
        left = [run for run in self._left.values() if not run.further]
        with suppress(UserError, OSError):
            left += [run for run in self._prepared().pending if run.further]
        if left:
            self._progress.say(left_out_text(left, self._where))

    @property
    def cores(self) -> int:
        return 1

    def get_exec_mode(self) -> ExecMode:
        return ExecMode.REMOTE

    def get_python_executable(self) -> str:
        raise NotImplementedError("no Snakemake is started by this executor")
