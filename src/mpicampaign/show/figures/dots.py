"""A dot plot drawn: a line for each row, a column for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.show.charts.looks import GREY, PALE
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.dot_marks import Line, Lines, draw_cells, marks_key
from mpicampaign.show.figures.groups import draw_groups
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.show.charts.model import DotCell, DotChart, DotColumn, DotRow

_PITCH = 0.185  # inches a line, where there are few
_NARROW = 0.14  # where they would not go on a page
_FEW = 42
_GROUP_GAP = 0.09  # between host groups
_FOOT = 0.45 + KEY
_SIZE = 7.5
_LONGEST = 1.6  # inches of a name
_BETWEEN = 0.2  # inches between columns
_BESIDE = 1.75  # for the text of the value, where there is one column


class Sheet(NamedTuple):
    """The lines of a dot plot and what they have in common."""

    lines: tuple[Line, ...]
    height: float
    pitch: float
    left: float


def draw_dots(chart: DotChart) -> Page:
    """Host groups and placements at the left, then the columns; of many host groups `draw_groups`."""
    if chart.upright:
        return draw_groups(chart)
    sheet = _sheet(chart.rows)
    page = Page(sheet.height, chart.title)
    page.key(marks_key(chart))
    _names(page, sheet)
    for column, place in zip(chart.columns, _places(chart, sheet), strict=True):
        panel = _panel(page, place, column)
        lines = Lines(panel, sheet.lines, sheet.pitch)
        draw_cells(lines, column.cells)
        for line in sheet.lines:
            _cell_text(lines, line, column.cells[line.number], beside=len(chart.columns) == 1)
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
    groups = grouped(enumerate(rows), lambda pair: pair[1].place)
    pitch = _PITCH if len(rows) <= _FEW else _NARROW
    height = _FOOT + 0.3 + len(rows) * pitch + len(groups) * _GROUP_GAP
    y, lines = height - 0.3, []
    for members in groups.values():
        for index, row in members:
            lines.append(Line(row, index, y - pitch / 2))
            y -= pitch
        y -= _GROUP_GAP
    labels = [row.label for row in rows]
    left = 0.2 + widest(list(groups), _LONGEST, 8, bold=True) + 0.12 + widest(labels, _LONGEST, _SIZE) + 0.1
    return Sheet(tuple(lines), height, pitch, left)


def _names(page: Page, sheet: Sheet) -> None:
    """Host groups at the left, placements beside the axis in their colours, a line between host groups."""
    before = ""
    for line in sheet.lines:
        look, place = line.row.look, line.row.place
        ink, tall = look.ink if look else GREY, sheet.pitch
        x, y = sheet.left - 0.1, line.middle
        page.text(x, y, line.row.label, _SIZE, ink, align="right", room=_LONGEST, tall=tall)
        if place != before:
            page.text(0.1, line.middle, place, 8, bold=True, room=_LONGEST, tall=tall)
            edge = line.middle + sheet.pitch / 2 + _GROUP_GAP / 2
            if before:
                page.lines([[(0.1, edge), (WIDTH - 0.1, edge)]], PALE, 0.8)
        before = place


def _panel(page: Page, place: Place, column: DotColumn) -> Panel:
    panel = Panel(page, place, column.across)
    panel.value_ticks()
    panel.frame(column.title)
    middle = place.left + place.width / 2
    label = column.across.label
    page.text(middle, place.bottom - 0.3, label, size=8, align="center", room=place.width + 0.4)
    return panel


def _cell_text(lines: Lines, line: Line, cell: DotCell, beside: bool) -> None:
    """What is written beside a bar, or in its place."""
    panel, y = lines.panel, line.middle
    if not cell.text:
        return
    if (cell.summary is not None or cell.published) and beside:
        ends = [*([cell.summary.maximum] if cell.summary else []), *cell.published]
        panel.page.text(max(map(lines.along, ends)) + 0.09, y, cell.text, 7)
        return
    left = panel.place.left
    room = WIDTH - left - 0.2 if beside else panel.place.width - 0.1
    panel.page.text(left + 0.08, y, cell.text, 7, GREY, room=room)
