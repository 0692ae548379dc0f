"""The page of a history: what changed, all curves, one of them over time, and two ticks side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mpicampaign.dimension import BANDWIDTH_UNITS
from mpicampaign.files import write_whole
from mpicampaign.show.document import Heading, Paragraph, Part, Span
from mpicampaign.show.frame import TEMPLATES, framed, inline_json, program
from mpicampaign.show.history import (
    change_nodes,
    change_text,
    curve_grid,
    curve_name,
    dimension_of,
    not_judged_text,
    series_grid,
    ticks_text,
    year_of,
)
from mpicampaign.show.writers.html import html

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.history.curves import Curve
    from mpicampaign.history.overview import Overview
    from mpicampaign.show.document import PageNode

FILE = "history.html"  # beside the report
_DIGITS = 5  # of the values that the page draws
_SECTIONS = {
    "answers": "Changes",
    "curves": "Curves",
    "one": "One curve",
    "two": "Two ticks",
    "series": "Series",
}


def write_history_page(path: Path, history: Overview, title: str = "") -> None:
    """Write the page; ``path``: beside the report, which it links."""
    title = f"{title or history.campaign}: history"
    above = [_changes_part(history), _curves_part(history)]
    controls = Markup((TEMPLATES / "history.html").read_text(encoding="utf-8"))
    text = framed(
        title,
        Markup("\n\n").join([html(above), controls, html([_series_part(history)])]),
        header=html(_header(history, title)),
        contents=_SECTIONS,
        programs=[program("history.js")],
        data=inline_json(_data(history)),
    )
    write_whole(path, text.encode("utf-8", errors="replace").decode("utf-8"))


def _header(history: Overview, title: str) -> list[PageNode]:
    days = [series.began[:10] for series in history.series if series.began]
    period = f"{min(days)} to {max(days)}" if days else ""
    report = Span("report of the open series", link="report.html")
    return [
        Heading(title, 1),
        Paragraph((f"{len(history.series)} series, {period} · ", report), "subtitle"),
        Paragraph(ticks_text(history), "subtitle"),
    ]


def _changes_part(history: Overview) -> Part:
    nodes = (Heading("What changed, and with what"), *change_nodes(history))
    return Part(nodes, "answers", "", _SECTIONS["answers"])


def _curves_part(history: Overview) -> Part:
    text = "A name chooses the curve that is drawn below. Values are medians of the first and the last tick."
    nodes = (Heading("Curves"), Paragraph(text, "legend"), replace(curve_grid(history), title="Curves"))
    return Part(nodes, "curves", "", _SECTIONS["curves"])


def _series_part(history: Overview) -> Part:
    return Part(
        (Heading("Series"), replace(series_grid(history.series), title="Series")),
        "series",
        "",
        _SECTIONS["series"],
    )


def _data(history: Overview) -> dict[str, Any]:
    """What the page draws: see templates/report/history.js."""
    times: dict[str, str] = {}
    for curve in history.curves:
        for point in curve.points:
            times[point.tick] = min(point.time, times.get(point.tick, point.time))
    ticks = sorted(times, key=lambda tick: (times[tick], tick))
    year = year_of(history)
    return {
        "ticks": ticks,
        "days": [times[tick][:16].replace("T", " ") for tick in ticks],
        "curves": [
            _curve(curve, {tick: n for n, tick in enumerate(ticks)}, year) for curve in history.curves
        ],
    }


def _curve(curve: Curve, places: dict[str, int], year: str) -> dict[str, Any]:
    unit = dimension_of(curve.key).unit(BANDWIDTH_UNITS[0])
    values: list[float | None] = [None] * len(places)
    for point in curve.points:
        values[places[point.tick]] = float(f"{unit.of(point.value):.{_DIGITS}g}")
    changes = [
        {"first": places[curve.points[change.index].tick], "text": change_text(change, curve, year)}
        for change in curve.changes
    ]
    name, reason = curve_name(curve.key), not_judged_text(curve.not_judged)
    return {"name": name, "unit": unit.name, "values": values, "changes": changes, "notJudged": reason}
