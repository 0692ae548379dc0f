"""From results to records, tables, figures and the report: the analysis in one call."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mpicampaign import __version__
from mpicampaign.base.background import in_background
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import write_whole
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.presentation import Presentation, ReferenceChoice
from mpicampaign.base.records import OK, RECORDS, Header, Record, each_record, write_records
from mpicampaign.base.selection import ALL_RUNS, RunSelection
from mpicampaign.collect.campaign import collect_all, plan_of
from mpicampaign.collect.looks import note_look
from mpicampaign.collect.unchanged_files import report_folder
from mpicampaign.collect.undescribed import undescribed_lines
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.machine.say_tables import machine_files
from mpicampaign.questions.published.find import with_published
from mpicampaign.questions.races.write_settings import write_settings
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.filter import check_attribute
from mpicampaign.report.make import to_csv, to_markdown, to_terminal
from mpicampaign.report.summary import summary_text
from mpicampaign.report.write import HISTORY, write_report
from mpicampaign.show.view import DEFAULT, View, view_of
from mpicampaign.show.writers.terminal import terminal_width


def analyse(
    folder: Path,
    presentation: Presentation,
    campaign_text: str,
    formats: Sequence[str] = ("svg",),
    every_figure: bool = False,
    selection: RunSelection = ALL_RUNS,
) -> list[Record]:
    """Write records, tables, figures and the report of a campaign's folder; the records.

    Parameters
    ----------
    folder : of the campaign in results/, with a plan.json, imports or merged bundles
    presentation : how to show them
    campaign_text : the campaign file, or the map of an import, shown in the report
    formats : of the figures' files
    every_figure : also those that show what the tables say
    selection : of some runs only: their report goes to a folder of its own

    Raises
    ------
    UserError
        where the report has results and the present campaign has none; where no run is selected.
    """
    view = view_of(presentation)
    records, comparison = compared(folder, view, presentation.reference, selection)
    target, title = report_folder(folder, selection), presentation.title
    figures = in_background(
        partial(draw_all, comparison, target / "figures", view, formats, few=not every_figure)
    )
    plan = plan_of(folder)  # after the work that takes most memory
    beside = undescribed_lines(plan, folder)
    if selection:
        title = f"{title or plan.campaign}: a selection of its runs"
        beside = [f"Only {selection}. The report of all runs is in the folder above.", *beside]
    keep(target, plan.campaign, presentation.title, view, records, comparison)
    if not selection:
        write_settings(folder, plan, comparison.races)
    write_report(
        target / "report.html",
        comparison,
        records,
        figures,
        campaign_title=title,
        campaign_name=plan.campaign,
        campaign_text=campaign_text,
        provenance=_provenance(folder, plan),
        beside=beside,
        view=view,
        history=HISTORY if not selection and (folder / HISTORY).is_file() else "",
    )
    if not selection:
        note_look(folder, records)
    return records


def _provenance(folder: Path, plan: PlanFile) -> dict[str, str]:
    found = {"program": f"mpicampaign {__version__}", "Python": platform.python_version()}
    if plan.seed is not None:
        found["seed of the run order"] = str(plan.seed)
    if not (folder / "imports").is_dir():
        return found
    from mpicampaign.collect.imports import imported_maps

    return found | {
        f"imported as {each.name}": each.source or "no source named" for each in imported_maps(folder)
    }


# Without figures: the fast part


def records_and_tables(folder: Path, presentation: Presentation) -> tuple[list[Record], Comparison]:
    """Write and return the records and the comparison of a campaign's folder.

    ``folder``: of the campaign in results/, with a plan.json, imports or merged bundles.

    Raises
    ------
    UserError
        where the existing records hold results and there are none now: nothing is replaced.
    """
    view = view_of(presentation)
    records, comparison = compared(folder, view, presentation.reference)
    keep(folder, plan_of(folder).campaign, presentation.title, view, records, comparison)
    return records, comparison


def compared(
    folder: Path, view: View, reference: Sequence[ReferenceChoice], selection: RunSelection = ALL_RUNS
) -> tuple[list[Record], Comparison]:
    """The records and the comparison of the selected runs in a campaign's folder, published values beside.

    Raises
    ------
    UserError
        as `records_and_tables`, and where the selection or ``view.by`` names what no run has.
    """
    every = collect_all(folder)
    selection.check((record.case, record.repeat) for record in every)
    records = [record for record in every if selection.takes(record.case, record.repeat)]
    if not selection:
        _check_not_emptied(folder, records)
    comparison = compare(records, view.table_sizes, view.by)
    if selection:  # a race or a machine without some of its runs is another one
        comparison = replace(comparison, races=(), machines=())
    check_attribute(comparison)
    return records, with_published(comparison, reference)


def keep(
    folder: Path, campaign: str, title: str, view: View, records: Iterable[Record], comparison: Comparison
) -> None:
    """Write tables and records into a folder."""
    write_tables(comparison, folder / "tables", view, title)
    write_records(folder / RECORDS, Header(campaign, title, view.table_sizes), records)


def _check_not_emptied(folder: Path, records: list[Record]) -> None:
    before = folder / RECORDS
    if any(record.status == OK or record.unread for record in records) or not before.is_file():
        return
    try:
        kept = sum(record.status == OK for record in each_record(before))
    except UserError:
        return
    if kept:
        message = f"no run of the current campaign has a result: the report of {kept} results is kept"
        beside = undescribed_lines(plan_of(folder), folder)
        hint = "\n    ".join([*beside, "run the campaign, or undo the change to its file"])
        raise UserError(Problem(message, str(folder / "report.html"), hint=hint))


def write_tables(comparison: Comparison, folder: Path, view: View = DEFAULT, title: str = "") -> None:
    """The comparison as text, CSV and Markdown, and its summary for a terminal."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "summary.txt", summary_text(comparison, view, title, terminal_width()))
    write_whole(folder / "comparison.txt", to_terminal(comparison, view, terminal_width()))
    write_whole(folder / "comparison.csv", to_csv(comparison, view))
    write_whole(folder / "comparison.md", to_markdown(comparison, view))
    for name, text in machine_files(comparison.machines).items():
        if text:
            write_whole(folder / name, text)
        else:  # of an earlier call
            (folder / name).unlink(missing_ok=True)
