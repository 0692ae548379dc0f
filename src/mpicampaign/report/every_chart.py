"""Which charts a comparison has, and which of them are drawn unless all are asked for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from mpicampaign.base.records import IMPORTED_FROM
from mpicampaign.questions.balance.draw import balance
from mpicampaign.questions.blocks.draw import block_charts
from mpicampaign.questions.gathers.draw import gather_charts
from mpicampaign.questions.gathers.draw_levels import level_charts
from mpicampaign.questions.machine.draw import machine_maps
from mpicampaign.questions.scaling.draw import scaling_chart
from mpicampaign.show.charts.core_maps import core_maps
from mpicampaign.show.charts.curves import by_host_group, by_placement, kernels
from mpicampaign.show.charts.dots import at_sizes, latency, single_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpicampaign.compare.tables import Table
    from mpicampaign.show.charts.model import Chart
    from mpicampaign.show.charts.scene import Scene

_FEW = 2  # host groups that one sees in a table


def every_chart(scene: Scene, few: bool = False) -> Iterator[Chart]:
    """The charts that become figures: machines, blocks, those of HPCC's paper, tables, then kernels.

    ``few``: one of each table over message size, and the pictures that the papers have. The others show what
    the tables say.
    """
    yield from machine_maps(scene)
    yield from block_charts(scene)
    yield from balance(scene, few)
    for table in scene.comparison.tables:
        yield from single_metrics(scene, table)
        if not table.useful:
            yield from _over_sizes(scene, table, few)
    yield from kernels(scene)
    yield from level_charts(scene)
    yield from gather_charts(scene)
    yield from scaling_chart(scene)
    yield from core_maps(scene)


def _over_sizes(scene: Scene, table: Table, few: bool) -> Iterator[Chart]:
    """Kernels have charts of their own."""
    dots, curves = (latency, at_sizes), (by_host_group, by_placement)
    if not few:
        yield from _drawn(scene, table, (*dots, *curves))
        return
    places = len({scene.place(row) for row in table.rows})
    yield from islice(
        _drawn(scene, table, (*(reversed(curves) if places > 1 else curves), *reversed(dots))), 1
    )
    if table.published or (places > _FEW and _is_imported(table)):
        yield from _drawn(scene, table, dots)  # Figures 4 and 5 of the STFC report


def _is_imported(table: Table) -> bool:
    """Whether all its runs are: people import in order to compare host groups, as that report does."""
    return all(IMPORTED_FROM in run.metadata for row in table.rows for run, _ in row.curves)


def _drawn(
    scene: Scene, table: Table, charts: Sequence[Callable[[Scene, Table], Chart | None]]
) -> Iterator[Chart]:
    """Those for which the table has values."""
    return (drawn for chart in charts if (drawn := chart(scene, table)) is not None)
