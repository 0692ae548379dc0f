"""Dot plots drawn: rows below each other and a column for each metric, or host groups beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.show.charts.looks import GREY, INK
from mpicampaign.show.figures.axes import Legend, Panel
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpicampaign.show.charts.looks import Look
    from mpicampaign.show.charts.model import Axis, DotCell, DotChart, DotColumn, DotRow
    from mpicampaign.show.figures.page import Point

_LONGEST = 1.6  # inches of a name


def draw_dots(chart: DotChart) -> Page:
    """The chart; its many host groups side by side where it is upright."""
    return _draw_upright(chart) if chart.upright else _draw_rows(chart)


# The marks, whether lines are below or beside each other

_APART = 0.035  # inches from where on the mean is marked beside the median
_KEY = "mark: one repeat, hollow if disturbed or not plainly verified; bar: range; stroke: median; "
_KEY += "×: mean, where it lies apart"
_PUBLISHED_KEY = (
    "small mark: one repeat, hollow if disturbed or not plainly verified; bar: range; stroke: median; "
)
_PUBLISHED_KEY += "×: mean, apart; large hollow mark: published"


def _marks_key(chart: DotChart) -> str:
    published = any(cell.published for column in chart.columns for cell in column.cells)
    return _PUBLISHED_KEY if published else _KEY


class _Line(NamedTuple):
    """A row's cell of one metric, and where its middle is (inches)."""

    row: DotRow
    cell: DotCell
    middle: float


class _Lines(NamedTuple):
    """The lines on a panel, so far apart (inches); ``upright``: they stand, and values rise."""

    panel: Panel
    lines: Sequence[_Line]
    pitch: float
    upright: bool = False

    @property
    def axis(self) -> Axis:
        """The axis of values."""
        return self.panel.up if self.upright else self.panel.across

    def along(self, value: float) -> float:
        """Where a value lies on its axis (inches); the edge for one that has no place."""
        place = self.panel.place
        start, length = (place.bottom, place.height) if self.upright else (place.left, place.width)
        return start + (self.axis.at(value) * length if self.axis.shows(value) else 0.0)

    def point(self, along: float, middle: float) -> Point:
        """The place on the page."""
        return (middle, along) if self.upright else (along, middle)


_Mark = tuple["Look", bool, "Point"]  # whether it is hollow, and its place


def _draw_cells(page: Page, panels: Sequence[_Lines]) -> None:
    """Bars below marks, and strokes above; what looks the same in all panels at once."""
    _draw_marks(page, 5.5, (mark for lines in panels for mark in _published(lines)))
    strokes, means = [], []
    for lines in panels:
        bars, colours = [], []
        for row, cell, middle in lines.lines:
            summary = cell.summary
            if row.look is None or summary is None or not lines.axis.shows(summary.maximum):
                continue
            bars.append([lines.point(lines.along(end), middle) for end in (summary.minimum, summary.maximum)])
            colours.append(row.look.colour)
            mean, median, half = lines.along(summary.mean), lines.along(summary.median), lines.pitch * 0.42
            means += [lines.point(mean, middle)] if abs(mean - median) > _APART else []
            if lines.axis.shows(summary.median):
                strokes.append([lines.point(median, middle + side) for side in (-half, half)])
        page.lines(bars, colours, lines.pitch * 24, alpha=0.3, name="ranges")
    _draw_marks(page, 2.8, (mark for lines in panels for mark in _repeats(lines)))
    page.lines(strokes, INK, 1.3, name="medians")
    if means:
        page.marks(means, "cross", INK, 3.5)


def _draw_marks(page: Page, size: float, marks: Iterable[_Mark]) -> None:
    for (look, hollow), alike in grouped(marks, lambda mark: mark[:2]).items():
        page.marks([point for *_, point in alike], look.marker, look.colour, size, hollow)


def _published(lines: _Lines) -> Iterator[_Mark]:
    for row, cell, middle in lines.lines:
        for value in filter(lines.axis.shows, cell.published):
            if row.look is not None:
                yield row.look, True, lines.point(lines.along(value), middle)


def _repeats(lines: _Lines) -> Iterator[_Mark]:
    """The repeats a little at both sides of each other, so that equal ones are all seen."""
    for row, cell, middle in lines.lines:
        for index, dot in enumerate(cell.dots):
            if row.look is not None and lines.axis.shows(dot.value):
                beside = middle + lines.pitch * 0.2 * (index % 3 - 1)
                yield row.look, dot.hollow, lines.point(lines.along(dot.value), beside)


