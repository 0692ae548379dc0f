"""Figures of HPCC's paper: their values, which are drawn, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.published import with_published
from mpicampaign.dimension import BALANCE
from mpicampaign.presentation import ReferenceChoice
from mpicampaign.records import BLAS, DISTURBED, Case
from mpicampaign.show.charts import balance as charts
from mpicampaign.show.charts.balance import balance, not_drawn
from mpicampaign.show.charts.model import BarChart, ScatterChart
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.figures import scatter
from mpicampaign.show.figures.draw import draw_all, page_of, plain_style
from mpicampaign.show.report.write import write_report

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.compare.tables import Comparison
    from mpicampaign.records import Record
    from mpicampaign.show.charts.model import BarColumn, Chart, ScatterPoint
    from mpicampaign.show.figures.page import Page
    from mpicampaign.statistics.medians import Summary

PUBLISHED = ReferenceChoice("hpcc-2005")
NEC = "NEC SX-6 IXS, NEC SX-6 0.5 GHz, 192x1"
# Their titles without "HPCC: ", by the figures of the paper.
BANDS, RANDOM_RING = "latencies, bandwidths and their ratios", "accumulated random ring bandwidth over HPL"
STREAM, PARALLEL = (
    "accumulated STREAM copy and triad bandwidth over HPL",
    "results divided by HPL, side by side",
)
FFT, NATURAL_RING = "FFT over HPL", "accumulated natural ring bandwidth over HPL"
PTRANS = "PTRANS bandwidth over HPL"
ALL = [BANDS, RANDOM_RING, STREAM, PARALLEL, FFT, NATURAL_RING, PTRANS]


def three_systems() -> list[Record]:
    """10, 20 and 40 Gflop/s; 4, 8 and 16 ranks."""
    systems = (("alpha", 1.0, 4), ("beta", 2.0, 8), ("gamma", 4.0, 16))
    return [run for name, factor, ranks in systems for run in synthetic.hpcc_runs(name, factor, ranks)]


def compared(records: list[Record], *references: ReferenceChoice) -> Comparison:
    return with_published(compare(records), references)


def charts_of(records: list[Record], *references: ReferenceChoice) -> dict[str, Chart]:
    found = balance(Scene(compared(records, *references), "MB/s"))
    return {chart.title.removeprefix("HPCC: "): chart for chart in found}


def points(chart: Chart, member: str) -> list[ScatterPoint]:
    """The member's point in each panel."""
    assert isinstance(chart, ScatterChart)
    (number,) = [number for number, each in enumerate(chart.members) if each.name.startswith(member)]
    return [panel.points[number] for panel in chart.panels]


def column(chart: Chart, title: str) -> BarColumn:
    assert isinstance(chart, BarChart)
    return next(column for column in chart.columns if column.title == title)


def bars(chart: Chart, title: str, series: str = "") -> dict[str, Summary | None]:
    """The bars of a series by the starts of the members' names."""
    assert isinstance(chart, BarChart)
    (found,) = [each for each in column(chart, title).series if each.name == series]
    return {m.name.split("/")[0]: bar for m, bar in zip(chart.members, found.bars, strict=True)}


def median(bar: Summary | None) -> float:
    assert bar is not None
    return bar.median


def bounds(summary: Summary | None) -> tuple[float, float]:
    assert summary is not None and summary.interval is not None
    return summary.interval.low, summary.interval.high


# Values


def test_published_systems_over_hpl() -> None:
    """Accumulated: per process × processes; the paper prints 57.5 byte/kflop for this row."""
    chart = charts_of(synthetic.campaign(), PUBLISHED)[RANDOM_RING]
    absolute, ratio, *linear = points(chart, NEC)
    assert absolute.x.median == pytest.approx(1327e9)
    assert absolute.y.median == pytest.approx(0.398e9 * 192)
    assert round(BALANCE.unit().of(ratio.y.median), 1) == 57.6
    assert linear == [absolute, ratio]
    assert isinstance(chart, ScatterChart) and len(chart.members) == 24
    assert [panel.across.scale.logarithmic for panel in chart.panels] == [True, True, False, False]
    assert [panel.up.scale.logarithmic for panel in chart.panels] == [True, True, False, False]
    assert {panel.title for panel in chart.panels} == {
        "random ring, accumulated (MB/s)",
        "random ring / HPL (byte/kflop)",
    }


