"""The report: one HTML file that opens offline and asks no server for anything.

Its parts are documents; raw files are linked, relative to the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from mpicampaign.files import write_whole
from mpicampaign.show.charts.interactive import interactive_charts
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.frame import framed, program
from mpicampaign.show.report.cases import runs_part
from mpicampaign.show.report.document import (
    curves_part,
    doubts_part,
    figures_part,
    header,
    provenance_part,
    rankings_part,
    tables_part,
)
from mpicampaign.show.report.first_screen import first_screen
from mpicampaign.show.report.tables import Source
from mpicampaign.show.runs import anchors, facts
from mpicampaign.show.view import DEFAULT
from mpicampaign.show.writers.html import html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mpicampaign.compare.changes import Changes
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.records import Record
    from mpicampaign.show.figures.draw import Figure
    from mpicampaign.show.view import View

_LARGEST = 4_800_000  # characters of all parts, which mail and browsers take easily


def write_report(
    path: Path,
    comparison: Comparison,
    records: Sequence[Record],
    figures: Callable[[], Sequence[Figure]] = tuple,
    *,
    campaign_title: str = "",
    campaign_name: str = "",
    campaign_text: str = "",
    provenance: dict[str, str] | None = None,
    beside: Sequence[str] = (),
    view: View = DEFAULT,
    changes: Changes | None = None,
    history: str = "",
) -> None:
    """Write the report.

    Parameters
    ----------
    path : the HTML file; links to raw files are relative to its folder
    comparison : of the same records
    figures : yields the drawn ones, when all else is made; their SVG is put inline
    campaign_text : the campaign file, shown as it is
    provenance : further facts to show, such as the version of this program
    beside : lines on results that are there and have no part in the report
    changes : the earlier series that medians are compared with
    history : address of the campaign's history, where it has one
    """
    title = campaign_title or campaign_name or "MPI campaign"
    source = Source(comparison, comparison.records, view, path.parent, anchors(comparison.records), changes)
    charts = interactive_charts(Scene(comparison, view.unit))
    above = [first_screen(source), tables_part(source), *([curves_part(charts)] if charts else [])]
    below = [
        rankings_part(source),
        doubts_part(source),
        runs_part(source),
        provenance_part({**(provenance or {}), **facts(records)}, campaign_text),
    ]
    rendered = {part.anchor: html([part]) for part in (*above, *below)}
    room = _LARGEST - sum(map(len, rendered.values()))
    parts = [*above, figures_part(source, figures(), room), *below]
    own = [program("tables.js"), program("curves.js")]
    text = framed(
        title,
        Markup("\n\n").join(rendered.get(part.anchor) or html([part]) for part in parts),
        header=html(header(source, title, campaign_name, beside, history)),
        contents={part.anchor: part.title for part in parts},
        programs=own if charts else own[:1],
    )
    write_whole(path, text.encode("utf-8", errors="replace").decode("utf-8"))
