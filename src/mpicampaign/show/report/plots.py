"""The report's curves as data for Bokeh's program for browsers, and that program, both inline in the page.

Bokeh is imported only when there is something to draw. Foreign text goes into tooltips alone, which Bokeh
fills as text; labels of axes are our own words.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mpicampaign.comparison.rows import KIND_WORDS
from mpicampaign.records import UNVERIFIED
from mpicampaign.units import format_size
from mpicampaign.wording import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.records import Record
    from mpicampaign.show.report.curves import Chart, Line

_TICK_STEP = 3  # powers of 2 between names on the axis of sizes


def plot(chart: Chart) -> dict[str, Any]:
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
        x_axis_label="message size",
        y_axis_label=chart.axis,
    )
    canvas.toolbar.logo = None
    canvas.toolbar.stylesheets = [":focus-visible { outline: 3px solid #c25e00 !important; }"]
    ticks = _size_ticks(chart.sizes)
    canvas.xaxis.ticker = FixedTicker(ticks=ticks, minor_ticks=[])
    canvas.xaxis.major_label_overrides = {float(tick): format_size(tick) for tick in ticks}
    canvas.xaxis.major_label_policy = NoOverlap(min_distance=8)
    canvas.yaxis.formatter = NumeralTickFormatter(format="0[.][000000]")
    _draw_medians(canvas, chart.lines, chart.unit)
    _draw_repeats(canvas, chart.lines, chart.unit)
    return dict(json_item(canvas))


def _size_ticks(sizes: Sequence[int]) -> list[int]:
    """Powers of 2, a few bits apart, within the range of sizes."""
    within = [1 << power for power in range(0, 63, _TICK_STEP) if sizes[0] <= 1 << power <= sizes[-1]]
    return within or list(sizes)


def _draw_medians(canvas: Any, lines: Sequence[Line], unit: str) -> None:
    """A line through each row's medians, and a point at each, which says what it is."""
    from bokeh.models import ColumnDataSource, HoverTool

    curves = {
        "line": list(range(len(lines))),
        "xs": [list(line.median) for line in lines],
        "ys": [list(line.median.values()) for line in lines],
        "colour": [line.colour for line in lines],
        "dash": [line.dash for line in lines],
    }
    style = {"line_color": "colour", "line_dash": "dash", "line_width": 2, "visible": False}
    canvas.multi_line("xs", "ys", source=ColumnDataSource(curves, name="medians"), **style)
    flat = [(n, line, size, value) for n, line in enumerate(lines) for size, value in line.median.items()]
    points = {
        "line": [n for n, *_ in flat],
        "x": [size for *_, size, _ in flat],
        "y": [value for *_, value in flat],
        "size": [format_size(size) for *_, size, _ in flat],
        "colour": [line.colour for _, line, *_ in flat],
        "marker": [line.marker for _, line, *_ in flat],
        "what": [line.name for _, line, *_ in flat],
        "n": [len(line.repeats) for _, line, *_ in flat],
    }
    source = ColumnDataSource(points, name="points")
    drawn = canvas.scatter("x", "y", source=source, size=7, marker="marker", color="colour", visible=False)
    tips = [("size", "@size"), ("median", f"@y{{%.5g}} {unit}"), ("of", "@what"), ("repeats", "@n")]
    canvas.add_tools(
        HoverTool(
            renderers=[drawn], tooltips=tips, formatters={"@y": "printf"}, attachment="above", visible=False
        )
    )


def _draw_repeats(canvas: Any, lines: Sequence[Line], unit: str) -> None:
    """Thin lines, each of which knows its run."""
    from bokeh.models import ColumnDataSource, HoverTool

    flat = [(n, line, run, points) for n, line in enumerate(lines) for run, points in line.repeats]
    data = {
        "line": [n for n, *_ in flat],
        "xs": [list(points) for *_, points in flat],
        "ys": [list(points.values()) for *_, points in flat],
        "colour": [line.colour for _, line, *_ in flat],
        "dash": [line.dash for _, line, *_ in flat],
        "what": [line.name for _, line, *_ in flat],
        "repeat": [run.repeat for *_, run, _ in flat],
        "hosts": [visible(", ".join(run.hosts)) for *_, run, _ in flat],
        "job": [visible(run.job_id) for *_, run, _ in flat],
        "state": [_state_words(run) for *_, run, _ in flat],
    }
    source = ColumnDataSource(data, name="repeats")
    style = {"line_color": "colour", "line_dash": "dash", "line_alpha": 0.55, "visible": False}
    drawn = canvas.multi_line("xs", "ys", source=source, **style)
    tips = [("size", "$snap_x{0,0} B"), ("value", f"$snap_y{{%.5g}} {unit}"), ("of", "@what")]
    tips += [("repeat", "@repeat"), ("hosts", "@hosts"), ("job", "@job"), ("evidence", "@state")]
    hover = HoverTool(renderers=[drawn], tooltips=tips, formatters={"$snap_y": "printf"}, visible=False)
    hover.attachment = "below"  # those of medians are above
    hover.line_policy = "nearest"
    canvas.add_tools(hover)


def _state_words(run: Record) -> str:
    verdict = run.verdict or UNVERIFIED
    return KIND_WORDS.get(verdict, verdict)


# What goes into the page


def inline_json(data: Any) -> Markup:
    """JSON that may stand in a script element: no character of it is markup or ends a line of a script."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: no U+2028 either
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def curves_data(found: Sequence[Chart]) -> Markup:
    """All charts as one inline JSON: by anchor, Bokeh's item and the facet values of each line."""
    facets = {chart.anchor: [line.facets for line in chart.lines] for chart in found}
    return inline_json(
        {chart.anchor: {"item": plot(chart), "lines": facets[chart.anchor]} for chart in found}
    )


def bokeh_script() -> Markup:
    """Bokeh's program for browsers, from the installed package."""
    from bokeh.resources import Resources

    (text,) = Resources(mode="inline", components=["bokeh"]).js_raw[:1]
    return Markup(text.strip())


def script_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script, so that no other one runs."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
