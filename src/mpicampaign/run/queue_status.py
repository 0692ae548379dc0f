"""The state of a campaign's runs, from their folders and one query of the queue; cancelling their jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import FILE as PLAN
from mpicampaign.base.records import CONTRADICTED, FAILED, MISSING, OK, STOPPED, defined_name
from mpicampaign.base.text import counted, repeats_text
from mpicampaign.base.waves import BUSY, Waves, not_judged_text, read_waves, waves_key
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.runs import RunFolder, evidence_in, read_run, unusable, where_it_works
from mpicampaign.jobs.drafts import token_of
from mpicampaign.jobs.prepare import Prepared
from mpicampaign.jobs.run import WAITS, Run, job_name_of
from mpicampaign.jobs.software import why_not_built
from mpicampaign.run.scheduler_calls import Query, caller, foremost
from mpicampaign.run.set_aside import faulty
from mpicampaign.schedulers import BatchScheduler, batch_scheduler
from mpicampaign.schedulers.listings import IN_THE_QUEUE, QUEUED, RUNNING, QueuedJob
from mpicampaign.schedulers.node_states import node_states

NOT_SUBMITTED = "not submitted"
NOT_RUN = "not run"  # where there is no scheduler to submit it to
FINISHED = "finished"
NOT_AVAILABLE = "not available"
CLOSED = "failed and not repeated"  # where the blocks are complete all the same
CORRECT = "correct the campaign file, and report reads it again:"


class RunStatus(NamedTuple):
    """The state of a run, its job's id, and the reason; both may be empty."""

    run: Run
    state: str
    job_id: str
    reason: str

    @property
    def has_failed(self) -> bool:
        """Whether it ended without a result."""
        return self.state == FAILED

    @property
    def is_active(self) -> bool:
        """Whether its job is in the queue or runs."""
        return self.state in IN_THE_QUEUE

    @property
    def is_done(self) -> bool:
        """Whether it is finished, and nothing is to be said of it."""
        return self.state == FINISHED and not self.reason

    @property
    def waits(self) -> bool:
        """Whether it was not made yet."""
        return self.state in (NOT_SUBMITTED, NOT_RUN)


def counts(states: Iterable[RunStatus]) -> dict[str, int]:
    """The number of runs in each state, the most frequent first."""
    return dict(Counter(status.state for status in states).most_common())


def run_states(prepared: Prepared) -> tuple[list[RunStatus], list[QueuedJob]]:
    """The state of each selected run in the plan's order, and the jobs of runs that left the campaign file.

    Raises
    ------
    UserError
        where the scheduler does not answer: no state is guessed.
    """
    jobs, queued = _queue(prepared)
    faults = {run.identity: fault.reason for run, fault in faulty(prepared.selected)}
    runs = (run for run in prepared.selected if not run.left)
    states = [_state(run, queued.get(run.job_name), faults.get(run.identity, "")) for run in runs]
    wrong = _contradicted(prepared) if any(status.is_done for status in states) else {}
    states = [
        status._replace(reason=wrong.get(status.run.identity, "")) if status.is_done else status
        for status in states
    ]
    complete = {design.design.name for design in prepared.plan.designs if not design.missing}
    states = [
        status._replace(state=CLOSED)
        if status.state in (FAILED, STOPPED) and status.run.block in complete
        else status
        for status in states
    ]
    former = _names(prepared) - {run.job_name for run in prepared.runs} if jobs else ()
    return states, [job for job in jobs if job.name in former and job.state in IN_THE_QUEUE]


def _contradicted(prepared: Prepared) -> dict[str, str]:
    """Why the report leaves a finished run out, by its identity."""
    records = collect_all(prepared.folder) if (prepared.folder / PLAN).exists() else []
    wrong = (record for record in records if record.verdict == CONTRADICTED)
    return {record.identity: f"{CONTRADICTED}: {record.verdict_reasons[0]}" for record in wrong}


