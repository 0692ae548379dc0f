"""Curves over message size for the report: which lines there are, and what can be switched on and off.

Each line has a value in every facet (host group, placement, ranks, series); the reader ticks values, and a
line is drawn where all of its values are ticked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.comparison.metrics import BASELINE, KERNEL, POINT_TO_POINT, curve
from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.show.figures.style import COLOURS
from mpicampaign.statistics.medians import median
from mpicampaign.units import MB, MIB
from mpicampaign.wording import unit_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.comparison.comparison import Comparison, Table
    from mpicampaign.comparison.rows import Row
    from mpicampaign.records import Record, Series

FACETS = ("placement", "host group", "ranks", "series")  # the first that differs gives the colour
# Bokeh's names of line styles with the same in SVG's words.
DASHES = {"solid": "none", "dashed": "6", "dotted": "2 4", "dashdot": "2 4 6 4", "dotdash": "6 4 2 4"}
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x")
MANY_LINES = 12  # above which only the first value of each facet but the coloured one is ticked at first
_NAMES = {"time": "time", "bandwidth": "bandwidth", "bandwidth_wire": "wire bandwidth"}


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a facet, to be ticked: its swatch on the page is drawn as its lines are."""

    name: str
    ticked: bool
    colour: str = ""
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Facet:
    """What tells lines apart."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """The median of a row's repeats at each size, and the repeats; sizes in B, values in the axis's unit."""

    facets: tuple[int, ...]
    colour: str
    dash: str
    marker: str
    name: str
    median: dict[int, float]
    repeats: tuple[tuple[Record, dict[int, float]], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One column of one benchmark over message size."""

    anchor: str
    title: str
    name: str
    unit: str
    facets: tuple[Facet, ...]
    lines: tuple[Line, ...]

    @property
    def axis(self) -> str:
        """What the figures are, with their unit."""
        return f"{self.name}, {self.unit}"

    @property
    def sizes(self) -> list[int]:
        """All message sizes (B) at which any line has a median, ascending."""
        return sorted(set().union(*(line.median for line in self.lines)))


def charts(comparison: Comparison, unit: str = "MB/s") -> list[Chart]:
    """The charts of all benchmarks with sizes, in the order of the tables; ``unit``: of bandwidths."""
    by_benchmark: dict[str, list[Table]] = {}
    for table in comparison.tables:
        by_benchmark.setdefault(table.benchmark, []).append(table)
    found: list[Chart] = []
    for benchmark, tables in by_benchmark.items():
        for column in _columns(tables):
            rows = _drawn(tables, column)
            if rows:
                found.append(_chart(f"curve-{len(found) + 1}", benchmark, comparison, rows, column, unit))
    return found


def _columns(tables: Sequence[Table]) -> list[str]:
    """Which columns are drawn: of kernels no time, since their bandwidth is made of it."""
    if any(table.suite == KERNEL for table in tables):
        one_way = tables[0].benchmark == POINT_TO_POINT
        return ["bandwidth"] if one_way else ["bandwidth", "bandwidth_wire"]
    return ["time", "bandwidth"]


def _drawn(tables: Iterable[Table], column: str) -> list[tuple[Table, Row]]:
    """The rows that have a figure of the column at two sizes or more; of the baseline no wire bandwidth."""
    return [
        (table, row)
        for table in tables
        for row in table.rows
        if not (column == "bandwidth_wire" and table.label == BASELINE)
        and any(len(_points(series, column)) > 1 for _, series in row.curves)
    ]


def _points(series: Series, column: str, scale: float = 1.0) -> dict[int, float]:
    """Figures that a logarithmic axis can show, to five digits."""
    points = curve(series, column)
    return {size: float(f"{v * scale:.5g}") for size, v in points.items() if size > 0 and v > 0}


def _chart(
    anchor: str,
    benchmark: str,
    comparison: Comparison,
    rows: Sequence[tuple[Table, Row]],
    column: str,
    unit: str,
) -> Chart:
    dimension = TIME if column == "time" else BANDWIDTH
    scale = 1e6 if dimension == TIME else 1 / (MIB if unit == "MiB/s" else MB)
    named = [_facet_values(comparison, table, row) for table, row in rows]
    facets = _facets(named, len(rows))
    lines = tuple(
        _line(facets, values, row, column, scale) for values, (_, row) in zip(named, rows, strict=True)
    )
    name = _NAMES[column]
    return Chart(anchor, f"{visible(benchmark)}: {name}", name, unit_of(dimension, unit), facets, lines)


def _facet_values(comparison: Comparison, table: Table, row: Row) -> dict[str, str]:
    ranks = "unknown" if row.ranks is None else f"{row.ranks} ranks"
    values = (row.case.placement, comparison.place(row), ranks, table.label)
    return {facet: visible(value) for facet, value in zip(FACETS, values, strict=True)}


def _facets(named: Sequence[dict[str, str]], lines: int) -> tuple[Facet, ...]:
    """The facets in which lines differ; the first of them is told by colour, the second by dashes."""
    differing = [name for name in FACETS if len({values[name] for values in named}) > 1]
    return tuple(
        _facet(name, list(dict.fromkeys(values[name] for values in named)), place, lines)
        for place, name in enumerate(differing)
    )


def _facet(name: str, names: Sequence[str], place: int, lines: int) -> Facet:
    few = lines <= MANY_LINES or place == 0
    return Facet(
        name,
        tuple(
            Value(
                value,
                ticked=few or number == 0,
                colour=COLOURS[number % len(COLOURS)] if place == 0 else "",
                dash=list(DASHES)[number % len(DASHES)] if place == 1 else "",
            )
            for number, value in enumerate(names)
        ),
    )


def _line(facets: Sequence[Facet], named: dict[str, str], row: Row, column: str, scale: float) -> Line:
    chosen = tuple([value.name for value in facet.values].index(named[facet.name]) for facet in facets)
    looks = [facet.values[index] for facet, index in zip(facets, chosen, strict=True)]
    repeats = tuple((run, _points(series, column, scale)) for run, series in row.curves)
    sizes = sorted(set().union(*(points for _, points in repeats)))
    middle = {size: median([points[size] for _, points in repeats if size in points]) for size in sizes}
    return Line(
        chosen,
        next((look.colour for look in looks if look.colour), COLOURS[0]),
        next((look.dash for look in looks if look.dash), "solid"),
        MARKERS[(chosen[1] if len(chosen) > 1 else chosen[0] if chosen else 0) % len(MARKERS)],
        ", ".join(named[facet] for facet in ("host group", "placement", *_others(facets))),
        {size: float(f"{value:.5g}") for size, value in middle.items()},
        repeats,
    )


def _others(facets: Iterable[Facet]) -> list[str]:
    """Facets that are told beside host group and placement, where lines differ in them."""
    return [facet.name for facet in facets if facet.name not in ("host group", "placement")]
