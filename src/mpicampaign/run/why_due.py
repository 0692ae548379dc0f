"""Which runs are due, and why: what a call says before it makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.records import INTERRUPTED
from mpicampaign.base.run_files import attempts_of
from mpicampaign.collect.runs import evidence_in
from mpicampaign.jobs.plan import selected_plan
from mpicampaign.jobs.plan_text import pending_text
from mpicampaign.jobs.prepare import Prepared
from mpicampaign.jobs.run import Run
from mpicampaign.run.durations import estimate, last_ended
from mpicampaign.run.set_aside import faulty

NEVER_MADE = "not made yet"
FAILED_BEFORE = "failed before"
STOPPED_BEFORE = "stopped before"
FOR_STATES = "further repeats, since the machine moves between states"
FOR_DISTURBED = "further repeats of runs that were disturbed or whose block was left"
FOR_NEXT_STAGE = "further repeats, which the first ones call for"
FOR_SUSPECTS = "further rounds, which the first ones call for"


class DueRun(NamedTuple):
    """A run that is due, and why."""

    run: Run
    cause: str


def due_runs(prepared: Prepared, *, once: bool = False) -> list[DueRun]:
    """The runs that are due, those whose results do not count any more among them; nothing is moved."""
    due = [
        DueRun(run, cause_of(run, prepared)) for run in (prepared.one_repeat if once else prepared.pending)
    ]
    return due + [DueRun(run, fault.reason) for run, fault in faulty(prepared.wanted)]


def cause_of(run: Run, prepared: Prepared) -> str:
    if attempts := attempts_of(run.folder):
        stopped = evidence_in(attempts[-1]).job.get("reason", "").startswith(INTERRUPTED)
        return STOPPED_BEFORE if stopped else FAILED_BEFORE
    if run.further and run.round:
        return FOR_SUSPECTS
    if run.further:
        entry = prepared.unit_of(run).entry
        if not run.stands_in and (entry.race or entry.repeats <= UNTIL_KNOWN):
            return FOR_NEXT_STAGE
        return FOR_STATES if prepared.plan.in_states else FOR_DISTURBED
    return NEVER_MADE


def due_text(prepared: Prepared, due: Sequence[DueRun]) -> str:
    """One line: how many runs are due, for how long, why, and of which benchmarks; or that all are there."""
    plan, runs = selected_plan(prepared.plan, prepared.selection), [run for run, _ in due]
    when = estimate(runs) if due else last_ended(prepared.selected)
    text = pending_text(plan, len(due), prepared.campaign.title, when)
    if not due:
        return text
    whys = "; ".join(f"{count} {cause}" for cause, count in Counter(cause for _, cause in due).most_common())
    benchmarks = Counter((run.draft.whole or run.case).benchmark for run in runs)
    return f"{text}: {whys} ({', '.join(f'{name} {count}' for name, count in benchmarks.items())})"