def status_text(states: list[RunStatus], older: list[QueuedJob]) -> str:
    """A line of counts, one for each run that has not finished, and for each job of a former run.

    Failed runs come first, with their folders; of finished ones only those without a value. Runs that only
    wait to be made are a line for each case; those that cannot be made are one for each placement and reason.
    """
    in_all = ", ".join(f"{count} {state}" for state, count in counts(states).items())
    lines = [in_all or "no runs on this system"]
    elsewhere = (NOT_AVAILABLE, NOT_SUBMITTED, NOT_RUN)
    others = [status for status in states if status.state not in elsewhere and not status.is_done]
    in_rounds = {status.job_id: status for status in others if status.run.draft.whole and status.is_active}
    for number, status in in_rounds.items():
        waits = f"; {WAITS}" if status.state == QUEUED and status.run.waits_for_all else ""
        lines.append(f"  job {number}: {status.reason}{waits}")
    others = [status for status in others if not (status.run.draft.whole and status.is_active)]
    for status in sorted(others, key=lambda status: not status.has_failed):
        number = f" job {status.job_id}" if status.job_id and not status.run.job.system.local else ""
        reason = f": {status.reason}" if status.reason else ""
        lines.append(f"  {status.run.label}: {status.state}{number}{reason}")
    lines += _not_available_lines(status for status in states if status.state == NOT_AVAILABLE)
    waiting = (status for status in states if status.waits)
    by_case = grouped(waiting, lambda status: (status.run.draft.whole or status.run.case, status.reason))
    for (case, reason), of_case in by_case.items():
        repeats = repeats_text({status.run.repeat for status in of_case})
        state = ": ".join(filter(None, (of_case[0].state, reason)))
        lines.append(f"  {case.host_group} {case.placement} {case.benchmark} {repeats}: {state}")
    for job in older:
        former = "its run is no longer in the campaign file; 'mpicampaign cancel' cancels it, too"
        lines.append(f"  job {job.id} {job.name}: {job.description}; {former}")
    return "\n".join(lines)


def rounds_text(prepared: Prepared) -> list[str]:
    """How far the rounds of each whole host group are, a line each, and its nodes that cannot be had."""
    lines = []
    for case, runs in grouped(
        (run for run in prepared.selected if run.draft.whole), lambda run: run.draft.whole
    ).items():
        assert case is not None
        states = node_states(prepared.folder, (case.machine[0], defined_name(case.host_group)))
        absent = {node: state for node, state in states.items() if not state.usable}
        late = read_waves(prepared.folder).get(waves_key(case), Waves()).late
        gone, rounds = absent.keys() | late.keys(), {run.round for run in runs}
        unmade = (run for run in runs if not (run.closed or run.has_result or gone & {*run.job.hosts}))
        begun = {run.round for run in runs if run.closed or run.has_result}
        made = len(begun - {run.round for run in unmade})
        name = f"{case.host_group} {case.placement} {case.benchmark}"
        missing = "".join(f"; {node} is {state}" for node, state in absent.items())
        busy = not_judged_text(f"{BUSY} {until}" for until in late.values() if until)
        missing += f"; {busy}" if busy else ""
        lines.append(f"{name}: {made} of {len(rounds)} rounds made{missing}")
    return lines


def _not_available_lines(states: Iterable[RunStatus]) -> list[str]:
    """The placements that cannot be had, each with the number of its runs and the reason."""

    def placement(status: RunStatus) -> tuple[str, str, str]:
        case = status.run.case
        return case.host_group, case.placement, status.reason

    return [
        f"  {group} {name}: {NOT_AVAILABLE}, {counted(len(runs), 'run')}: {reason}"
        for (group, name, reason), runs in grouped(states, placement).items()
    ]


