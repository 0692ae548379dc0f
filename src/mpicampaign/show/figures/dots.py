"""Dot plots: a line for each host group and placement, a point for each repeat, range, median and mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.comparison.metrics import printed_sizes
from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.grouping import grouped
from mpicampaign.records import VERIFIED
from mpicampaign.show.figures.axes import Panel, Scale, plain, scale_for
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, fitting, widest
from mpicampaign.show.figures.scene import Drawn, kind_of, left_out, repeats_of
from mpicampaign.show.figures.style import GREY, INK, PALE
from mpicampaign.wording import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.comparison.comparison import Table
    from mpicampaign.comparison.metrics import Metric
    from mpicampaign.comparison.rows import Cell, Row
    from mpicampaign.show.figures.page import Point
    from mpicampaign.show.figures.scene import Scene
    from mpicampaign.show.figures.style import Look

_PITCH = 0.185  # inches a line, where there are few
_NARROW = 0.14  # where they would not go on a page
_FEW = 42
_GROUP_GAP = 0.09  # between host groups
_FOOT = 0.45 + KEY
_COLUMNS = 4  # at most so many side by side
_SIZE = 7.5
_APART = 0.035  # inches from where on the mean is marked beside the median
_KEY = "mark: one repeat, hollow if not plainly verified; bar: minimum to maximum; stroke: median; "
_KEY += "×: mean, where it lies apart"


class Line(NamedTuple):
    """A line of a dot plot: a row, and how high its middle is (inches)."""

    row: Row
    y: float


class Sheet(NamedTuple):
    """The lines of a dot plot and what they have in common."""

    scene: Scene
    table: Table
    lines: tuple[Line, ...]
    height: float
    pitch: float
    left: float


def latency(scene: Scene, table: Table) -> Drawn | None:
    """The first time that the table shows, on a logarithmic axis, with its value in words."""
    metric = next((metric for metric in table.metrics if metric.dimension == TIME), None)
    if metric is None or not _has_sizes(table):
        return None
    return _one(scene, table, metric, logarithmic=True)


def single_figures(scene: Scene, table: Table) -> Iterator[Drawn]:
    """One figure for each headline metric of a benchmark without sizes, such as HPL."""
    if _has_sizes(table):
        return
    for metric in table.metrics:
        drawn = _one(scene, table, metric, None) if metric.headline else None
        if drawn is not None:
            yield drawn


def at_sizes(scene: Scene, table: Table) -> Drawn | None:
    """Bandwidth at the table sizes and its maximum side by side, or time where no bandwidth is printed."""
    shown = BANDWIDTH if any(metric.dimension == BANDWIDTH for metric in table.metrics) else TIME
    metrics = [m for m in table.metrics if m.dimension == shown and not (m.bound or m.baseline)]
    if not _has_sizes(table) or len(metrics) < 2:
        return None
    metrics = [*metrics[: _COLUMNS - 1], metrics[-1]]  # the maximum comes last
    values = [value for metric in metrics for value in _values(scene, table, metric)]
    scale = scale_for(values, logarithmic=True)
    if scale is None:
        return None
    maximum = " and maximum" if metrics[-1].size is None else ""
    title = f"{table.title}: {shown} at the table sizes{maximum}"
    sheet = _sheet(scene, table)
    page = Page(sheet.height, title)
    page.key(_KEY)
    _names(page, sheet)
    gap = 0.2
    width = (WIDTH - 0.15 - sheet.left - gap * (len(metrics) - 1)) / len(metrics)
    unit = scene.unit_of(shown)[1]
    for index, metric in enumerate(metrics):
        place = Place(sheet.left + index * (width + gap), _FOOT, width, sheet.height - _FOOT - 0.22)
        words = metric.name.removeprefix(f"{shown} ").removesuffix(f" {shown}")
        panel = _panel(page, place, scale, words, unit)
        _draw_all(panel, sheet, metric)
        _absent_words(panel, sheet, metric)
    caption = f"{repeats_of(table.rows).capitalize()}; logarithmic axis, the same in all columns."
    said = "; ".join(_row_words(scene, table, row, metrics) for row in table.rows)
    return Drawn(page, title, caption + left_out(scene, table.rows), f"{title}. {said}")


def _one(scene: Scene, table: Table, metric: Metric, logarithmic: bool | None) -> Drawn | None:
    scale = scale_for(_values(scene, table, metric), logarithmic)
    if scale is None:
        return None
    sheet = _sheet(scene, table)
    title = f"{table.title}: {metric.name} by placement"
    page = Page(sheet.height, title)
    page.key(_KEY)
    _names(page, sheet)
    room = 1.75  # for the value in words
    place = Place(sheet.left, _FOOT, WIDTH - sheet.left - room, sheet.height - _FOOT - 0.05)
    unit = scene.unit_of(metric.dimension)[1]
    panel = _panel(page, place, scale, "", f"{metric.name} ({unit})" if unit else metric.name)
    _draw_all(panel, sheet, metric)
    for line in sheet.lines:
        _value_words(panel, sheet, line, metric)
    axis = "Logarithmic axis" if scale.logarithmic else "The axis begins at 0"
    caption = f"n: repeats with a figure of those planned. {axis}."
    said = "; ".join(_row_words(scene, table, row, [metric]) for row in table.rows)
    return Drawn(page, title, caption + left_out(scene, table.rows), f"{metric.name}: {said}")


def _has_sizes(table: Table) -> bool:
    return bool(printed_sizes(series for row in table.rows for _, series in row.curves))


def _values(scene: Scene, table: Table, metric: Metric) -> list[float]:
    factor = scene.unit_of(metric.dimension)[0]
    return [value / factor for row in table.rows for value in row.cell(metric).values]


def _sheet(scene: Scene, table: Table) -> Sheet:
    """The rows by host group from top to bottom, a little apart."""
    groups = grouped(table.rows, scene.place)
    pitch = _PITCH if len(table.rows) <= _FEW else _NARROW
    height = _FOOT + 0.3 + len(table.rows) * pitch + len(groups) * _GROUP_GAP
    y, lines = height - 0.3, []
    for rows in groups.values():
        for row in rows:
            lines.append(Line(row, y - pitch / 2))
            y -= pitch
        y -= _GROUP_GAP
    labels = [scene.label(table, row) for row in table.rows]
    left = 0.2 + widest(list(groups), 1.3, 8, bold=True) + 0.12 + widest(labels, 1.1, _SIZE) + 0.1
    return Sheet(scene, table, tuple(lines), height, pitch, left)


def _names(page: Page, sheet: Sheet) -> None:
    """Host groups at the left, placements beside the axis in their colours, a line between host groups."""
    before = ""
    for line in sheet.lines:
        place = sheet.scene.place(line.row)
        label = sheet.scene.label(sheet.table, line.row)
        look = sheet.scene.placements.get(label)
        words = fitting(label, 1.1, _SIZE)
        page.words(sheet.left - 0.1, line.y, words, _SIZE, look.ink if look else GREY, align="right")
        if place != before:
            page.words(0.1, line.y, fitting(place, 1.3, 8, bold=True), 8, bold=True)
            edge = line.y + sheet.pitch / 2 + _GROUP_GAP / 2
            if before:
                page.lines([[(0.1, edge), (WIDTH - 0.1, edge)]], PALE, 0.8)
        before = place


def _panel(page: Page, place: Place, scale: Scale, title: str, below: str) -> Panel:
    panel = Panel(page, place, scale, Scale(0, 1, logarithmic=False))
    ticks = scale.ticks()
    most = max(2, int(place.width / 0.3))
    ticks = ticks[:: -(-len(ticks) // most)]
    panel.across_ticks([(tick, plain(tick)) for tick in ticks])
    panel.frame(title)
    middle = place.left + place.width / 2
    page.words(middle, place.bottom - 0.3, fitting(below, place.width + 0.4, 8), size=8, align="center")
    return panel


def _draw_all(panel: Panel, sheet: Sheet, metric: Metric) -> None:
    """Bars and strokes of all lines at once, marks line by line."""
    factor = sheet.scene.unit_of(metric.dimension)[0]
    lines = [(line, line.row.cell(metric)) for line in sheet.lines]
    shown = [(line, cell) for line, cell in lines if _is_shown(panel, cell)]
    bars, strokes, means, colours = [], [], [], []
    for line, cell in shown:
        assert cell.summary is not None
        low, middle, high, mean = (
            panel.x(max(value / factor, panel.across.low))
            for value in (cell.summary.minimum, cell.summary.median, cell.summary.maximum, cell.summary.mean)
        )
        bars.append([(low, line.y), (high, line.y)])
        strokes.append([(middle, line.y - sheet.pitch * 0.42), (middle, line.y + sheet.pitch * 0.42)])
        means += [(mean, line.y)] if abs(mean - middle) > _APART else []
        colours.append(sheet.scene.placements[sheet.scene.label(sheet.table, line.row)].colour)
    panel.page.lines(bars, colours, sheet.pitch * 24, alpha=0.3, name="ranges")
    _marks(panel, sheet, shown, factor)
    panel.page.lines(strokes, INK, 1.3, name="medians")
    if means:
        panel.page.marks(means, "x", INK, 3.5)


def _is_shown(panel: Panel, cell: Cell) -> bool:
    return cell.summary is not None and panel.across.shows(cell.summary.median)


def _marks(panel: Panel, sheet: Sheet, shown: Sequence[tuple[Line, Cell]], factor: float) -> None:
    """The repeats a little above and below each other, so that equal ones are all seen."""
    points: dict[tuple[Look, bool], list[Point]] = {}
    for line, cell in shown:
        look = sheet.scene.placements[sheet.scene.label(sheet.table, line.row)]
        verified = {run.repeat for run, _ in line.row.curves if run.verdict == VERIFIED}
        for index, (value, repeat) in enumerate(zip(cell.values, cell.repeats, strict=True)):
            if panel.across.shows(value):
                height = line.y + sheet.pitch * 0.2 * (index % 3 - 1)
                of_look = points.setdefault((look, repeat not in verified), [])
                of_look.append((panel.x(value / factor), height))
    for (look, hollow), places in points.items():
        panel.page.marks(places, look.marker, look.colour, 2.8, hollow)


def _absent_words(panel: Panel, sheet: Sheet, metric: Metric) -> None:
    """What kind of absence it is, where a line has no figure."""
    for line in sheet.lines:
        if line.row.cell(metric).summary is None:
            words = fitting(kind_of(line.row.absence or "not printed"), panel.place.width - 0.1, 7)
            panel.page.words(panel.place.left + 0.08, line.y, words, 7, GREY)


def _value_words(panel: Panel, sheet: Sheet, line: Line, metric: Metric) -> None:
    """The median beside the bar, or why there is none."""
    cell = line.row.cell(metric)
    if cell.summary is None:
        words = fitting(line.row.absence or "not printed", WIDTH - panel.place.left - 0.2, 7)
        panel.page.words(panel.place.left + 0.08, line.y, words, 7, GREY)
        return
    factor = sheet.scene.unit_of(metric.dimension)[0]
    right = panel.place.left
    if panel.across.shows(cell.summary.maximum):
        right = panel.x(cell.summary.maximum / factor)
    words = quantity(cell.summary.median, metric.dimension, sheet.scene.unit)
    words += f"  (n {cell.n}/{line.row.planned}{', several modes' if line.row.has_modes_in(metric) else ''})"
    panel.page.words(right + 0.09, line.y, words, 7)


def _row_words(scene: Scene, table: Table, row: Row, metrics: Sequence[Metric]) -> str:
    name = scene.name(table, row)
    cells = [row.cell(metric) for metric in metrics]
    if not any(cell.summary for cell in cells):
        return f"{name} has no figure"
    said = (
        quantity(cell.summary.median, cell.metric.dimension, scene.unit) if cell.summary else "no figure"
        for cell in cells
    )
    return f"{name} {', '.join(said)}"
