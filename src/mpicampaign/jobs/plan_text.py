"""The plan as people read it before they spend node-hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import ALL_PAIRS, RACE_WITHIN, RANKED, TO_DECIDE, defined_name
from mpicampaign.base.text import counted
from mpicampaign.base.this_machine import allocation
from mpicampaign.jobs.run import WAITS
from mpicampaign.schemes.block import DesignState
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign
    from mpicampaign.jobs.plan import Plan
    from mpicampaign.jobs.planned import PlannedCase


def plan_text(plan: Plan, pending: int, cap: float | None) -> str:
    """The matrix (host groups × placements for each benchmark), and its upper bound in node-hours."""
    here = ", ".join(plan.systems) or "(none here)"
    lines = [f"campaign {plan.campaign}, seed {plan.seed}, system{'s'[: len(plan.systems) > 1]} {here}"]
    lines += lists_text(plan)
    of_benchmarks = grouped(
        (planned for planned in plan.cases if not planned.each), lambda planned: planned.case.benchmark
    )
    for benchmark, cases in of_benchmarks.items():
        lines += ["", *_matrix(benchmark, cases, plan.systems)]
    rounds = rounds_text(plan)
    lines += ["", *rounds] if rounds else []
    if offers := sources_text(plan):
        lines += ["", *offers]
    lines += ["", *blocks_text(plan)] if plan.designs else []
    lines += [further_text(plan)] if plan.disturbed or plan.in_states else []
    lines += [*warnings_text(plan), *allocation_text(plan)]
    runs, seconds = plan.most(cap)
    more = pending > 0 and runs > len(plan.runs)
    most = f"; at most {runs} {_when_more(plan)}" if more else ""
    most += "; their results may call for more rounds" if rounds and pending else ""
    then = f", then {seconds / 3600:.2f}" if more else ""
    limit = f", {cap:g} allowed" if cap is not None else ""
    lines += ["", f"{len(plan.runs)} runs here, {pending} still to be done{most}"]
    hours = f"at most {plan.node_seconds / 3600:.2f}{then} node-hours"
    lines += [f"{hours} if every run uses its full time limit{limit}"]
    nowhere = "no run is made here: this machine belongs to no system; see login_hosts, or give --system NAME"
    lines += [] if plan.systems else [nowhere]
    return "\n".join(lines)


def _when_more(plan: Plan) -> str:
    if any(planned.decided_with or planned.compared.startswith(RACE_WITHIN) for planned in plan.cases):
        return "until it is decided which is best"
    if plan.until_known:
        return "until all cases are known"
    machine = "this machine is" if all(run.job.system.local for run in plan.runs) else "the nodes are"
    return f"if {machine} busy or moving between states"


def lists_text(plan: Plan) -> list[str]:
    """How many cases lists expand to, by placement, benchmark and host group; in one line."""
    cases = [planned.case for planned in plan.cases if not planned.each]
    cases += dict.fromkeys(planned.whole for planned in plan.cases if planned.whole)
    kinds = {
        "placement {} to {}": [case.placement for case in cases],
        "benchmark {} to {}": [case.benchmark for case in cases],
        "host group {} to {} MPI libraries": [case.host_group for case in cases],
    }
    parts = [
        text.format(name, len(variants))
        for text, names in kinds.items()
        for name, variants in grouped(dict.fromkeys(names), defined_name).items()
        if len(variants) > 1
    ]
    return [f"lists expand to {len(cases)} cases: {', '.join(parts)}"] if parts else []


def warnings_text(plan: Plan) -> list[str]:
    """What the runs of this machine's systems may suffer from, a line each."""
    here = (planned for planned in plan.cases if planned.case.system in plan.systems)
    warnings = dict.fromkeys(
        f"warning: {planned.case}: {text}" for planned in here for text in planned.warnings
    )
    return [*warnings, *capped_text(plan)]


def capped_text(plan: Plan) -> list[str]:
    """What the cap leaves out; empty where that is nothing."""
    repeats = counted(plan.capped, "repeat")
    warning = (
        f"warning: node_hours_cap leaves out {repeats} of cases that are not known well enough or decided on"
    )
    return [warning] if plan.capped else []


def allocation_text(plan: Plan) -> list[str]:
    """One line where runs of a system without a scheduler would be made inside an allocation of one."""
    outer = allocation()
    return [outer.text] if outer and any(run.job.system.local for run in plan.runs) else []


def absent_programs(plan: Plan, campaign: Campaign) -> list[Problem]:
    """The programs that are not on this machine, each at the benchmark that needs it."""
    reasons = dict.fromkeys(
        (planned.case.benchmark, planned.absent) for planned in plan.cases if planned.absent
    )
    return [
        campaign.document.problem(campaign.where(benchmark), f"{reason}: {benchmark} cannot run here")
        for benchmark, reason in reasons
    ]


def not_available_text(plan: Plan) -> list[str]:
    """Why other cases of this machine's systems cannot be run here, a line for each reason."""
    reasons = Counter(
        planned.not_available for planned in plan.cases if planned.not_available and not planned.absent
    )
    return [f"{counted(count, 'case')} cannot run here: {reason}" for reason, count in reasons.items()]


def further_text(plan: Plan) -> str:
    """``2 further repeats, since 2 runs were disturbed``."""
    raced = {planned.block for planned in plan.cases if planned.compared.startswith(RACE_WITHIN)}
    runs = plan.further if plan.in_states else [run for run in plan.further if run.stands_in]
    count, disturbed = sum(run.block not in raced for run in runs), plan.disturbed
    repeats = f"{count or 'no'} further repeat{'' if count == 1 else 's'}"
    were = f"{disturbed} run{' was' if disturbed == 1 else 's were'} disturbed"
    if plan.busy_machine == RANKED:
        return f"{were}; busy_machine: {RANKED}: they are averaged and ranked, and not repeated"
    if plan.in_states:
        return f"{repeats}, of every case, since the machine moves between states"
    text = f"{repeats}, since {were}"
    return text if count >= disturbed else f"{text}: the campaign allows no more"


