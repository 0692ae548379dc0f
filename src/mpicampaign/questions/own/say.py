"""The campaign's own host groups beside each that a publication has, per placement.

Published values are single, so that ratios are all that can be said.
"""

from __future__ import annotations

from collections.abc import Iterator

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import MERGED_FROM
from mpicampaign.base.text import counted, visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.show.document import Heading, Items, Node, Paragraph
from mpicampaign.show.view import View

OWN = "My host groups compared with others"
_PUBLISHED = "Published values have no repeats, so they are not tested: × is the ratio of the means."


def own_nodes(comparison: Comparison, view: View, level: int = 2, role: str = "") -> list[Node]:
    """Own host groups against published ones, for each headline metric; empty where there are none."""
    lines = tuple(
        line
        for table in comparison.tables
        for metric in table.headlines
        for row in table.rows
        if row.ranked and not any(MERGED_FROM in run.metadata for run in row.records)
        for line in _lines(comparison, table, row, metric, view)
    )
    return [Heading(OWN, level), Items(lines), Paragraph(_PUBLISHED, role)] if lines else []


def _lines(comparison: Comparison, table: Table, row: Row, metric: Metric, view: View) -> Iterator[str]:
    """``SHM-1, latency at 0 B 0.16 µs: lower than 7 of 7 host groups of SCARF (published, stfc-2017): …``.

    Where a publication's names of placements mean no mapping, the ranks must be the same.
    """
    if (summary := row.cell(metric).summary) is None:
        return
    value = view.quantity(summary.median, metric.dimension)
    name = f"{comparison.place(row)} {visible(row.case.placement)}, {table.title}: {metric.name} {value}"
    published = (one for one in table.published if one.placement == row.case.placement)
    alike = (one for one in published if one.ranks in (None, row.ranks) and one.values.get(metric))
    for (system, report), groups in grouped(alike, lambda one: (one.system, one.reference)).items():
        ratios = sorted((summary.mean / one.values[metric], visible(one.host_group)) for one in groups)
        ends = dict.fromkeys(f"× {RATIO.number(ratio)} ({group})" for ratio, group in (ratios[0], ratios[-1]))
        lower = f"lower than {sum(ratio < 1 for ratio, _ in ratios)} of {counted(len(groups), 'host group')}"
        where = f"of {visible(system)} (published, {visible(report)})"
        yield f"{name} is {lower} {where}: {' to '.join(ends)}"
