"""Figures of the bundled kernels: useful and wire bandwidth over message size, a panel for each placement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.comparison.metrics import BASELINE, KERNEL, POINT_TO_POINT
from mpicampaign.dimension import BANDWIDTH
from mpicampaign.grouping import grouped
from mpicampaign.show.figures.axes import panel_grid, size_panels
from mpicampaign.show.figures.curves import Pen, curve_words, draw_row, log_scales
from mpicampaign.show.figures.page import WIDTH, Page, fitting, width_of
from mpicampaign.show.figures.scene import Drawn, left_out, repeat_points
from mpicampaign.show.figures.style import INK, LINES
from mpicampaign.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.comparison.comparison import Table
    from mpicampaign.comparison.rows import Row
    from mpicampaign.show.figures.axes import Panel
    from mpicampaign.show.figures.scene import Scene

WIRE = "bandwidth_wire"
_KEY_PITCH = 0.19
_KEY_LINE = 0.4


def kernels(scene: Scene) -> Iterator[Drawn]:
    """One figure for each kernel and host group that has curves."""
    tables = [table for table in scene.comparison.tables if table.suite == KERNEL]
    pairs = [(table, row) for table in tables for row in table.rows]
    groups = grouped(pairs, lambda pair: (pair[0].benchmark, scene.place(pair[1])))
    for (benchmark, place), members in groups.items():
        drawn = _kernel(scene, benchmark, place, members)
        if drawn is not None:
            yield drawn


def _kernel(scene: Scene, benchmark: str, place: str, members: Sequence[tuple[Table, Row]]) -> Drawn | None:
    rows = [row for _, row in members]
    factor, unit = scene.unit_of(BANDWIDTH)
    scales = log_scales(repeat_points(rows, (BANDWIDTH, WIRE), factor))
    if scales is None:
        return None
    counted = [pair for pair in members if pair[1].counted]
    panels = grouped(counted, lambda pair: scene.label(*pair))
    key = list(_key(scene, dict.fromkeys(table.label for table, _ in counted)))
    below = 0.15 + _KEY_PITCH * -(-len(key) // 2)
    across = min(2, len(panels))
    grid = panel_grid(len(panels), across, 3.4 if across == 1 else 2.1, 0.3, below=below)
    title, caption = _words(benchmark, place)
    page = Page(grid.height, title)
    what = "message size" if benchmark == POINT_TO_POINT else "message size per rank"
    sides = (what, f"bandwidth ({unit})")
    drawn = size_panels(page, grid, list(panels), scales[0], lambda _: scales[1], sides)
    for panel, pairs in zip(drawn, panels.values(), strict=True):
        for table, row in pairs:
            _draw(scene, panel, table, row, factor)
    _draw_key(page, key, below)
    said = "; ".join(f"{t.title}, {curve_words(scene, t, row, BANDWIDTH)}" for t, row in members)
    return Drawn(page, title, caption + left_out(scene, rows), f"{title}. {said}")


def _words(benchmark: str, place: str) -> tuple[str, str]:
    """Title and caption."""
    benchmark = visible(benchmark)
    if benchmark == POINT_TO_POINT:
        title = f"{benchmark}: bandwidth of all active pairs together, {place}"
        caption = "Each thick line is a number of pairs that are active at once, the median over repeats."
        return title, caption + " Thin lines: each repeat."
    caption = "Useful bandwidth counts each block once, wire bandwidth once for every edge of the tree "
    caption += "that it crosses (the same for two ranks); "
    caption += f"only useful bandwidth can be held against {BASELINE}. "
    caption += "Thick lines: the median over repeats; thin lines: each repeat."
    return f"{benchmark}: useful and wire bandwidth beside {BASELINE}, {place}", caption


def _draw(scene: Scene, panel: Panel, table: Table, row: Row, factor: float) -> None:
    if table.label == BASELINE:
        draw_row(panel, row, BANDWIDTH, factor, Pen(INK, LINES[2]))
        return
    colour = scene.trees[table.label].colour
    draw_row(panel, row, BANDWIDTH, factor, Pen(colour, LINES[0]))
    if table.benchmark != POINT_TO_POINT:
        draw_row(panel, row, WIRE, factor, Pen(colour, LINES[1], 1.2))


def _key(scene: Scene, labels: dict[str, None]) -> Iterator[tuple[str, Any, float, str]]:
    """Colour, line, width and words of each entry of the key."""
    for label in labels:
        if label == BASELINE:
            yield INK, LINES[2], 2.0, label
            continue
        colour, words = scene.trees[label].colour, visible(label)
        if label.startswith(POINT_TO_POINT):
            yield colour, LINES[0], 2.0, words
            continue
        yield colour, LINES[0], 2.0, f"{words}, useful"
        yield colour, LINES[1], 1.2, f"{words}, wire"


def _draw_key(page: Page, key: Sequence[tuple[str, Any, float, str]], height: float) -> None:
    """The entries below the panels, in two columns."""
    column = (WIDTH - 0.72) / 2
    for index, (colour, dash, width, words) in enumerate(key):
        x = 0.72 + (index % 2) * column
        y = height - 0.1 - (index // 2) * _KEY_PITCH
        page.lines([[(x, y), (x + _KEY_LINE, y)]], colour, width, dash)
        room = column - _KEY_LINE - 0.2
        tail = words[words.rfind(",") :] if words.endswith((", useful", ", wire")) else ""
        stem = words[: len(words) - len(tail)]
        words = fitting(stem, room - width_of(tail, 8), 8) + tail
        page.words(x + _KEY_LINE + 0.08, y, words, size=8)
