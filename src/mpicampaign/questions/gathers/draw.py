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
    """One for each host group and number of nodes with several numbers of ranks."""
    for found in gathers(scene.comparison):
        if len(found.ranks) > 1:
            yield _chart(scene, found)


def _chart(scene: Scene, found: Gathers) -> CurveChart:
    by_size = {size: list(_curves(scene, found, size)) for size in found.sizes}
    curves = [curve for of_size in by_size.values() for curve in of_size]
    lines = [repeat.values for curve in curves for repeat in curve.repeats]
    values = [value for line in (*lines, *(curve.median for curve in curves)) for value in line.values()]
    up = scene.axis("bandwidth", BANDWIDTH, values, logarithmic=True)
    assert up is not None  # bandwidths are positive, and each size has one
    across = Axis("cores in use", COUNT, Unit("", 1.0), Scale(found.ranks[0] / 1.2, found.ranks[-1] * 1.2))
    title = f"Gathers: bandwidth against cores in use, {place_of(scene.comparison, found)}"
    panels = tuple(CurvePanel(f"{format_size(size)} per rank", up, tuple(by_size[size])) for size in by_size)
    caption = f"{DEFINITION} {placements_text(found)} Lines: medians; strokes: each repeat. Logarithmic axes."
    alt = f"{title}. {'; '.join(_text(scene, curve, size) for size, of in by_size.items() for curve in of)}"
    return CurveChart(title, caption, alt, across, panels, keyed=True, ticks=tuple(found.ranks))


def _curves(scene: Scene, found: Gathers, size: int) -> Iterator[ChartCurve]:
    for members in grouped(found.found, gather_name).values():
        at_size = [one for one in members if size in one.sizes]
        if at_size:
            yield _curve(scene, at_size, size)


def _curve(scene: Scene, members: Sequence[Gather], size: int) -> ChartCurve:
    repeats = tuple(
        Repeat(run, {one.ranks: values[size]})
        for one in members
        for run, values in one.runs
        if size in values
    )
    medians = {one.ranks: median([v[size] for _, v in one.runs if size in v]) for one in members}
    name = gather_name(members[0])
    return ChartCurve(name, name, scene.looks[SERIES][visible(members[0].label)], medians, repeats)


def _text(scene: Scene, curve: ChartCurve, size: int) -> str:
    said = [f"{scene.view.quantity(v, BANDWIDTH)} with {ranks}" for ranks, v in curve.median.items()]
    return f"{curve.name} at {format_size(size)} {', '.join(said)}"
