"""HPCC and HPL: the input file from parameters, real runs where it is installed, and the paper's figures."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import build_records as make
import golden_messages
import pytest
from build_campaigns import of_debian, problems_of, program_at, write_campaign
from conftest import ProjectCopy
from test_charts import named_lines, texts_of

from mpicampaign.base.records import BLAS
from mpicampaign.base.units import parse_flop_rate
from mpicampaign.collect.runs import with_peak
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.evidence.blas import blas_of
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.questions.balance import draw as charts
from mpicampaign.questions.balance.draw import balance
from mpicampaign.report.draw_figures import draw_all, page_of
from mpicampaign.show.charts.model import CurveChart
from mpicampaign.show.charts.scene import Scene

if TYPE_CHECKING:
    from mpicampaign.base.records import Record
    from mpicampaign.show.charts.model import Chart
    from mpicampaign.show.figures.page import Page, Point

NEEDED = ("hpcc", "mpirun.openmpi")
MISSING = [name for name in NEEDED if shutil.which(name) is None]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")
def test_runs_of_unlike_linear_systems_are_cases_of_their_own(project: ProjectCopy) -> None:
    hpcc = {"suite": "hpcc", "program": "hpcc", "provider": "path"}
    path = write_campaign(
        project.folder / "hpcc.yaml",
        repeats=1,
        busy_machine="rank",
        time_limit="1 min",
        **of_debian("openmpi4", OPENBLAS_NUM_THREADS=1),
        placements="SHM-1",
        benchmarks={f"HPCC-{order}": hpcc | {"parameters": {"N": order, "NB": 64}} for order in (300, 400)},
    )
    project.succeed("run", "--campaign", str(path))
    records = project.records("hpcc")
    assert [record.status for record in records] == ["ok", "ok"]
    labels = {series.label for record in records for series in record.series}
    assert labels == {f"HPCC (N {n}, NB 64, grid 1 x 2)" for n in (300, 400)}
    for record in records:
        assert record.verdict == "verified", record.verdict_reasons
        assert record.metadata[BLAS]
    for output in project.results("hpcc"):
        assert "End of HPC Challenge tests." in output.read_text()
        assert not (output.parent / "work").exists()


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ({"blas": "/usr/lib/blas/libblas.so.3.11.0"}, "reference BLAS"),
        ({"blas": "/opt/lib/libcblas.so.3"}, "reference BLAS"),
        (
            {"blas": "/usr/lib/openblas/libblas.so.3", "blas_openblas": "OpenBLAS 0.3.21 DYNAMIC_ARCH Zen"},
            "OpenBLAS 0.3.21",
        ),
        ({"blas": "/opt/libmkl_rt.so.2"}, "Intel MKL"),
        (
            {"blas": "/opt/libmkl_rt.so.2", "blas_mkl": "Intel(R) oneAPI Math Kernel Library Version 2023.1"},
            "Intel MKL 2023.1",
        ),
        ({"blas": "/opt/libblis.so.4", "blas_blis": "0.9.0"}, "BLIS 0.9.0"),
        ({"blas": "/opt/libsatlas.so.3"}, "ATLAS"),
        ({"blas": "/opt/libours.so"}, "BLAS libours.so"),
    ],
)
def test_a_blas_library_is_called_by_what_it_says_or_else_by_its_file(
    recorded: dict[str, str], name: str
) -> None:
    found = blas_of(evidence_of(recorded))
    assert found
    assert found.name == name


def test_ranks_with_different_libraries() -> None:
    """Not averaged with runs whose ranks had one."""
    ranks = [{"blas": "/a/libblas.so.3"}, {"blas": "/a/libmkl_rt.so.2"}]
    found = blas_of(evidence_of(*ranks))
    assert found
    assert found.name == "reference BLAS and Intel MKL"


def evidence_of(*ranks: dict[str, str]) -> Evidence:
    recorded = ({f"end.{key}": value for key, value in of_rank.items()} for of_rank in ranks)
    return Evidence(ranks=dict(enumerate(recorded)))


# Their titles without "HPCC: ", by the figures of the paper.
BANDS, RANDOM_RING = "latencies, bandwidths and their ratios", "accumulated random ring bandwidth over HPL"
PARALLEL = "results divided by HPL, side by side"


def three_systems() -> list[Record]:
    """10, 20 and 40 Gflop/s; 4, 8 and 16 ranks."""
    systems = (("alpha", 1.0, 4), ("beta", 2.0, 8), ("gamma", 4.0, 16))
    return [run for name, factor, ranks in systems for run in make.hpcc_runs(name, factor, ranks)]


def charts_of(records: list[Record]) -> dict[str, Chart]:
    found = balance(Scene(compare(records)))
    return {chart.title.removeprefix("HPCC: "): chart for chart in found}


# As drawn


def lines(page: Page, name: str) -> list[tuple[Point, ...]]:
    return [line for group in named_lines(page, name) for line in group]


def test_every_result_has_its_place_over_hpl() -> None:
    chart = charts_of(three_systems())[RANDOM_RING]
    assert isinstance(chart, CurveChart)
    points = [[*curve.median.items()] for curve in chart.panels[0].curves]
    assert sorted(hpl for of in points for hpl, _ in of) == [1e10, 2e10, 4e10]
    assert {curve.name.split("/")[0] for curve in chart.panels[0].curves} <= {*["alpha", "beta", "gamma"]}
    assert all(len(curve.repeats) > 1 for curve in chart.panels[1].curves)
    assert {"10", "20", "HPL (Gflop/s)"} <= set(texts_of(page_of(chart)))


def test_bars_are_as_long_as_their_values() -> None:
    chart = charts_of(three_systems())[BANDS]
    page = page_of(chart)
    assert len(lines(page, "bars")) == 3 * (2 + 3 + 3 + 1)
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
    figures = [
        figure for figure in draw_all(compare(records), tmp_path) if "side by side" in figure.chart.title
    ]
    assert len(figures) == 1 and "\\x1b" in figures[0].chart.alt and "\x1b" not in figures[0].chart.alt
    assert len(figures[0].chart.alt) > 800 and "; all others are in the tables" in figures[0].picture


def test_every_figure_of_the_paper_is_there_once() -> None:
    assert [figure.number for figure in charts._FIGURES] == ["1", "2", "3", "4 to 6", "7", "8", "9"]


def messages(
    tmp_path: Path, suite: str = "hpl", placement: dict[str, Any] | None = None, **keys: Any
) -> list[str]:
    """The errors of a campaign file with these parameters, each with its line's text."""
    group = {"node_memory": keys.pop("node_memory", "16 GiB")}
    benchmark = {**program_at(Path("/apps/program"), suite), "parameters": keys}
    four = placement or {"nodes": 1, "ranks_per_node": 4, "transport": "shm", "binding": "none"}
    path = write_campaign(
        tmp_path / "c.yaml",
        system={"scheduler": "lsf", "mpi": "platform"},
        group=group,
        placements={"four": four},
        benchmarks={"solve": benchmark},
    )
    return problems_of(path)


