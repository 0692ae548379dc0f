"""From a campaign to its runs: pure, and computed at each call."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from mpicampaign.base import plan_file
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.grouping import grouped
from mpicampaign.base.host_lists import is_member
from mpicampaign.base.records import Case, defined_name
from mpicampaign.base.selection import RunSelection
from mpicampaign.campaign.model import Campaign
from mpicampaign.jobs.drafts import Draft, PlanMachine, units_of
from mpicampaign.jobs.planned import PlannedCase, planned_case, planned_runs, with_parts
from mpicampaign.jobs.run import Run
from mpicampaign.schemes.block import DesignState
from mpicampaign.schemes.due import due
from mpicampaign.schemes.states import extended, further_in_states
from mpicampaign.schemes.unit import CaseDue, RepeatUnit, Results


@dataclass(frozen=True, slots=True)
class Plan(plan_file.PlanFile):
    """The runs of this machine's systems in their order of execution, and the cases of all systems.

    ``capped``: how many repeats are left out by the cap, though their cases are not known well enough.
    ``until_known``: whether any case is repeated until it is known. ``in_states``: further repeats of every
    case, since the machine alternates between states. ``designs``: the block designs of this machine.
    """

    cases: tuple[PlannedCase, ...] = ()
    runs: tuple[Run, ...] = ()
    capped: int = 0
    until_known: bool = False
    in_states: int = 0
    designs: tuple[DesignState, ...] = ()

    @property
    def node_seconds(self) -> float:
        """The upper bound of all runs' time: each up to its time limit."""
        return sum(run.node_seconds for run in self.runs)

    @property
    def planned_node_seconds(self) -> float:
        """The upper bound without further repeats."""
        return sum(run.node_seconds for run in self.runs if not run.further)

    def most(self, cap: float | None) -> tuple[int, float]:
        """How many runs there may be with all further repeats, and their node-seconds.

        ``cap``: the node-hours that the campaign allows, which fewer long runs or more short ones may reach.
        """
        open_cases = {planned.case: planned.addable for planned in self.cases if planned.addable}
        limits = {run.case: run.limit_seconds for run in self.runs} if open_cases else {}
        added = (limits[case] for case, addable in open_cases.items() for _ in range(addable))
        number, seconds = len(self.runs), self.node_seconds
        for more in sorted(added):
            if cap is not None and _hours(seconds + more) > cap:
                break
            number, seconds = number + 1, seconds + more
        return number, seconds

    def without(self, identities: Collection[str]) -> Plan:
        """The plan without these runs, and without further repeats of cases that have no other run."""
        if not identities:
            return self
        runs = tuple(run for run in self.runs if run.identity not in identities)
        return replace(self, runs=runs, cases=tuple(planned.without(identities) for planned in self.cases))

    @property
    def further(self) -> tuple[Run, ...]:
        """The further repeats."""
        return tuple(run for run in self.runs if run.further)

    @property
    def disturbed(self) -> int:
        """How many runs of this machine's systems were disturbed."""
        return sum(planned.disturbed for planned in self.cases if planned.case.system in self.systems)


def choose_systems(campaign: Campaign, host_names: Collection[str], wanted: str = "") -> tuple[str, ...]:
    """The systems whose runs this machine makes: those whose ``login_hosts`` match.

    A system without ``login_hosts`` matches any machine if it needs no scheduler or is the only one.

    Raises
    ------
    UserError
        when ``wanted`` is not a system of the campaign.
    """
    if wanted:
        known = list(dict.fromkeys(map(defined_name, campaign.systems)))
        if wanted not in known and wanted not in campaign.systems:
            message = f"no system {wanted!r}; known: {', '.join(known)}"
            raise UserError(Problem(message, campaign.file, key="systems"))
        return tuple(name for name in campaign.systems if wanted in (name, defined_name(name)))
    alone = len(set(map(defined_name, campaign.systems))) == 1
    return tuple(
        name
        for name, system in campaign.systems.items()
        if any(is_member(host, pattern) for host in host_names for pattern in system.login_hosts)
        or (not system.login_hosts and (alone or system.local))
    )


def make_plan(campaign: Campaign, systems: Collection[str], machine: PlanMachine) -> Plan:
    """The plan for this machine's systems; its runs are shuffled with the campaign's seed."""
    return plan_of(campaign, systems, units_of(campaign, systems, machine), machine)


