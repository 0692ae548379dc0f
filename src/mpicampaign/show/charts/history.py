"""Metrics over time: a panel for each curve of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.dimension import BANDWIDTH_UNITS
from mpicampaign.show.charts.model import Axis, TimeChart, TimeMark, TimePanel
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.history import change_text, curve_name, day, dimension_of, unit_name
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.history.curves import Curve

_ROOM = 0.05  # above and below the values, of their range


def time_chart(campaign: str, curves: Sequence[Curve]) -> TimeChart:
    """The curves, each on its own scale, which need not begin at 0: changes are what is looked for."""
    title = f"{visible(campaign)} over time"
    panels = tuple(_panel(curve) for curve in curves)
    days = tuple((day(curve.points[0].time), day(curve.points[-1].time)) for curve in curves)
    caption = (
        "A point for each tick: the median of its runs that count. Dashed: changes. Scales do not begin at 0."
    )
    alt = f"{title}. {'; '.join(f'{panel.title}: {len(panel.marks)} changes' for panel in panels)}"
    return TimeChart(title, caption, alt, panels, days)


def _panel(curve: Curve) -> TimePanel:
    key, values = curve.key, tuple(point.value for point in curve.points)
    dimension = dimension_of(key)
    unit = dimension.unit(BANDWIDTH_UNITS[0])
    low, high = unit.of(min(values)), unit.of(max(values))
    room = (high - low) * _ROOM or abs(high) * _ROOM or 1.0
    axis = Axis("", dimension, unit, Scale(low - room, high + room, logarithmic=False))
    marks = tuple(TimeMark(change.index, change_text(change, curve)) for change in curve.changes)
    return TimePanel(f"{curve_name(key)} ({unit_name(key)})", axis, values, marks)
