"""mpicampaign report."""

from __future__ import annotations

import argparse
import errno
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import system_error_text
from mpicampaign.base.selection import ALL_RUNS, RunSelection
from mpicampaign.cli.campaign_argument import add_campaign, check_there
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import add_by, add_selection, selection_of
from mpicampaign.cli.output import counts, print_lines, unread_lines

if TYPE_CHECKING:
    from mpicampaign.base.presentation import Presentation
    from mpicampaign.jobs.prepare import Prepared

ALL = "all"  # figures

EXAMPLES = (
    ("mpicampaign report mine.yaml", "at any time: the results so far"),
    ("mpicampaign report mine.yaml --placement TCP,SHM", "of these runs, in results/CAMPAIGN/selected/"),
    ("mpicampaign report --map import.yaml", "of imported outputs"),
    ("mpicampaign report mine.yaml --by infiniband", "host groups grouped by this attribute"),
    ("mpicampaign report mine.yaml --figures pdf", "figures for a paper, too"),
    ("mpicampaign report mine.yaml && mpicampaign tables mine.yaml --answers --format csv", "also as data"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, or the map of an import."""
    add_campaign(parser)
    add_selection(parser)
    add_by(parser)
    parser.add_argument("--map", type=Path, help="instead of a campaign file: the map of an import")
    recheck = "read all raw files again, even if none has changed since the last report"
    parser.add_argument("--recheck", action="store_true", help=recheck)
    quiet = "print only how the runs ended, and where the report is"
    parser.add_argument("--quiet", action="store_true", help=quiet)
    figures = "png or pdf: write figures in this format, too; all: also draw figures that repeat a table. "
    figures += "May be given several times (default: one SVG per table)"
    parser.add_argument("--figures", action="append", choices=("png", "pdf", ALL), default=[], help=figures)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.run.conditions import prepare_with_results

    if {"png", "pdf"} & {*options.figures}:
        from mpicampaign.show.figures.converted import load_converters

        load_converters()  # before the files are read: it says what is not installed
    if options.map:
        if options.system:
            raise UserError(Problem("cannot be combined with --map", key="--system"))
        return _report_of_import(options)
    prepared = [prepare_with_results(options.campaign, options.system)]
    folder, selection = prepared[0].folder, selection_of(options)
    summary = report_of(  # which has it alone and frees it
        prepared.pop(), options.figures, recheck=options.recheck, selection=selection, by=options.by
    )
    print_lines(*([] if options.quiet else answers_of(folder, selection)), summary)
    return DONE


def answers_of(folder: Path, selection: RunSelection = ALL_RUNS) -> list[str]:
    """The answers of a report on one screen; empty where there is none."""
    from mpicampaign.collect.unchanged_files import report_folder

    tables = report_folder(folder, selection) / "tables"
    for name in ("summary.txt", "comparison.txt"):
        if (tables / name).is_file():
            return [(tables / name).read_text(encoding="utf-8").rstrip(), ""]
    return []


def report_of(
    prepared: Prepared,
    figures: Sequence[str] = (),
    *,
    recheck: bool = False,
    selection: RunSelection = ALL_RUNS,
    by: str = "",
) -> str:
    """Write the report of a campaign, unless it is up to date; how its runs ended, and where it is.

    Where its folder is read-only: the report that is there.

    ``selection``: of some runs only. It is not that of ``prepared``: a run of some makes the whole report.
    """
    from mpicampaign.jobs.prepare import write_plan

    folder, campaign = prepared.folder, prepared.campaign
    text = Path(campaign.file).read_text(encoding="utf-8")
    try:
        write_plan(prepared)
        del prepared  # all runs with what is known of each: the records take their place
        presentation = replace(campaign.presentation, by=by)
        return _report(folder, presentation, text, figures, recheck, selection)
    except OSError as error:
        return _existing(folder, selection, error)


def _existing(folder: Path, selection: RunSelection, error: OSError) -> str:
    """The report that is there, where no new one can be written since the folder is read-only.

    Raises
    ------
    OSError
        the given one, where it has another cause, or where there is no report.
    """
    from mpicampaign.collect.unchanged_files import report_folder

    report = report_folder(folder, selection) / "report.html"
    if error.errno not in (errno.EROFS, errno.EACCES) or not report.is_file():
        raise error
    made = datetime.fromtimestamp(report.stat().st_mtime).astimezone()
    present = f"the one of {made:%Y-%m-%d %H:%M} remains: {report}"
    return f"{system_error_text(error)}: no report is written; {present}"


def _report(
    folder: Path,
    presentation: Presentation,
    text: str,
    figures: Sequence[str],
    recheck: bool,
    selection: RunSelection = ALL_RUNS,
) -> str:
    from mpicampaign.collect.unchanged_files import keep, report_folder, state_of, unchanged

    formats = ("svg", *(picture for picture in dict.fromkeys(figures) if picture != ALL))
    # before the files are read: what changes meanwhile is read by the next report
    state = state_of(folder, repr(presentation), text, *sorted(figures), str(selection))
    target = report_folder(folder, selection)
    if not recheck and (summary := unchanged(target, state)):
        for made in (target / "report.html", target / "tables" / "comparison.csv"):
            made.touch()  # for make and Snakemake: they are up to date
        return summary
    from mpicampaign.report.analyse import analyse

    records = analyse(folder, presentation, text, formats, ALL in figures, selection)
    summary = "\n".join([f"{counts(records)}; {target / 'report.html'}", *unread_lines(records)])
    if selection:
        summary = f"only {selection}; the report of all runs is not changed\n{summary}"
    keep(target, state, summary)
    return summary


def _report_of_import(options: argparse.Namespace) -> int:
    from mpicampaign.base.places import results_folder
    from mpicampaign.base.yaml_lines import printable
    from mpicampaign.collect.campaign import holds_results
    from mpicampaign.imports.map_file import load_map

    file = options.map
    check_there(file)
    chosen = load_map(file)
    folder = results_folder() / chosen.campaign
    if not holds_results(folder):
        hint = f"mpicampaign import FOLDER... --map {file}"
        raise UserError(Problem("nothing was imported with this map yet", printable(str(file)), hint=hint))
    figures, recheck, selection = options.figures, options.recheck, selection_of(options)
    presentation = replace(chosen.presentation, by=options.by)
    try:
        summary = _report(folder, presentation, chosen.text, figures, recheck, selection)
    except OSError as error:
        summary = _existing(folder, selection, error)
    print_lines(*([] if options.quiet else answers_of(folder, selection)), summary)
    return DONE
