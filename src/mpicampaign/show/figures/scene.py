"""What all figures of a comparison have in common: names, looks, units, and words on what is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mpicampaign.comparison.metrics import BASELINE, KERNEL, curve
from mpicampaign.comparison.rows import KIND_WORDS
from mpicampaign.dimension import BANDWIDTH, COUNT, FLOPS, FRACTION, MESSAGE_RATE, TIME, UPDATE_RATE
from mpicampaign.grouping import grouped
from mpicampaign.show.figures.style import Look, looks
from mpicampaign.statistics.medians import median
from mpicampaign.units import MB, MIB
from mpicampaign.wording import clip, unit_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.comparison.comparison import Comparison, Table
    from mpicampaign.comparison.rows import Row
    from mpicampaign.show.figures.page import Page, Point

T = TypeVar("T")
K = TypeVar("K")

_LONGEST = 200  # characters of a name in captions


class Drawn(NamedTuple):
    """A drawn page with its words."""

    page: Page
    title: str
    caption: str
    alt: str


@dataclass(slots=True)
class Scene:
    """A comparison as it is drawn: every placement, host group and tree has one look in all figures."""

    comparison: Comparison
    unit: str
    placements: dict[str, Look] = field(init=False)
    host_groups: dict[str, Look] = field(init=False)
    trees: dict[str, Look] = field(init=False)
    _places: dict[tuple[str, str], str] = field(init=False, default_factory=dict)
    _ranks: dict[tuple[int, str], bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        tables = self.comparison.tables
        rows = [(table, row) for table in tables for row in table.rows]
        self.placements = looks(self.label(table, row) for table, row in rows if row.counted)
        self.host_groups = looks(self.place(row) for _, row in rows if row.counted)
        kernels = (table.label for table in tables if table.suite == KERNEL)
        self.trees = looks(label for label in kernels if label != BASELINE)

    def place(self, row: Row) -> str:
        """The row's host group; with its system where there are several."""
        where = (row.case.system, row.case.host_group)
        if where not in self._places:
            self._places[where] = self.comparison.place(row)
        return self._places[where]

    def label(self, table: Table, row: Row) -> str:
        """The placement; with the number of ranks where the table has it with several."""
        key = (id(table), row.case.placement)
        if key not in self._ranks:
            others = (other.ranks for other in table.rows if other.case.placement == row.case.placement)
            self._ranks[key] = len(set(others) - {None}) > 1
        several = self._ranks[key] and row.ranks is not None
        return visible(row.case.placement) + (f", {row.ranks} ranks" if several else "")

    def name(self, table: Table, row: Row) -> str:
        """Host group and placement."""
        return f"{clip(self.place(row), _LONGEST)} {clip(self.label(table, row), _LONGEST)}"

    def unit_of(self, dimension: str) -> tuple[float, str]:
        """What a figure is divided by on an axis, and the unit that the axis then has."""
        if dimension == MESSAGE_RATE:
            return 1e6, "million messages/s"
        known = {TIME: 1e-6, BANDWIDTH: MB if self.unit == "MB/s" else MIB, FRACTION: 0.01}
        known |= {FLOPS: 1e9, UPDATE_RATE: 1e6}
        return known.get(dimension, 1.0), "" if dimension == COUNT else unit_of(dimension, self.unit)


def left_out(scene: Scene, rows: Sequence[Row]) -> str:
    """What is not in the figure, in words; empty where everything is."""
    cases = {row.case: row for row in rows}
    absent = grouped(
        (row for row in cases.values() if row.absence), lambda row: (visible(row.case.placement), row.absence)
    )
    several = len({scene.place(row) for row in rows}) > 1
    reasons = []
    for (placement, reason), without in absent.items():
        places = ", ".join(scene.place(row) for row in without)
        reasons.append(f"{places} {placement} ({reason})" if several else f"{placement} ({reason})")
    partly = [row for row in cases.values() if row.counted]
    contradicted = sum(row.verdicts.get("contradicted", 0) for row in partly)
    failed = sum(record.status == "failed" for row in partly for record in row.records)
    counts = ((contradicted, "contradicted"), (failed, "failed"))
    reasons += [f"{count} {word} run{'s' * (count > 1)}" for count, word in counts if count]
    return f" Left out: {', '.join(reasons)}." if reasons else ""


def repeats_of(rows: Iterable[Row]) -> str:
    """How many repeats the rows have that count: ``5 repeats``, ``3 to 5 repeats``."""
    counts = {row.counted for row in rows if row.counted}
    if not counts:
        return "no repeats"
    low, high = min(counts), max(counts)
    return f"{low} repeat{'s' * (low > 1)}" if low == high else f"{low} to {high} repeats"


def kind_of(reason: str) -> str:
    """The kind of a reason for a missing figure, ``n/a`` or ``failed``; a dash where it is of no kind."""
    return next((words for words in KIND_WORDS.values() if reason.startswith(words)), "–")


def median_curve(row: Row, column: str) -> dict[int, float]:
    """The median over repeats at each size that any repeat printed."""
    found: dict[int, list[float]] = {}
    for _, series in row.curves:
        for size, value in curve(series, column).items():
            found.setdefault(size, []).append(value)
    return {size: median(values) for size, values in sorted(found.items())}


def points_of(figures: dict[int, float], scale: float) -> list[Point]:
    """What a logarithmic scale can show, in its unit."""
    return [(size, value / scale) for size, value in figures.items() if size > 0 and value > 0]


def repeat_points(rows: Iterable[Row], columns: Sequence[str], scale: float) -> list[list[Point]]:
    """The curves of all repeats of the rows that have any point to show."""
    series = [series for row in rows for _, series in row.curves]
    curves = (points_of(curve(table, column), scale) for table in series for column in columns)
    return [points for points in curves if points]
