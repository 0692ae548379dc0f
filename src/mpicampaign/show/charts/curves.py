"""Charts over message size: a panel for each host group or placement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from mpicampaign.base.dimension import BANDWIDTH, COUNT, TIME, Unit
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.metrics import curve
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.charts.looks import COLOURS, Style
from mpicampaign.show.charts.model import Axis, ChartCurve, CurveChart, CurvePanel, Repeat
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.charts.scene import HOST_GROUP, Scene, left_out, repeats_of
from mpicampaign.show.sentences import absence
from mpicampaign.show.view import size_range
from mpicampaign.statistics.medians import median
from mpicampaign.suites import SUITES

SIZE = "message size"
# Columns that are drawn over message size, by their names in records: what they are called and measure.
USEFUL, WIRE, ELAPSED = "bandwidth", "bandwidth_wire", "time"
COLUMNS = {USEFUL: ("bandwidth", BANDWIDTH), WIRE: ("wire bandwidth", BANDWIDTH), ELAPSED: ("time", TIME)}
_BYTES = Unit("", 1.0)


def curve_of(
    row: Row, column: str, look: Style, name: str, label: str = "", thin: bool = False
) -> ChartCurve:
    """A column of a row: the repeats that count, and their median at each size."""
    repeats = tuple(Repeat(run, curve(series, column)) for run, series in row.curves)
    medians = medians_of(repeat.values for repeat in repeats)
    return ChartCurve(name, label, look, medians, repeats, thin)


def medians_of(curves: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """The median over repeats at each size (B) that any repeat printed, as in tables."""
    found: dict[int, list[float]] = {}
    for values in curves:
        for size, value in values.items():
            found.setdefault(size, []).append(value)
    return {size: median(values) for size, values in sorted(found.items())}


def by_host_group(scene: Scene, table: Table) -> CurveChart | None:
    """Bandwidth, or time where none is printed, over message size: a panel for each host group."""
    column = column_of(table)
    panels = grouped((row for row in table.rows if row.counted), scene.place)
    curves = {place: [_of_placement(scene, table, row) for row in rows] for place, rows in panels.items()}
    axes = log_axes(scene, [each for members in curves.values() for each in members], column)
    if axes is None:
        return None
    across, up = axes
    caption = f"Thick lines: the median over {repeats_of(table.rows)}; thin lines: each repeat. "
    caption += "Logarithmic axes."
    titles = list(curves) if len(curves) > 1 else [""]
    drawn = tuple(
        CurvePanel(title, up, tuple(members)) for title, members in zip(titles, curves.values(), strict=True)
    )
    caption += without_place(across, drawn) + left_out(scene, table.rows)
    title = f"{table.title}: {called(table, column)} over message size"
    alt = _alt(scene, table, title, table.rows)
    return CurveChart(title, caption, alt, across, drawn, folded=True)


def _of_placement(scene: Scene, table: Table, row: Row) -> ChartCurve:
    look, label = scene.look(table, row), scene.label(table, row)
    return curve_of(row, column_of(table), look, scene.name(table, row), label)


def by_placement(scene: Scene, table: Table) -> CurveChart | None:
    """Every repeat over message size, a panel for each placement, host groups by their look.

    Of more host groups than there are colours, a panel for each placement and system.
    Not for a single host group whose repeats agree: the panels by host group show the same.
    """
    column = column_of(table)
    rows = [row for row in table.rows if row.counted and any(_points(row, column))]
    several = len({scene.place(row) for row in rows}) > 1
    if not rows or not (several or any(row.has_modes for row in rows)):
        return None
    panels_of = dict(_panels(scene, table, rows))
    curves = {title: _of_host_groups(scene, table, members) for title, members in panels_of.items()}
    across = size_axis([each for of_panel in curves.values() for each in of_panel])
    panels = tuple(
        CurvePanel(label, up, tuple(of_panel))
        for label, of_panel in curves.items()
        if (up := value_axis(scene, of_panel, column, not _is_linear(column))) is not None
    )
    if across is None or not panels:
        return None
    title = f"{table.title}: {called(table, column)} of every repeat by placement"
    caption = _repeats_caption(scene, table, rows) + without_place(across, panels)
    caption += left_out(scene, table.rows)
    alt = _alt(scene, table, title, rows)
    return CurveChart(title, caption, alt, across, panels, own_scales=True, each_repeat=True, folded=True)


def _panels(scene: Scene, table: Table, rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each panel with its title: no more host groups than there are colours."""
    most = len(COLOURS)
    for label, members in grouped(rows, lambda row: scene.label(table, row)).items():
        if len(members) <= most:
            yield label, members
            continue
        for system, of_system in grouped(members, lambda row: visible(row.case.machine[0])).items():
            title = f"{label}, {system}" if scene.comparison.several else label
            parts = [of_system[start : start + most] for start in range(0, len(of_system), most)]
            for number, part in enumerate(parts, 1):
                yield title + (f", {number} of {len(parts)}" if len(parts) > 1 else ""), part


