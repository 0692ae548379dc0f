"""The chart model: what a figure or a chart of the page shows, before anything draws it.

Every value is that of the records (B, s, B/s); an axis knows in which unit it is drawn. Code that draws
takes values, looks and sentences from here and adds none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mpicampaign.base.dimension import Dimension, Unit
from mpicampaign.base.records import Record
from mpicampaign.compare.rows import Row
from mpicampaign.show.charts.looks import Style
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.view import quantity
from mpicampaign.statistics.medians import Summary


@dataclass(frozen=True, slots=True)
class Axis:
    """One side of a chart; the scale is in the unit."""

    name: str
    dimension: Dimension
    unit: Unit
    scale: Scale

    @property
    def label(self) -> str:
        """The name with the unit: ``bandwidth (MB/s)``; either alone where the other is empty."""
        if self.name and self.unit.name:
            return f"{self.name} ({self.unit.name})"
        return self.name or self.unit.name

    def at(self, value: float) -> float:
        """Where a recorded value lies, from 0 to 1."""
        return self.scale(self.unit.of(value))

    def shows(self, value: float) -> bool:
        """Whether a recorded value is on the axis: zero is not on a logarithmic one."""
        return self.scale.shows(value)

    def text(self, value: float) -> str:
        """A recorded value with its unit, as tables write it."""
        return quantity(value, self.dimension, self.unit.name)


@dataclass(frozen=True, slots=True)
class Captioned:
    """What every chart says; ``alt``: its values as text.

    ``section``: of the page, by its anchor. ``folded``: there, since tables and curves say the same.
    """

    title: str
    caption: str
    alt: str
    section: str = field(default="figures", kw_only=True)
    folded: bool = field(default=False, kw_only=True)


# Over message size


class Repeat(NamedTuple):
    """One run of a curve: its values by message size (B)."""

    run: Record
    values: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class ChartCurve:
    """One column of one row over message size (B): its repeats, and their median at each size.

    ``name``: in full; ``label``: what distinguishes it from others beside it. ``thin``: drawn beside a
    curve of the same colour that matters more.
    """

    name: str
    label: str
    look: Style
    median: Mapping[int, float]
    repeats: tuple[Repeat, ...]
    thin: bool = False

    @property
    def disturbed(self) -> bool:
        """Whether its medians are those of a busy machine."""
        return any(repeat.run.disturbed for repeat in self.repeats)


class CurvePanel(NamedTuple):
    """Curves with one axis of values."""

    title: str
    up: Axis
    curves: tuple[ChartCurve, ...]


@dataclass(frozen=True, slots=True)
class CurveChart(Captioned):
    """Panels over message size.

    ``own_scales``: whether each panel has its own. ``each_repeat``: whether the repeats are what is shown,
    without medians. ``keyed``: whether a key below the panels names the curves, instead of their ends.
    ``ticks``: what the axis across names, in its unit, where it does not show sizes.
    """

    across: Axis
    panels: tuple[CurvePanel, ...]
    own_scales: bool = False
    each_repeat: bool = False
    keyed: bool = False
    ticks: tuple[float, ...] = ()


# A line for each row


class Dot(NamedTuple):
    """One repeat; ``hollow``: it is disturbed, or not plainly verified."""

    value: float
    hollow: bool


class DotCell(NamedTuple):
    """One metric of one row, and the text beside it or in its place."""

    dots: tuple[Dot, ...]
    summary: Summary | None
    text: str


@dataclass(frozen=True, slots=True)
class DotLine:
    """The names at the left of a line; ``look``: none of a row without any metric."""

    place: str
    label: str
    look: Style | None


@dataclass(frozen=True, slots=True)
class DotRow(DotLine):
    """The line of a row of a table."""

    row: Row


class DotColumn(NamedTuple):
    """One metric, with a cell for each row."""

    title: str
    across: Axis
    cells: tuple[DotCell, ...]


@dataclass(frozen=True, slots=True)
class DotChart(Captioned):
    """Rows and metrics: a line for each row and a column for each metric."""

    rows: tuple[DotLine, ...]
    columns: tuple[DotColumn, ...]


# Pairs of ranks


class Field(NamedTuple):
    """A median with its text and how good it is (1: the best)."""

    text: str
    median: float
    fraction: float


@dataclass(frozen=True, slots=True)
class CoreMap(Captioned):
    """One metric of all ordered pairs of ranks, or of nodes.

    ``ranks``: those of one node, socket and NUMA node beside each other. ``fields``: from each (down) to each
    (across), None where nothing was measured. ``classes``: the latency class of each field, where known.
    ``edges``: which part of the machine ends before a rank, by its place: 1 NUMA node, 2 socket, 3 node.
    ``marked``: fields, and lines where both are of one rank, that are shown to be slow.
    """

    unit: str
    ranks: tuple[int | str, ...]
    fields: tuple[tuple[Field | None, ...], ...]
    classes: tuple[tuple[int | None, ...], ...]
    edges: Mapping[int, int]
    best: str
    worst: str
    of: str = "rank"
    marked: frozenset[tuple[int, int]] = frozenset()


# Nodes of a machine


class NodeFrame(NamedTuple):
    """Around the boxes of some nodes; ``width`` in printer's points, ``meaning`` in the key."""

    colour: str
    width: float
    meaning: str


class NodeBox(NamedTuple):
    """A node; ``fraction``: 0 as most, 1 the slowest that is told apart; none of one without a value.

    ``text``: beside one that is shown to be slow.
    """

    name: str
    fraction: float | None
    frame: NodeFrame | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class NodeMap(Captioned):
    """One metric of all nodes: lines of boxes, racks beside each other, ``None`` between them.

    ``scale``: what the darkest box means. ``frames``: all that there may be.
    """

    lines: tuple[tuple[NodeBox | None, ...], ...]
    scale: str
    frames: Sequence[NodeFrame]


# Results of several systems beside each other


class SystemResult(NamedTuple):
    """One result. ``name``: in full; ``label``: short.

    ``platform``: a number that results of one platform for several numbers of processes have in common.
    """

    name: str
    label: str
    platform: int


class BarSeries(NamedTuple):
    """Bars of one colour in a column: one for each member, ``None`` where it has no value."""

    name: str
    colour: str
    bars: tuple[Summary | None, ...]


class BarColumn(NamedTuple):
    """Bars along one axis."""

    title: str
    across: Axis
    series: tuple[BarSeries, ...]


@dataclass(frozen=True, slots=True)
class BarChart(Captioned):
    """A line for each member and several columns of bars."""

    members: tuple[SystemResult, ...]
    columns: tuple[BarColumn, ...]


def bars_as_text(members: Sequence[SystemResult], columns: Sequence[BarColumn]) -> str:
    """The medians of each member."""
    lines = []
    for place, member in enumerate(members):
        bars = [(f"{c.title} {s.name}".strip(), c.across, s.bars[place]) for c in columns for s in c.series]
        medians = [f"{name} {axis.text(bar.median)}" for name, axis, bar in bars if bar]
        lines.append(f"{member.name}: {', '.join(medians)}")
    return "; ".join(lines)


Chart = CurveChart | DotChart | CoreMap | NodeMap | BarChart