# Rows below each other

_PITCH = 0.185  # inches a line, where there are few
_NARROW = 0.14  # where they would not go on a page
_FEW = 42
_GROUP_GAP = 0.09  # between host groups
_FOOT = 0.45 + KEY
_SIZE = 7.5
_BETWEEN = 0.2  # inches between columns
_BESIDE = 1.75  # for the text of the value, where there is one column


class _Sheet(NamedTuple):
    """Where the rows have their middles; what they have in common (inches)."""

    middles: Sequence[float]
    height: float
    pitch: float
    left: float


def _draw_rows(chart: DotChart) -> Page:
    """Host groups and placements at the left, then the columns."""
    sheet = _sheet(chart.rows)
    page = Page(sheet.height, chart.title)
    page.key(_marks_key(chart))
    _draw_row_names(page, chart.rows, sheet)
    panels = []
    for column, place in zip(chart.columns, _places(chart, sheet), strict=True):
        lines = [*map(_Line, chart.rows, column.cells, sheet.middles)]
        panels.append(_Lines(_panel(page, place, column), lines, sheet.pitch))
        for line in lines:
            _draw_text(panels[-1], line, beside=len(chart.columns) == 1)
    _draw_cells(page, panels)
    return page


def _places(chart: DotChart, sheet: _Sheet) -> list[Place]:
    """Where the columns lie; one alone leaves room for text at its right, several have titles."""
    count = len(chart.columns)
    if count == 1:
        width = WIDTH - sheet.left - _BESIDE
        return [Place(sheet.left, _FOOT, width, sheet.height - _FOOT - 0.05)]
    width = (WIDTH - 0.15 - sheet.left - _BETWEEN * (count - 1)) / count
    lefts = (sheet.left + index * (width + _BETWEEN) for index in range(count))
    return [Place(left, _FOOT, width, sheet.height - _FOOT - 0.22) for left in lefts]


def _sheet(rows: Sequence[DotRow]) -> _Sheet:
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


def _draw_row_names(page: Page, rows: Sequence[DotRow], sheet: _Sheet) -> None:
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


def _panel(page: Page, place: Place, column: DotColumn) -> Panel:
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
    if (cell.summary is not None or cell.published) and beside:
        ends = [*([cell.summary.maximum] if cell.summary else []), *cell.published]
        panel.page.text(max(map(lines.along, ends)) + 0.09, y, cell.text, 7)
        return
    left = panel.place.left
    room = WIDTH - left - 0.2 if beside else panel.place.width - 0.1
    panel.page.text(left + 0.08, y, cell.text, 7, GREY, room=room)


# Many host groups beside each other, a panel for each system, metrics below each other

_LEFT, _RIGHT = 0.72, 0.1
_SLOT, _WIDEST_SLOT = 0.085, 0.16  # inches for one placement of a host group
_APART_GROUPS = 0.1  # between host groups: half at each side of one
_NARROWEST = 0.2  # host group: its name is upright text
_SYSTEM_GAP = 0.12  # between panels
_NAME = 7.0
_TITLE = 0.26  # above a panel

_HostGroup = list[int]  # the numbers of its rows
_Band = list[list[_HostGroup]]  # host groups beside each other, by system


def _draw_upright(chart: DotChart) -> Page:
    """For each metric a row of panels; where these are too wide for the page, several."""
    bands = _Bands(chart.rows)
    labels = {row.label: row.look for row in chart.rows if row.look is not None}
    legend = Legend({label: look.ink for label, look in labels.items()}, 0.11, _LEFT)
    names = widest([row.host_group for row in chart.rows], _LONGEST, _NAME) + 0.1
    height_of_panel = 2.6 if len(chart.columns) == 1 else 1.25
    height_of_band = len(chart.columns) * (height_of_panel + 0.1) + _TITLE + names
    below = KEY + legend.height + 0.1
    found = list(bands.split())
    page = Page(below + len(found) * height_of_band, chart.title)
    page.key(_marks_key(chart))
    for label, place in legend.draw(page, below):
        page.marks([place], labels[label].marker, labels[label].colour, 4.5)
    tops = (page.height - number * height_of_band for number in range(len(found)))
    panels = [
        lines
        for band, top in zip(found, tops, strict=True)
        for lines in _draw_band(page, chart, bands, band, top, height_of_panel)
    ]
    _draw_cells(page, panels)
    return page


