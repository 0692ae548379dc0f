"""Bandwidth of gathers against the number of cores in use: a panel for each message size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.dimension import BANDWIDTH, COUNT, Unit
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.base.units import format_size
from mpicampaign.questions.gathers.find import Gather, Gathers, gathers
from mpicampaign.questions.gathers.say import DEFINITION, gather_name, place_of, placements_text
from mpicampaign.show.charts.model import Axis, ChartCurve, CurveChart, CurvePanel, Repeat
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.charts.scene import SERIES, Scene
from mpicampaign.statistics.medians import median


def gather_charts(scene: Scene) -> Iterator[CurveChart]:
    """A chart for each host group and number of nodes with several numbers of ranks."""
    for comparable in gathers(scene.comparison):
        if len(comparable.ranks) > 1:
            yield _chart(scene, comparable)


def _chart(scene: Scene, comparable: Gathers) -> CurveChart:
    by_size = {size: list(_curves(scene, comparable, size)) for size in comparable.sizes}
    curves = [curve for of_size in by_size.values() for curve in of_size]
    lines = [repeat.values for curve in curves for repeat in curve.repeats]
    values = [value for line in (*lines, *(curve.median for curve in curves)) for value in line.values()]
    up = scene.axis("bandwidth", BANDWIDTH, values, logarithmic=True)
    assert up is not None  # bandwidths are positive, and each size has one
    across = Axis(
        "cores in use", COUNT, Unit("", 1.0), Scale(comparable.ranks[0] / 1.2, comparable.ranks[-1] * 1.2)
    )
    title = f"Gathers: bandwidth against cores in use, {place_of(scene.comparison, comparable)}"
    panels = tuple(CurvePanel(f"{format_size(size)} per rank", up, tuple(by_size[size])) for size in by_size)
    caption = (
        f"{DEFINITION} {placements_text(comparable)} Lines: medians; strokes: each repeat. Logarithmic axes."
    )
    medians = [_medians(scene, curve, size) for size, curves in by_size.items() for curve in curves]
    alt = f"{title}. {'; '.join(medians)}"
    return CurveChart(title, caption, alt, across, panels, keyed=True, ticks=tuple(comparable.ranks))


def _curves(scene: Scene, comparable: Gathers, size: int) -> Iterator[ChartCurve]:
    for members in grouped(comparable.gathers, gather_name).values():
        at_size = [gather for gather in members if size in gather.sizes]
        if at_size:
            yield _curve(scene, at_size, size)


def _curve(scene: Scene, members: Sequence[Gather], size: int) -> ChartCurve:
    repeats = tuple(
        Repeat(run, {gather.ranks: values[size]})
        for gather in members
        for run, values in gather.runs
        if size in values
    )
    medians = {gather.ranks: median([v[size] for _, v in gather.runs if size in v]) for gather in members}
    name = gather_name(members[0])
    return ChartCurve(name, name, scene.looks[SERIES][visible(members[0].label)], medians, repeats)


def _medians(scene: Scene, curve: ChartCurve, size: int) -> str:
    medians = [f"{scene.view.quantity(v, BANDWIDTH)} with {ranks}" for ranks, v in curve.median.items()]
    return f"{curve.name} at {format_size(size)} {', '.join(medians)}"
