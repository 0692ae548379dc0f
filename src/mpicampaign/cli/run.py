"""mpicampaign run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.common import (
    add_only,
    add_selection,
    add_verbose,
    beside,
    doubts,
    prepared_with_only,
    print_lines,
    say,
    selection_lines,
)
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.make_runs import make_runs
from mpicampaign.cli.report import answers_of, report_of
from mpicampaign.errors import Problem, UserError, suggestion

if TYPE_CHECKING:
    import argparse

    from mpicampaign.jobs.prepare import Prepared

PROFILES = ("cluster", "profiles/local", "profiles/cron")  # that are shipped
EXAMPLES = (
    ("mpicampaign run mine.yaml", "makes the runs that have no result, then tables and report"),
    (
        "mpicampaign run mine.yaml --placement TCP,SHM-1 --repeat 1-3",
        "only these runs; the others stay as they are",
    ),
    ("mpicampaign run site.yaml --profile cluster", "submits the runs to the scheduler"),
    (
        "mpicampaign run machine.yaml --only n037",
        "after its repair: new rounds of a node beside eleven others",
    ),
    ("mpicampaign run mine.yaml --dry-run", "what it would do; nothing is made"),
    ("mpicampaign run mine.yaml -- --cores 1", "options after -- are Snakemake's"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, which runs of it, and options for Snakemake."""
    add_campaign(parser)
    add_selection(parser)
    parser.add_argument(
        "--profile", default="profiles/local", help="Snakemake profile (default: %(default)s)"
    )
    add_only(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be made; make nothing")
    add_verbose(parser, "show what the compiler and Snakemake print, too")
    parser.usage = "mpicampaign run [FILE] [options] [-- SNAKEMAKE_OPTIONS]"
    parser.set_defaults(passed_on=[])


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.again import note_again
    from mpicampaign.execution.durations import estimate, last_ended
    from mpicampaign.execution.execute import wait_for_measurement
    from mpicampaign.execution.set_aside import set_aside_faulty
    from mpicampaign.interrupts import EXIT_SIGNALLED
    from mpicampaign.jobs.plan import selected_plan
    from mpicampaign.jobs.plan_text import pending_text, warnings_text
    from mpicampaign.jobs.prepare import check_runs

    _check_profile(options.profile)
    prepared, again = prepared_with_only(options)
    check_runs(prepared)
    if options.dry_run:
        print_lines(*selection_lines(prepared), *_dry_run(prepared))
        return DONE
    note_again(prepared.folder, again)
    say(*doubts(prepared, "repeats", "time_limit"), *warnings_text(prepared.plan))
    say(*set_aside_faulty(prepared.selected), *beside(prepared))
    pending, further_options = prepared.pending, options.passed_on
    if pending and prepared.runs_here and "-n" not in further_options:
        # Starting Snakemake would disturb a run that a killed call left behind, or another campaign's.
        wait_for_measurement(say)
    plan, title = selected_plan(prepared.plan, prepared.selection), prepared.campaign.title
    say(*selection_lines(prepared))
    if not pending and not further_options:
        counted = report_of(prepared)  # without Snakemake, whose start takes seconds
        nothing = pending_text(plan, 0, title, last_ended(prepared.selected))
        print_lines(nothing, *answer(prepared.folder, title), counted)
        return DONE
    if pending:
        say(pending_text(plan, len(pending), title, estimate(pending)))
    status, now = make_runs(prepared, options, further_options)
    if status not in EXIT_SIGNALLED and (answers := answers_of(prepared.folder)):
        print_lines(*answers, f"report.html, tables and figures: {prepared.folder}")
    if now.pending:
        say(f"not done: {len(now.pending)} of {len(now.selected)} runs; the same command continues")
    return status


def _dry_run(prepared: Prepared) -> list[str]:
    """How many runs there are to make, and which."""
    from mpicampaign.execution.durations import estimate, last_ended
    from mpicampaign.execution.queue_status import run_states, status_text
    from mpicampaign.jobs.plan import selected_plan
    from mpicampaign.jobs.plan_text import pending_text

    plan, pending = selected_plan(prepared.plan, prepared.selection), prepared.pending
    time = estimate(pending) if pending else last_ended(prepared.selected)
    states, older = run_states(prepared)
    return [pending_text(plan, len(pending), prepared.campaign.title, time), status_text(states, older)]


def answer(folder: Path, title: str) -> list[str]:
    """The first answer in one line, if there is any."""
    summary = folder / "tables" / "summary.txt"
    head = summary.read_text(encoding="utf-8").partition("\n\n")[0] if summary.is_file() else ""
    return [" ".join(line for line in head.splitlines() if line != title)] if head else []


def _check_profile(name: str) -> None:
    """Refuse a profile that is in none of its places; the last ones are Snakemake's."""
    from mpicampaign.places import shipped, working_folder

    of_user = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    of_site = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders = [Path(folder) / "snakemake" / name for folder in (of_user, *of_site.split(":"))]
    if not any(folder.exists() for folder in (shipped(name), working_folder() / name, *folders)):
        hint = suggestion(name, PROFILES) or f"shipped: {', '.join(PROFILES)}; or give the folder of yours"
        raise UserError(Problem("no such profile", key="--profile", value=name, hint=hint))