class _Bands:
    """How the host groups of the rows are laid out in bands as wide as the page."""

    def __init__(self, rows: Sequence[DotRow]) -> None:
        self.rows = rows

    def split(self) -> Iterator[_Band]:
        """The host groups, those of one system beside each other, in as few bands as hold them."""
        host_groups = grouped(range(len(self.rows)), lambda number: self.rows[number].place).values()
        band: _Band = []
        for members in grouped(host_groups, self.system).values():
            part: list[_HostGroup] = []
            for group in members:
                if self.taken([*band, [*part, group]], _SLOT) > WIDTH - _LEFT - _RIGHT and (band or part):
                    yield [*band, *([part] if part else [])]
                    band, part = [], []
                part.append(group)
            band.append(part)
        yield band

    def system(self, group: _HostGroup) -> str:
        """Its system; empty where there is one."""
        return self.rows[group[0]].system

    def taken(self, band: _Band, slot: float) -> float:
        """Inches that the band takes where a placement takes ``slot``."""
        return sum(self.width(members, slot) for members in band) + _SYSTEM_GAP * (len(band) - 1)

    def width(self, members: Sequence[_HostGroup], slot: float) -> float:
        """Inches of a system's panel, which its name must not exceed."""
        name = widest([self.system(members[0])], _LONGEST, 9)
        return max(sum(_width(group, slot) for group in members), name + 0.05)

    def slot(self, band: _Band) -> float:
        """As wide as there is room for."""
        narrow, wide = _SLOT, _WIDEST_SLOT
        for _ in range(20):
            middle = (narrow + wide) / 2
            fits = self.taken(band, middle) <= WIDTH - _LEFT - _RIGHT
            narrow, wide = (middle, wide) if fits else (narrow, middle)
        return narrow


def _width(group: _HostGroup, slot: float) -> float:
    return max(len(group) * slot, _NARROWEST) + _APART_GROUPS


def _draw_band(
    page: Page, chart: DotChart, bands: _Bands, band: _Band, top: float, height: float
) -> Iterator[_Lines]:
    slot = bands.slot(band)
    for down, column in enumerate(chart.columns):
        bottom = top - _TITLE - (down + 1) * height - down * 0.1
        left = _LEFT
        for members in band:
            width = bands.width(members, slot)
            panel = Panel(page, Place(left, bottom, width, height), None, column.across)
            panel.up_ticks(named=left == _LEFT)
            panel.frame(bands.system(members[0]) if down == 0 else "", room=0.02)
            lefts = list(_lefts(panel, members, slot))
            yield _draw_panel(panel, chart.rows, column.cells, lefts, slot)
            if down == len(chart.columns) - 1:
                _draw_group_names(panel, chart.rows, lefts, slot)
            left += width + _SYSTEM_GAP
        label = f"{column.title} ({column.across.label})" if column.title else column.across.label
        middle = bottom + height / 2
        page.text(0.14, middle, label, size=8, align="center", turned=True, room=height + 0.1)


_Lefts = list[tuple[_HostGroup, float]]


def _lefts(panel: Panel, members: Sequence[_HostGroup], slot: float) -> Iterator[tuple[_HostGroup, float]]:
    """The host groups in the middle of the panel, and where each begins."""
    left = panel.place.left + (panel.place.width - sum(_width(group, slot) for group in members)) / 2
    for group in members:
        yield group, left
        left += _width(group, slot)


def _draw_panel(
    panel: Panel, rows: Sequence[DotRow], cells: Sequence[DotCell], lefts: _Lefts, slot: float
) -> _Lines:
    """Lines between the host groups, and what is written in the place of values; the lines of the rows."""
    place, lines = panel.place, []
    panel.page.grid([[(left, place.bottom), (left, place.top)] for _, left in lefts[1:]])
    for group, left in lefts:
        start = left + (_width(group, slot) - len(group) * slot) / 2
        lines += [_Line(rows[n], cells[n], start + (i + 0.5) * slot) for i, n in enumerate(group)]
    for _, cell, middle in lines:
        if cell.text and cell.summary is None and not cell.published:
            room = place.height - 0.1
            panel.page.text(middle, place.bottom + 0.05, cell.text, 5.5, turned=True, room=room)
    return _Lines(panel, lines, slot, upright=True)


def _draw_group_names(panel: Panel, rows: Sequence[DotRow], lefts: _Lefts, slot: float) -> None:
    for group, left in lefts:
        tall, name = _width(group, slot), rows[group[0]].host_group
        x, y = left + tall / 2, panel.place.bottom - 0.06
        panel.page.text(x, y, name, _NAME, align="right", turned=True, room=_LONGEST, tall=tall)
