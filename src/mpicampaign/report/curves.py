"""Curves of pages, over message size or time: SVG of the chart model, and boxes that choose its lines.

All is there without a script, which only reads values and hides lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mpicampaign.base.records import UNVERIFIED
from mpicampaign.show.charts.looks import COLOURS, GREY
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import Page, Place
from mpicampaign.show.figures.svg import dashes, drawing, marker_path, path_of, svg
from mpicampaign.show.sentences import kind_name
from mpicampaign.show.writers.html import element

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.show.charts.interactive import Facet, InteractiveChart, InteractiveLine, Value
    from mpicampaign.show.charts.model import Repeat

_WIDTH, _HEIGHT = 5.4, 3.4  # inches: text is legible on a phone, too
_PLACE = Place(0.66, 0.48, 4.6, 2.82)
_LINE, _MARK = 1.4, 4.5  # printer's points
_MARKED = 60  # points at most that have marks

_Marker = tuple[str, str, bool]  # its name, its colour, whether it is hollow


def curve_chart(chart: InteractiveChart) -> Markup:
    """The boxes that choose lines, and the lines; around it, an element must have `places`."""
    several = len(chart.lines) > 1 or any(line.curve.repeats for line in chart.lines)
    controls = element("div", Markup().join([*map(_facet, chart.facets), _shown()]), class_="controls")
    tip = element("output", class_="tip")
    return Markup(controls if several else "") + element("div", _plot(chart) + tip, class_="plot")


def places(chart: InteractiveChart) -> dict[str, str]:
    """Attributes with the places across and what they are called: charts over the same ticks share them."""
    panel = Panel(Page(_HEIGHT, "", _WIDTH), _PLACE, chart.across)
    labels = {place: label for place, label in chart.labels.items() if chart.across.shows(place)}
    return {
        "data_x": " ".join(f"{panel.x(place) * 72:.1f}" for place in labels),
        "data_labels": ",".join(labels.values()),
    }


def _plot(chart: InteractiveChart) -> Markup:
    page = Page(_HEIGHT, "", _WIDTH)
    panel = Panel(page, _PLACE, chart.across, chart.up)
    panel.across_ticks(chart.ticks)
    panel.up_ticks()
    panel.frame()
    page.text(_PLACE.left + _PLACE.width / 2, 0.12, chart.across.label, align="center")
    middle = _PLACE.bottom + _PLACE.height / 2
    page.text(0.12, middle, chart.up.label, align="center", turned=True, room=_PLACE.height)
    changes = [[(x, _PLACE.bottom), (x, _PLACE.top)] for x in map(panel.x, chart.changes)]
    page.lines(changes, COLOURS[1], 1.2, "dashed")
    markers: dict[_Marker, str] = {}
    lines = Markup("\n").join(_line(panel, chart, line, markers) for line in chart.lines)
    definitions = Markup().join(_marker(name, look) for look, name in markers.items())
    over = f"{chart.across.name}, logarithmic axes" if chart.across.name else "time"
    return svg(
        page,
        element("defs", definitions) + drawing(page) + Markup("\n") + lines,
        tabindex=0,
        role="img",
        aria_label=f"{chart.title} over {over}; the arrow keys read its values",
        data_unit=chart.up.unit.name,
    )


def _line(
    panel: Panel, chart: InteractiveChart, line: InteractiveLine, markers: dict[_Marker, str]
) -> Markup:
    """A row's medians, and its repeats, each with its run."""
    curve, look = line.curve, line.curve.look
    style = None
    if len(curve.median) <= _MARKED:
        marker = (look.marker, look.colour, curve.disturbed)
        style = f"marker:url(#{markers.setdefault(marker, f'{chart.anchor}-mark-{len(markers) + 1}')})"
    median = _path(panel, chart, curve.median, curve.name, style=style)
    repeats = (_path(panel, chart, repeat.values, _run_text(repeat)) for repeat in curve.repeats)
    parts = median + element("g", Markup().join(repeats), class_="repeats")
    values = " ".join(map(str, line.values))
    dash = dashes(look.line, _LINE)
    return element("g", parts, class_="line", data_values=values, stroke=look.colour, stroke_dasharray=dash)


def _path(
    panel: Panel, chart: InteractiveChart, values: Mapping[int, float], title: str, **attributes: Any
) -> Markup:
    """A path through the values that the axes can show, with these as text."""
    shown = panel.shown(values.items())
    if not shown:
        return Markup()
    number, unit = chart.up.dimension.number, chart.up.unit.name
    texts = [number(value, unit) for _, value in shown]
    path = path_of(panel.page, panel.places(shown))
    return element("path", element("title", title), d=path, data_v=" ".join(texts), **attributes)


def _run_text(repeat: Repeat) -> str:
    run = repeat.run
    hosts = f" on {', '.join(run.hosts)}" if run.hosts else ""
    job = f", job {run.job_id}" if run.job_id else ""
    return f"repeat {run.repeat}{hosts}{job}, {kind_name(run.verdict or UNVERIFIED)}"


def _marker(name: str, look: _Marker) -> Markup:
    marker, colour, hollow = look
    path = element(
        "path", d=f"M0 0{marker_path(marker, _MARK)}", fill="white" if hollow else colour, stroke=colour
    )
    return element("marker", path, id=name, overflow="visible", markerUnits="userSpaceOnUse")


# The boxes


def _facet(facet: Facet) -> Markup:
    boxes = (_tick_box(_swatch(value) + value.name, checked=value.ticked) for value in facet.values)
    return element("fieldset", Markup().join([element("legend", facet.name), *boxes]), data_facet=True)


def _shown() -> Markup:
    repeats = _tick_box("each repeat", data_shows="repeats")
    status = element("span", role="status")
    return element("fieldset", element("legend", "show") + repeats + status, class_="show")


def _tick_box(text: str, **attributes: Any) -> Markup:
    return element("label", element("input", type="checkbox", autocomplete="off", **attributes) + " " + text)


def _swatch(value: Value) -> Markup:
    """A line as it is drawn."""
    if not (value.colour or value.line):
        return Markup()
    colour = value.colour or GREY
    dash = dashes(value.line, 2)
    drawn = element("path", d="M0 6h26", stroke=colour, stroke_width=2, stroke_dasharray=dash)
    if value.marker:
        drawn += element("path", d=f"M13 6{marker_path(value.marker, 7)}", fill=colour, stroke=colour)
    return element("svg", drawn, class_="swatch", width=26, height=12, aria_hidden="true")
