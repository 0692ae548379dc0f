"""Sentences on the campaign's own host groups against others, published ones among them."""

from __future__ import annotations

from collections.abc import Sequence

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, visible
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.own.find import Other, OwnRow, own_against_others
from mpicampaign.show.document import Box, Fold, Grid, Heading, Items, Node, PageNode, Paragraph
from mpicampaign.show.view import DEFAULT, View, probability

OWN = "My host groups compared with others"
_OWN_ERROR = "The chance of wrongly calling any system different is at most 5 %."
_PUBLISHED = (
    "Published values have no repeats, so they are not tested: × is the ratio of the means, and in brackets "
    "the interval of our median divided by the published value."
)


def own_nodes(comparison: Comparison, view: View, level: int = 2, role: str = "") -> list[Node]:
    """Own host groups against others; empty where there are none."""
    lines = tuple(own_lines(comparison, view))
    about = Paragraph(own_legend(comparison), role)
    return [Heading(OWN, level), Items(lines), about] if lines else []


def own_page_nodes(comparison: Comparison, view: View) -> list[PageNode]:
    """The sentences, and a folded table of all pairs."""
    if not (nodes := own_nodes(comparison, view, 3, "legend")):
        return []
    header = ("metric", "placement", "mine", "other", "mine / other", "result")
    pairs = tuple(tuple(map(Box, line)) for line in own_table(comparison, view))
    grid = Grid(f"{OWN}, each", 4, header, pairs, remarks=1, role="sortable", label=f"{OWN}, each")
    return [*nodes, Fold("Each of them", (grid,))]


def own_lines(comparison: Comparison, view: View) -> list[str]:
    """``SHM-1, latency at 0 B 0.16 µs: lower than 7 of 7 host groups of SCARF (published, stfc-2017): …``."""
    return [
        _own_line(comparison, table, ours, others, view)
        for table, ours in own_against_others(comparison)
        for others in grouped(ours.others, lambda other: (other.system, other.published)).values()
    ]


def own_legend(comparison: Comparison) -> str:
    """Which error the sentences have, and what cannot be tested."""
    others = [other for _, ours in own_against_others(comparison) for other in ours.others]
    tested = _OWN_ERROR if any(not (other.published or other.untested) for other in others) else ""
    published = _PUBLISHED if any(other.published for other in others) else ""
    return " ".join(filter(None, (tested, published)))


def own_table(comparison: Comparison, view: View) -> list[tuple[str, str, str, str, str, str]]:
    """Of each pair: metric, placement, own with its median, the other, ratio, and what can be said."""
    return [
        (
            f"{table.title}: {ours.metric.name}",
            visible(ours.row.case.placement),
            f"{comparison.place(ours.row)} {view.quantity(ours.summary.median, ours.metric.dimension)}",
            f"{other.system}/{other.host_group}",
            ratio(other),
            _result(other),
        )
        for table, ours in own_against_others(comparison)
        for other in ours.others
    ]


def ratio(other: Other) -> str:
    """``× 0.26 [0.25, 0.27]``."""
    return f"× {RATIO.number(other.ratio)} {DEFAULT.bounds(other.interval, RATIO)}".rstrip()


def _own_line(comparison: Comparison, table: Table, ours: OwnRow, others: Sequence[Other], view: View) -> str:
    value = view.quantity(ours.summary.median, ours.metric.dimension)
    name = f"{comparison.place(ours.row)} {visible(ours.row.case.placement)}, {table.title}"
    in_order = sorted(others, key=lambda other: other.ratio)
    ends = dict.fromkeys(f"{ratio(end)} ({end.host_group})" for end in (in_order[0], in_order[-1]))
    source = f" (published, {others[0].published})" if others[0].published else ""
    groups = counted(len(others), "host group")
    outcome = f"{_better_and_worse(ours, others)} {groups} of {others[0].system}{source}"
    return f"{name}: {ours.metric.name} {value} is {outcome}: {' to '.join(ends)}"


def _better_and_worse(ours: OwnRow, others: Sequence[Other]) -> str:
    """``better than 5 and worse than 1 of``, where that is shown."""
    shown = [other for other in others if other.shown]
    lower, higher = (sum(sign * other.ratio < sign for other in shown) for sign in (1, -1))
    better, worse = (lower, higher) if ours.metric.lower_is_better else (higher, lower)
    parts = [f"{how} than {count}" for how, count in (("better", better), ("worse", worse)) if count]
    if parts:
        return f"{' and '.join(parts)} of"
    if all(other.untested for other in others):
        return f"not tested against ({'; '.join(dict.fromkeys(other.untested for other in others))})"
    return "not clearly different from any of"


def _result(other: Other) -> str:
    if not other.pair:
        return f"published, {other.published}: no test"
    if other.pair.p is None:
        return f"{other.untested}: not tested"
    return f"{'different' if other.pair.shown else 'no significant difference'} ({probability(other.pair.p)})"
