"""The part of a plan that a selection takes, for people to read; runs are made from the whole plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpicampaign.jobs.plan import Plan, PlannedCase
    from mpicampaign.selection import RunSelection


def selected_plan(plan: Plan, selection: RunSelection) -> Plan:
    """The plan with only the selected cases and repeats."""
    if not selection:
        return plan
    cases = (_selected(planned, selection) for planned in plan.cases)
    return replace(
        plan,
        runs=tuple(run for run in plan.runs if selection.takes(run.case, run.repeat)),
        cases=tuple(planned for planned in cases if planned.runs),
    )


def _selected(planned: PlannedCase, selection: RunSelection) -> PlannedCase:
    more = range(len(planned.runs) + 1, len(planned.runs) + planned.addable + 1)
    return replace(
        planned,
        runs=tuple(run for run in planned.runs if selection.takes(planned.case, run.repeat)),
        addable=sum(selection.takes(planned.case, number) for number in more),
    )
