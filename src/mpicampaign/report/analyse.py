"""From results to records, tables, figures and the report: the analysis in one call."""

from __future__ import annotations

import platform
from functools import partial
from typing import TYPE_CHECKING

from mpicampaign import __version__
from mpicampaign.base.background import in_background
from mpicampaign.base.records import record_line
from mpicampaign.base.selection import ALL_RUNS
from mpicampaign.collect.campaign import plan_of
from mpicampaign.collect.looks import note_look
from mpicampaign.collect.reported import report_folder
from mpicampaign.collect.undescribed import undescribed_lines
from mpicampaign.questions.races.write_settings import write_settings
from mpicampaign.questions.two_sides.find_changes import earlier_series, keep_earlier
from mpicampaign.report.analyse_tables import compared, keep
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.write import HISTORY, write_report
from mpicampaign.show.view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpicampaign.base.plan_file import PlanFile
    from mpicampaign.base.presentation import Presentation
    from mpicampaign.base.records import Record
    from mpicampaign.base.selection import RunSelection


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
    plan = plan_of(folder)
    beside = undescribed_lines(plan, folder)
    view = view_of(presentation)
    records, comparison = compared(folder, view, presentation.reference, selection)
    lines = [*map(record_line, records)]
    target, title = report_folder(folder, selection), presentation.title
    if selection:
        title = f"{title or plan.campaign}: a selection of its runs"
        beside = [f"Only {selection}. The report of all runs is in the folder above.", *beside]
    else:
        keep_earlier(folder, records, lines)
    figures = in_background(
        partial(draw_all, comparison, target / "figures", view, formats, few=not every_figure)
    )
    keep(target, plan.campaign, presentation.title, view, lines, comparison)
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
        changes=earlier_series(folder, records, view.table_sizes),
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
