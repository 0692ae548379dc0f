"""mpicampaign cancel."""

from __future__ import annotations

import argparse

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import prepared_of
from mpicampaign.cli.output import print_lines

EXAMPLES = (("mpicampaign cancel mine.yaml", "its jobs in the queue, and no others; results stay"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign."""
    add_campaign(parser)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.run.queue_status import cancel

    print_lines(cancel(prepared_of(options)))
    return DONE