def cancel(prepared: Prepared) -> str:
    """Cancel the jobs of the campaign that are in the queue, and no others; returns a message.

    This includes jobs of runs that left the campaign file, which are known by their folders.

    Raises
    ------
    UserError
        where the scheduler does not answer, or refuses.
    """
    schedulers = _schedulers(prepared)
    if not schedulers:
        return "this system has no scheduler: stop a campaign with Ctrl-C"
    names, cancelled = _names(prepared), 0
    for scheduler in schedulers:
        in_queue = (job for job in _jobs_of(scheduler, prepared) if job.state in IN_THE_QUEUE)
        jobs = [job for job in in_queue if job.name in names]
        if jobs:
            addresses = dict.fromkeys(scheduler.address(job.id) for job in jobs)
            answer = caller(scheduler)([scheduler.cancel, *addresses])
            if answer.failure:
                raise UserError(Problem(answer.failure, hint="try again"))
        cancelled += len(jobs)
    return f"{counted(cancelled, 'job')} cancelled"


def _schedulers(prepared: Prepared) -> list[BatchScheduler]:
    """The schedulers of the campaign's systems here."""
    kinds = dict.fromkeys(prepared.campaign.systems[name].scheduler for name in prepared.plan.systems)
    return [scheduler for kind in kinds if (scheduler := batch_scheduler(kind))]


def _queue(prepared: Prepared) -> tuple[list[QueuedJob], dict[str, QueuedJob]]:
    """All jobs of this user, and the one that counts of each name."""
    jobs = [job for scheduler in _schedulers(prepared) for job in _jobs_of(scheduler, prepared)]
    return jobs, {name: foremost(several) for name, several in grouped(jobs, lambda job: job.name).items()}


def _jobs_of(scheduler: BatchScheduler, prepared: Prepared) -> list[QueuedJob]:
    """All jobs of this user that the scheduler knows; those of batches run by run."""
    jobs, problem = Query(scheduler, campaign_folder=prepared.folder).jobs()
    if problem:
        raise UserError(Problem(f"the scheduler does not answer: {problem}", hint="try again later"))
    return jobs


def _names(prepared: Prepared) -> set[str]:
    """The job names of all scripts written for this campaign here so far."""
    folders = (prepared.folder / "runs").glob("*/*/*/r*-*")
    token = token_of(prepared.folder)
    return {job_name_of(folder, token) for folder in folders}


def _state(run: Run, queued: QueuedJob | None, fault: str) -> RunStatus:
    if run.has_result:
        return _state_of_result(run, fault)
    if queued and queued.state in IN_THE_QUEUE:
        alone = queued.state == RUNNING and not run.draft.whole
        where = where_it_works(run.folder, queued.id) if alone else ""
        return RunStatus(run, queued.state, queued.id, queued.description + where)
    return _state_as_read(run, queued)


def _state_of_result(run: Run, fault: str) -> RunStatus:
    if fault:
        return RunStatus(run, "to be run again", "", fault)
    evidence = evidence_in(run.result)
    number, absent = evidence.job.get("id", ""), evidence.job.get("not_available")
    if absent is not None:
        return RunStatus(run, NOT_AVAILABLE, number, absent)
    reading = run.draft.reading  # what a suite reads by itself is never unread
    unread = unusable(run.benchmark.suite, run.result, evidence, reading) if reading else ""
    reason = f"{unread}; {CORRECT} {run.result}" if unread else ""
    return RunStatus(run, FINISHED, number, reason)


def _state_as_read(run: Run, queued: QueuedJob | None) -> RunStatus:
    folder = RunFolder(run.folder, run.repeat)
    record = read_run(run.kept, run.benchmark.suite, folder, reading=run.draft.reading)
    if record.status == OK:
        return RunStatus(run, FINISHED, record.job_id, "")
    if record.status == MISSING:
        not_built = why_not_built(run.job.system, run.benchmark).removeprefix(f"{NOT_RUN}: ")
        ended = f"its job {queued.id} has ended: {queued.description}" if queued else not_built
        missing = NOT_RUN if run.job.system.local else NOT_SUBMITTED
        return RunStatus(run, missing, "", ended)
    return RunStatus(run, record.end.replace("_", " "), record.job_id, record.reason)
