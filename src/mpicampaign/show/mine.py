"""The campaign's own host groups against others: in sentences by placement and system, and each ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.mine import mine_against
from mpicampaign.dimension import RATIO
from mpicampaign.grouping import grouped
from mpicampaign.show.view import DEFAULT
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.mine import Mine, Rival
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.view import View

MINE = "My host groups compared with others"
ERROR = "The chance of wrongly calling any system different is at most 5 %."
PUBLISHED = (
    "Published values have no repeats, so they are not tested: × is the ratio of the means, and in brackets "
    "the interval of our median divided by the published value."
)


def mine_lines(comparison: Comparison, view: View) -> list[str]:
    """``SHM-1, latency at 0 B 0.16 µs: lower than 7 of 7 host groups of SCARF (published, stfc-2017): …``."""
    return [
        _line(comparison, table, mine, rivals, view)
        for table, mine in mine_against(comparison)
        for rivals in grouped(mine.rivals, lambda rival: (rival.system, rival.published)).values()
    ]


def mine_legend(comparison: Comparison) -> str:
    """Which error the sentences have, and what cannot be tested."""
    rivals = [rival for _, mine in mine_against(comparison) for rival in mine.rivals]
    tested = ERROR if any(not rival.published for rival in rivals) else ""
    published = PUBLISHED if any(rival.published for rival in rivals) else ""
    return " ".join(filter(None, (tested, published)))


def mine_table(comparison: Comparison, view: View) -> list[tuple[str, str, str, str, str, str]]:
    """Of each pair: metric, placement, mine with its median, the other, ratio, and what can be said."""
    return [
        (
            f"{table.title}: {mine.metric.name}",
            visible(mine.row.case.placement),
            f"{comparison.place(mine.row)} {view.quantity(mine.summary.median, mine.metric.dimension)}",
            f"{rival.system}/{rival.host_group}",
            ratio(rival),
            _said(rival),
        )
        for table, mine in mine_against(comparison)
        for rival in mine.rivals
    ]


def ratio(rival: Rival) -> str:
    """``× 0.26 [0.25, 0.27]``."""
    return f"× {RATIO.number(rival.ratio)} {DEFAULT.bounds(rival.interval, RATIO)}".rstrip()


def _line(comparison: Comparison, table: Table, mine: Mine, rivals: Sequence[Rival], view: View) -> str:
    value = view.quantity(mine.summary.median, mine.metric.dimension)
    name = f"{comparison.place(mine.row)} {visible(mine.row.case.placement)}, {table.title}"
    in_order = sorted(rivals, key=lambda rival: rival.ratio)
    ends = dict.fromkeys(f"{ratio(end)} ({end.host_group})" for end in (in_order[0], in_order[-1]))
    source = f" (published, {rivals[0].published})" if rivals[0].published else ""
    groups = "1 host group" if len(rivals) == 1 else f"{len(rivals)} host groups"
    found = f"{_counts(mine, rivals)} {groups} of {rivals[0].system}{source}"
    return f"{name}: {mine.metric.name} {value} is {found}: {' to '.join(ends)}"


def _counts(mine: Mine, rivals: Sequence[Rival]) -> str:
    """``better than 5 and worse than 1 of``, where that is shown."""
    shown = [rival for rival in rivals if rival.shown]
    lower, higher = (sum(sign * rival.ratio < sign for rival in shown) for sign in (1, -1))
    better, worse = (lower, higher) if mine.metric.lower_is_better else (higher, lower)
    parts = [f"{how} than {count}" for how, count in (("better", better), ("worse", worse)) if count]
    return f"{' and '.join(parts)} of" if parts else "not significantly different from any of"


def _said(rival: Rival) -> str:
    if rival.published:
        return f"published, {rival.published}: no test"
    if rival.differs is None:
        return "too few repeats, or possibly chance among so many pairs"
    return "different" if rival.differs else "no significant difference"