def plan_of(
    campaign: Campaign, systems: Collection[str], units: Sequence[RepeatUnit[Draft]], results: Results
) -> Plan:
    """The plan by the results so far.

    The n-th repeats of all cases form a row, which is shuffled (randomised complete blocks). A drift of the
    machine then affects all cases alike, and an interrupted campaign has complete rows.
    """
    dues = [due(unit, results) for unit in units]
    asked = [(unit, case) for unit, of_unit in zip(units, dues, strict=True) for case in of_unit.cases]
    _check_different(campaign, (case for _, case in asked))
    in_states = [
        case
        for unit, case in asked
        if case.candidate.is_made_here and not (unit.entry.each or unit.entry.race or unit.decided_with)
    ]
    states = further_in_states(campaign, in_states, results)
    if states:
        asked = [
            (unit, extended(case, states[case.candidate.case]) if case.candidate.case in states else case)
            for unit, case in asked
        ]
    runs = with_parts(run for unit, case in asked for run in planned_runs(unit, case))
    further_runs = (run for run in runs if run.further)
    begun = {
        run.case: run.repeat for run in further_runs if results.begun(run.kept, run.repeat, run.identity)
    }
    ordered = _within_cap(shuffled(runs, campaign.seed), begun, campaign.node_hours_cap)
    repeats = grouped(ordered, lambda run: id(run.draft))
    until_known = any(entry.repeats <= UNTIL_KNOWN or entry.race or entry.each for entry in campaign.matrix)
    return Plan(
        campaign=campaign.name,
        systems=tuple(systems),
        seed=campaign.seed,
        cases=tuple(planned_case(unit, case, repeats.get(id(case.candidate), ())) for unit, case in asked),
        busy_machine=campaign.busy_machine,
        runs=ordered,
        capped=len(runs) - len(ordered) if until_known else 0,
        until_known=until_known,
        in_states=max(states.values(), default=0),
        designs=tuple(of_unit.design for of_unit in dues if of_unit.design),
    )


def _check_different(campaign: Campaign, cases: Iterable[CaseDue[Draft]]) -> None:
    """Refuse cases that are one: their names differ, and what they declare does not."""
    first: dict[tuple[Case, str], Case] = {}
    problems = []
    for case_due in cases:
        case = case_due.candidate.case
        other = first.setdefault((case_due.candidate.kept, case_due.repeats[0].identity), case)
        if other != case:
            message = f"two cases of the matrix are the same run: {other} and {case}"
            hint = "let a key differ that changes the run, or remove one of them"
            problems.append(campaign.document.problem(("matrix",), message, "", hint))
    if problems:
        raise UserError(problems)


def shuffled(runs: Iterable[Run], seed: int) -> tuple[Run, ...]:
    """Row by row in random order; candidates of a block stay side by side, in random order.

    Of each four rows two orders are drawn, and two are their mirrors: of any two cases each is before the
    other in two of them. A run's place depends on no other run, so that this holds for any part of the runs.
    """
    runs = list(runs)
    for run in runs:
        run.place = _place(run, seed)
    runs.sort(key=attrgetter("place"))
    for order, run in enumerate(runs, start=1):
        run.order = order
    return tuple(runs)


def _place(run: Run, seed: int) -> tuple[int, ...]:
    """By row; what stands in for runs of a row is its end, and further repeats are behind all others."""
    names = [run.block, defined_name(run.case.benchmark)] if run.block else []
    drawn = map(_order_of(run.row, seed).drawn, [*names, str(run.case)])
    return (run.further and not run.stands_in, run.row, run.stands_in, *drawn, run.repeat)


class _Order(NamedTuple):
    """An order that is drawn, or its mirror, where ``sign`` is -1."""

    name: str
    sign: int

    def drawn(self, name: str) -> int:
        """A number by chance."""
        digest = hashlib.blake2b(f"{self.name} {name}".encode(), digest_size=8).digest()
        return self.sign * int.from_bytes(digest, "big")


@lru_cache(maxsize=4096)
def _order_of(row: int, seed: int) -> _Order:
    four, place = divmod(row - 1, 4)
    orders = [_Order(f"{seed} {four} {number}", sign) for number in (1, 2) for sign in (1, -1)]
    random.Random(f"{seed} {four}").shuffle(orders)
    return orders[place]


def _within_cap(runs: tuple[Run, ...], begun: Mapping[Case, int], cap: float | None) -> tuple[Run, ...]:
    """The runs, with as many of the further repeats as the node-hours allow; of a block all or none.

    Those up to the last one of their case that was ``begun`` come first: their node-hours are spent, or their
    jobs are in the queue.
    """
    if cap is None:
        return runs
    seconds = sum(run.node_seconds for run in runs if not run.further)
    affordable = set()
    further_runs = [run for run in runs if run.further]
    units = grouped(further_runs, _together).values()
    for unit in sorted(units, key=lambda unit: all(run.repeat > begun.get(run.case, 0) for run in unit)):
        more = sum(run.node_seconds for run in unit)
        if _hours(seconds + more) <= cap:
            seconds += more
            affordable |= {run.identity for run in unit}
    return tuple(run for run in runs if not run.further or run.identity in affordable)


def _together(run: Run) -> object:
    """A key that runs share which are made together or not at all: of a block, or a round."""
    of_block = (run.block, run.repeat) if run.block else run.identity
    return (run.draft.whole, run.round) if run.round else of_block


def _hours(seconds: float) -> float:
    return seconds / 3600  # a cap times 3600 may be less than the seconds given


def check_cap(plan: Plan, campaign: Campaign) -> None:
    """Refuse a plan that may take more node-hours than its campaign allows.

    Raises
    ------
    UserError
        with both numbers, and the line of the cap.
    """
    cap = campaign.node_hours_cap
    if cap is not None and (hours := _hours(plan.planned_node_seconds)) > cap:
        plan_of = f"plan for {', '.join(plan.systems)}"
        message = f"the {plan_of} may take {hours:.2f} node-hours, the campaign allows {cap:g}"
        hint = "raise node_hours_cap, or lower repeats or time_limit"
        raise UserError(campaign.document.problem(("node_hours_cap",), message, f"{cap:g}", hint))


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
