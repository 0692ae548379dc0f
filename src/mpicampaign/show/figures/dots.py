"""A dot plot drawn: a line for each row, a column for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.show.charts.looks import GREY, INK, PALE
from mpicampaign.show.charts.scales import plain
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, fitting, widest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.show.charts.looks import Look
    from mpicampaign.show.charts.model import DotCell, DotChart, DotColumn, DotRow
    from mpicampaign.show.figures.page import Point

_PITCH = 0.185  # inches a line, where there are few
_NARROW = 0.14  # where they would not go on a page
_FEW = 42
_GROUP_GAP = 0.09  # between host groups
_FOOT = 0.45 + KEY
_SIZE = 7.5
_APART = 0.035  # inches from where on the mean is marked beside the median
_BETWEEN = 0.2  # inches between columns
_BESIDE = 1.75  # for the text of the value, where there is one column
_KEY = "mark: one repeat, hollow if not plainly verified; bar: minimum to maximum; stroke: median; "
_KEY += "×: mean, where it lies apart"


class Line(NamedTuple):
    """A line of a dot plot: a row, its place among them, and how high its middle is (inches)."""

    row: DotRow
    number: int
    y: float


class Sheet(NamedTuple):
    """The lines of a dot plot and what they have in common."""

    lines: tuple[Line, ...]
    height: float
    pitch: float
    left: float


def draw_dots(chart: DotChart) -> Page:
    """Host groups and placements at the left, then the columns."""
    sheet = _sheet(chart.rows)
    page = Page(sheet.height, chart.title)
    page.key(_KEY)
    _names(page, sheet)
    for column, place in zip(chart.columns, _places(chart, sheet), strict=True):
        panel = _panel(page, place, column)
        _draw_cells(panel, sheet, column.cells)
        for line in sheet.lines:
            _cell_text(panel, line, column.cells[line.number], beside=len(chart.columns) == 1)
    return page


def _places(chart: DotChart, sheet: Sheet) -> list[Place]:
    """Where the columns lie; one alone leaves room for text at its right, several have titles."""
    count = len(chart.columns)
    if count == 1:
        width = WIDTH - sheet.left - _BESIDE
        return [Place(sheet.left, _FOOT, width, sheet.height - _FOOT - 0.05)]
    width = (WIDTH - 0.15 - sheet.left - _BETWEEN * (count - 1)) / count
    lefts = (sheet.left + index * (width + _BETWEEN) for index in range(count))
    return [Place(left, _FOOT, width, sheet.height - _FOOT - 0.22) for left in lefts]


def _sheet(rows: Sequence[DotRow]) -> Sheet:
    """The rows by host group from top to bottom, a little apart."""
    groups = grouped(enumerate(rows), lambda pair: pair[1].host_group)
    pitch = _PITCH if len(rows) <= _FEW else _NARROW
    height = _FOOT + 0.3 + len(rows) * pitch + len(groups) * _GROUP_GAP
    y, lines = height - 0.3, []
    for members in groups.values():
        for index, row in members:
            lines.append(Line(row, index, y - pitch / 2))
            y -= pitch
        y -= _GROUP_GAP
    labels = [row.label for row in rows]
    left = 0.2 + widest(list(groups), 1.3, 8, bold=True) + 0.12 + widest(labels, 1.1, _SIZE) + 0.1
    return Sheet(tuple(lines), height, pitch, left)


def _names(page: Page, sheet: Sheet) -> None:
    """Host groups at the left, placements beside the axis in their colours, a line between host groups."""
    before = ""
    for line in sheet.lines:
        look, place = line.row.look, line.row.host_group
        text = fitting(line.row.label, 1.1, _SIZE)
        page.text(sheet.left - 0.1, line.y, text, _SIZE, look.ink if look else GREY, align="right")
        if place != before:
            page.text(0.1, line.y, fitting(place, 1.3, 8, bold=True), 8, bold=True)
            edge = line.y + sheet.pitch / 2 + _GROUP_GAP / 2
            if before:
                page.lines([[(0.1, edge), (WIDTH - 0.1, edge)]], PALE, 0.8)
        before = place


def _panel(page: Page, place: Place, column: DotColumn) -> Panel:
    panel = Panel(page, place, column.across)
    ticks = column.across.scale.ticks()
    most = max(2, int(place.width / 0.3))
    ticks = ticks[:: -(-len(ticks) // most)]
    panel.across_ticks([(tick, plain(tick)) for tick in ticks])
    panel.frame(column.title)
    middle = place.left + place.width / 2
    below = fitting(column.across.label, place.width + 0.4, 8)
    page.text(middle, place.bottom - 0.3, below, size=8, align="center")
    return panel


def _draw_cells(panel: Panel, sheet: Sheet, cells: Sequence[DotCell]) -> None:
    """Bars and strokes of all lines at once, marks by look."""
    bars, strokes, means, colours = [], [], [], []
    shows = panel.across.shows
    for line in sheet.lines:
        summary = cells[line.number].summary
        if line.row.look is None or summary is None or not shows(summary.maximum):
            continue
        bars.append([(panel.x_from_edge(summary.minimum), line.y), (panel.x(summary.maximum), line.y)])
        colours.append(line.row.look.colour)
        mean, middle = panel.x(summary.mean), panel.x_from_edge(summary.median)
        means += [(mean, line.y)] if abs(mean - middle) > _APART else []
        if shows(summary.median):
            strokes.append([(middle, line.y - sheet.pitch * 0.42), (middle, line.y + sheet.pitch * 0.42)])
    panel.page.lines(bars, colours, sheet.pitch * 24, alpha=0.3, name="ranges")
    _marks(panel, sheet, cells)
    panel.page.lines(strokes, INK, 1.3, name="medians")
    if means:
        panel.page.marks(means, "cross", INK, 3.5)


def _marks(panel: Panel, sheet: Sheet, cells: Sequence[DotCell]) -> None:
    """The repeats a little above and below each other, so that equal ones are all seen."""
    points: dict[tuple[Look, bool], list[Point]] = {}
    for line in sheet.lines:
        for index, dot in enumerate(cells[line.number].dots):
            if line.row.look is not None and panel.across.shows(dot.value):
                height = line.y + sheet.pitch * 0.2 * (index % 3 - 1)
                points.setdefault((line.row.look, dot.hollow), []).append((panel.x(dot.value), height))
    for (look, hollow), places in points.items():
        panel.page.marks(places, look.marker, look.colour, 2.8, hollow)


def _cell_text(panel: Panel, line: Line, cell: DotCell, beside: bool) -> None:
    """What is written beside a bar, or in its place."""
    left = panel.place.left
    if not cell.text:
        return
    if cell.summary is not None and beside:
        shown = panel.across.shows(cell.summary.maximum)
        right = panel.x(cell.summary.maximum) if shown else left
        panel.page.text(right + 0.09, line.y, cell.text, 7)
        return
    room = WIDTH - left - 0.2 if beside else panel.place.width - 0.1
    panel.page.text(left + 0.08, line.y, fitting(cell.text, room, 7), 7, GREY)
