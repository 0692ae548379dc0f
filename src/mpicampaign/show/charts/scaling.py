"""Efficiency, or the values of messages, against the number of ranks: a panel for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.scaling import STARTUP, Scaling, scalings
from mpicampaign.dimension import COUNT, FRACTION, Unit
from mpicampaign.grouping import grouped
from mpicampaign.show.charts.looks import looks
from mpicampaign.show.charts.model import Axis, ChartCurve, CurveChart, CurvePanel, Repeat
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.scaling import meaning, scaling_name, scaling_title
from mpicampaign.text import in_ranks, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.show.charts.looks import Look
    from mpicampaign.show.charts.scene import Scene


def scaling_chart(scene: Scene) -> Iterator[CurveChart]:
    """One for all benchmarks with several numbers of ranks, and one for their start-up."""
    for title, drawn in grouped(scalings(scene.comparison), scaling_title).items():
        yield _chart(scene, title, drawn)


def _chart(scene: Scene, title: str, drawn: list[Scaling]) -> CurveChart:
    ranks = sorted({point.ranks for each in drawn for point in each.points})
    across = Axis("ranks", COUNT, Unit("", 1.0), Scale(ranks[0] / 1.2, ranks[-1] * 1.2))
    named = looks(_name(scene, each) for each in drawn)
    panels = tuple(
        CurvePanel(metric, _up(scene, members), tuple(_curves(scene, members, named)))
        for metric, members in grouped(drawn, _title).items()
    )
    caption = f"{meaning(drawn)} Lines: medians; strokes: each repeat."
    alt = f"{title}. {'; '.join(_text(scene, each) for each in drawn)}"
    own_scales = any(panel.up != panels[0].up for panel in panels)
    return CurveChart(
        title, caption, alt, across, panels, own_scales=own_scales, keyed=True, ticks=tuple(ranks)
    )


def _up(scene: Scene, members: Sequence[Scaling]) -> Axis:
    """Efficiency from 0, or the metric itself."""
    values = [
        value for each in members for point in each.points for value in (point.median, *point.by_repeat)
    ]
    if not members[0].has_efficiency:
        metric = members[0].metric
        name = "time" if members[0].kind == STARTUP else metric.name  # of all its panels
        up = scene.axis(name, metric.dimension, values, logarithmic=None)
    else:
        up = scene.axis("efficiency", FRACTION, [0.0, 1.0, *values], logarithmic=False)
    assert up is not None  # the values are positive
    return up


def _title(scaling: Scaling) -> str:
    if scaling.kind == STARTUP:  # much alike whatever the benchmark: all in one panel
        return scaling.metric.name
    kind = f", {scaling.kind} scaling" if scaling.has_efficiency else ""
    return f"{scaling.table.title}: {scaling.metric.name}{kind}"


def _name(scene: Scene, scaling: Scaling) -> str:
    name = scaling_name(scene.comparison, scaling)
    return f"{visible(scaling.table.benchmark)}: {name}" if scaling.kind == STARTUP else name


def _curves(scene: Scene, members: Sequence[Scaling], named: dict[str, Look]) -> Iterator[ChartCurve]:
    for each in members:
        name = _name(scene, each)
        medians = {point.ranks: point.median for point in each.points}
        repeats = tuple(
            Repeat(run, {point.ranks: value})
            for point in each.points
            for (run, _), value in zip(point.row.curves, point.by_repeat, strict=False)
        )
        yield ChartCurve(name, name, named[name], medians, repeats)


def _text(scene: Scene, scaling: Scaling) -> str:
    dimension = FRACTION if scaling.has_efficiency else scaling.metric.dimension
    said = [f"{scene.view.quantity(p.median, dimension)} with {in_ranks(p.ranks)}" for p in scaling.points]
    return f"{_name(scene, scaling)} {scaling.metric.name} {', '.join(said)}"
