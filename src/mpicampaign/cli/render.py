"""mpicampaign render."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import add_campaign, prepared_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and the form of the scripts."""
    add_campaign(parser)
    parser.add_argument("--inline", action="store_true", help="each script in one file, with its library")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.prepare import write_inline, write_scripts

    prepared = prepared_of(options)
    (write_inline if options.inline else write_scripts)(prepared)
    for script in prepared.scripts:
        print(script.path)
    return 0
