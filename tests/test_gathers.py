"""Gathers side by side, time per level of a tree, trees that are the same, and curves that cross."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING

import build_records as make
import pytest
from test_charts import texts_of

from mpicampaign.base.records import Record, Series
from mpicampaign.compare.compare import compare
from mpicampaign.questions.crossings.draw import size_strips
from mpicampaign.questions.crossings.find import Curves, SizeLeader, leaders_of
from mpicampaign.questions.gathers.draw import gather_charts
from mpicampaign.questions.gathers.find import gathers
from mpicampaign.questions.gathers.say import gather_nodes
from mpicampaign.questions.kernels.draw import level_charts
from mpicampaign.report.draw_figures import page_of
from mpicampaign.report.questions import answers
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.document import Box, Grid
from mpicampaign.show.interactive import interactive_charts
from mpicampaign.show.view import View
from mpicampaign.suites import parse

if TYPE_CHECKING:
    from mpicampaign.show.charts.model import CurveChart

SIZES = [0.0, 1024.0, 8192.0, 32768.0, 1048576.0]
OSU = "MPI Gather Latency Test"


def time_of(ranks: int, size: float, rate: float) -> float:
    return 1e-6 + (ranks - 1) * size / rate


def kernel(ranks: int, name: str, rate: float, tree: str = "") -> Series:
    bandwidth = [(ranks - 1) * size / time_of(ranks, size, rate) for size in SIZES]
    wire = [2 * useful for useful in bandwidth]
    tree_of = {"tree": tree} if tree else {}
    return make.series(name, ranks, qualifiers=tree_of, size=SIZES, bandwidth=bandwidth, bandwidth_wire=wire)


def other(name: str, ranks: int | None, of: int, rate: float, columns: tuple[str, ...]) -> Series:
    """A gather whose mean time over ranks is half of that of the slowest."""
    slowest = [time_of(of, size, rate) for size in SIZES]
    times = {"time": [time / 2 for time in slowest], "time_max": slowest}
    return make.series(name, ranks, size=SIZES, **{column: times[column] for column in columns})


def of_place(placement: str, ranks: int) -> list[Record]:
    """All four gathers in a placement; OSU prints no number of ranks."""
    noise, found = random.Random(placement), []
    for repeat in (1, 2, 3):
        rate = 1e9 * noise.uniform(0.9, 1.1)
        trees = [
            kernel(ranks, "tree_gather", rate * f, t) for t, f in (("max-inter", 1.0), ("min-inter", 2.0))
        ]
        series = {
            ("tree_gather", "kernel"): (*trees, kernel(ranks, "MPI_Gather", rate * 0.8)),
            ("Gather", "imb"): (other("Gather", ranks, ranks, rate * 0.7, ("time", "time_max")),),
            ("osu_gather", "osu"): (other(OSU, None, ranks, rate * 0.6, ("time",)),),
        }
        for (benchmark, suite), tables in series.items():
            found.append(make.run(make.case(placement, benchmark), repeat, *tables, suite=suite))
    return found


def charts(records: list[Record]) -> list[CurveChart]:
    return list(gather_charts(Scene(compare(records))))


def test_one_placement_for_each_number_of_ranks() -> None:
    """That with the most gathers, else the first; other numbers of nodes are apart."""
    poor = [run for run in of_place("SHM-1", 2) if run.case.benchmark == "Gather"]
    apart = [replace(run, hosts=("a", "b")) for run in of_place("TCP", 4)]
    records = poor + of_place("SHM-2", 2) + of_place("SHM", 2) + of_place("FULL", 4) + apart
    one, two = gathers(compare(records))
    assert {(each.ranks, each.row.case.placement) for each in one.gathers} == {(2, "SHM-2"), (4, "FULL")}
    assert {(each.ranks, each.row.case.placement) for each in two.gathers} == {(4, "TCP")}
    assert (one.nodes, two.nodes) == (1, 2)
    assert [chart.title for chart in charts(records)] == [
        "Gathers: bandwidth against cores in use, g, 1 node"
    ]


def test_a_single_number_of_ranks_has_a_table_alone() -> None:
    records = of_place("FULL", 4)
    assert not charts(records)
    nodes = gather_nodes(compare(records), View())
    (grid,) = (node for node in nodes if isinstance(node, Grid))
    assert [line[0] for line in grid.lines] == [
        "IMB Gather",
        "MPI_Gather",
        "osu_gather (mean over ranks)",
        "tree_gather (tree max-inter)",
        "tree_gather (tree min-inter)",
    ]


TREES = ("natural", "random")
LEVELS = [f"level {level}" for level in range(3)]
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


def test_each_level_of_each_tree_has_bars_of_receiving_and_merging() -> None:
    (chart,) = level_charts(Scene(compare([run(1, output())])))
    assert [member.label.rpartition(", ")[2] for member in chart.members] == 2 * LEVELS
    expected = [seconds(tree, 4096, 0, level, 1.0) for tree in TREES for level in range(3)]
    found = [[bar.median for bar in column.series[0].bars if bar] for column in chart.columns]
    assert list(zip(*found, strict=True)) == [pytest.approx(pair, rel=1e-6) for pair in expected]
    assert {"merge", "receive, with waiting"} <= {*texts_of(page_of(chart))}


SAME = "tree_gather (all trees, the same with 2 ranks)"


def of_ranks(ranks: int, placement: str = "SHM") -> list[Record]:
    """Three runs of two trees and the baseline."""
    runs = make.kernel_runs(placement, 1e-6, 1e9, repeats=3)
    return [replace(run, series=tuple(replace(each, ranks=ranks) for each in run.series)) for run in runs]


def test_the_curves_of_the_page_likewise() -> None:
    scene = Scene(compare(of_ranks(2)))
    (useful,) = interactive_charts(scene)  # wire bandwidth is the same
    assert [line.curve.name for line in useful.lines] == [f"g, SHM, {SAME}", "g, SHM, MPI_Gather"]
    both = Scene(compare(of_ranks(2) + of_ranks(4, "FULL")))
    lines = {line.curve.name.removesuffix(" ranks") for line in interactive_charts(both)[0].lines}
    assert sum(SAME in name for name in lines) == 1 and len(lines) == 5


CROSSING_SIZES = (8, 128, 1024, 65536, 1048576)
RATES = {"A": (2e6, 30e6, 2e8, 1e9, 1e9), "B": (1e6, 15e6, 3e8, 4e9, 5e9)}  # A leads below 1 KiB


def runs(repeats: int) -> list[Record]:
    """A is as slow as B at 128 B in one of the repeats."""
    made = []
    for name, rates in RATES.items():
        for repeat in range(1, repeats + 1):
            found = [rate * (1 + repeat / 1000) for rate in rates]
            if name == "A" and repeat == 1:
                found[1] = RATES["B"][1]
            made.append(make.run(name, repeat, make.series("PingPong", size=CROSSING_SIZES, bandwidth=found)))
    return made


def leaders(curves: dict[str, Curves]) -> list[SizeLeader]:
    return leaders_of(curves, [*permutations(curves, 2)], lower_is_better=True)


def noisy(candidates: int, repeats: int) -> list[int]:
    """The sizes at which the first is shown to lead: of 24 it does up to 16 B; at others all are alike."""
    source, sizes = Random(1), [2**power for power in range(24)]
    curves: dict[str, Curves] = {}
    for who in range(candidates):
        factors = [1.5 if place < 5 and who else 1.0 for place in range(24)]
        curves[str(who)] = {
            size: [factor * source.gauss(1, 0.02) for _ in range(repeats)]
            for size, factor in zip(sizes, factors, strict=True)
        }
    return [one.size for one in leaders(curves) if one.shown and one.name == "0"]


def test_the_chance_is_that_of_whole_runs_exchanged_however_many_sizes() -> None:
    assert noisy(4, 6) == noisy(3, 4) == [1, 2, 4, 8, 16], "three candidates, of each 1 of 70 exchanges"
    assert not noisy(2, 3), "2 of 20"
    assert not noisy(4, 4), "four candidates, of each 1 of 70"


def by_chance(gain: float) -> bool:
    """All runs of B are ahead at 1 B; at three other sizes two runs of each are ahead of the rest by 5 %."""
    curves: dict[str, Curves] = {"A": {1: [gain] * 4}, "B": {1: [1.0] * 4}}
    for size, first, second in ((2, {0, 1}, {0, 1}), (4, {0, 2}, {1, 3}), (8, {1, 3}, {0, 2})):
        for name, ahead in (("A", first), ("B", second)):
            curves[name][size] = [1.0 if run in ahead else 1.05 for run in range(4)]
    return leaders(curves)[0].shown


def test_what_other_exchanges_show_as_far_is_chance() -> None:
    assert not by_chance(1.03), "4 of 70 exchanges are as far apart at some size"
    assert by_chance(1.5), "1 of 70"


def test_a_strip_is_deep_where_the_repeats_show_who_leads_and_hollow_elsewhere() -> None:
    bandwidth = next(one for one in answers(compare(runs(6))) if one.title.endswith("maximum bandwidth"))
    [[(_, cell)]] = [grid.lines for grid in size_strips(bandwidth)]
    assert isinstance(cell, Box)
    blue, orange = "#0072B2", "#E69F00"
    titles = ["8 B: A, 2.00", "128 B: A, 2.00", "1 KiB-1 MiB: B, 1.50 to 5.00"]
    for title, fill in zip(titles, (blue, "none", orange), strict=True):
        assert f'fill="{fill}"' in str(cell.text).partition(title)[0].rpartition("<rect")[2], title
