"""The ratios within each block: a line for each block, a column for each headline metric of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.dimension import RATIO, Unit
from mpicampaign.grouping import grouped
from mpicampaign.show.blocks import block_lines, doubts, nodes_text, shown_blocks, within
from mpicampaign.show.charts.looks import looks
from mpicampaign.show.charts.model import Axis, BlockChart, BlockColumn
from mpicampaign.show.charts.scales import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.blocks import InBlocks
    from mpicampaign.show.charts.scene import Scene

_COLUMNS = 3  # at most; the others are in the table
_LEAST = 1.01  # room at either end: a factor


def block_charts(scene: Scene) -> Iterator[BlockChart]:
    """One for each benchmark of each design whose candidates have blocks that count."""
    drawn = [one for one in shown_blocks(scene.comparison, scene.view) if one.blocks]
    for (design, title, _, _), own in grouped(drawn, lambda one: (one.design, *_alike(one))).items():
        yield _chart(f"{title} in blocks, {design}", own[:_COLUMNS])


def _alike(one: InBlocks) -> tuple[str, int | None, tuple[str, ...]]:
    return one.title, one.ranks, one.names


def _chart(title: str, own: Sequence[InBlocks]) -> BlockChart:
    blocks = {block.repeat: nodes_text(block) for one in own for block in one.blocks}
    columns = tuple(_column(one, sorted(blocks)) for one in own)
    caption = "Each line is a block: the same nodes, candidates one after the other. Marks: the ratio to "
    caption += f"{own[0].reference}; below, the median over blocks with its interval."
    caption += "".join(dict.fromkeys(f" {text}." for one in own for text in doubts(one)))
    alt = f"{title}. " + "; ".join(f"{one.metric.name}, {line}" for one in own for line in block_lines(one))
    named = ((f"block {repeat}", blocks[repeat]) for repeat in sorted(blocks))
    return BlockChart(title, caption, alt, tuple(named), tuple(looks(own[0].names[1:]).items()), columns)


def _column(found: InBlocks, repeats: Sequence[int]) -> BlockColumn:
    of = {block.repeat: within(block) for block in found.blocks}
    lines = tuple(tuple(of.get(repeat, ())) for repeat in repeats)
    values = [1.0, *(value for line in lines for value in line if value is not None)]
    low, high = min(values), max(values)
    room = max((high / low) ** 0.08, _LEAST)
    across = Axis(f"times {found.reference}", RATIO, Unit("", 1.0), Scale(low / room, high * room))
    return BlockColumn(found.metric.name, across, lines, found.to_reference)
