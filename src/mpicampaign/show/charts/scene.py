"""What all charts of a comparison have in common: names, looks, units, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mpicampaign.base.dimension import COUNT, Dimension, Unit
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CONTRADICTED, FAILED
from mpicampaign.base.text import clip, counted, in_ranks, visible
from mpicampaign.compare.findings import KINDS, NOT_AT_SIZE, NOT_PRINTED, NOT_READ, STOPPED, Absence
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.show.charts.looks import INK, LINES, MARKERS, Style, looks
from mpicampaign.show.charts.model import Axis
from mpicampaign.show.charts.scales import scale_for
from mpicampaign.show.runs import explained, is_offered, mark_of, run_counts
from mpicampaign.show.sentences import KIND_NAMES, absence
from mpicampaign.show.view import DEFAULT, View

LONGEST = 200  # characters of a name in captions
_OF_BASELINE = Style(INK, LINES[2], MARKERS[0])

# What distinguishes curves; the first in which they differ gives the colour.
PLACEMENT, HOST_GROUP, RANKS, SERIES = FACETS = ("placement", "host group", "ranks", "series")


@dataclass(slots=True)
class Scene:
    """Names, looks and units of a comparison, the same in all figures and on the page.

    Colour and marker of a placement are its own. So is its line style, unless curves of one placement lie
    beside each other: then the line style distinguishes those.
    """

    comparison: Comparison
    view: View = DEFAULT
    looks: dict[str, dict[str, Style]] = field(init=False)  # by facet and value
    _places: dict[tuple[str, str], str] = field(init=False, default_factory=dict)
    _ranks: dict[tuple[int, str], tuple[int, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        pairs = [(table, row) for table in self.comparison.tables for row in table.rows if row.counted]
        named = [self.facets(table, row) for table, row in pairs]
        self.looks = {facet: looks(values[facet] for values in named) for facet in FACETS}
        kernels = {table.suite for table in self.comparison.tables if table.useful}
        kernels_first = sorted(self.comparison.tables, key=lambda table: table.suite not in kernels)
        labels = [visible(table.label) for table in kernels_first if not table.is_baseline]
        baselines = [visible(table.label) for table in kernels_first if table.is_baseline]
        self.looks[SERIES] = {**looks(labels), **dict.fromkeys(baselines, _OF_BASELINE)}
        for table in kernels_first:  # a curve for all trees looks like that of the first
            self.looks[SERIES].setdefault(
                visible(label_of_all(table)), self.looks[SERIES][visible(table.label)]
            )

    def facets(self, table: Table, row: Row) -> dict[str, str]:
        """The row's value of each facet."""
        ranks = "unknown" if row.ranks is None else in_ranks(row.ranks)
        values = (visible(row.case.placement), self.place(row), ranks, visible(table.label))
        return dict(zip(FACETS, values, strict=True))

    def place(self, row: Row) -> str:
        """The row's host group; with its system where there are several."""
        where = (row.case.system, row.case.host_group)
        if where not in self._places:
            self._places[where] = self.comparison.place(row)
        return self._places[where]

    def label(self, table: Table, row: Row) -> str:
        """The placement; with its number of ranks where the table has several for it; a mark if disturbed."""
        several = row.ranks is not None and len(self._ranks_of(table, row)) > 1
        ranks = f", {in_ranks(row.ranks)}" if several else ""
        return visible(row.case.placement) + ranks + mark_of(row)

    def look(self, table: Table, row: Row) -> Style:
        """The look of the placement; with several numbers of ranks, the line style shows these."""
        look = self.looks[PLACEMENT][visible(row.case.placement)]
        ranks = self._ranks_of(table, row)
        if row.ranks is None or len(ranks) < 2:
            return look
        return replace(look, line=LINES[ranks.index(row.ranks) % len(LINES)])

    def _ranks_of(self, table: Table, row: Row) -> tuple[int, ...]:
        """The numbers of ranks of the row's placement in the table."""
        key = (id(table), row.case.placement)
        if key not in self._ranks:
            found = {other.ranks for other in table.rows if other.case.placement == row.case.placement}
            self._ranks[key] = tuple(sorted(ranks for ranks in found if ranks is not None))
        return self._ranks[key]

    def name(self, table: Table, row: Row) -> str:
        """Host group and placement."""
        return f"{clip(self.place(row), LONGEST)} {clip(self.label(table, row), LONGEST)}"

    def axis(
        self, name: str, dimension: Dimension, values: Iterable[float], logarithmic: bool | None
    ) -> Axis | None:
        """An axis in the view's unit that holds the values; none where it can show none of them.

        A count has no unit. ``logarithmic``: as in `scale_for`.
        """
        unit = dimension.unit(self.view.unit)
        scale = scale_for(map(unit.of, values), logarithmic)
        unit = Unit("", unit.size) if dimension == COUNT else unit
        return Axis(name, dimension, unit, scale) if scale else None


