"""Charts of the bundled kernels: useful and wire bandwidth over message size, a panel for each placement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.grouping import grouped
from mpicampaign.show.charts.curves import (
    SIZE,
    USEFUL,
    WIRE,
    curve_of,
    largest,
    log_axes,
    without_place,
)
from mpicampaign.show.charts.looks import LINES
from mpicampaign.show.charts.model import CurveChart, CurvePanel
from mpicampaign.show.charts.scene import SERIES, left_out
from mpicampaign.show.charts.trees import without_twins
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Table
    from mpicampaign.show.charts.model import Curve
    from mpicampaign.show.charts.scene import Scene


def kernels(scene: Scene) -> Iterator[CurveChart]:
    """One chart for each kernel and host group that has curves."""
    pairs = [(table, row) for table in scene.comparison.tables if table.useful for row in table.rows]
    groups = grouped(pairs, lambda pair: (pair[0].benchmark, scene.place(pair[1])))
    for (benchmark, place), members in groups.items():
        chart = _kernel(scene, benchmark, place, members)
        if chart is not None:
            yield chart


def _kernel(
    scene: Scene, benchmark: str, place: str, members: Sequence[tuple[Table, Row]]
) -> CurveChart | None:
    counted = without_twins(pair for pair in members if pair[1].counted)
    panels = grouped(counted, lambda pair: scene.label(*pair))
    curves = {label: [c for pair in of for c in _curves(scene, *pair)] for label, of in panels.items()}
    drawn = [each for of_panel in curves.values() for each in of_panel]
    per_rank = any(table.useful and table.useful.per == "rank" for table, _ in members)
    axes = log_axes(scene, drawn, USEFUL, f"{SIZE} per rank" if per_rank else SIZE)
    if axes is None:
        return None
    across, up = axes
    parts = tuple(CurvePanel(label, up, tuple(of_panel)) for label, of_panel in curves.items())
    title, caption = _text(benchmark, place, _baseline(members))
    caption += without_place(across, parts) + left_out(scene, [row for _, row in members])
    said = "; ".join(
        largest(scene, row, f"{table.title}, {scene.name(table, row)}", USEFUL) for table, row in members
    )
    return CurveChart(title, caption, f"{title}. {said}", across, parts, keyed=True)


def _curves(scene: Scene, table: Table, row: Row) -> Iterator[Curve]:
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


def _baseline(members: Sequence[tuple[Table, Row]]) -> str:
    """The series with which the others are compared; empty where there is none."""
    named = (table.useful.baseline for table, _ in members if table.useful)
    return next(filter(None, named), "")


def _text(benchmark: str, place: str, baseline: str) -> tuple[str, str]:
    """Title and caption."""
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