def blocks_text(plan: Plan) -> list[str]:
    """How far the block designs of this machine are, a line for each, and the blocks that were left."""
    lines = []
    for planned in plan.designs:
        name, compared, _, candidates = planned.design
        counts = sorted({len(cases) for cases in candidates.values()})
        shape = f"{' or '.join(map(str, counts))} candidates of {', '.join(candidates)}"
        first = next(iter(candidates.values()))[0]
        named = " with ".join(filter(None, (first.placement, first.library)))
        reference = "" if compared == TO_DECIDE else f", compared with {named}"
        shape += ", all pairs compared" if compared == ALL_PAIRS else reference
        if compared.startswith((RACE_WITHIN, TO_DECIDE)):
            shape += _looks_text(planned, TO_DECIDE if compared == TO_DECIDE else "race")
        state = f"{planned.complete} of {planned.planned} blocks complete"
        hours = planned.due * planned.run_seconds / 3600
        runs = f"{counted(planned.due, 'run')}, at most {hours:.2f} node-hours"
        lines.append(
            f"{name}: {shape}: {state}{f', {planned.missing} missing: {runs}' if planned.missing else ''}"
        )
        lines += [f"  {block}" for block in planned.left]
    return lines


def rounds_text(plan: Plan) -> list[str]:
    """The rounds of each case on a whole host group, with the runs and node-hours.

    ``milan NODE stream: 64 nodes, 2 rounds of at most 64: 128 runs, at most 21.33 node-hours``
    """
    runs_of = grouped(plan.runs, lambda run: run.draft.whole)
    of_groups = grouped(plan.cases, lambda planned: planned.whole)
    lines = []
    for case, members in of_groups.items():
        if case is None:  # of no host group with `each`
            continue
        runs = runs_of.get(case, [])
        sizes = Counter(run.round for run in runs)
        rounds = f"{counted(len(sizes), 'round')} of at most {max(sizes.values(), default=0)}"
        hours = sum(run.node_seconds for run in runs) / 3600
        waits = f"; {WAITS}" if any(run.waits_for_all for run in runs[:1]) else ""
        made = f", {rounds}: {len(runs)} runs, at most {hours:.2f} node-hours{waits}"
        made = f": n/a: {why}" if (why := members[0].not_available) else made
        name = f"{case.host_group} {case.placement} {case.benchmark}"
        lines.append(f"{name}: {counted(len(members), members[0].each)}{made}")
    return lines


def _looks_text(state: DesignState, scheme: str) -> str:
    """How many candidates are left, and when the next look is, if there is one."""
    if state.planned and not state.due and not state.missing:
        return f", {scheme}, ended"
    return f", {scheme}, {state.running} left, next look after {state.planned} blocks"


def _matrix(benchmark: str, cases: list[PlannedCase], systems: Collection[str]) -> list[str]:
    groups = list(dict.fromkeys(planned.case.host_group for planned in cases))
    placements = list(dict.fromkeys(planned.case.placement for planned in cases))
    of = {(planned.case.host_group, planned.case.placement): planned for planned in cases}
    cells = [[_cell(of.get((group, placement)), systems) for placement in placements] for group in groups]
    rows = [[benchmark, *placements], *([group, *row] for group, row in zip(groups, cells, strict=True))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    reasons = dict.fromkeys(planned.not_available for planned in cases if planned.not_available)
    return [line.rstrip() for line in text] + [f"  n/a: {reason}" for reason in reasons]


def sources_text(plan: Plan) -> list[str]:
    """How to get the programs that are not here, a line for each suite that says so."""
    missing = dict.fromkeys(planned.suite for planned in plan.cases if planned.absent)
    suites = [SUITES[suite] for suite in missing]
    return [f"to get {suite.called}: {suite.sources}" for suite in suites if str(suite.sources)]


def _cell(planned: PlannedCase | None, systems: Collection[str]) -> str:
    if planned is None:
        return "-"
    if planned.not_available:
        return "n/a"
    elsewhere = "" if planned.case.system in systems else " (elsewhere)"
    return f"×{planned.repeats}{elsewhere}"


def pending_text(plan: Plan, pending: int, title: str, when: str) -> str:
    """One line before a start: the runs to do and how long they take, or when the last one ended."""
    name = f"{plan.campaign}: {title}" if title not in ("", plan.campaign) else plan.campaign
    if not pending and (missing := sum(state.missing for state in plan.designs)):
        return f"{name}: nothing to do, but {missing} blocks are missing: mpicampaign status says why"
    if not pending:
        return f"{name}: nothing to do, all {len(plan.runs)} runs are there" + (f" ({when})" if when else "")
    return f"{name}: {pending} of {len(plan.runs)} runs to do, {when}"


def no_runs_text(plan: Plan, host: str) -> str:
    """Why this machine cannot run the campaign."""
    systems = ", ".join(dict.fromkeys(planned.case.system for planned in plan.cases))
    if not plan.systems:
        return f"this machine ({host}) belongs to no system of the campaign ({systems})"
    if not any(planned.case.system in plan.systems for planned in plan.cases):
        return f"no run can be made here: all of them belong to {systems}"
    reasons = dict.fromkeys(planned.not_available for planned in plan.cases if planned.not_available)
    return f"no run can be made here: {'; '.join(reasons)}"