def _of_host_groups(scene: Scene, table: Table, rows: Sequence[Row]) -> list[ChartCurve]:
    """Curves named by host group; with the system where those of several lie in one panel."""
    several = len({row.case.machine[0] for row in rows}) > 1
    curves = []
    for row in rows:
        place = scene.place(row)
        label = place if several else visible(row.case.host_group)
        look = scene.looks[HOST_GROUP][place]
        curves.append(curve_of(row, column_of(table), look, scene.name(table, row), label))
    return curves


def _points(row: Row, column: str) -> Iterator[float]:
    """Values that a logarithmic axis can show."""
    values = (pair for _, series in row.curves for pair in curve(series, column).items())
    return (value for size, value in values if size > 0 and value > 0)


def _is_linear(column: str) -> bool:
    """Bandwidths: bands lie within a factor of two, which a logarithmic axis would hide."""
    return column == USEFUL


def _repeats_caption(scene: Scene, table: Table, rows: Sequence[Row]) -> str:
    text = f"Each line is one repeat, {repeats_of(rows)} of each host group. Every panel has its own scale"
    text += ", from 0." if _is_linear(column_of(table)) else "; logarithmic axes."
    banded = [scene.name(table, row) for row in rows if row.has_modes]
    return text + (f" Several modes: {', '.join(banded)}." if banded else "")


def column_of(table: Table) -> str:
    """What is drawn over message size: bandwidth, or time where none is printed."""
    return USEFUL if any(metric.column == USEFUL for metric in table.metrics) else ELAPSED


def called(table: Table, column: str) -> str:
    """A column's name: its suite's own, such as bus bandwidth, else the common one."""
    own = known.metrics.get(column) if (known := SUITES.get(table.suite)) else None
    return own.title if own else COLUMNS[column][0]


# Axes


def log_axes(
    scene: Scene, curves: Sequence[ChartCurve], column: str, across_name: str = SIZE
) -> tuple[Axis, Axis] | None:
    """Logarithmic axes that hold all the curves; ``None`` where they can show no value."""
    across, up = size_axis(curves, across_name), value_axis(scene, curves, column, logarithmic=True)
    return (across, up) if across is not None and up is not None else None


def size_axis(curves: Iterable[ChartCurve], name: str = SIZE) -> Axis | None:
    """Message sizes; a logarithmic axis shows all but 0 B."""
    sizes = {size for each in curves for repeat in each.repeats for size in repeat.values if size > 0}
    if not sizes:
        return None
    return Axis(name, COUNT, _BYTES, Scale(min(sizes) / 1.3, max(sizes) * 1.3))


def value_axis(scene: Scene, curves: Iterable[ChartCurve], column: str, logarithmic: bool) -> Axis | None:
    """Times or bandwidths, those at 0 B left out; ``None`` where all are zero.

    It includes the medians: one of zero and another value is smaller than all other values.
    """
    name, dimension = COLUMNS[column]
    lines = (line for each in curves for line in (each.median, *(repeat.values for repeat in each.repeats)))
    pairs = (pair for line in lines for pair in line.items())
    return scene.axis(name, dimension, (v for size, v in pairs if size > 0 and v > 0), logarithmic)


# As text


def without_place(across: Axis, panels: Iterable[CurvePanel]) -> str:
    """Which zeros the axes cannot show; empty where there are none."""
    zeros: dict[str, set[int]] = {}
    on_axis = across.scale.shows
    for panel in panels:
        shows = panel.up.scale.shows
        for each in panel.curves:
            pairs = (pair for repeat in each.repeats for pair in repeat.values.items())
            hidden = {size for size, value in pairs if on_axis(size) and not shows(value)}
            zeros.setdefault(each.name, set()).update(hidden)
    said = [f"{name} at {size_range(sizes)}" for name, sizes in zeros.items() if sizes]
    return f" Zero, which a logarithmic axis cannot show: {'; '.join(said)}." if said else ""


def _alt(scene: Scene, table: Table, title: str, rows: Iterable[Row]) -> str:
    column = column_of(table)
    said = "; ".join(largest(scene, row, scene.name(table, row), column) for row in rows)
    return f"{title}. {said}"


def largest(scene: Scene, row: Row, name: str, column: str) -> str:
    """The row's largest median as text, or why it has none."""
    _, dimension = COLUMNS[column]
    medians = medians_of(curve(series, column) for _, series in row.curves)
    points = [(value, size) for size, value in medians.items() if size > 0]
    if not points:
        return f"{name} {absence(row.absence) or 'has no values'}"
    value, size = max(points, key=itemgetter(0))
    return f"{name} at most {scene.view.quantity(value, dimension)} at {format_size(size)}"
