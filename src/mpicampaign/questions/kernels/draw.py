"""Charts of the bundled kernels: useful and wire bandwidth, and time per level of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, takewhile

from mpicampaign.base.dimension import TIME
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.metrics import curve
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.charts.curves import SIZE, USEFUL, WIRE, curve_of, largest, log_axes, without_place
from mpicampaign.show.charts.looks import COLOURS, LINES
from mpicampaign.show.charts.model import (
    BarChart,
    BarColumn,
    BarSeries,
    ChartCurve,
    CurveChart,
    CurvePanel,
    SystemResult,
    bars_as_text,
)
from mpicampaign.show.charts.scene import SERIES, Scene, left_out, repeats_of, without_twins
from mpicampaign.statistics.medians import Summary, summarise


def kernel_charts(scene: Scene) -> Iterator[CurveChart]:
    """Useful and wire bandwidth, a panel a placement: one for each kernel and host group with curves."""
    groups = grouped(_kernel_rows(scene), lambda pair: (pair[0].benchmark, scene.place(pair[1])))
    for key, members in groups.items():
        if chart := _kernel_chart(scene, *key, members):
            yield chart


def _kernel_rows(scene: Scene) -> list[tuple[Table, Row]]:
    return [(table, row) for table in scene.comparison.tables if table.useful for row in table.rows]


def _kernel_chart(
    scene: Scene, benchmark: str, place: str, members: Sequence[tuple[Table, Row]]
) -> CurveChart | None:
    counted = without_twins(pair for pair in members if pair[1].counted)
    panels = grouped(counted, lambda pair: scene.label(*pair))
    curves = {label: [c for pair in of for c in _curves(scene, *pair)] for label, of in panels.items()}
    drawn = [curve for of_panel in curves.values() for curve in of_panel]
    per_rank = any(table.useful and table.useful.per == "rank" for table, _ in members)
    axes = log_axes(scene, drawn, USEFUL, f"{SIZE} per rank" if per_rank else SIZE)
    if axes is None:
        return None
    across, up = axes
    parts = tuple(CurvePanel(label, up, tuple(of_panel)) for label, of_panel in curves.items())
    baselines = (table.useful.baseline for table, _ in members if table.useful)
    title, caption = _kernel_texts(benchmark, place, next(filter(None, baselines), ""))
    caption += without_place(across, parts) + left_out(scene, [row for _, row in members])
    values_text = "; ".join(
        largest(scene, row, f"{table.title}, {scene.name(table, row)}", USEFUL) for table, row in members
    )
    return CurveChart(title, caption, f"{title}. {values_text}", across, parts, keyed=True, folded=True)


def _curves(scene: Scene, table: Table, row: Row) -> Iterator[ChartCurve]:
    """Useful bandwidth, and wire bandwidth where it differs."""
    label, name = visible(table.label), f"{table.title}, {scene.name(table, row)}"
    look = scene.looks[SERIES][label]
    useful, wire = (replace(look, line=line) for line in LINES[:2])
    if table.is_baseline:
        yield curve_of(row, USEFUL, look, name, label)
    elif not (table.useful and table.useful.wire) or row.ranks == 2:  # one message: both are the same
        yield curve_of(row, USEFUL, useful, name, label)
    else:
        yield curve_of(row, USEFUL, useful, name, f"{label}, useful")
        yield curve_of(row, WIRE, wire, f"{name}, wire", f"{label}, wire", thin=True)


def _kernel_texts(benchmark: str, place: str, baseline: str) -> tuple[str, str]:
    """Title and caption; ``baseline``: the series with which the others are compared, or empty."""
    benchmark = visible(benchmark)
    if not baseline:
        title = f"{benchmark}: bandwidth of all active pairs together, {place}"
        caption = "Each thick line is a number of pairs that are active at once, the median over repeats."
        return title, caption + " Thin lines: each repeat."
    caption = "Useful bandwidth counts each block once, wire bandwidth once for every edge of the tree "
    caption += "that it crosses (the same for two ranks); "
    caption += f"only useful bandwidth can be compared with {baseline}. "
    caption += "Thick lines: the median over repeats; thin lines: each repeat."
    return f"{benchmark}: useful and wire bandwidth beside {baseline}, {place}", caption


# Time per level of a tree at its root: receiving, with waiting for the sender, and merging

_PARTS = {"receive": "receive, with waiting", "merge": "merge"}


def level_charts(scene: Scene) -> Iterator[BarChart]:
    """A chart for each kernel with levels, host group and placement."""
    known = [(table, row) for table, row in _kernel_rows(scene) if _levels(row)]
    groups = grouped(known, lambda pair: (pair[0].benchmark, pair[0].series, scene.name(*pair)))
    for (benchmark, _, name), members in groups.items():
        if chart := _level_chart(scene, visible(benchmark), name, members):
            yield chart


def _level_chart(scene: Scene, what: str, name: str, members: Sequence[tuple[Table, Row]]) -> BarChart | None:
    """Of the largest size that all trees have; None with a single level, where all trees are the same."""
    common = set.intersection(*(_sizes(row) for _, row in members))
    if not common or all(len(_levels(row)) < 2 for _, row in members):
        return None
    size = max(common)
    levels = [(tree, row, level) for tree, (_, row) in enumerate(members) for level in _levels(row)]
    bars = {
        title: tuple(_at_size(row, f"{part}_{level}", size) for _, row, level in levels)
        for part, title in _PARTS.items()
    }
    ends = [bar.maximum for of_part in bars.values() for bar in of_part]
    axis = scene.axis("", TIME, ends, logarithmic=False)
    if axis is None:
        return None
    names = [f"{visible(members[tree][0].label)}, level {level}" for tree, _, level in levels]
    systems = tuple(SystemResult(name, name, tree) for name, (tree, *_) in zip(names, levels, strict=True))
    columns = tuple(BarColumn(title, axis, (BarSeries("", COLOURS[0], of),)) for title, of in bars.items())
    title = f"{what}: time per level at {format_size(size)} per rank, {name}"
    rows = [row for _, row in members]
    caption = (
        "At the root, which receives on every level: how long receiving, including the wait for the sender, "
    )
    caption += f"and merging take, as the median over {repeats_of(rows)}.{left_out(scene, rows)}"
    return BarChart(title, caption, f"{title}. {bars_as_text(systems, columns)}", systems, columns)


def _levels(row: Row) -> list[int]:
    """The levels that every run of the row has."""
    if not row.curves:
        return []
    return list(takewhile(lambda n: all(f"receive_{n}" in s.columns for _, s in row.curves), count()))


def _sizes(row: Row) -> set[int]:
    """The sizes (B) at which some run knows all levels."""
    columns = [f"{what}_{level}" for level in _levels(row) for what in _PARTS]
    return {
        size
        for _, series in row.curves
        for size in set.intersection(*(set(curve(series, column)) for column in columns))
    }


def _at_size(row: Row, column: str, size: int) -> Summary:
    return summarise([v for _, series in row.curves if (v := curve(series, column).get(size)) is not None])
