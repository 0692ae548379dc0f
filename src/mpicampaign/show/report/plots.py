"""The report's curves as data for Bokeh's program for browsers, and that program, both inline in the page.

Bokeh is imported only when there is something to draw. Foreign text goes into tooltips alone, which Bokeh
fills as text; labels of axes are this program's own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mpicampaign.records import UNVERIFIED
from mpicampaign.show.charts.scales import size_ticks
from mpicampaign.show.sentences import kind_name
from mpicampaign.text import visible
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.show.charts.selection import SelectionChart

_MOST_SIZES = 9  # that are named on the axis of sizes


def plot(chart: SelectionChart) -> dict[str, Any]:
    """The chart as what Bokeh's program for browsers embeds.

    Its data sources ``medians``, ``points`` and ``repeats`` have a column ``line``, the number of the line,
    by which the page chooses what is shown; nothing is visible until it has.
    """
    from bokeh.embed import json_item
    from bokeh.models import FixedTicker, NoOverlap, NumeralTickFormatter
    from bokeh.plotting import figure

    # Nothing is dragged unless the reader asks for it: a finger must be able to move the page.
    canvas = figure(
        x_axis_type="log",
        y_axis_type="log",
        height=420,
        sizing_mode="stretch_width",
        tools="box_zoom,pan,reset,save",
        active_drag=None,
        x_axis_label=chart.across.label,
        y_axis_label=chart.up.label,
    )
    canvas.toolbar.logo = None
    canvas.toolbar.stylesheets = [":focus-visible { outline: 3px solid #c25e00 !important; }"]
    ticks = _size_ticks(chart.sizes)
    canvas.xaxis.ticker = FixedTicker(ticks=list(ticks), minor_ticks=[])
    canvas.xaxis.major_label_overrides = ticks
    canvas.xaxis.major_label_policy = NoOverlap(min_distance=8)
    canvas.yaxis.formatter = NumeralTickFormatter(format="0[.][000000]")
    _draw_medians(canvas, chart)
    _draw_repeats(canvas, chart)
    return dict(json_item(canvas))


def _size_ticks(sizes: Sequence[int]) -> dict[Any, Any]:
    """Labelled powers of 2 within the range of sizes; else the sizes themselves."""
    positive = [size for size in sizes if size > 0]
    powers = size_ticks(positive[0], positive[-1], _MOST_SIZES)
    return dict(powers) or {float(size): format_size(size) for size in positive}


def _drawn(chart: SelectionChart, values: Mapping[int, float]) -> dict[int, float]:
    """What the axes can show, in their unit, to five digits: a screen resolves no more."""
    shown = {s: v for s, v in values.items() if chart.across.shows(s) and chart.up.shows(v)}
    return {size: float(f"{chart.up.scaled(value):.5g}") for size, value in shown.items()}


def _draw_medians(canvas: Any, chart: SelectionChart) -> None:
    """A line through each row's medians, with a labelled point at each."""
    from bokeh.models import ColumnDataSource, HoverTool

    curves = [line.curve for line in chart.lines]
    drawn = [_drawn(chart, curve.median) for curve in curves]
    unit = chart.up.unit.name
    lines = {
        "line": list(range(len(curves))),
        "xs": [list(values) for values in drawn],
        "ys": [list(values.values()) for values in drawn],
        "colour": [curve.look.colour for curve in curves],
        "dash": [curve.look.line for curve in curves],
    }
    style = {"line_color": "colour", "line_dash": "dash", "line_width": 2, "visible": False}
    canvas.multi_line("xs", "ys", source=ColumnDataSource(lines, name="medians"), **style)
    flat = [(n, curves[n], size, value) for n, values in enumerate(drawn) for size, value in values.items()]
    points = {
        "line": [n for n, *_ in flat],
        "x": [size for *_, size, _ in flat],
        "y": [value for *_, value in flat],
        "size": [format_size(size) for *_, size, _ in flat],
        "median": [chart.up.dimension.number(curve.median[size], unit) for _, curve, size, _ in flat],
        "colour": [curve.look.colour for _, curve, *_ in flat],
        "fill": ["white" if curve.disturbed else curve.look.colour for _, curve, *_ in flat],
        "marker": [curve.look.marker for _, curve, *_ in flat],
        "what": [curve.name for _, curve, *_ in flat],
        "n": [sum(size in repeat.values for repeat in curve.repeats) for _, curve, size, _ in flat],
    }
    source = ColumnDataSource(points, name="points")
    look = {"marker": "marker", "line_color": "colour", "fill_color": "fill"}
    shown = canvas.scatter("x", "y", source=source, size=7, visible=False, **look)
    tips = [("size", "@size"), ("median", f"@median {unit}"), ("of", "@what"), ("repeats", "@n")]
    canvas.add_tools(HoverTool(renderers=[shown], tooltips=tips, attachment="above", visible=False))


def _draw_repeats(canvas: Any, chart: SelectionChart) -> None:
    """Thin lines, each with its run."""
    from bokeh.models import ColumnDataSource, HoverTool

    flat = [
        (n, line.curve, repeat.run, _drawn(chart, repeat.values))
        for n, line in enumerate(chart.lines)
        for repeat in line.curve.repeats
    ]
    data = {
        "line": [n for n, *_ in flat],
        "xs": [list(values) for *_, values in flat],
        "ys": [list(values.values()) for *_, values in flat],
        "colour": [curve.look.colour for _, curve, *_ in flat],
        "dash": [curve.look.line for _, curve, *_ in flat],
        "what": [curve.name for _, curve, *_ in flat],
        "repeat": [run.repeat for *_, run, _ in flat],
        "hosts": [visible(", ".join(run.hosts)) for *_, run, _ in flat],
        "job": [visible(run.job_id) for *_, run, _ in flat],
        "state": [kind_name(run.verdict or UNVERIFIED) for *_, run, _ in flat],
    }
    source = ColumnDataSource(data, name="repeats")
    style = {"line_color": "colour", "line_dash": "dash", "line_alpha": 0.55, "visible": False}
    drawn = canvas.multi_line("xs", "ys", source=source, **style)
    unit = chart.up.unit.name
    tips = [("size", "$snap_x{0,0} B"), ("value", f"$snap_y{{%.5g}} {unit}"), ("of", "@what")]
    tips += [("repeat", "@repeat"), ("hosts", "@hosts"), ("job", "@job"), ("evidence", "@state")]
    hover = HoverTool(renderers=[drawn], tooltips=tips, formatters={"$snap_y": "printf"}, visible=False)
    hover.attachment = "below"  # those of medians are above
    hover.line_policy = "nearest"
    canvas.add_tools(hover)


# What goes into the page


def inline_json(data: Any) -> Markup:
    """JSON for a script element: no character is markup or ends a line of a script."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: no U+2028 either
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def curves_data(found: Sequence[SelectionChart]) -> Markup:
    """All charts as one inline JSON: by anchor, Bokeh's item and the facet values of each line."""
    pairs = ((chart, [line.values for line in chart.lines]) for chart in found)
    return inline_json({chart.anchor: {"item": plot(chart), "lines": lines} for chart, lines in pairs})


def bokeh_script() -> Markup:
    """Bokeh's program for browsers, from the installed package."""
    from bokeh.resources import Resources

    (text,) = Resources(mode="inline", components=["bokeh"]).js_raw[:1]
    return Markup(text.strip())
