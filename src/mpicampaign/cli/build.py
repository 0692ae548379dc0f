"""mpicampaign build."""

from __future__ import annotations

import argparse

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.options import add_verbose, prepared_of

EXAMPLES = (
    ("mpicampaign build mine.yaml", "with the MPI compiler wrapper and modules of each of its systems here"),
    ("mpicampaign build mine.yaml --system scarf", "on a build node that is not one of scarf's login_hosts"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and whether to show the compiler's output."""
    add_campaign(parser)
    add_verbose(parser, "show the compiler's output")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.run.build import build

    return build(prepared_of(options), verbose=options.verbose)
