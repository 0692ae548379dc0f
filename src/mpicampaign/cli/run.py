"""mpicampaign run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import add_campaign, beside, make_runs, prepared_of, print_lines
from mpicampaign.cli.report import report_of

if TYPE_CHECKING:
    import argparse

    from mpicampaign.jobs.prepare import Prepared


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and options for Snakemake."""
    add_campaign(parser)
    parser.add_argument(
        "--profile", default="profiles/local", help="Snakemake profile (default: %(default)s)"
    )
    parser.add_argument("snakemake", nargs="*", help="further arguments for Snakemake, after --")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.execute import wait_for_measurement
    from mpicampaign.execution.set_aside import set_aside_faulty
    from mpicampaign.jobs.plan_text import pending_text, warnings_text
    from mpicampaign.jobs.prepare import check_runs

    prepared = prepared_of(options)
    check_runs(prepared)
    print_lines(*warnings_text(prepared.plan), *set_aside_faulty(prepared.scripts), *beside(prepared))
    if prepared.pending and prepared.runs_here and "-n" not in options.snakemake:
        # Starting Snakemake would disturb a run that a killed call left behind, or another campaign's.
        wait_for_measurement(prepared.measuring_lock, print_lines)
    print_lines(pending_text(prepared.plan, len(prepared.pending), prepared.campaign.title))
    if not prepared.pending and not options.snakemake:
        report_of(prepared, options.campaign)  # without Snakemake, whose start takes seconds
        _show(prepared)
        return 0
    status = make_runs(prepared, options, options.snakemake)
    _show(prepared)
    now = prepared_of(options)  # runs that were disturbed meanwhile have further repeats
    if now.pending:
        print(f"{len(now.pending)} of {len(now.scripts)} runs are not done; call again to continue")
    failed = any(script.run.further for script in now.pending) and "-n" not in options.snakemake
    return status or int(failed)  # Snakemake does not know all further repeats


def _show(prepared: Prepared) -> None:
    """Print the comparison, and the paths of the rest."""
    table = prepared.folder / "tables" / "comparison.txt"
    if table.is_file():
        print(table.read_text(encoding="utf-8"))
        print(f"report: {prepared.folder / 'report.html'}")
        print(f"tables: {table.parent}   figures: {prepared.folder / 'figures'}")
