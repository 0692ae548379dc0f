"""mpicampaign run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import add_campaign, add_verbose, beside, make_runs, prepared_of, print_lines, say
from mpicampaign.cli.report import report_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and options for Snakemake."""
    add_campaign(parser)
    parser.add_argument(
        "--profile", default="profiles/local", help="Snakemake profile (default: %(default)s)"
    )
    add_verbose(parser, "show what the compiler and Snakemake print, too")
    parser.add_argument("snakemake", nargs="*", help="further arguments for Snakemake, after --")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.durations import estimate, last_ended
    from mpicampaign.execution.execute import wait_for_measurement
    from mpicampaign.execution.interrupts import EXIT_SIGNALLED
    from mpicampaign.execution.set_aside import set_aside_faulty
    from mpicampaign.jobs.plan_text import pending_text, warnings_text
    from mpicampaign.jobs.prepare import check_runs

    prepared = prepared_of(options)
    check_runs(prepared)
    say(*warnings_text(prepared.plan), *set_aside_faulty(prepared.scripts), *beside(prepared))
    if prepared.pending and prepared.runs_here and "-n" not in options.snakemake:
        # Starting Snakemake would disturb a run that a killed call left behind, or another campaign's.
        wait_for_measurement(prepared.measuring_lock, say)
    pending, title = prepared.pending, prepared.campaign.title
    if not pending and not options.snakemake:
        counted = report_of(prepared, options.campaign)  # without Snakemake, whose start takes seconds
        nothing = pending_text(prepared.plan, 0, title, last_ended(prepared.scripts))
        print_lines(nothing, *answer(prepared.folder, title), counted)
        return 0
    if pending:
        say(pending_text(prepared.plan, len(pending), title, estimate(pending)))
    status = make_runs(prepared, options, options.snakemake)
    if status not in EXIT_SIGNALLED:
        print_lines(*closing_screen(prepared.folder))
    now = prepared_of(options)  # runs that were disturbed meanwhile have further repeats
    if now.pending:
        say(f"not done: {len(now.pending)} of {len(now.scripts)} runs; the same command continues")
    failed = any(script.run.further for script in now.pending) and "-n" not in options.snakemake
    return status or int(failed)  # Snakemake does not know all further repeats


def closing_screen(folder: Path) -> list[str]:
    """The answers on one screen, and where the rest is; empty without any result."""
    for name in ("summary.txt", "comparison.txt"):
        if (folder / "tables" / name).is_file():
            text = (folder / "tables" / name).read_text(encoding="utf-8").rstrip()
            return [text, f"report.html, tables and figures: {folder}"]
    return []


def answer(folder: Path, title: str) -> list[str]:
    """The first answer in one line, if there is any."""
    summary = folder / "tables" / "summary.txt"
    head = summary.read_text(encoding="utf-8").partition("\n\n")[0] if summary.is_file() else ""
    return [" ".join(line for line in head.splitlines() if line != title)] if head else []