def test_own_values_are_medians_of_each_runs_own_ratio_with_their_intervals() -> None:
    found = charts_of(three_systems())
    ring = points(found[RANDOM_RING], "beta")
    assert ring[0].y.median == pytest.approx(8 * 4e8)
    assert bounds(ring[0].y) == pytest.approx((0.9 * 8 * 4e8, 1.1 * 8 * 4e8))
    assert bounds(ring[1].y) == pytest.approx((0.16, 0.16)), "both rise together from run to run"
    copy, triad = points(found[STREAM], "beta")[1::4]
    assert copy.y.median == pytest.approx(8 * 5e9 / 2e10)
    assert bounds(copy.y) == pytest.approx((8 * 5e9 / 2.2e10, 8 * 5e9 / 1.8e10))
    assert triad.y.median == pytest.approx(8 * 6e9 / 2e10)


@pytest.mark.parametrize(
    ("title", "absolute", "ratio", "unit"),
    [
        (FFT, 1e9 * 2**0.5, 1e9 * 2**0.5 / 2e10, "%"),
        (NATURAL_RING, 8 * 8e8, 8 * 8e8 / 2e10, "byte/kflop"),
        (PTRANS, 2e9 * 2**0.5, 2e9 * 2**0.5 / 2e10, "byte/kflop"),
    ],
)
def test_what_is_global_is_not_multiplied_by_the_processes(
    title: str, absolute: float, ratio: float, unit: str
) -> None:
    chart = charts_of(three_systems())[title]
    left, right, *_ = points(chart, "beta")
    assert (left.y.median, right.y.median) == (pytest.approx(absolute), pytest.approx(ratio))
    assert isinstance(chart, ScatterChart) and chart.panels[1].up.unit.name == unit


def test_parallel_bars_are_divided_by_hpl_and_by_the_best() -> None:
    chart = charts_of(three_systems())[PARALLEL]
    assert isinstance(chart, BarChart)
    assert [each.title for each in chart.columns] == [
        *("HPL", "DGEMM", "FFT", "PTRANS", "STREAM copy", "random ring", "1 / ring latency", "Random Access")
    ]
    for each in chart.columns:
        assert max(median(bar) for bar in each.series[0].bars) == 1.0
    assert {name: median(bar) for name, bar in bars(chart, "HPL").items()} == {
        "gamma": 1.0,
        "beta": pytest.approx(0.5),
        "alpha": pytest.approx(0.25),
    }
    # per process as fast as HPL's factor: only the processes are left
    assert median(bars(chart, "DGEMM")["alpha"]) == pytest.approx(4 / 16)
    assert median(bars(chart, "FFT")["gamma"]) == pytest.approx(0.5)
    assert "(100 %: 40.00 Gflop/s)" in chart.caption and "figures 4 to 6 of R. Rabenseifner" in chart.caption


def test_a_latency_is_better_the_shorter_it_is_whatever_hpl_is() -> None:
    slow = [
        synthetic.run(Case("slow", "nodes", "SHM", "HPCC"), 1, synthetic.hpcc(9, random_ring_latency=1e-5))
    ]
    slow = [replace(run, suite="hpcc") for run in slow]
    found = bars(charts_of(three_systems() + slow)[PARALLEL], "1 / ring latency")
    assert (median(found["alpha"]), median(found["slow"])) == (1.0, pytest.approx(0.4))


def test_bands_have_latencies_bandwidths_ratios_and_hpl() -> None:
    chart = charts_of(three_systems(), PUBLISHED)[BANDS]
    assert isinstance(chart, BarChart)
    assert [each.title for each in chart.columns] == [
        *("latency", "bandwidth", "ratio of bandwidths", "HPL, accumulated")
    ]
    assert median(bars(chart, "latency", "random ring")["alpha"]) == 4e-6
    assert median(bars(chart, "bandwidth", "natural ring")["beta"]) == 8e8
    ratios = ("natural / ping-pong", "random / ping-pong", "random / natural")
    found = [median(bars(chart, "ratio of bandwidths", ratio)["beta"]) for ratio in ratios]
    assert found == [pytest.approx(0.4), pytest.approx(0.2), pytest.approx(0.5)]
    assert [each.across.scale.logarithmic for each in chart.columns] == [True, True, False, True]
    assert bars(chart, "bandwidth", "natural ring")[NEC] is None
    assert median(bars(chart, "ratio of bandwidths", "random / ping-pong")[NEC]) == pytest.approx(0.398 / 6.8)
    assert "No natural ring, nor its two ratios, of the 24 published systems" in chart.caption


