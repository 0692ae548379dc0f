"""The page of a history: what changed, all curves over time, and two ticks side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from mpicampaign.base.files import write_whole
from mpicampaign.history.overview import Overview
from mpicampaign.questions.history.draw import charts_over_time
from mpicampaign.questions.history.say import change_nodes, curve_grid, series_grid, ticks_text
from mpicampaign.report.write import chart_section
from mpicampaign.show.document import Drawing, Heading, PageNode, Paragraph, Section, Span, titled
from mpicampaign.show.interactive import curve_chart, places
from mpicampaign.show.writers.html import TEMPLATES, element, framed, html, program


def write_history_page(path: Path, history: Overview, title: str = "") -> None:
    """Write the page; ``path``: beside the report, which it links."""
    title = f"{title or history.campaign}: history"
    two_ticks = Markup((TEMPLATES / "history.html").read_text(encoding="utf-8"))
    parts = [
        titled("answers", "What changed, and with what", *change_nodes(history)),
        titled("curves", "Curves", replace(curve_grid(history), title="Curves")),
        _over_time(history),
        Section((Drawing(two_ticks),), "two", "", "Two ticks compared"),
        titled("series", "Series", replace(series_grid(history.series), title="Series", label="Series")),
    ]
    text = framed(
        title,
        html(parts),
        header=html(_header(history, title)),
        contents={part.anchor: part.title for part in parts},
        programs=[program("curves.js"), program("history.js")],
    )
    write_whole(path, text.encode("utf-8", errors="replace").decode("utf-8"))


def _header(history: Overview, title: str) -> list[PageNode]:
    days = [point.time[:10] for curve in history.curves for point in curve.points if point.time]
    period = f"{min(days)} to {max(days)}" if days else ""
    report = Span("report of the open series", link="report.html")
    return [
        Heading(title, 1),
        Paragraph((f"{len(history.series)} series, {period} · ", report), "subtitle"),
        Paragraph(ticks_text(history), "subtitle"),
    ]


def _over_time(history: Overview) -> Section:
    """A chart for each curve; all have the same ticks."""
    text = "A point for each tick: the median of its runs that count. Dashed: changes. Scales do not begin "
    text += "at 0. Point at a curve for its values, or choose it and use the arrow keys."
    charts = charts_over_time(history)
    drawn = html(chart_section(chart, Drawing(curve_chart(chart))) for chart in charts)
    attributes = places(charts[0]) if charts else {}
    drawing = Drawing(element("div", drawn, **attributes))
    return titled("time", "Over time", Paragraph(text, "legend"), drawing)
