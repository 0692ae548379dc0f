"""A dot plot of many host groups: these side by side, a panel for each system, metrics below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.show.charts.looks import PALE
from mpicampaign.show.figures.axes import Panel
from mpicampaign.show.figures.dot_marks import Line, Lines, draw_cells, marks_key
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, widest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.show.charts.looks import Look
    from mpicampaign.show.charts.model import DotChart, DotColumn, DotRow

_LEFT, _RIGHT = 0.72, 0.1
_SLOT, _WIDEST_SLOT = 0.085, 0.16  # inches for one placement of a host group
_GROUP_GAP = 0.1  # between host groups: half at each side of one
_NARROWEST = 0.2  # host group: its name is upright text
_SYSTEM_GAP = 0.12  # between panels
_LONGEST_NAME = 1.6
_LONGEST_LABEL = 3.0  # of the key
_NAME = 7.0
_TITLE = 0.26  # above a panel
_KEY_PITCH = 0.2
_MARK = 0.16  # from a mark of the key to its text


class Group(NamedTuple):
    """A host group: its rows with their numbers."""

    rows: tuple[tuple[int, DotRow], ...]

    @property
    def system(self) -> str:
        """Its system; empty where there is one."""
        return self.rows[0][1].system

    @property
    def name(self) -> str:
        """Its name within its system."""
        return self.rows[0][1].host_group

    def width(self, slot: float) -> float:
        """Inches that it takes where a placement takes ``slot``."""
        return max(len(self.rows) * slot, _NARROWEST) + _GROUP_GAP


Band = list[list[Group]]
"""Host groups beside each other, by system."""


def draw_groups(chart: DotChart) -> Page:
    """For each metric a row of panels; where these are too wide for the page, several."""
    bands = list(_bands(chart.rows))
    labels = {row.label: row.look for row in chart.rows if row.look is not None}
    key = list(_key_places(labels))
    names = widest([group.name for band in bands for of in band for group in of], _LONGEST_NAME, _NAME) + 0.1
    height_of_panel = 2.6 if len(chart.columns) == 1 else 1.25
    height_of_band = len(chart.columns) * (height_of_panel + 0.1) + _TITLE + names
    below = KEY + _KEY_PITCH * (1 + max(down for _, down, _ in key)) + 0.1
    page = Page(below + len(bands) * height_of_band, chart.title)
    page.key(marks_key(chart))
    _draw_key(page, key, labels, below)
    top = page.height
    for band in bands:
        _draw_band(page, chart, band, top, height_of_panel)
        top -= height_of_band
    return page


def _bands(rows: Sequence[DotRow]) -> Iterator[Band]:
    """The host groups, those of one system beside each other, in as few bands as hold them."""
    numbered = grouped(enumerate(rows), lambda pair: pair[1].place).values()
    by_system = grouped((Group(tuple(members)) for members in numbered), lambda group: group.system)
    band: Band = []
    for members in by_system.values():
        part: list[Group] = []
        for group in members:
            if _taken([*band, [*part, group]], _SLOT) > _room() and (band or part):
                yield [*band, *([part] if part else [])]
                band, part = [], []
            part.append(group)
        band.append(part)
    yield band


def _room() -> float:
    return WIDTH - _LEFT - _RIGHT


def _taken(band: Band, slot: float) -> float:
    """Inches that the band takes."""
    return sum(_width(members, slot) for members in band) + _SYSTEM_GAP * (len(band) - 1)


def _width(members: Sequence[Group], slot: float) -> float:
    """Inches of a system's panel, which its name must not exceed."""
    name = widest([members[0].system], _LONGEST_NAME, 9)
    return max(sum(group.width(slot) for group in members), name + 0.05)


def _slot(band: Band) -> float:
    """As wide as there is room for."""
    narrow, wide = _SLOT, _WIDEST_SLOT
    for _ in range(20):
        middle = (narrow + wide) / 2
        narrow, wide = (middle, wide) if _taken(band, middle) <= _room() else (narrow, middle)
    return narrow


def _draw_band(page: Page, chart: DotChart, band: Band, top: float, height: float) -> None:
    slot = _slot(band)
    for down, column in enumerate(chart.columns):
        bottom = top - _TITLE - (down + 1) * height - down * 0.1
        left = _LEFT
        for members in band:
            width = _width(members, slot)
            panel = Panel(page, Place(left, bottom, width, height), None, column.across)
            _draw_panel(panel, column, members, slot, titled=down == 0, first=left == _LEFT)
            if down == len(chart.columns) - 1:
                _draw_names(panel, members, slot)
            left += width + _SYSTEM_GAP
        label = f"{column.title} ({column.across.label})" if column.title else column.across.label
        middle = bottom + height / 2
        page.text(0.14, middle, label, size=8, align="center", turned=True, room=height + 0.1)


def _draw_panel(
    panel: Panel, column: DotColumn, members: Sequence[Group], slot: float, titled: bool, first: bool
) -> None:
    """``titled``: with the name of the system; ``first``: the axis is named at its left."""
    panel.up_ticks(named=first)
    lines = []
    for group, left in _lefts(panel, members, slot):
        if group is not members[0]:
            panel.page.lines([[(left, panel.place.bottom), (left, panel.place.top)]], PALE, 0.8)
        start = left + (group.width(slot) - len(group.rows) * slot) / 2
        lines += [Line(row, n, start + (i + 0.5) * slot) for i, (n, row) in enumerate(group.rows)]
    panel.frame(members[0].system if titled else "", room=0.02)
    draw_cells(Lines(panel, lines, slot, upright=True), column.cells)
    for line in lines:
        text = column.cells[line.number].text if column.cells[line.number].summary is None else ""
        if text and not column.cells[line.number].published:
            room = panel.place.height - 0.1
            panel.page.text(line.middle, panel.place.bottom + 0.05, text, 5.5, turned=True, room=room)


def _lefts(panel: Panel, members: Sequence[Group], slot: float) -> Iterator[tuple[Group, float]]:
    """The host groups in the middle of the panel, and where each begins."""
    left = panel.place.left + (panel.place.width - sum(group.width(slot) for group in members)) / 2
    for group in members:
        yield group, left
        left += group.width(slot)


def _draw_names(panel: Panel, members: Sequence[Group], slot: float) -> None:
    for group, left in _lefts(panel, members, slot):
        x, y, tall = left + group.width(slot) / 2, panel.place.bottom - 0.06, group.width(slot)
        panel.page.text(x, y, group.name, _NAME, align="right", turned=True, room=_LONGEST_NAME, tall=tall)


def _key_places(labels: dict[str, Look]) -> Iterator[tuple[float, int, str]]:
    """Where each placement is in the key: from the left (inches), in which line, and its name."""
    left, down = _LEFT, 0
    for label in labels:
        width = _MARK + widest([label], _LONGEST_LABEL, 8) + 0.25
        if left + width > WIDTH and left > _LEFT:
            left, down = _LEFT, down + 1
        yield left, down, label
        left += width


def _draw_key(page: Page, key: Sequence[tuple[float, int, str]], labels: dict[str, Look], top: float) -> None:
    for left, down, label in key:
        look, y = labels[label], top - 0.14 - down * _KEY_PITCH
        page.marks([(left, y)], look.marker, look.colour, 4.5)
        page.text(left + _MARK - 0.05, y, label, 8, look.ink, room=_LONGEST_LABEL)
