"""Own values beside those of public systems on a page: strips of dots, and all values folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.text import visible
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.public_systems.find import beside_public
from mpicampaign.questions.public_systems.find_table import SystemValue
from mpicampaign.questions.public_systems.say import (
    LEGEND,
    TITLE,
    Alike,
    alike,
    not_compared,
    sentence,
    shares,
    values_grid,
)
from mpicampaign.show.charts.scales import plain, scale_for
from mpicampaign.show.document import Box, Fold, Grid, Items, PageNode, Paragraph
from mpicampaign.show.strip import MOST_TICKS, Strip, StripDot
from mpicampaign.show.view import View

_DOTS = (
    "Best at the left. Grey: a public system, with its lowest and highest output; blue: own medians with "
    "their intervals."
)


def public_nodes(comparison: Comparison, view: View) -> list[PageNode]:
    """The folded part of a page; nothing where no benchmark is in the table of public systems."""
    found = beside_public(comparison)
    if not found:
        return []
    groups = alike(found)
    nodes: list[PageNode] = [Items(lines)] if (lines := tuple(shares(comparison, found))) else []
    if groups:
        strips = Grid(
            TITLE, 1, ("", "best at the left"), tuple(_line(group, view) for group in groups), role="ratios"
        )
        fold = Fold(
            "Each value with its source and licence", tuple(values_grid(group, view) for group in groups)
        )
        nodes += [strips, Paragraph(f"{_DOTS} {LEGEND}", "legend"), fold]
    if lacking := tuple(not_compared(comparison, found)):
        nodes += [Paragraph("Not compared:"), Items(lacking)]
    return [Fold(f"{TITLE}: is this normal?", tuple(nodes))]


def _line(group: Alike, view: View) -> tuple[Box, ...]:
    """What is compared in words, and its strip."""
    metric, text = group.first.metric, sentence(group, view)
    unit = metric.dimension.unit(view.unit)
    dots = [*_others(group.others, group, view), *_own(group, view)]
    ends = [end for dot in dots for end in (dot.value, *(dot.ends or ()))]
    if (scale := scale_for(ends)) is None:
        return Box(text), Box("")
    strip = Strip(scale, not metric.lower_is_better)
    ticks = strip.axis(map(plain, scale.ticks(MOST_TICKS)), f"{metric.name}, {unit.name}")
    return Box(text), Box(strip.drawn(dots, text), role="scale", below=(ticks,))


def _others(others: Sequence[SystemValue], group: Alike, view: View) -> Iterator[StripDot]:
    dimension = group.first.metric.dimension
    unit = dimension.unit(view.unit)
    for other in others:
        low, high = map(unit.of, other.ends)
        said = ", ".join(filter(None, (other.about, other.source)))
        title = f"{other.system}: {view.quantity(other.value, dimension)} ({said})"
        yield StripDot(unit.of(other.value), (low, high) if low < high else None, "published", visible(title))


def _own(group: Alike, view: View) -> Iterator[StripDot]:
    dimension = group.first.metric.dimension
    unit = dimension.unit(view.unit)
    for beside in group.own:
        interval = beside.summary.interval
        ends = (unit.of(interval.low), unit.of(interval.high)) if interval else None
        title = f"{beside.own.system}: {view.quantity(beside.summary.median, dimension)}"
        look = "leads" if beside.row.ranked else "unranked"
        yield StripDot(unit.of(beside.summary.median), ends, look, visible(title))
