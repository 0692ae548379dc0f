"""mpicampaign check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import prepared_of, print_lines

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.plan_text import not_available_text, warnings_text

    prepared = prepared_of(options)
    campaign = prepared.campaign
    print(f"{options.campaign}: campaign {campaign.name}, no errors found")
    here = ", ".join(prepared.plan.systems) or "none of them"
    print_lines(*warnings_text(prepared.plan), *not_available_text(prepared.plan))
    print(f"  systems: {', '.join(campaign.systems)}; this machine: {here}")
    return 0