# Order and names


def test_by_falling_bandwidth_and_platforms_together() -> None:
    chart = charts_of(synthetic.campaign(), PUBLISHED)[BANDS]
    assert isinstance(chart, BarChart)
    names = [member.label for member in chart.members]
    assert names[0] == "NEC SX-6+ IXS ⁺, 4x8" and names[-1] == "IBM Colony, 256x1"
    assert names[1:7] == [*(f"Cray X1, {n}x1" for n in (60, 64, 120, 124, 252)), "SGI Altix 3700 Bx2, 128x1"]
    platforms = [member.platform for member in chart.members]
    assert platforms == sorted(platforms) and len(set(platforms)) == 16
    assert not any(member.look for member in chart.members)


def test_own_results_have_looks_and_are_named_with_what_hpl_depends_on() -> None:
    records = [replace(run, metadata={BLAS: "OpenBLAS 0.3.21"}) for run in three_systems()]
    chart = charts_of(records, PUBLISHED)[RANDOM_RING]
    assert isinstance(chart, ScatterChart)
    own = {member.name: member for member in chart.members if member.look}
    assert list(own) == [
        "gamma/nodes SHM, 16 ranks, N 1000, OpenBLAS 0.3.21",
        "beta/nodes SHM, 8 ranks, N 1000, OpenBLAS 0.3.21",
        "alpha/nodes SHM, 4 ranks, N 1000, OpenBLAS 0.3.21",
    ]
    assert len({member.look for member in own.values()}) == 3
    assert "Hollow: published, hpcc-2005." in chart.caption and "3 repeats" in chart.caption


def test_of_several_linear_systems_the_largest_is_drawn() -> None:
    larger = synthetic.hpcc_runs("alpha", 3.0, order=10000)
    for records in (three_systems() + larger, larger + three_systems()):
        chart = charts_of(records)[RANDOM_RING]
        assert isinstance(chart, ScatterChart) and len(chart.members) == 3
        assert [m.name for m in chart.members if "alpha" in m.name] == ["alpha/nodes SHM, 4 ranks, N 10000"]
        assert points(chart, "alpha")[0].x.median == pytest.approx(3e10)


def test_quiet_runs_before_disturbed_ones() -> None:
    larger = [replace(run, condition=DISTURBED) for run in synthetic.hpcc_runs("alpha", 3.0, order=10000)]
    (name,) = [m.name for m in charts_of(three_systems() + larger)[RANDOM_RING].members if "alpha" in m.name]
    assert name.endswith("N 1000")
    alone = [replace(run, condition=DISTURBED) for run in three_systems()]
    assert all(", disturbed" in m.label and m.label in m.name for m in charts_of(alone)[RANDOM_RING].members)


def test_numbers_of_ranks_of_one_placement_are_one_platform() -> None:
    records = [*three_systems(), *synthetic.hpcc_runs("alpha", 1.5, ranks=8)]
    chart = charts_of(records)[RANDOM_RING]
    assert [(m.name.split(",")[0], m.platform) for m in chart.members] == [
        ("gamma/nodes SHM", 0),
        ("beta/nodes SHM", 1),
        *[("alpha/nodes SHM", 2)] * 2,
    ]


# What is not drawn


def test_three_own_systems_have_every_figure() -> None:
    assert list(charts_of(three_systems())) == ALL
    assert not_drawn(compared(three_systems())) == ""
    assert list(charts_of(three_systems(), PUBLISHED)) == ALL


