"""Gathers side by side: one definition of bandwidth, a placement for each number of ranks, the drawing."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import build_records as make

from mpicampaign.base.records import Record, Series
from mpicampaign.compare.compare import compare
from mpicampaign.questions.gathers.draw import gather_charts
from mpicampaign.questions.gathers.find import gathers
from mpicampaign.questions.gathers.say import gather_nodes
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.document import Grid, Paragraph
from mpicampaign.show.view import View

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


def of_place(placement: str, ranks: int, repeats: int = 3, osu_max: bool = False) -> list[Record]:
    """All four gathers in a placement; OSU prints no number of ranks."""
    noise, found = random.Random(placement), []
    for repeat in range(1, repeats + 1):
        rate = 1e9 * noise.uniform(0.9, 1.1)
        trees = [
            kernel(ranks, "tree_gather", rate * f, t) for t, f in (("max-inter", 1.0), ("min-inter", 2.0))
        ]
        osu = ("time", "time_max") if osu_max else ("time",)
        series = {
            ("tree_gather", "kernel"): (*trees, kernel(ranks, "MPI_Gather", rate * 0.8)),
            ("Gather", "imb"): (other("Gather", ranks, ranks, rate * 0.7, ("time", "time_max")),),
            ("osu_gather", "osu"): (other(OSU, None, ranks, rate * 0.6, osu),),
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
    assert {(each.ranks, each.row.case.placement) for each in one.found} == {(2, "SHM-2"), (4, "FULL")}
    assert {(each.ranks, each.row.case.placement) for each in two.found} == {(4, "TCP")}
    assert (one.nodes, two.nodes) == (1, 2)
    assert [chart.title for chart in charts(records)] == [
        "Gathers: bandwidth against cores in use, g, 1 node"
    ]


def test_a_single_number_of_ranks_has_a_table_and_says_what_a_drawing_lacks() -> None:
    records = of_place("FULL", 4)
    assert not charts(records)
    nodes = gather_nodes(compare(records), View())
    said = [node.text for node in nodes if isinstance(node, Paragraph)]
    assert str(said[-1]).startswith("Not drawn: all gathers had 4 ranks. Add placements")
    (grid,) = (node for node in nodes if isinstance(node, Grid))
    assert [line[0] for line in grid.lines] == [
        "IMB Gather",
        "MPI_Gather",
        "osu_gather (mean over ranks)",
        "tree_gather (tree max-inter)",
        "tree_gather (tree min-inter)",
    ]
    several = gather_nodes(compare(records + of_place("SHM", 2)), View())
    assert not any("Not drawn" in str(node.text) for node in several if isinstance(node, Paragraph))
