"""mpicampaign render."""

from __future__ import annotations

import argparse

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import add_selection, prepared_of
from mpicampaign.cli.output import print_lines

EXAMPLES = (
    ("mpicampaign render mine.yaml", "writes all job scripts and prints their paths"),
    (
        'mpicampaign render mine.yaml | while read -r script; do sbatch "$script"; done',
        "submits them by hand; 'report' and 'status' count their results",
    ),
    ("mpicampaign render mine.yaml --inline", "each script in one file, to take to another machine"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and the form of the scripts."""
    add_campaign(parser)
    add_selection(parser)
    parser.add_argument("--inline", action="store_true", help="each script in one file, with its library")
    parser.add_argument("--quiet", action="store_true", help="do not print their paths")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.prepare import check_runs, write_inline, write_scripts

    prepared = prepared_of(options)
    check_runs(prepared)
    (write_inline if options.inline else write_scripts)(prepared)
    print_lines(*([] if options.quiet else (str(run.path) for run in prepared.selected)))
    return DONE