def test_published_systems_alone_have_the_first_two_figures() -> None:
    records = synthetic.campaign()
    found = charts_of(records, PUBLISHED)
    assert list(found) == [BANDS, RANDOM_RING]
    series = [each.name for each in column(found[BANDS], "bandwidth").series]
    assert series == ["ping-pong", "random ring"]
    assert [each.name for each in column(found[BANDS], "ratio of bandwidths").series] == [
        "random / ping-pong"
    ]
    text = not_drawn(compared(records, PUBLISHED))
    assert "figure 1" not in text and "figure 2" not in text
    for lacking in (
        "figure 3 (lacks STREAM copy, STREAM triad); ",
        "figures 4 to 6 (lacks DGEMM, FFT, PTRANS, STREAM copy, RandomAccess); ",
        "figure 7 (lacks FFT); figure 8 (lacks natural ring); figure 9 (lacks PTRANS). ",
    ):
        assert lacking in text
    assert "3 HPCC runs of your own" in text


def test_chosen_published_systems_only() -> None:
    chosen = ReferenceChoice("hpcc-2005", ("Cray X1 MSP 0.8 GHz",), ("60x1", "64x1", "252x1"))
    chart = charts_of(synthetic.campaign(), chosen)[RANDOM_RING]
    assert [member.label for member in chart.members] == ["Cray X1, 60x1", "Cray X1, 64x1", "Cray X1, 252x1"]


def test_nothing_is_said_where_there_is_nothing_of_hpcc() -> None:
    records = synthetic.campaign()
    for references in ((), (ReferenceChoice("stfc-2017"),)):
        assert charts_of(records, *references) == {}
        assert not_drawn(compared(records, *references)) == ""


def test_one_own_system_has_the_bands_only() -> None:
    records = synthetic.hpcc_runs("alpha", 1.0)
    assert list(charts_of(records)) == [BANDS]
    assert "columns: figure 2; figure 3; figures 4 to 6; " in not_drawn(compared(records))


def test_a_result_without_a_column_is_left_out_and_named() -> None:
    case = Case("delta", "nodes", "SHM", "HPCC")
    without = synthetic.run(case, 1, synthetic.hpcc(fft_flops=None), suite="hpcc")
    found = charts_of([*three_systems(), without], PUBLISHED)
    assert len(found[FFT].members) == len(found[PARALLEL].members) == 3
    assert "Without the columns needed: delta/nodes SHM, 4 ranks, 24 published." in found[FFT].caption
    assert len(found[PTRANS].members) == 4
    few = not_drawn(compared([*three_systems()[:6], without]))
    assert "columns: figures 4 to 6 (lacks FFT); figure 7 (lacks FFT). " in few


def test_reference_blas_has_no_place_beside_others() -> None:
    slow = [replace(run, metadata={BLAS: "reference BLAS"}) for run in synthetic.hpcc_runs("slow", 0.1)]
    chart = charts_of(three_systems() + slow)[RANDOM_RING]
    assert len(chart.members) == 3
    assert "Left out for their reference BLAS: slow/nodes SHM." in chart.caption


def test_of_reference_blas_alone_nothing_is_drawn_and_the_report_says_so() -> None:
    slow = [replace(run, metadata={BLAS: "reference BLAS"}) for run in three_systems()]
    assert charts_of(slow) == {}
    text = not_drawn(compared(slow))
    assert "columns: figure 1; figure 2; " in text and text.endswith("Runs with reference BLAS do not count.")
    assert "reference BLAS" not in not_drawn(compared(synthetic.campaign(), PUBLISHED))


def test_runs_that_are_not_available_are_no_part_of_a_figure() -> None:
    absent = synthetic.not_available(Case("far", "nodes", "SHM", "HPCC"), "hpcc is not there", suite="hpcc")
    assert charts_of(three_systems() + absent)[RANDOM_RING] == charts_of(three_systems())[RANDOM_RING]


@pytest.mark.parametrize("value", [1e300, 1e-300, float("inf")])
def test_absurd_values_are_not_values(value: float) -> None:
    case = Case("delta", "nodes", "SHM", "HPCC")
    absurd = synthetic.run(case, 1, synthetic.hpcc(fft_flops=value), suite="hpcc")
    assert len(charts_of([*three_systems(), absurd])[FFT].members) == 3


# As drawn


def drawn(chart: Chart) -> Page:
    with plain_style():
        return page_of(chart)


