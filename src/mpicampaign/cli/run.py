"""mpicampaign run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.common import add_selection, beside, make_runs, prepared_of, print_lines, selection_lines
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.report import report_of
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
    ("mpicampaign run mine.yaml -- -n", "a dry run: options after -- are Snakemake's"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, which runs of it, and options for Snakemake."""
    add_campaign(parser)
    add_selection(parser)
    parser.add_argument(
        "--profile", default="profiles/local", help="Snakemake profile (default: %(default)s)"
    )
    parser.usage = "mpicampaign run [FILE] [options] [-- SNAKEMAKE_OPTIONS]"
    parser.set_defaults(passed_on=[])


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.execute import wait_for_measurement
    from mpicampaign.execution.set_aside import set_aside_faulty
    from mpicampaign.jobs.plan_text import pending_text, warnings_text
    from mpicampaign.jobs.prepare import check_runs
    from mpicampaign.jobs.selected import selected_plan

    _check_profile(options.profile)
    prepared = prepared_of(options)
    check_runs(prepared)
    print_lines(*warnings_text(prepared.plan), *set_aside_faulty(prepared.selected), *beside(prepared))
    if prepared.pending and prepared.runs_here and "-n" not in options.passed_on:
        # Starting Snakemake would disturb a run that a killed call left behind, or another campaign's.
        wait_for_measurement(prepared.measuring_lock, print_lines)
    plan = selected_plan(prepared.plan, prepared.selection)
    print_lines(
        *selection_lines(prepared), pending_text(plan, len(prepared.pending), prepared.campaign.title)
    )
    if not prepared.pending and not options.passed_on:
        report_of(prepared)  # without Snakemake, whose start takes seconds
        _show(prepared)
        return DONE
    status = make_runs(prepared, options, options.passed_on)
    _show(prepared)
    now = prepared_of(options)  # runs that were disturbed meanwhile have further repeats
    if now.pending:
        print(f"{len(now.pending)} of {len(now.selected)} runs are not done; call again to continue")
    failed = any(script.run.further for script in now.pending) and "-n" not in options.passed_on
    return status or int(failed)  # Snakemake does not know all further repeats


def _check_profile(name: str) -> None:
    """Refuse a misspelt profile; Snakemake has further places for those of a user."""
    from mpicampaign.places import shipped, working_folder

    if shipped(name).exists() or (working_folder() / name).exists():
        return
    if hint := suggestion(name, PROFILES):
        raise UserError(Problem("no such profile", key="--profile", value=name, hint=hint))


def _show(prepared: Prepared) -> None:
    """Print the comparison, and the paths of the rest."""
    table = prepared.folder / "tables" / "comparison.txt"
    if table.is_file():
        print(table.read_text(encoding="utf-8"))
        print(f"report: {prepared.folder / 'report.html'}")
        print(f"tables: {table.parent}   figures: {prepared.folder / 'figures'}")