def test_what_cannot_run_is_refused_with_the_numbers(tmp_path: Path) -> None:
    golden_messages.check("mistakes/hpl", lambda keys: messages(tmp_path, **keys))


def test_an_unknown_memory_needs_an_order(tmp_path: Path) -> None:
    [found] = messages(tmp_path, node_memory=None)
    assert "follows from the memory of a node, which is unknown | give N, or node_memory" in found
    assert messages(tmp_path, node_memory=None, N=10**6) == []


def test_a_known_peak_makes_a_fraction_that_is_marked_as_an_estimate() -> None:
    series = make.series("HPL", 2, qualifiers={"N": "1000"}, flops=8e9, hpl_flops_per_process=4e9)
    record = make.run(make.case("p", "HPL"), 1, series, suite="hpl")
    [found] = with_peak(record, 16e9).series
    assert found.columns["hpl_peak"] == [0.25]
    assert with_peak(record, None) == record
    names = [metric.name for metric in choose_metrics("hpl", [found], ()) if metric.column == "hpl_peak"]
    assert names == ["fraction of peak, an estimate"]
    assert parse_flop_rate("41.6 Gflop/s") == pytest.approx(41.6e9)
    with pytest.raises(ValueError, match=r"is not a rate of operations such as 41.6 Gflop/s"):
        parse_flop_rate("41.6 GB/s")
