"""Metrics over time: an interactive chart for each curve of a history."""

from __future__ import annotations

from collections.abc import Mapping

from mpicampaign.base.dimension import BANDWIDTH_UNITS, COUNT, Unit
from mpicampaign.history.curves import Curve, dimension_of
from mpicampaign.history.overview import Overview
from mpicampaign.questions.history import say as texts
from mpicampaign.show.charts.looks import looks
from mpicampaign.show.charts.model import Axis, ChartCurve
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.interactive import InteractiveChart, InteractiveLine

_ROOM = 0.05  # above and below the values, of their range
_LOOK = looks([""])[""]


def charts_over_time(history: Overview) -> list[InteractiveChart]:
    """All curves over the same ticks; scales need not begin at 0, since changes are what is looked for."""
    times: dict[str, str] = {}
    for curve in history.curves:
        for point in curve.points:
            times[point.tick] = min(point.time, times.get(point.tick, point.time))
    ticks = sorted(times, key=lambda tick: (times[tick], tick))
    labels = {n: f"{times[tick][:16].replace('T', ' ')} {tick}" for n, tick in enumerate(ticks)}
    year = texts.year_of(history)
    return [_chart(number, curve, labels, ticks, year) for number, curve in enumerate(history.curves)]


def _chart(
    number: int, curve: Curve, labels: Mapping[int, str], ticks: list[str], year: str
) -> InteractiveChart:
    places = {tick: place for place, tick in enumerate(ticks)}
    values = {places[point.tick]: point.value for point in curve.points}
    name, last = texts.curve_name(curve.key), max(len(labels) - 1, 1)
    named = {last // 8, last // 2, last - last // 8} if last >= 8 else {last // 2}
    across = Axis("", COUNT, Unit("", 1.0), Scale(-0.01 * last, 1.01 * last, logarithmic=False))
    days = tuple((float(place), labels[place][:10]) for place in sorted(named))
    changes_text = "; ".join(texts.change_text(change, curve, year) for change in curve.changes)
    none = texts.no_change_text([curve])
    if curve.not_judged:
        none = f"{texts.not_judged_text(curve.not_judged).capitalize()}."
    return InteractiveChart(
        f"curve-{number}",
        name,
        across,
        _up(curve, values),
        (),
        (InteractiveLine(ChartCurve(name, name, _LOOK, values, ()), ()),),
        labels,
        days,
        f"Changes: {changes_text}." if changes_text else none,
        tuple(places[curve.points[change.index].tick] - 0.5 for change in curve.changes),
    )


def _up(curve: Curve, values: Mapping[int, float]) -> Axis:
    dimension = dimension_of(curve.key)
    unit = dimension.unit(BANDWIDTH_UNITS[0])
    low, high = unit.of(min(values.values())), unit.of(max(values.values()))
    room = (high - low) * _ROOM or abs(high) * _ROOM or 1.0
    return Axis(curve.key.metric, dimension, unit, Scale(low - room, high + room, logarithmic=False))
