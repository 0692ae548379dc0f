"""Own values beside those of public systems on a page: strips of dots, and all values folded."""

from __future__ import annotations

from collections.abc import Sequence

from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.public_systems.find import beside_public
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
from mpicampaign.show.document import Box, Fold, Grid, Items, PageNode, Paragraph, Span
from mpicampaign.show.strip import StripDot, median_dot, strip_cell
from mpicampaign.show.view import View

_DOTS = (
    "Best at the left. Grey: a public system, with its lowest and highest output; blue: own medians with "
    "their intervals."
)


def public_nodes(comparison: Comparison, view: View) -> list[PageNode]:
    """The folded part of a page; nothing where no benchmark is in the table of public systems."""
    rows = beside_public(comparison)
    if not rows:
        return []
    groups = alike(rows)
    nodes: list[PageNode] = [Items(lines)] if (lines := tuple(shares(comparison, rows))) else []
    if groups:
        strips = tuple(_line(group, view) for group in groups)
        values = tuple(values_grid(group, view) for group in groups)
        nodes += [
            Grid(TITLE, 1, ("", "best at the left"), strips, role="ratios"),
            Paragraph(f"{_DOTS} {LEGEND}", "legend"),
            Fold("Each value with its source and licence", values),
        ]
    if lacking := tuple(not_compared(comparison, rows)):
        nodes += [Paragraph("Not compared:"), Items(lacking)]
    return [Fold(f"{TITLE}: is this normal?", tuple(nodes))]


def _line(group: Alike, view: View) -> tuple[Box, ...]:
    """What is compared in words, and its strip."""
    metric, text, dots = group.first.metric, sentence(group, view), []
    for other in group.first.others:
        made = ", ".join(filter(None, (other.about, other.source)))
        dots.append(public_dot(other.system, other.value, metric, view, other.ends, f" ({made})"))
    for beside in group.rows:
        name = visible(beside.own.system)
        dots.append(median_dot(name, beside.summary, beside.row.ranked, metric.dimension, view))
    return strip_line(text, text, dots, metric, view)


def strip_line(
    name: str | tuple[str | Span, ...], label: str, dots: Sequence[StripDot], metric: Metric, view: View
) -> tuple[Box, Box]:
    """What is compared, and the values of a metric along a scale."""
    axis = f"{metric.name}, {view.unit_of(metric.dimension)}"
    return Box(name), strip_cell(dots, label, axis, highest_first=not metric.lower_is_better)


def public_dot(
    name: str,
    value: float,
    metric: Metric,
    view: View,
    ends: tuple[float, float] | None = None,
    made: str = "",
) -> StripDot:
    """A value of others (SI) that tells on hover how it was ``made``; ``ends``: lowest and highest."""
    unit = metric.dimension.unit(view.unit)
    low, high = map(unit.of, ends or (value, value))
    title = visible(f"{name}: {view.quantity(value, metric.dimension)}{made}")
    return StripDot(unit.of(value), (low, high) if low < high else None, "published", title)
