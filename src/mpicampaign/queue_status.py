"""What the runs of a campaign are doing, from their folders and one look at the queue; cancelling them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.cluster_jobs import COMMAND_SECONDS, by_name, query
from mpicampaign.collect import RunFolder, read_run
from mpicampaign.errors import Problem, UserError
from mpicampaign.execute import call
from mpicampaign.records import MISSING, OK
from mpicampaign.schedulers import ACTIVE, SCHEDULERS, UNKNOWN

if TYPE_CHECKING:
    from mpicampaign.prepare import Prepared, Script
    from mpicampaign.schedulers import Commands, QueuedJob

NOT_SUBMITTED = "not submitted"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run: what it is doing, its job's id where it has one, and the reason in words."""

    script: Script
    state: str
    job_id: str
    reason: str


def run_states(prepared: Prepared) -> list[RunStatus]:
    """The state of each run, in the plan's order.

    Raises
    ------
    UserError
        where the scheduler does not answer: what is not known is not guessed.
    """
    queued = _queue(prepared)
    return [_state(script, queued.get(script.job_name)) for script in prepared.scripts]


def status_text(states: list[RunStatus]) -> str:
    """A line of counts, then one for each run that has not ended well."""
    counts = Counter(found.state for found in states)
    lines = [
        ", ".join(f"{count} {state}" for state, count in counts.most_common()) or "no runs on this system"
    ]
    for found in states:
        if found.state != "finished":
            job = f" job {found.job_id}" if found.job_id else ""
            lines.append(
                f"  {found.script.label}: {found.state}{job}" + (f": {found.reason}" if found.reason else "")
            )
    return "\n".join(lines)


def cancel(prepared: Prepared) -> str:
    """Cancel the jobs of the campaign that are in the queue, and no others; what was done, in words.

    Raises
    ------
    UserError
        where the scheduler does not answer, or refuses.
    """
    commands = _commands(prepared)
    if commands is None:
        return "this system has no scheduler: stop a campaign with Ctrl-C"
    names = {script.job_name for script in prepared.scripts}
    found = [
        job for job in _queue(prepared).values() if job.name in names and job.state in (*ACTIVE, UNKNOWN)
    ]
    if found:
        answer = call([commands.cancel, *(job.id for job in found)], COMMAND_SECONDS)
        if answer.status != 0:
            raise UserError(Problem(f"{commands.cancel} failed: {answer.words}", hint="try again"))
    return f"{len(found)} job{'' if len(found) == 1 else 's'} cancelled"


def _commands(prepared: Prepared) -> Commands | None:
    if not prepared.plan.runs:
        return None
    return SCHEDULERS[prepared.plan.runs[0].job.system.scheduler].commands


def _queue(prepared: Prepared) -> dict[str, QueuedJob]:
    commands = _commands(prepared)
    if commands is None:
        return {}
    jobs, problem = query(commands)
    if problem:
        raise UserError(Problem(f"the scheduler does not answer: {problem}", hint="try again later"))
    return by_name(jobs)


def _state(script: Script, queued: QueuedJob | None) -> RunStatus:
    if not script.output.exists() and queued and queued.state in (*ACTIVE, UNKNOWN):
        return RunStatus(script, queued.state, queued.id, queued.said)
    run = script.run
    record = read_run(run.case, run.benchmark.suite, RunFolder(script.folder, run.repeat))
    if record.status == OK:
        return RunStatus(script, "finished", record.job_id, "")
    if record.status == MISSING:
        ended = f"its job {queued.id} has ended: {queued.said}" if queued else ""
        return RunStatus(script, NOT_SUBMITTED, "", ended)
    return RunStatus(script, record.status.replace("_", " "), record.job_id, record.reason)
