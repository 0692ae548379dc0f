"""The marks of a dot plot, whether its lines are below or beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.show.charts.looks import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.show.charts.looks import Look
    from mpicampaign.show.charts.model import Axis, DotCell, DotChart, DotRow
    from mpicampaign.show.figures.axes import Panel
    from mpicampaign.show.figures.page import Point

_APART = 0.035  # inches from where on the mean is marked beside the median
_KEY = "mark: one repeat, hollow if disturbed or not plainly verified; bar: range; stroke: median; "
_KEY += "×: mean, where it lies apart"
_PUBLISHED_KEY = (
    "small mark: one repeat, hollow if disturbed or not plainly verified; bar: range; stroke: median; "
)
_PUBLISHED_KEY += "×: mean, apart; large hollow mark: published"


def marks_key(chart: DotChart) -> str:
    """What the marks of a chart mean."""
    published = any(cell.published for column in chart.columns for cell in column.cells)
    return _PUBLISHED_KEY if published else _KEY


class Line(NamedTuple):
    """A line of a dot plot: a row, its place among them, and where its middle is (inches)."""

    row: DotRow
    number: int
    middle: float


class Lines(NamedTuple):
    """The lines on a panel, so far apart (inches); ``upright``: they stand, and values rise."""

    panel: Panel
    lines: Sequence[Line]
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


def draw_cells(lines: Lines, cells: Sequence[DotCell]) -> None:
    """Bars and strokes of all lines at once, marks by look."""
    bars, strokes, means, colours = [], [], [], []
    half = lines.pitch * 0.42
    for line in lines.lines:
        summary = cells[line.number].summary
        if line.row.look is None or summary is None or not lines.axis.shows(summary.maximum):
            continue
        ends = (lines.along(summary.minimum), lines.along(summary.maximum))
        bars.append([lines.point(end, line.middle) for end in ends])
        colours.append(line.row.look.colour)
        mean, middle = lines.along(summary.mean), lines.along(summary.median)
        means += [lines.point(mean, line.middle)] if abs(mean - middle) > _APART else []
        if lines.axis.shows(summary.median):
            strokes.append([lines.point(middle, line.middle + side) for side in (-half, half)])
    _published(lines, cells)
    page = lines.panel.page
    page.lines(bars, colours, lines.pitch * 24, alpha=0.3, name="ranges")
    _repeats(lines, cells)
    page.lines(strokes, INK, 1.3, name="medians")
    if means:
        page.marks(means, "cross", INK, 3.5)


def _published(lines: Lines, cells: Sequence[DotCell]) -> None:
    points: dict[Look, list[Point]] = {}
    for line in lines.lines:
        for value in filter(lines.axis.shows, cells[line.number].published):
            if line.row.look is not None:
                point = lines.point(lines.along(value), line.middle)
                points.setdefault(line.row.look, []).append(point)
    for look, places in points.items():
        lines.panel.page.marks(places, look.marker, look.colour, 5.5, hollow=True)


def _repeats(lines: Lines, cells: Sequence[DotCell]) -> None:
    """The repeats a little at both sides of each other, so that equal ones are all seen."""
    points: dict[tuple[Look, bool], list[Point]] = {}
    for line in lines.lines:
        for index, dot in enumerate(cells[line.number].dots):
            if line.row.look is not None and lines.axis.shows(dot.value):
                middle = line.middle + lines.pitch * 0.2 * (index % 3 - 1)
                point = lines.point(lines.along(dot.value), middle)
                points.setdefault((line.row.look, dot.hollow), []).append(point)
    for (look, hollow), places in points.items():
        lines.panel.page.marks(places, look.marker, look.colour, 2.8, hollow)
