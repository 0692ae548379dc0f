"""Dot plots drawn: rows below each other and a column for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.show.charts.looks import GREY, INK, Style
from mpicampaign.show.charts.model import Axis, DotCell, DotChart, DotColumn, DotLine
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Area, Page, Point, widest

_LONGEST = 1.6  # inches of a name


# The marks

_APART = 0.035  # inches from where on the mean is marked beside the median
_KEY = (
    "mark: one repeat, hollow if disturbed or not plainly verified; bar: range; stroke: median; ×: mean, "
    "where it lies apart"
)


class _Line(NamedTuple):
    """A row's cell of one metric, and where its middle is (inches)."""

    row: DotLine
    cell: DotCell
    middle: float


class _Lines(NamedTuple):
    """The lines on a panel, so far apart (inches)."""

    panel: Panel
    lines: Sequence[_Line]
    pitch: float

    @property
    def axis(self) -> Axis:
        """The axis of values."""
        return self.panel.across

    def along(self, value: float) -> float:
        """Where a value lies on its axis (inches); the edge for one that has no place."""
        return self.panel.x(value) if self.axis.shows(value) else self.panel.place.left


_Mark = tuple["Style", bool, "Point"]  # whether it is hollow, and its place


def _draw_cells(page: Page, panels: Sequence[_Lines]) -> None:
    """Bars below marks, and strokes above; what looks the same in all panels at once."""
    strokes, means = [], []
    for lines in panels:
        bars, colours = [], []
        for row, cell, middle in lines.lines:
            summary = cell.summary
            if row.look is None or summary is None or not lines.axis.shows(summary.maximum):
                continue
            bars.append([(lines.along(end), middle) for end in (summary.minimum, summary.maximum)])
            colours.append(row.look.colour)
            mean, median, half = lines.along(summary.mean), lines.along(summary.median), lines.pitch * 0.42
            means += [(mean, middle)] if abs(mean - median) > _APART else []
            if lines.axis.shows(summary.median):
                strokes.append([(median, middle + side) for side in (-half, half)])
        page.lines(bars, colours, lines.pitch * 24, alpha=0.3, name="ranges")
    repeats = (mark for lines in panels for mark in _repeats(lines))
    for (look, hollow), alike in grouped(repeats, lambda mark: mark[:2]).items():
        page.marks([point for *_, point in alike], look.marker, look.colour, 2.8, hollow)
    page.lines(strokes, INK, 1.3, name="medians")
    if means:
        page.marks(means, "cross", INK, 3.5)


def _repeats(lines: _Lines) -> Iterator[_Mark]:
    """The repeats a little at both sides of each other, so that equal ones are all seen."""
    for row, cell, middle in lines.lines:
        for index, dot in enumerate(cell.dots):
            if row.look is not None and lines.axis.shows(dot.value):
                beside = middle + lines.pitch * 0.2 * (index % 3 - 1)
                yield row.look, dot.hollow, (lines.along(dot.value), beside)


# Rows below each other

_PITCH = 0.185  # inches a line, where there are few
_NARROW = 0.14  # where they would not go on a page
_FEW = 42
_GROUP_GAP = 0.09  # between host groups
_FOOT = 0.45 + KEY
_SIZE = 7.5
_BETWEEN = 0.32  # inches between columns: room for the ends of two axes
_BESIDE = 1.75  # for the text of the value, where there is one column


class _Sheet(NamedTuple):
    """Where the rows have their middles; what they have in common (inches)."""

    middles: Sequence[float]
    height: float
    pitch: float
    left: float


def draw_dots(chart: DotChart) -> Page:
    """Host groups and placements at the left, then the columns."""
    sheet = _sheet(chart.rows)
    page = Page(sheet.height, chart.title)
    page.key(_KEY)
    _draw_row_names(page, chart.rows, sheet)
    panels = []
    for column, place in zip(chart.columns, _places(chart, sheet), strict=True):
        lines = [*map(_Line, chart.rows, column.cells, sheet.middles)]
        panels.append(_Lines(_panel(page, place, column), lines, sheet.pitch))
        for line in lines:
            _draw_text(panels[-1], line, beside=len(chart.columns) == 1)
    _draw_cells(page, panels)
    return page


def _places(chart: DotChart, sheet: _Sheet) -> list[Area]:
    """Where the columns lie; one alone leaves room for text at its right, several have titles."""
    count = len(chart.columns)
    if count == 1:
        width = WIDTH - sheet.left - _BESIDE
        return [Area(sheet.left, _FOOT, width, sheet.height - _FOOT - 0.05)]
    width = (WIDTH - 0.15 - sheet.left - _BETWEEN * (count - 1)) / count
    lefts = (sheet.left + index * (width + _BETWEEN) for index in range(count))
    return [Area(left, _FOOT, width, sheet.height - _FOOT - 0.22) for left in lefts]


def _sheet(rows: Sequence[DotLine]) -> _Sheet:
    """The rows by host group from top to bottom, a little apart."""
    groups = grouped(range(len(rows)), lambda number: rows[number].place)
    pitch = _PITCH if len(rows) <= _FEW else _NARROW
    height = _FOOT + 0.3 + len(rows) * pitch + len(groups) * _GROUP_GAP
    y, middles = height - 0.3, [0.0] * len(rows)
    for members in groups.values():
        for number in members:
            middles[number] = y - pitch / 2
            y -= pitch
        y -= _GROUP_GAP
    labels = [row.label for row in rows]
    left = 0.2 + widest(list(groups), _LONGEST, 8, bold=True) + 0.12 + widest(labels, _LONGEST, _SIZE) + 0.1
    return _Sheet(middles, height, pitch, left)


def _draw_row_names(page: Page, rows: Sequence[DotLine], sheet: _Sheet) -> None:
    """Host groups at the left, placements beside the axis in their colours, a line between host groups."""
    before, tall = "", sheet.pitch
    for row, y in sorted(zip(rows, sheet.middles, strict=True), key=lambda pair: -pair[1]):
        ink = row.look.ink if row.look else GREY
        page.text(sheet.left - 0.1, y, row.label, _SIZE, ink, align="right", room=_LONGEST, tall=tall)
        if row.place != before:
            page.text(0.1, y, row.place, 8, bold=True, room=_LONGEST, tall=tall)
            edge = y + tall / 2 + _GROUP_GAP / 2
            if before:
                page.grid([[(0.1, edge), (WIDTH - 0.1, edge)]])
        before = row.place


def _panel(page: Page, place: Area, column: DotColumn) -> Panel:
    panel = Panel(page, place, column.across)
    panel.value_ticks()
    panel.frame(column.title)
    panel.name_across(room=place.width + 0.4)
    return panel


def _draw_text(lines: _Lines, line: _Line, beside: bool) -> None:
    """What is written beside a bar, or in its place."""
    panel, cell, y = lines.panel, line.cell, line.middle
    if not cell.text:
        return
    if cell.summary is not None and beside:
        panel.page.text(lines.along(cell.summary.maximum) + 0.09, y, cell.text, 7)
        return
    left = panel.place.left
    room = WIDTH - left - 0.2 if beside else panel.place.width - 0.1
    panel.page.text(left + 0.08, y, cell.text, 7, GREY, room=room)
