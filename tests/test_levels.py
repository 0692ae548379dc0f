"""Time per level of a tree at its root: what records keep, and the bars."""

from __future__ import annotations

import build_records as make
import pytest
from test_charts import drawn, texts_of

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.kernels.draw import level_charts
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.figures.page import Rectangles
from mpicampaign.suites import parse

TREES = ("natural", "random")
HEADER = """\
#mpicampaign-kernel 1
#@kernel=tree_merge
#@version=3
#@ranks={ranks}
#@columns.samples=operation tree size sample block_messages seconds useful_bytes wire_bytes
#@columns.levels=operation tree size rank level receive_seconds merge_seconds bytes
#@columns.sizes=operation tree size samples warmup_samples warmup_settled converged verified
"""


def seconds(tree: str, size: int, rank: int, level: int, factor: float) -> tuple[float, float]:
    """Receiving and merging, unlike on each tree, size, rank and level."""
    base = (1 + TREES.index(tree)) * size * (1 + rank) * factor * 1e-9
    return base * (level + 1), base * (level + 1) / 4


def output(levels: int = 3, factor: float = 1.0, without: tuple[int, ...] = ()) -> str:
    """Rows of levels for ranks 0 and 2; sizes in ``without`` have none."""
    rows = []
    for tree in TREES:
        for size in (1024, 4096):
            rows += [f"samples tree_merge {tree} {size} {n} 1 1e-05 {size * 7} {size * 12}" for n in range(5)]
            rows.append(f"sizes tree_merge {tree} {size} 5 0 1 1 1")
            for rank, level in ((0, level) for level in range(levels)):
                receive, merge = seconds(tree, size, rank, level, factor)
                if size not in without:
                    rows.append(f"levels tree_merge {tree} {size} 0 {level} {receive:.6e} {merge:.6e} {size}")
            if size not in without:
                rows.append(f"levels tree_merge {tree} {size} 2 0 9.0e-01 9.0e-01 {size}")
    lines = "".join(f"{row}\n" for row in rows)
    return f"{HEADER.format(ranks=2**levels)}{lines}#@end rows={len(rows)} status=ok\n"


def run(repeat: int, text: str) -> Record:
    return make.run(make.case("FULL", "tree_merge"), repeat, *parse("kernel", text).series, suite="kernel")


def test_bars_are_drawn_behind_each_other() -> None:
    (chart,) = level_charts(Scene(compare([run(1, output())])))
    page, (panel,) = drawn(chart)
    boxes = [each for each in page.drawn if isinstance(each, Rectangles)]
    found = [[place.left, place.right] for each in boxes for place in each.places]
    expected = [
        [panel.x(start), panel.x(end)]
        for _, levels in chart.trees
        for level in levels
        for start, end in ((0, level.receive), (level.receive, level.receive + level.merge))
    ]
    for pair in expected:
        assert any(pair == pytest.approx(other) for other in found), pair
    texts = texts_of(page)
    assert texts.count("level 2") == 2 and {"merge", "receive, with waiting"} < set(texts)


def test_a_single_level_or_none_is_not_drawn() -> None:
    for text in (output(levels=1), output(without=(1024, 4096))):
        assert not list(level_charts(Scene(compare([run(1, text)]))))
