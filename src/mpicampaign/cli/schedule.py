"""mpicampaign schedule."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.common import doubts, prepared_of, print_lines, say

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Schedule
    from mpicampaign.jobs.prepare import Prepared

EXAMPLES = (
    ("mpicampaign schedule mine.yaml", "prints the lines for cron"),
    ("mpicampaign schedule mine.yaml --install", "puts them into your crontab; --remove takes them out"),
    ("mpicampaign schedule mine.yaml --scrontab", "where cron is not allowed: lines for Slurm's scrontab"),
)
REMOVED = {"--systemd": "removed: use --install (cron), --scrontab, or a timer that starts schedule/tick.sh"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and what to do with its schedule."""
    add_campaign(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--install", action="store_true", help="put its lines into your crontab")
    what.add_argument("--remove", action="store_true", help="remove its lines from your crontab")
    what.add_argument("--scrontab", action="store_true", help="print lines for Slurm's scrontab instead")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.schedule import crontab
    from mpicampaign.schedule.script import script_path
    from mpicampaign.schedule.tick import schedule_of

    prepared = prepared_of(options)
    say(*doubts(prepared))
    script = script_path(prepared.folder, options.system)
    if options.remove:
        print_lines(f"{'removed from' if crontab.remove(script) else 'nothing to remove in'} your crontab")
        return 0
    _write_script(prepared, options, script)
    if options.install:
        changed = crontab.install(schedule_of(prepared), script)
        print_lines("installed in your crontab:" if changed else "already in your crontab:")
    print_lines(_lines(prepared, options, script).rstrip("\n"))
    return 0


def _write_script(prepared: Prepared, options: argparse.Namespace, script: Path) -> None:
    from mpicampaign.base.files import write_whole
    from mpicampaign.jobs.prepare import check_runs
    from mpicampaign.schedule.script import script_text

    check_runs(prepared)
    schedule = _schedule(prepared, options)
    script.parent.mkdir(parents=True, exist_ok=True)
    text = script_text(schedule, options.campaign, prepared.folder, options.system, os.environ)
    write_whole(script, text)


def _schedule(prepared: Prepared, options: argparse.Namespace) -> Schedule:
    """The campaign's; with --scrontab always with a limit, since the tick holds a place in the queue."""
    from mpicampaign.schedule.scrontab import limit_of_tick
    from mpicampaign.schedule.tick import schedule_of

    schedule = schedule_of(prepared)
    return replace(schedule, limit=limit_of_tick(schedule, prepared.runs)) if options.scrontab else schedule


def _lines(prepared: Prepared, options: argparse.Namespace, script: Path) -> str:
    """What is to be installed, as text."""
    from mpicampaign.schedule import crontab, scrontab

    schedule, name = _schedule(prepared, options), prepared.campaign.name
    if options.scrontab:
        return f"# add with: scrontab -e\n{scrontab.scrontab_lines(schedule, name, script)}"
    return crontab.block(schedule, script)