def texts(page: Page) -> list[str]:
    return [text.get_text() for text in page._figure.texts]


def lines(page: Page, name: str) -> list[list[list[float]]]:
    groups = [artist for artist in page._figure.artists if str(artist.get_gid()).startswith(f"{name}-")]
    return [line.tolist() for group in groups for line in group.get_segments()]


def test_every_point_is_numbered_without_overlap_on_logarithmic_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    placed: list[list[scatter.Box]] = []
    number = scatter._number

    def keep(*arguments: object) -> None:
        placed.append([])
        number(*arguments)  # type: ignore[arg-type]

    around = scatter._around
    free = scatter._free

    def found(*arguments: object) -> object:
        spot = free(*arguments)  # type: ignore[arg-type]
        if spot is not None:
            placed[-1].append(around(spot, arguments[1]))  # type: ignore[arg-type]
        return spot

    monkeypatch.setattr(scatter, "_number", keep)
    monkeypatch.setattr(scatter, "_free", found)
    chart = charts_of(three_systems(), PUBLISHED)[RANDOM_RING]
    page = drawn(chart)
    assert [len(boxes) for boxes in placed[:2]] == [27, 27]
    for boxes in placed:
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert isinstance(chart, ScatterChart) and {m.name for m in chart.members} <= set(texts(page))


def test_points_lie_where_their_values_are() -> None:
    chart = charts_of(three_systems())[RANDOM_RING]
    assert isinstance(chart, ScatterChart)
    marks = [mark for mark in drawn(chart)._figure.artists if hasattr(mark, "get_marker")]
    xs = [float(mark.get_xydata()[0][0]) for mark in marks[:3]]
    scale = chart.panels[0].across.scale
    expected = [scale(value) for value in (40.0, 20.0, 10.0)]
    spread = (xs[0] - xs[2]) / (expected[0] - expected[2])
    assert xs[1] == pytest.approx(xs[2] + spread * (expected[1] - expected[2]))
    assert all(mark.get_markerfacecolor() != "white" for mark in marks)
    published = charts_of(synthetic.campaign(), PUBLISHED)[RANDOM_RING]
    hollow = [mark for mark in drawn(published)._figure.artists if hasattr(mark, "get_marker")]
    assert len(hollow) == 4 * 24
    assert all(mark.get_markerfacecolor() == "white" for mark in hollow)


def test_bars_are_as_long_as_their_values_and_published_ones_hollow() -> None:
    chart = charts_of(three_systems(), PUBLISHED)[BANDS]
    page = drawn(chart)
    assert len(lines(page, "bars")) == 3 * (2 + 3 + 3 + 1)
    assert len(lines(page, "published")) == 24 * (2 + 2 + 1 + 1)
    page = drawn(charts_of(three_systems())[PARALLEL])
    parallel, intervals = lines(page, "bars")[:3], lines(page, "intervals")[:3]
    lengths = [line[1][0] - line[0][0] for line in parallel]
    assert [length / lengths[0] for length in lengths] == pytest.approx([1.0, 0.5, 0.25])
    for bar, (low, high) in zip(parallel, intervals, strict=True):
        assert low[0] < bar[1][0] < high[0]


def test_hostile_and_long_names_are_text(tmp_path: Path) -> None:
    records = [
        replace(run, case=replace(run.case, system=name))
        for name in (synthetic.HOSTILE, "b" * 300, "c" * 300)
        for run in synthetic.hpcc_runs("x", 1.0)
    ]
    figures = [figure for figure in draw_all(compared(records), tmp_path) if "side by side" in figure.title]
    assert len(figures) == 1 and "\\x1b" in figures[0].alt and "\x1b" not in figures[0].alt


def test_the_report_says_which_figures_are_not_drawn(tmp_path: Path) -> None:
    records = synthetic.hpcc_runs("alpha", 1.0)
    comparison = compared(records, PUBLISHED)
    write_report(tmp_path / "report.html", comparison, records)
    assert "figure 8 (lacks natural ring)" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_every_figure_of_the_paper_is_there_once() -> None:
    assert [figure.number for figure in charts._FIGURES] == ["1", "2", "3", "4 to 6", "7", "8", "9"]
