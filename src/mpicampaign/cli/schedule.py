"""mpicampaign schedule."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from mpicampaign.base.files import write_whole
from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import prepared_of
from mpicampaign.cli.output import doubts, print_lines, say

EXAMPLES = (
    ("mpicampaign schedule mine.yaml", "prints the lines for cron"),
    ("mpicampaign schedule mine.yaml --install", "puts them into your crontab; --remove takes them out"),
    ("mpicampaign schedule mine.yaml --scrontab", "where cron is not allowed: lines for Slurm's scrontab"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and what to do with its schedule."""
    add_campaign(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--install", action="store_true", help="put its lines into your crontab")
    what.add_argument("--remove", action="store_true", help="remove its lines from your crontab")
    what.add_argument("--scrontab", action="store_true", help="print lines for Slurm's scrontab instead")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.prepare import check_runs
    from mpicampaign.schedule import crontab
    from mpicampaign.schedule.script import script_path, script_text
    from mpicampaign.schedule.tick import schedule_of

    prepared = prepared_of(options)
    say(*doubts(prepared))
    folder, script = prepared.folder, script_path(prepared.folder, options.system)
    if options.remove:
        print_lines(f"{'removed from' if crontab.remove(script) else 'nothing to remove in'} your crontab")
        return DONE
    check_runs(prepared)
    schedule = schedule_of(prepared)
    if options.scrontab:  # always with a limit, since the tick holds a place in the queue
        schedule = replace(schedule, limit=crontab.limit_of_tick(schedule, prepared.runs))
    script.parent.mkdir(parents=True, exist_ok=True)
    write_whole(script, script_text(schedule, options.campaign, folder, options.system, os.environ))
    if options.install:
        changed = crontab.install(schedule, script)
        print_lines("installed in your crontab:" if changed else "already in your crontab:")
    if options.scrontab:
        print_lines(
            "# add with: scrontab -e", *crontab.scrontab_lines(schedule, prepared.campaign.name, script)
        )
    else:
        print_lines(crontab.block(schedule, script).rstrip("\n"))
    return DONE
