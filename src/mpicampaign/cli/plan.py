"""mpicampaign plan."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mpicampaign.base.records import RECORDS, plain_fields, read_records
from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import add_json, add_only, add_selection, prepared_with_only
from mpicampaign.cli.output import beside, doubts, print_lines, selection_lines

if TYPE_CHECKING:
    from mpicampaign.jobs.planned import PlannedCase
    from mpicampaign.jobs.prepare import Prepared

EXAMPLES = (
    ("mpicampaign plan mine.yaml", "host groups × placements for each benchmark, and the most node-hours"),
    ("mpicampaign plan mine.yaml --placement TCP --repeat 1-3", "what 'run' with these options would make"),
    ("mpicampaign plan site.yaml --system scarf", "for another system than the one this machine belongs to"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, which runs of it, and the form of the answer."""
    add_campaign(parser)
    add_selection(parser)
    add_only(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.campaign.checks import limits_text
    from mpicampaign.jobs.plan import selected_plan
    from mpicampaign.jobs.plan_text import plan_text
    from mpicampaign.run.lacking import lacks_of, lacks_text
    from mpicampaign.run.new_runs import alone_lines
    from mpicampaign.run.set_aside import faulty

    prepared, _ = prepared_with_only(options)
    due, lacks = prepared.pending, lacks_of(prepared)
    faults = faulty(prepared.selected)
    lacking = {run.identity for lack in lacks for run in lack.runs}
    pending = len(due) - len(lacking) + len(faults)
    again = [f"to be run again: {run.label}: {fault.reason}" for run, fault in faults]
    plan = selected_plan(prepared.plan, prepared.selection)
    print_lines(*selection_lines(prepared))
    print_lines(plan_text(plan.without(lacking), pending, prepared.campaign.node_hours_cap))
    print_lines(*(f"warning: {line}" for line in lacks_text(lacks, len(plan.runs))))
    more = (*doubts(prepared), *again, *beside(prepared), *alone_lines(prepared))
    print_lines(*_sights(prepared))
    print_lines(limits_text(prepared.campaign), *more)
    return DONE


def _sights(prepared: Prepared) -> list[str]:
    """What the repeats will see, where the last report knows the spread; `each` has rounds instead."""
    repeated = [entry for entry in prepared.plan.cases if not entry.each]
    if not (repeated and (file := prepared.folder / RECORDS).is_file()):
        return []
    planned: dict[str, int] = {}
    for entry in repeated:
        planned[entry.case.benchmark] = max(planned.get(entry.case.benchmark, 0), entry.repeats)
    from mpicampaign.compare.compare import compare
    from mpicampaign.report.sights import sight_lines

    lines = sight_lines(compare(read_records(file)[1]), planned)
    return [f"by the spread in the last report{_added(prepared)}:", *lines] if lines else []


def _added(prepared: Prepared) -> str:
    """Where runs of reported cases are due that no report had: that these find less than those before."""
    from mpicampaign.collect.looks import read_looks

    seen = frozenset[str]().union(*(look.runs for look in read_looks(prepared.folder)))
    reported = {run.case for run in prepared.runs if run.identity in seen}
    added = any(run.case in reported and run.identity not in seen for run in prepared.pending)
    return "; repeats that are added after a report find less" if added else ""


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import blocks_data, campaign_data, run_data
    from mpicampaign.jobs.plan import selected_plan
    from mpicampaign.jobs.plan_text import warnings_text
    from mpicampaign.run.lacking import lacks_of
    from mpicampaign.run.set_aside import faulty

    prepared, _ = prepared_with_only(options)
    again = [{**run_data(run), "reason": fault.reason} for run, fault in faulty(prepared.selected)]
    plan = selected_plan(prepared.plan, prepared.selection)
    most, seconds = plan.most(prepared.campaign.node_hours_cap)
    warnings = (line.removeprefix("warning: ") for line in warnings_text(plan))
    return DONE, {
        **campaign_data(prepared),
        "cases": [_case_data(planned) for planned in plan.cases],
        "runs": [
            {
                **run_data(run),
                "order": run.order,
                "nodes": run.job.placement.nodes,
                "time_limit": run.time_limit,
                "has_result": run.has_result,
            }
            for run in prepared.selected
        ],
        "runs_possible": len(plan.runs) - sum(len(lack.runs) for lack in lacks_of(prepared)),
        "blocks": blocks_data(prepared),
        "to_be_run_again": again,
        "node_hours": plan.node_seconds / 3600,
        "runs_with_further_repeats": most,
        "node_hours_with_further_repeats": seconds / 3600,
        "node_hours_cap": prepared.campaign.node_hours_cap,
        "warnings": [*map(str, prepared.campaign.warnings), *warnings],
    }


def _case_data(planned: PlannedCase) -> dict[str, Any]:
    return {
        **plain_fields(planned.case),
        "repeats": planned.repeats,
        "further_repeats": planned.further,
        "not_available": planned.not_available,
    }
