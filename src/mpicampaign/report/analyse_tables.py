"""From runs and imports to records and tables: the fast part of the analysis, without figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import write_whole
from mpicampaign.base.records import OK, RECORDS, Header, read_records, record_line, write_lines
from mpicampaign.base.selection import ALL_RUNS
from mpicampaign.collect.campaign import collect_all, plan_of
from mpicampaign.collect.undescribed import undescribed_lines
from mpicampaign.compare.compare import compare
from mpicampaign.questions.published.find import with_published
from mpicampaign.questions.two_sides.find_changes import keep_earlier
from mpicampaign.report.filter import check_attribute
from mpicampaign.report.make import to_csv, to_markdown, to_terminal
from mpicampaign.report.questions import files_of_questions
from mpicampaign.report.summary import summary_text
from mpicampaign.show.view import DEFAULT, view_of
from mpicampaign.show.writers.terminal import terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpicampaign.base.presentation import Presentation, ReferenceChoice
    from mpicampaign.base.records import Record
    from mpicampaign.base.selection import RunSelection
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.view import View


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
    lines = [*map(record_line, records)]
    keep_earlier(folder, records, lines)
    keep(folder, plan_of(folder).campaign, presentation.title, view, lines, comparison)
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
    folder: Path, campaign: str, title: str, view: View, lines: Sequence[bytes], comparison: Comparison
) -> None:
    """Write tables, and records as lines, into a folder."""
    write_tables(comparison, folder / "tables", view, title)
    write_lines(folder / RECORDS, Header(campaign, title, view.table_sizes), lines)


def _check_not_emptied(folder: Path, records: list[Record]) -> None:
    before = folder / RECORDS
    if any(record.status == OK or record.unread for record in records) or not before.is_file():
        return
    try:
        kept = sum(record.status == OK for record in read_records(before)[1])
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
    for name, text in files_of_questions(comparison).items():
        if text:
            write_whole(folder / name, text)
        else:  # of an earlier call
            (folder / name).unlink(missing_ok=True)
