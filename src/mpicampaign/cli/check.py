"""mpicampaign check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import prepared_of, print_lines

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.plan_text import absent_programs, sources_text, warnings_text
    from mpicampaign.jobs.prepare import check_caps

    prepared = prepared_of(options)
    campaign = prepared.campaign
    if campaign.node_hours_cap is not None:
        check_caps(campaign)
    print(f"{options.campaign}: campaign {campaign.name}, no errors found")
    here = ", ".join(prepared.plan.systems) or "none of them"
    doubts = [*campaign.warnings, *absent_programs(prepared.plan, campaign)]
    print_lines(*(f"warning: {each}" for each in doubts), *sources_text(prepared.plan))
    print_lines(*warnings_text(prepared.plan))
    print(f"  systems: {', '.join(campaign.systems)}; this machine: {here}")
    return 0
