"""Own values beside those of public systems on a page: strips of dots, and all values folded."""

from __future__ import annotations

from collections.abc import Iterator

from mpicampaign.base.text import visible
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
from mpicampaign.show.document import Box, Fold, Grid, Items, PageNode, Paragraph
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
    metric, text = group.first.metric, sentence(group, view)
    dots = [*_public_dots(group, view)]
    for beside in group.rows:
        name = visible(beside.own.system)
        dots.append(median_dot(name, beside.summary, beside.row.ranked, metric.dimension, view))
    axis = f"{metric.name}, {view.unit_of(metric.dimension)}"
    return Box(text), strip_cell(dots, text, axis, highest_first=not metric.lower_is_better)


def _public_dots(group: Alike, view: View) -> Iterator[StripDot]:
    """Dots that tell on hover how a value was made, and its source."""
    dimension = group.first.metric.dimension
    unit = dimension.unit(view.unit)
    for other in group.others:
        low, high = map(unit.of, other.ends)
        made = ", ".join(filter(None, (other.about, other.source)))
        title = visible(f"{other.system}: {view.quantity(other.value, dimension)} ({made})")
        yield StripDot(unit.of(other.value), (low, high) if low < high else None, "published", title)
