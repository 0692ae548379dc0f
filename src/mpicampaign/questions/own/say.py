"""Sentences on the campaign's own host groups beside published ones."""

from __future__ import annotations

from collections.abc import Sequence

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, visible
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.own.find import Other, OwnRow, own_against_published
from mpicampaign.show.document import Heading, Items, Node, Paragraph
from mpicampaign.show.view import DEFAULT, View

OWN = "My host groups compared with others"
_PUBLISHED = (
    "Published values have no repeats, so they are not tested: × is the ratio of the means, and in brackets "
    "the interval of our median divided by the published value."
)


def own_nodes(comparison: Comparison, view: View, level: int = 2, role: str = "") -> list[Node]:
    """Own host groups against published ones; empty where there are none."""
    lines = tuple(own_lines(comparison, view))
    return [Heading(OWN, level), Items(lines), Paragraph(_PUBLISHED, role)] if lines else []


def own_lines(comparison: Comparison, view: View) -> list[str]:
    """``SHM-1, latency at 0 B 0.16 µs: lower than 7 of 7 host groups of SCARF (published, stfc-2017): …``."""
    return [
        _own_line(comparison, table, ours, others, view)
        for table, ours in own_against_published(comparison)
        for others in grouped(ours.others, lambda other: (other.system, other.published)).values()
    ]


def ratio(other: Other) -> str:
    """``× 0.26 [0.25, 0.27]``."""
    return f"× {RATIO.number(other.ratio)} {DEFAULT.bounds(other.interval, RATIO)}".rstrip()


def _own_line(comparison: Comparison, table: Table, ours: OwnRow, others: Sequence[Other], view: View) -> str:
    value = view.quantity(ours.summary.median, ours.metric.dimension)
    name = f"{comparison.place(ours.row)} {visible(ours.row.case.placement)}, {table.title}"
    in_order = sorted(others, key=lambda other: other.ratio)
    ends = dict.fromkeys(f"{ratio(end)} ({end.host_group})" for end in (in_order[0], in_order[-1]))
    groups = f"{counted(len(others), 'host group')} of {others[0].system}"
    outcome = f"{_better_and_worse(ours, others)} {groups} (published, {others[0].published})"
    return f"{name}: {ours.metric.name} {value} is {outcome}: {' to '.join(ends)}"


def _better_and_worse(ours: OwnRow, others: Sequence[Other]) -> str:
    """``better than 5 and worse than 1 of``, where that is shown."""
    shown = [other for other in others if other.shown]
    lower, higher = (sum(sign * other.ratio < sign for other in shown) for sign in (1, -1))
    better, worse = (lower, higher) if ours.metric.lower_is_better else (higher, lower)
    parts = [f"{how} than {count}" for how, count in (("better", better), ("worse", worse)) if count]
    return f"{' and '.join(parts)} of" if parts else "not clearly different from any of"
