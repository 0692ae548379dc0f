"""Charts of many host groups: published values beside own ones, a line for each placement."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import build_records as make
import pytest
from test_charts import drawn, marked, marks_of, named_lines

from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.published.find import with_published
from mpicampaign.show.charts.curves import by_placement
from mpicampaign.show.charts.dots import at_sizes
from mpicampaign.show.charts.looks import COLOURS
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.figures.page import WIDTH

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison

SCARF = [f"scarf{number}" for number in range(10, 17)]
LOTUS = ["broadwell256G", "haswell256G", "ivybridge128G", "ivybridge2000G", "ivybridge512G"]
PLACEMENTS = ("SHM-1", "TCP")


def of_groups(system: str, groups: list[str]) -> list[Record]:
    """PingPong in two placements, TCP ten times as slow; each host group unlike the one before."""
    return [
        run
        for number, group in enumerate(groups, 1)
        for factor, placement in zip((1, 10), PLACEMENTS, strict=True)
        for run in make.case_runs(
            make.case(placement, group=group, system=system), 1e-7 * number * factor, 1e10 / factor, 2
        )
    ]


def beside_published(records: list[Record]) -> Comparison:
    return with_published(compare(records), [ReferenceChoice("stfc-2017")])


@pytest.mark.parametrize("groups", [SCARF, [f"a host group with a long name {n}" for n in range(60)]])
def test_values_of_many_host_groups_are_drawn_where_they_belong(groups: list[str]) -> None:
    """Each placement of a host group has its own line; nothing lies outside the panels or the page."""
    comparison = beside_published(
        of_groups("scarf", groups) + of_groups("lotus", LOTUS) + of_groups("c", ["C"])
    )
    chart = at_sizes(Scene(comparison), comparison.tables[0])
    assert chart is not None
    page, panels = drawn(chart)
    assert all(panel.place.right <= WIDTH and panel.place.bottom > 0 for panel in panels)
    cells = [cell for column in chart.columns for cell in column.cells]
    values = Counter(f"{dot.value:.6g}" for cell in cells for dot in cell.dots)
    published = Counter(f"{value:.6g}" for cell in cells for value in cell.published)
    small, large = ([m for m in marks_of(page) if m.size == size] for size in (2.8, 5.5))
    assert Counter(f"{v:.6g}" for panel in panels for v in marked(panel, small)) == values
    assert Counter(f"{v:.6g}" for panel in panels for v in marked(panel, large)) == published
    strokes = [line for lines in named_lines(page, "medians") for line in lines]
    middles = {(round(line[0][0], 3), round(line[0][1] + line[1][1], 3)) for line in strokes}
    assert len(middles) == len(strokes) == 4 * len(PLACEMENTS) * (len(groups) + 6)


def test_a_panel_of_repeats_has_no_more_host_groups_than_colours() -> None:
    comparison = compare(of_groups("scarf", SCARF) + of_groups("lotus", [f"group {n}" for n in range(16)]))
    chart = by_placement(Scene(comparison), comparison.tables[0])
    assert chart is not None
    titles = ["scarf", *(f"lotus, {part} of 3" for part in (1, 2, 3))]
    assert [part.title for part in chart.panels] == [f"{name}, {t}" for name in PLACEMENTS for t in titles]
    for part in chart.panels:
        colours = {curve.look.colour for curve in part.curves}
        assert len(colours) == len(part.curves) <= len(COLOURS)
    assert sum(len(part.curves) for part in chart.panels) == 2 * 23
    assert chart.panels[0].curves[0].label == "scarf10"
    few = compare(of_groups("scarf", SCARF[:2]) + of_groups("lotus", LOTUS))
    one = by_placement(Scene(few), few.tables[0])
    assert one is not None
    assert [part.title for part in one.panels] == list(PLACEMENTS)
    assert one.panels[0].curves[0].label == "scarf/scarf10"
