"""The report's curves over message size: SVG of the chart model, and boxes that choose its lines.

All is there without a script, which only reads values and hides lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mpicampaign.records import UNVERIFIED
from mpicampaign.show.charts.looks import GREY
from mpicampaign.show.charts.scales import size_ticks
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import Page, Place
from mpicampaign.show.figures.svg import dashes, drawing, marker_path, path_of, svg
from mpicampaign.show.sentences import kind_name
from mpicampaign.show.writers.html import element
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.show.charts.model import Repeat
    from mpicampaign.show.charts.selection import Facet, FacetChoice, SelectionChart, Value

_WIDTH, _HEIGHT = 5.4, 3.4  # inches: text is legible on a phone, too
_PLACE = Place(0.66, 0.48, 4.6, 2.82)
_LINE, _MARK = 1.4, 4.5  # printer's points
_MOST_SIZES = 7  # that are named on the axis of sizes

_Marker = tuple[str, str, bool]  # its name, its colour, whether it is hollow


def curve_chart(chart: SelectionChart) -> Markup:
    """The boxes that choose lines, and the lines."""
    controls = element("div", Markup().join([*map(_facet, chart.facets), _shown()]), class_="controls")
    tip = element("output", class_="tip")
    return controls + element("div", _plot(chart) + tip, class_="plot")


def _plot(chart: SelectionChart) -> Markup:
    page = Page(_HEIGHT, "", _WIDTH)
    panel = Panel(page, _PLACE, chart.across, chart.up)
    panel.across_ticks(_size_ticks(chart))
    panel.up_ticks()
    panel.frame()
    page.text(_PLACE.left + _PLACE.width / 2, 0.12, chart.across.label, align="center")
    page.text(0.12, _PLACE.bottom + _PLACE.height / 2, chart.up.label, align="center", turned=True)
    markers: dict[_Marker, str] = {}
    lines = Markup("\n").join(_line(panel, chart, line, markers) for line in chart.lines)
    definitions = Markup().join(_marker(name, look) for look, name in markers.items())
    sizes = [size for size in chart.sizes if chart.across.shows(size)]
    return svg(
        page,
        element("defs", definitions) + drawing(page) + Markup("\n") + lines,
        tabindex=0,
        role="img",
        aria_label=f"{chart.title} over message size, logarithmic axes; the arrow keys read its values, "
        "which are in the table below, too",
        data_x=" ".join(f"{panel.x(size) * 72:.1f}" for size in sizes),
        data_sizes=",".join(map(format_size, sizes)),
        data_unit=chart.up.unit.name,
    )


def _size_ticks(chart: SelectionChart) -> list[tuple[float, str]]:
    """Labelled powers of 2 within the range of sizes; else the sizes themselves."""
    sizes = [size for size in chart.sizes if size > 0]
    powers = size_ticks(sizes[0], sizes[-1], _MOST_SIZES)
    return powers or [(float(size), format_size(size)) for size in sizes]


def _line(panel: Panel, chart: SelectionChart, line: FacetChoice, markers: dict[_Marker, str]) -> Markup:
    """A row's medians, and its repeats, each with its run."""
    curve, look = line.curve, line.curve.look
    marker = (look.marker, look.colour, curve.disturbed)
    name = markers.setdefault(marker, f"{chart.anchor}-mark-{len(markers) + 1}")
    median = _path(panel, chart, curve.median, curve.name, style=f"marker:url(#{name})")
    repeats = (_path(panel, chart, repeat.values, _run_text(repeat)) for repeat in curve.repeats)
    parts = median + element("g", Markup().join(repeats), class_="repeats")
    values = " ".join(map(str, line.values))
    dash = dashes(look.line, _LINE)
    return element("g", parts, class_="line", data_values=values, stroke=look.colour, stroke_dasharray=dash)


def _path(
    panel: Panel, chart: SelectionChart, values: Mapping[int, float], title: str, **attributes: Any
) -> Markup:
    """A path through the values that the axes can show, with these as text."""
    pairs = ((size, value) for size, value in values.items() if chart.across.shows(size))
    shown = {size: value for size, value in pairs if chart.up.shows(value)}
    if not shown:
        return Markup()
    texts = (chart.up.dimension.number(value, chart.up.unit.name) for value in shown.values())
    path = path_of(panel.page, panel.points(shown.items()))
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
