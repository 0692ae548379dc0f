"""Strips: dots with intervals along one line, as a cell of a table; the best is at the left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from mpicampaign.base.dimension import Dimension
from mpicampaign.show.charts.scales import Scale, plain, scale_for
from mpicampaign.show.document import Box
from mpicampaign.show.view import View
from mpicampaign.show.writers.html import element
from mpicampaign.statistics.medians import Summary

_ROOM = 4  # per cent of the width left free at either end
MOST_TICKS = 4


class StripDot(NamedTuple):
    """A value with its interval; ``role``: by which its look is chosen. ``title``: what it is."""

    value: float
    ends: tuple[float, float] | None
    role: str
    title: str


class Strip(NamedTuple):
    """Where values are: the lowest at the left, or the highest."""

    scale: Scale
    highest_first: bool = False

    def place(self, value: float) -> str:
        """Where a value is on the strip, from the left, as CSS: ``12.5%``."""
        share = self.scale(value)
        return f"{_ROOM + (100 - 2 * _ROOM) * (1 - share if self.highest_first else share):.1f}%"

    def drawn(self, dots: Iterable[StripDot], label: str) -> Markup:
        """The dots over lines at the ticks; empty without dots that the scale can show."""
        shown = [dot for dot in dots if self.scale.shows(dot.value)]
        if not shown:
            return Markup("")
        ticks = map(self.place, self.scale.ticks(MOST_TICKS))
        parts = [element("line", x1=x, x2=x, y1=0, y2=20) for x in ticks]
        for dot in shown:
            if dot.ends and all(map(self.scale.shows, dot.ends)):
                low, high = map(self.place, dot.ends)
                parts.append(element("line", x1=low, x2=high, y1=10, y2=10, class_="interval"))
            title = element("title", dot.title)
            parts.append(element("circle", title, cx=self.place(dot.value), cy=10, r=5, class_=dot.role))
        return element("svg", Markup("").join(parts), role="img", aria_label=label, height=20)

    def axis(self, texts: Iterable[str], label: str) -> Markup:
        """The names of the ticks."""
        named = zip(map(self.place, self.scale.ticks(MOST_TICKS)), texts, strict=True)
        parts = [element("text", text, x=x, y=12, text_anchor="middle") for x, text in named]
        return element("svg", Markup("").join(parts), role="img", aria_label=label, height=15)


def median_dot(name: str, summary: Summary, ranked: bool, dimension: Dimension, view: View) -> StripDot:
    """The median of own runs with its interval, hollow if it is not ranked."""
    unit, interval = dimension.unit(view.unit), summary.interval
    ends = (unit.of(interval.low), unit.of(interval.high)) if interval else None
    title = f"{name}: {view.quantity(summary.median, dimension)}"
    return StripDot(unit.of(summary.median), ends, "leads" if ranked else "unranked", title)


def strip_cell(dots: Sequence[StripDot], label: str, axis: str, *, highest_first: bool) -> Box:
    """A cell with the dots along a scale of their own; empty where no scale holds them."""
    scale = scale_for(end for dot in dots for end in (dot.value, *(dot.ends or ())))
    if scale is None:
        return Box("")
    strip = Strip(scale, highest_first)
    ticks = strip.axis(map(plain, scale.ticks(MOST_TICKS)), axis)
    return Box(strip.drawn(dots, label), role="scale", below=(ticks,))
