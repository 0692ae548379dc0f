"""Figures of HPCC's paper: their values, which are drawn, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import build_records as make
import pytest
from test_charts import named_lines, texts_of

from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.compare.compare import compare
from mpicampaign.questions.balance import draw as charts
from mpicampaign.questions.balance.draw import balance, not_drawn
from mpicampaign.questions.published.find import with_published
from mpicampaign.report.draw_figures import draw_all, page_of
from mpicampaign.report.write import write_report
from mpicampaign.show.charts.model import BarChart, ScatterChart
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.figures import scatter

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.base.records import Record
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.charts.model import BarColumn, Chart
    from mpicampaign.show.figures.page import Page, Point
    from mpicampaign.statistics.medians import Summary

PUBLISHED = ReferenceChoice("hpcc-2005")
NEC = "NEC SX-6 IXS, NEC SX-6 0.5 GHz, 192x1"
# Their titles without "HPCC: ", by the figures of the paper.
BANDS, RANDOM_RING = "latencies, bandwidths and their ratios", "accumulated random ring bandwidth over HPL"
STREAM, PARALLEL = (
    "accumulated STREAM copy and triad bandwidth over HPL",
    "results divided by HPL, side by side",
)


def three_systems() -> list[Record]:
    """10, 20 and 40 Gflop/s; 4, 8 and 16 ranks."""
    systems = (("alpha", 1.0, 4), ("beta", 2.0, 8), ("gamma", 4.0, 16))
    return [run for name, factor, ranks in systems for run in make.hpcc_runs(name, factor, ranks)]


def compared(records: list[Record], *references: ReferenceChoice) -> Comparison:
    return with_published(compare(records), references)


def charts_of(records: list[Record], *references: ReferenceChoice) -> dict[str, Chart]:
    found = balance(Scene(compared(records, *references)))
    return {chart.title.removeprefix("HPCC: "): chart for chart in found}


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


# Values


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


# What is not drawn


def test_one_own_system_has_the_bands_only() -> None:
    records = make.hpcc_runs("alpha", 1.0)
    assert list(charts_of(records)) == [BANDS]
    assert "columns: figure 2; figure 3; figures 4 to 6; " in not_drawn(compared(records))


# As drawn


def lines(page: Page, name: str) -> list[tuple[Point, ...]]:
    return [line for group in named_lines(page, name) for line in group]


def test_every_point_is_numbered_without_overlap_on_logarithmic_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    placed: list[list[scatter.Extent]] = []
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
    page = page_of(chart)
    assert [len(boxes) for boxes in placed[:2]] == [27, 27]
    for boxes in placed:
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert isinstance(chart, ScatterChart) and {m.name for m in chart.members} <= set(texts_of(page))


def test_bars_are_as_long_as_their_values_and_published_ones_hollow() -> None:
    chart = charts_of(three_systems(), PUBLISHED)[BANDS]
    page = page_of(chart)
    assert len(lines(page, "bars")) == 3 * (2 + 3 + 3 + 1)
    assert len(lines(page, "published")) == 24 * (2 + 2 + 1 + 1)
    page = page_of(charts_of(three_systems())[PARALLEL])
    parallel, intervals = lines(page, "bars")[:3], lines(page, "intervals")[:3]
    lengths = [line[1][0] - line[0][0] for line in parallel]
    assert [length / lengths[0] for length in lengths] == pytest.approx([1.0, 0.5, 0.25])
    for bar, (low, high) in zip(parallel, intervals, strict=True):
        assert low[0] < bar[1][0] < high[0]


def test_hostile_and_long_names_are_text(tmp_path: Path) -> None:
    records = [
        replace(run, case=replace(run.case, system=name))
        for name in (make.HOSTILE, "b" * 300, "c" * 300)
        for run in make.hpcc_runs("x", 1.0)
    ]
    figures = [figure for figure in draw_all(compared(records), tmp_path) if "side by side" in figure.title]
    assert len(figures) == 1 and "\\x1b" in figures[0].alt and "\x1b" not in figures[0].alt
    assert len(figures[0].alt) > 800 and "; all others are in the tables" in figures[0].picture


def test_the_report_says_which_figures_are_not_drawn(tmp_path: Path) -> None:
    records = make.hpcc_runs("alpha", 1.0)
    comparison = compared(records, PUBLISHED)
    write_report(tmp_path / "report.html", comparison, records)
    assert "figure 8 (lacks natural ring)" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_every_figure_of_the_paper_is_there_once() -> None:
    assert [figure.number for figure in charts._FIGURES] == ["1", "2", "3", "4 to 6", "7", "8", "9"]
