"""The ratios within each block as dots: a line for each candidate, a column for each headline metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.dimension import RATIO, Unit
from mpicampaign.base.grouping import grouped
from mpicampaign.questions.blocks.find import InBlocks
from mpicampaign.questions.blocks.say import doubts, ratio_text, shown_blocks, within
from mpicampaign.show.charts.looks import looks
from mpicampaign.show.charts.model import Axis, Dot, DotCell, DotChart, DotColumn, DotLine
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.charts.scene import Scene
from mpicampaign.statistics.medians import summarise

_COLUMNS = 3  # at most; the others are in the table
_LEAST = 1.01  # room at either end: a factor


def block_charts(scene: Scene) -> Iterator[DotChart]:
    """A chart for each benchmark of each design whose candidates have blocks that count."""
    drawn = [compared for compared in shown_blocks(scene.comparison, scene.view) if compared.blocks]
    for alike in grouped(drawn, lambda compared: (compared.design, compared.title, compared.names)).values():
        yield _chart(f"{alike[0].title} in blocks, {alike[0].design}", alike[:_COLUMNS])


def _chart(title: str, alike: Sequence[InBlocks]) -> DotChart:
    caption = "Each mark is a block, the same nodes with candidates one after the other: the ratio to "
    caption += f"{alike[0].reference}."
    caption += "".join(dict.fromkeys(f" {text}." for compared in alike for text in doubts(compared)))
    ratios = (
        f"{name} {compared.metric.name}, times {compared.reference}: {ratio_text(compared.ratio(place, 0))}"
        for compared in alike
        for place, name in enumerate(compared.names[1:], 1)
    )
    alt = f"{title}. {'; '.join(ratios)}"
    lines = tuple(DotLine("", name, look) for name, look in looks(alike[0].names).items())
    return DotChart(title, caption, alt, lines, tuple(map(_column, alike)))


def _column(compared: InBlocks) -> DotColumn:
    cells = tuple(_cell(compared, place) for place in range(len(compared.names)))
    values = [1.0, *(dot.value for cell in cells for dot in cell.dots)]
    room = max((max(values) / min(values)) ** 0.08, _LEAST)
    scale = Scale(min(values) / room, max(values) * room)
    return DotColumn(
        compared.metric.name, Axis(f"times {compared.reference}", RATIO, Unit("", 1.0), scale), cells
    )


def _cell(compared: InBlocks, place: int) -> DotCell:
    ratios = [(within(block)[place], block.disturbed) for block in compared.blocks]
    dots = tuple(Dot(ratio, disturbed) for ratio, disturbed in ratios if ratio is not None)
    summary = summarise([dot.value for dot in dots]) if dots else None
    return DotCell(dots, summary, "" if summary else "time limit")
