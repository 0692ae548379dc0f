"""mpicampaign check."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mpicampaign.base.text import counted
from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.limits import check_limits
from mpicampaign.cli.options import add_json, prepared_of
from mpicampaign.cli.output import print_lines

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared

EXAMPLES = (
    ("mpicampaign check mine.yaml", "all errors, each with its line"),
    ("mpicampaign check mine.yaml --json", "the same for an editor or CI job"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and the form of the answer."""
    add_campaign(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.campaign.checks import limits_text
    from mpicampaign.jobs.plan_text import allocation_text, sources_text

    prepared, warnings, possible = _checked(options)
    campaign, plan = prepared.campaign, prepared.plan
    here = ", ".join(plan.systems) or "none of them"
    done = len(prepared.runs) - len(prepared.pending)
    print_lines(
        f"{options.campaign}: campaign {campaign.name}, no errors found",
        *(f"warning: {warning}" for warning in warnings),
        *sources_text(plan),
        *(f"  {line}" for line in allocation_text(plan)),
        f"  systems: {', '.join(campaign.systems)}; this machine: {here}",
        f"  {limits_text(campaign)}",
        f"  {counted(possible, 'run')} can be made here"
        + (f", {done} {'has' if done == 1 else 'have'} a result" if done else ""),
    )
    return DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import campaign_data

    prepared, warnings, possible = _checked(options)
    return DONE, {**campaign_data(prepared), "warnings": warnings, "runs_possible": possible}


def _checked(options: argparse.Namespace) -> tuple[Prepared, list[str], int]:
    """The campaign, what may go wrong although the file has no errors, and how many runs can be made here.

    The cap must allow the plan of each system, wherever this machine is.
    """
    from mpicampaign.campaign.repeats import too_few
    from mpicampaign.jobs.plan_text import absent_programs, not_available_text, warnings_text
    from mpicampaign.jobs.prepare import check_caps
    from mpicampaign.run.lacking import lacks_of, lacks_text

    prepared = prepared_of(options)
    campaign, plan = prepared.campaign, prepared.plan
    check_limits(campaign)
    if campaign.node_hours_cap is not None:
        check_caps(campaign)
    lacks, runs = lacks_of(prepared), len(plan.runs)
    doubts = [*campaign.warnings, *too_few(campaign), *absent_programs(plan, campaign)]
    of_plan = (line.removeprefix("warning: ") for line in warnings_text(plan))
    warnings = [*map(str, doubts), *of_plan, *not_available_text(plan), *lacks_text(lacks, runs)]
    return prepared, warnings, runs - sum(len(lack.runs) for lack in lacks)
