"""mpicampaign check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.common import add_json, prepared_of, print_lines
from mpicampaign.cli.exit_status import DONE

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    ("mpicampaign check mine.yaml", "all errors, each with its line"),
    ("mpicampaign check mine.yaml --json", "the same for an editor or CI job"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and the form of the answer."""
    add_campaign(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.plan_text import warnings_text

    prepared = prepared_of(options)
    campaign = prepared.campaign
    print(f"{options.campaign}: campaign {campaign.name}, no errors found")
    here = ", ".join(prepared.plan.systems) or "none of them"
    print_lines(*warnings_text(prepared.plan))
    print(f"  systems: {', '.join(campaign.systems)}; this machine: {here}")
    return DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import campaign_data
    from mpicampaign.jobs.plan_text import warnings_text

    prepared = prepared_of(options)
    return DONE, {
        **campaign_data(prepared),
        "warnings": [line.removeprefix("warning: ") for line in warnings_text(prepared.plan)],
    }
