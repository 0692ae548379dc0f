"""Trees that are the same with two ranks: one curve and one entry, with the runs of all."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import build_records as make
import pytest
from test_charts import drawn, texts_of

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.kernels.draw import kernel_charts
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.interactive import interactive_charts

SAME = "tree_gather (all trees, the same with 2 ranks)"


def of_ranks(ranks: int, placement: str = "SHM") -> list[Record]:
    """Three runs of two trees and the baseline."""
    runs = make.kernel_runs(placement, 1e-6, 1e9, repeats=3)
    return [replace(run, series=tuple(replace(each, ranks=ranks) for each in run.series)) for run in runs]


def test_two_ranks_have_one_curve_that_says_so() -> None:
    runs = of_ranks(2)
    (chart,) = kernel_charts(Scene(compare(runs)))
    same, base = chart.panels[0].curves
    assert (same.label, base.label) == (SAME, "MPI_Gather")
    assert len(same.repeats) == 6 and not same.thin
    values = [
        dict(zip(series.columns["size"], series.columns["bandwidth"], strict=True))[8192]
        for run in runs
        for series in run.series[:2]
    ]
    assert same.median[8192] == pytest.approx(median(value for value in values if value is not None))
    page, _ = drawn(chart)
    texts = texts_of(page)
    assert texts.count(SAME) == 1 and not any("max-inter" in text or "wire" in text for text in texts[1:])


def test_the_curves_of_the_page_likewise() -> None:
    scene = Scene(compare(of_ranks(2)))
    (useful,) = interactive_charts(scene)  # wire bandwidth is the same
    assert [line.curve.name for line in useful.lines] == [f"g, SHM, {SAME}", "g, SHM, MPI_Gather"]
    both = Scene(compare(of_ranks(2) + of_ranks(4, "FULL")))
    lines = {line.curve.name.removesuffix(" ranks") for line in interactive_charts(both)[0].lines}
    assert sum(SAME in name for name in lines) == 1 and len(lines) == 5


def test_one_tree_alone_keeps_its_name() -> None:
    runs = [replace(run, series=run.series[1:]) for run in of_ranks(2)]
    (chart,) = kernel_charts(Scene(compare(runs)))
    assert [curve.label for curve in chart.panels[0].curves] == ["tree_gather (tree min-inter)", "MPI_Gather"]
