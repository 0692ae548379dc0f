"""Values, speed-up and efficiency against the number of ranks, with the ideal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mpicampaign.base.dimension import COUNT, FRACTION, RATIO, Dimension, Unit
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.questions.scaling.find import STARTUP, WORK, Scaling, ScalingPoint, scalings
from mpicampaign.questions.scaling.say import TITLES, meaning, scaling_name, scaling_sentence
from mpicampaign.show.charts.looks import Style, looks
from mpicampaign.show.charts.model import Axis, ChartCurve, CurveChart, CurvePanel, Repeat
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.charts.scene import Scene

_LOGARITHMIC = {"speed-up": True, "efficiency": False}  # others as their values need
_IDEAL = Style("#555555", "dashed", "circle")


def scaling_charts(scene: Scene) -> Iterator[CurveChart]:
    """One of all work, one of messages, and one of start-up."""
    for kind, drawn in grouped(scalings(scene.comparison), lambda scaling: scaling.kind).items():
        yield _chart(scene, kind, drawn)


def _chart(scene: Scene, kind: str, drawn: list[Scaling]) -> CurveChart:
    title, section = TITLES[kind], "scaling" if kind == WORK else "figures"
    ranks = sorted({point.ranks for scaling in drawn for point in scaling.points})
    across = Axis("ranks", COUNT, Unit("", 1.0), Scale(ranks[0] / 1.2, ranks[-1] * 1.2))
    named = looks(_name(scene, scaling) for scaling in drawn)
    panels = tuple(
        panel
        for name, members in grouped(drawn, _title).items()
        for panel in _panels(scene, name, members, named)
    )
    ideal = " Dashed: the ideal." if any(scaling.has_speed_up for scaling in drawn) else ""
    caption = f"{meaning(drawn)} Lines: medians; strokes: each repeat.{ideal}"
    texts = (
        f"{_name(scene, scaling)} {scaling.metric.name}: {scaling_sentence(scaling, scene.view)}"
        for scaling in drawn
    )
    own_scales = any(panel.up != panels[0].up for panel in panels)
    alt = f"{title}. {' '.join(texts)}"
    return CurveChart(
        *(title, caption, alt, across, panels, own_scales), keyed=True, ticks=tuple(ranks), section=section
    )


def _title(scaling: Scaling) -> str:
    if scaling.kind == STARTUP:  # much alike whatever the benchmark: all in one panel
        return scaling.metric.name
    word = f", {scaling.declared} scaling" if scaling.declared else ""
    return f"{scaling.table.title}: {scaling.metric.name}{word}"


def _name(scene: Scene, scaling: Scaling) -> str:
    name = scaling_name(scene.comparison, scaling)
    return f"{visible(scaling.table.benchmark)}: {name}" if scaling.kind == STARTUP else name


def _panels(
    scene: Scene, title: str, members: Sequence[Scaling], named: dict[str, Style]
) -> Iterator[CurvePanel]:
    """The values; of work the speed-up and the efficiency, too."""
    metric = members[0].metric
    name = "time" if members[0].kind == STARTUP else metric.name  # of all its panels
    yield _panel(scene, title, (name, metric.dimension), members, named, lambda p: (p.median, p.cell.values))
    faster = [scaling for scaling in members if scaling.has_speed_up]
    if not faster:
        return
    of_ranks = [(point.ranks, point.ideal) for scaling in faster for point in scaling.points]
    for quantity, dimension, ideal, values in (
        ("speed-up", RATIO, dict(of_ranks), _speed_ups),
        ("efficiency", FRACTION, dict.fromkeys((ranks for ranks, _ in of_ranks), 1.0), _efficiencies),
    ):
        yield _panel(scene, f"{title}: {quantity}", (quantity, dimension), faster, named, values, ideal)


def _speed_ups(point: ScalingPoint) -> tuple[float, tuple[float, ...]]:
    return point.speed_up or 0.0, tuple(efficiency * point.ideal for efficiency in point.efficiencies)


def _efficiencies(point: ScalingPoint) -> tuple[float, tuple[float, ...]]:
    return point.efficiency or 0.0, point.efficiencies


def _panel(
    scene: Scene,
    title: str,
    quantity: tuple[str, Dimension],
    members: Sequence[Scaling],
    named: dict[str, Style],
    values: Callable[[ScalingPoint], tuple[float, tuple[float, ...]]],
    ideal: dict[int, float] | None = None,
) -> CurvePanel:
    """``values``: the median of a point, and its repeats."""
    of_points = [values(point) for scaling in members for point in scaling.points]
    all_values = [value for median, repeats in of_points for value in (median, *repeats)]
    all_values += (ideal or {}).values()
    up = scene.axis(*quantity, all_values, _LOGARITHMIC.get(quantity[0]))
    assert up is not None  # the values are positive
    curves = [_curve(_name(scene, scaling), scaling, named, values) for scaling in members]
    if ideal:
        curves.append(ChartCurve("ideal", "ideal", _IDEAL, dict(sorted(ideal.items())), (), thin=True))
    return CurvePanel(title, up, tuple(curves))


def _curve(
    name: str,
    scaling: Scaling,
    named: dict[str, Style],
    values: Callable[[ScalingPoint], tuple[float, tuple[float, ...]]],
) -> ChartCurve:
    """Through the fewest nodes of each number of ranks; repeats of all."""
    medians = {point.ranks: values(point)[0] for point in reversed(scaling.points)}
    repeats = tuple(
        Repeat(run, {point.ranks: value})
        for point in scaling.points
        for (run, _), value in zip(point.row.curves, values(point)[1], strict=False)
    )
    return ChartCurve(name, name, named[name], dict(sorted(medians.items())), repeats)