def left_out(scene: Scene, rows: Sequence[Row]) -> str:
    """What the figure leaves out, and what its mark means; empty where there is neither."""
    cases = {row.case: row for row in rows}
    absent = grouped(
        (row for row in cases.values() if row.absence and is_offered(row)),
        lambda row: (visible(row.case.placement), absence(row.absence)),
    )
    several = len({scene.place(row) for row in rows}) > 1
    reasons = []
    for (placement, reason), without in absent.items():
        places = ", ".join(scene.place(row) for row in without)
        reasons.append(f"{places} {placement} ({reason})" if several else f"{placement} ({reason})")
    partly = [row for row in cases.values() if row.counted]
    counts = run_counts(record for row in partly for record in row.records)
    found = [(counts.get(kind, 0), kind) for kind in (CONTRADICTED, FAILED, STOPPED, NOT_READ)]
    reasons += [counted(count, f"{kind.replace('_', ' ')} run") for count, kind in found if count]
    marks = "".join(f" {mark}: {meaning}." for mark, meaning in explained(rows))
    return (f" Left out: {', '.join(reasons)}." if reasons else "") + marks


def repeats_of(rows: Iterable[Row]) -> str:
    """How many repeats of the rows count: ``5 repeats``, ``3 to 5 repeats``."""
    counts = {row.counted for row in rows if row.counted}
    if not counts:
        return "no repeats"
    low, high = min(counts), max(counts)
    return counted(low, "repeat") if low == high else f"{low} to {high} repeats"


def kind_of(reasons: Absence) -> str:
    """The kind of a missing value, ``n/a`` or ``failed``; a dash where it has none."""
    kind = reasons[0].kind if reasons else NOT_PRINTED
    kind = NOT_PRINTED if kind == NOT_AT_SIZE else kind
    return KIND_NAMES[kind] if kind in KINDS else "–"


# Trees that are the same: with two ranks every tree is one message, so that one curve is enough

ALL_TREES = "all trees, the same with 2 ranks"


def label_of_all(table: Table) -> str:
    """The name of the curve that represents all trees of the table's series."""
    return f"{table.series} ({ALL_TREES})"


def without_twins(pairs: Iterable[tuple[Table, Row]]) -> list[tuple[Table, Row]]:
    """The rows; those of one case with two ranks that differ in the tree alone are one, with all runs."""
    groups = grouped(pairs, lambda pair: _twins(*pair)).values()
    return [pair for members in groups for pair in _joined(members)]


def _twins(table: Table, row: Row) -> tuple[object, ...]:
    """A key that rows of trees share if two ranks make the trees one and the same."""
    alike = bool(table.useful and table.useful.wire) and row.ranks == 2
    return (table.benchmark, table.series, row.case, "" if alike else table.label, row.ranks)


def _joined(members: Sequence[tuple[Table, Row]]) -> Sequence[tuple[Table, Row]]:
    if len(members) < 2:
        return members
    (table, first), *_ = members
    curves = tuple(curve for _, row in members for curve in row.curves)
    return [(replace(table, label=label_of_all(table)), replace(first, curves=curves))]
