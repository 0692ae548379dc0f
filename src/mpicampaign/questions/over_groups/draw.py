"""Pairs of few repeats as strips: a dot for each setting, at how many times better the first one is there."""

from __future__ import annotations

from mpicampaign.compare.tables import Comparison
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.document import Box, Grid, Span
from mpicampaign.show.strip import MOST_TICKS, Strip, StripDot

_ROOM = 1.05


def few_strips(comparison: Comparison) -> list[Grid]:
    """A line for each pair; nothing without any."""
    ratios = [one.ratio for found in comparison.of_few for one in found.pair.settings]
    if not ratios:
        return []
    strip = Strip(Scale(min(*ratios, 1 / _ROOM) / _ROOM, max(*ratios, _ROOM) * _ROOM))
    ticks = (f"{tick:g}×" for tick in strip.scale.ticks(MOST_TICKS))
    axis = strip.axis(ticks, "how many times better in the median over message sizes")
    lines = []
    for found in comparison.of_few:
        pair = found.pair
        dots = (
            StripDot(
                one.ratio, None, "leads" if one in pair.leads else "", f"{one.name}: {one.ratio:.3g} times"
            )
            for one in pair.settings
        )
        label = f"{pair.better} against {pair.worse} in {len(pair.settings)} settings"
        count = f"{len(pair.leads)} of {len(pair.settings)}"
        exceptions = (Span(f"⇄ {len(found.opposites)}", "small"),) if found.opposites else ()
        name = Box(Span(pair.better, "strong"), below=(Span(f"than {pair.worse}", "small"),))
        lines.append(
            (name, Box(strip.drawn(dots, label), role="scale"), Box(count, role="value", below=exceptions))
        )
    header = ("better", axis, "settings, exceptions")
    return [Grid("Pairs over message sizes", 3, header, tuple(lines), role="ratios")]
