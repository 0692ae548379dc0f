"""Curves of pages over message size or time: the reader reads values and chooses which are shown.

Each line has a value in every facet (host group, placement, ranks, series); the reader ticks values, and a
line is drawn where all of its values are ticked. All is there without a script, which only hides lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from markupsafe import Markup

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import UNVERIFIED
from mpicampaign.base.text import visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.metrics import curve
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.charts import curves
from mpicampaign.show.charts.looks import COLOURS, GREY, LINES, Style
from mpicampaign.show.charts.model import Axis, ChartCurve, CurvePanel, Repeat
from mpicampaign.show.charts.scales import size_ticks
from mpicampaign.show.charts.scene import FACETS, HOST_GROUP, PLACEMENT, Scene, without_twins
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import Area, Page
from mpicampaign.show.figures.svg import dashes, drawing, marker_path, path_of, svg
from mpicampaign.show.runs import explained, mark_of
from mpicampaign.show.sentences import kind_name
from mpicampaign.show.writers.html import element

_MOST_SIZES = 7  # that are named on the axis
_MOST_REPEATS = 300  # of a chart
MANY_LINES = 12  # above which only the first value of each facet but the coloured one is ticked at first


class Value(NamedTuple):
    """One value of a facet, with a tick box; its swatch looks like its lines."""

    name: str
    ticked: bool
    colour: str = ""
    line: str = ""
    marker: str = ""


class Facet(NamedTuple):
    """What distinguishes lines."""

    name: str
    values: tuple[Value, ...]


class InteractiveLine(NamedTuple):
    """A curve, and the number of its value in each facet."""

    curve: ChartCurve
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InteractiveChart:
    """Lines over message size, or over time.

    ``labels``: what the points across are called, ascending. ``ticks``: those named on the axis. ``note``:
    what else there is to say, such as values that the axes cannot show. ``changes``: places of dashed lines.
    """

    anchor: str
    title: str
    across: Axis
    up: Axis
    facets: tuple[Facet, ...]
    lines: tuple[InteractiveLine, ...]
    labels: Mapping[int, str]
    ticks: tuple[tuple[float, str], ...]
    note: str
    changes: tuple[float, ...] = ()

    @property
    def has_repeats(self) -> bool:
        """Whether each repeat is drawn, if there is any: a page with more of them would be too large."""
        return sum(len(line.curve.repeats) for line in self.lines) <= _MOST_REPEATS


def interactive_charts(scene: Scene) -> list[InteractiveChart]:
    """The charts of all benchmarks with sizes, in the order of the tables."""
    found: list[InteractiveChart] = []
    for tables in grouped(scene.comparison.tables, lambda table: table.benchmark).values():
        for column in _columns(tables):
            chart = _chart(f"curve-{len(found) + 1}", scene, _drawn(tables, column), column)
            found += [chart] if chart else []
    return found


def _columns(tables: Sequence[Table]) -> list[str]:
    """Which columns are drawn; no time of kernels, since their bandwidth is derived from it."""
    useful = [table.useful for table in tables if table.useful]
    if useful:
        return [curves.USEFUL, curves.WIRE] if any(each.wire for each in useful) else [curves.USEFUL]
    return [curves.ELAPSED, curves.USEFUL]


def _drawn(tables: Iterable[Table], column: str) -> list[tuple[Table, Row]]:
    """The rows with the column at two sizes or more; not wire bandwidth where it is the useful one."""
    return without_twins(
        (table, row)
        for table in tables
        for row in table.rows
        if not (column == curves.WIRE and (table.is_baseline or row.ranks == 2))
        and any(sum(size > 0 for size in curve(series, column)) > 1 for _, series in row.curves)
    )


def _chart(
    anchor: str, scene: Scene, rows: Sequence[tuple[Table, Row]], column: str
) -> InteractiveChart | None:
    named = [scene.facets(table, row) for table, row in rows]
    facets = tuple(_facets(scene, named))
    pairs = zip(named, (row for _, row in rows), strict=True)
    lines = tuple(_line(scene, facets, values, row, column) for values, row in pairs)
    drawn = tuple(line.curve for line in lines)
    axes = curves.log_axes(scene, drawn, column)
    if axes is None:
        return None
    across, up = axes
    title = f"{visible(rows[0][0].benchmark)}: {curves.called(rows[0][0], column)}"
    note = curves.without_place(across, [CurvePanel("", up, drawn)])
    note += "".join(
        f" {mark}, hollow points: {meaning}." for mark, meaning in explained(row for _, row in rows)
    )
    if (repeats := sum(len(each.repeats) for each in drawn)) > _MOST_REPEATS:
        note += f" {repeats} repeats are not drawn: mpicampaign tables --each-run --format csv has them."
        lines = tuple(line._replace(curve=_without_values(line.curve)) for line in lines)
    labels = {size: format_size(size) for size in sorted(set().union(*(each.median for each in drawn)))}
    sizes = [size for size in labels if size > 0]  # labelled are powers of 2, where there are any
    ticks = size_ticks(sizes[0], sizes[-1], _MOST_SIZES) or [(float(size), labels[size]) for size in sizes]
    return InteractiveChart(anchor, title, across, up, facets, lines, labels, tuple(ticks), note.strip())


def _without_values(curve: ChartCurve) -> ChartCurve:
    return replace(curve, repeats=tuple(Repeat(repeat.run, {}) for repeat in curve.repeats))


def _facets(scene: Scene, named: Sequence[dict[str, str]]) -> Iterator[Facet]:
    """The facets in which lines differ: colour and marker show the first, the line style the second.

    Where lines differ in one facet alone, it has a line style, too.
    """
    differing = [name for name in FACETS if len({values[name] for values in named}) > 1]
    for place, name in enumerate(differing):
        values = dict.fromkeys(values[name] for values in named)
        few = len(named) <= MANY_LINES or place == 0
        yield Facet(
            name,
            tuple(
                _value(scene.looks[name][value], value, number, few or number == 0, place, len(differing))
                for number, value in enumerate(values)
            ),
        )


def _value(look: Style, name: str, number: int, ticked: bool, place: int, facets: int) -> Value:
    if place == 0:
        return Value(name, ticked, look.colour, look.line if facets == 1 else "", look.marker)
    return Value(name, ticked, line=LINES[number % len(LINES)] if place == 1 else "")


def _line(
    scene: Scene, facets: Sequence[Facet], named: dict[str, str], row: Row, column: str
) -> InteractiveLine:
    chosen = tuple([value.name for value in facet.values].index(named[facet.name]) for facet in facets)
    values = [facet.values[index] for facet, index in zip(facets, chosen, strict=True)]
    first = facets[0].name if facets else PLACEMENT
    look = scene.looks[first][named[first]]
    line = next((value.line for value in values if value.line), look.line if len(facets) == 1 else LINES[0])
    others = [facet.name for facet in facets if facet.name not in (HOST_GROUP, PLACEMENT)]
    name = ", ".join(named[facet] for facet in (HOST_GROUP, PLACEMENT, *others)) + mark_of(row)
    return InteractiveLine(curves.curve_of(row, column, replace(look, line=line), name), chosen)


# As SVG, with the boxes that choose lines


_WIDTH, _HEIGHT = 5.4, 3.4  # inches: text is legible on a phone, too
_PLACE = Area(0.66, 0.48, 4.6, 2.82)
_LINE, _MARK = 1.4, 4.5  # printer's points
_MARKED = 60  # points at most that have marks

_Marker = tuple[str, str, bool]  # its name, its colour, whether it is hollow


def curve_chart(chart: InteractiveChart) -> Markup:
    """The boxes that choose lines, and the lines; around it, an element must have `places`."""
    several = len(chart.lines) > 1 or any(line.curve.repeats for line in chart.lines)
    shown = _shown(chart.has_repeats)
    controls = element("div", Markup().join([*map(_facet, chart.facets), shown]), class_="controls")
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
    lines = Markup("\n").join(_drawn_line(panel, chart, line, markers) for line in chart.lines)
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


def _drawn_line(
    panel: Panel, chart: InteractiveChart, line: InteractiveLine, markers: dict[_Marker, str]
) -> Markup:
    """A row's medians, and its repeats, each with its run."""
    curve, look = line.curve, line.curve.look
    style = None
    if len(curve.median) <= _MARKED:
        marker = (look.marker, look.colour, curve.disturbed)
        style = f"marker:url(#{markers.setdefault(marker, f'{chart.anchor}-mark-{len(markers) + 1}')})"
    median = _path(panel, chart, curve.median, curve.name, style=style)
    drawn = curve.repeats if chart.has_repeats else ()
    repeats = (_path(panel, chart, repeat.values, _run_text(repeat)) for repeat in drawn)
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


def _shown(has_repeats: bool) -> Markup:
    repeats = _tick_box("each repeat", data_shows="repeats") if has_repeats else Markup()
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
