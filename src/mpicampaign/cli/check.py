"""mpicampaign check."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
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

    prepared = _checked(options)
    campaign = prepared.campaign
    print_lines(f"{options.campaign}: campaign {campaign.name}, no errors found")
    here = ", ".join(prepared.plan.systems) or "none of them"
    print_lines(*(f"warning: {each}" for each in _warnings(prepared)), *sources_text(prepared.plan))
    print_lines(*(f"  {each}" for each in allocation_text(prepared.plan)))
    print_lines(f"  systems: {', '.join(campaign.systems)}; this machine: {here}")
    print_lines(f"  {limits_text(campaign)}")
    return DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import campaign_data

    prepared = _checked(options)
    return DONE, {**campaign_data(prepared), "warnings": _warnings(prepared)}


def _checked(options: argparse.Namespace) -> Prepared:
    """The campaign, whose cap allows its plan for each system, wherever this machine is."""
    from mpicampaign.jobs.prepare import check_caps

    prepared = prepared_of(options)
    if prepared.campaign.node_hours_cap is not None:
        check_caps(prepared.campaign)
    return prepared


def _warnings(prepared: Prepared) -> list[str]:
    """What may go wrong although the file has no errors."""
    from mpicampaign.campaign.repeats import too_few
    from mpicampaign.jobs.plan_text import absent_programs, not_available_text, warnings_text

    plan, campaign = prepared.plan, prepared.campaign
    doubts = [*campaign.warnings, *too_few(campaign), *absent_programs(plan, campaign)]
    of_plan = (line.removeprefix("warning: ") for line in warnings_text(plan))
    return [*map(str, doubts), *of_plan, *not_available_text(plan)]
