"""Which charts a comparison has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.charts.balance import balance
from mpicampaign.show.charts.core_maps import core_maps
from mpicampaign.show.charts.curves import by_host_group, by_placement
from mpicampaign.show.charts.dots import at_sizes, latency, single_metrics
from mpicampaign.show.charts.gathers import gather_charts
from mpicampaign.show.charts.heat_maps import heat_maps
from mpicampaign.show.charts.kernels import kernels
from mpicampaign.show.charts.levels import level_charts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.show.charts.model import Chart
    from mpicampaign.show.charts.scene import Scene


def every_chart(scene: Scene) -> Iterator[Chart]:
    """All charts that become figures, one table after the other, then kernels, then systems side by side."""
    yield from balance(scene)
    for table in scene.comparison.tables:
        yield from single_metrics(scene, table)
        if not table.useful:
            found = (chart(scene, table) for chart in (latency, at_sizes, by_host_group, by_placement))
            yield from (chart for chart in found if chart is not None)
        yield from heat_maps(scene, table)
    yield from kernels(scene)
    yield from level_charts(scene)
    yield from gather_charts(scene)
    yield from core_maps(scene)
