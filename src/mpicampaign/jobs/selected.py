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
        cases=tuple(planned for planned in cases if planned.identities),
    )


def _selected(planned: PlannedCase, selection: RunSelection) -> PlannedCase:
    numbers = range(1, len(planned.identities) + 1)
    taken = [number for number in numbers if selection.takes(planned.case, number)]
    more = range(len(numbers) + 1, len(numbers) + planned.addable + 1)
    return replace(
        planned,
        identities=tuple(planned.identities[number - 1] for number in taken),
        further=sum(number > planned.repeats for number in taken),
        addable=sum(selection.takes(planned.case, number) for number in more),
    )
