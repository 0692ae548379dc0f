"""HPL's linear system: the input file made from parameters, and what a campaign file is refused for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import build_records as make
import pytest
from build_campaigns import campaign, plan, problems_of, program_at, write_campaign

from mpicampaign.base.units import parse_flop_rate
from mpicampaign.campaign.model import Benchmark, Provider
from mpicampaign.collect.runs import with_peak
from mpicampaign.compare.metrics import choose_metrics

GIB = 1 << 30


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


@pytest.mark.parametrize(
    ("keys", "line", "message"),
    [
        (
            {"N": 50000},
            "N: 50000",
            "a matrix of order 50000 takes 18.6 GiB; 1 node has 16.0 GiB | 41280 takes",
        ),
        (
            {"N": 1000, "P": 2, "Q": 3},
            "P: 2",
            "P × Q = 2 × 3 needs 6 ranks; the placement has 4 | without P and Q",
        ),
        ({"N": 1000, "Q": 3}, "Q: 3", "P × Q = 1 × 3 needs 3 ranks"),
        ({"N": 1000, "NB": 0}, "NB: 0", "must be a whole number of at least 1"),
        ({"N": 1000, "bcast": 6}, "bcast: 6", "must be a whole number from 0 to 5"),
        ({"N": "all"}, "N: all", "must be a whole number of at least 1"),
        (
            {"N": 1000, "threshold": -1},
            "threshold: -1",
            "without a threshold HPL does not check its solution",
        ),
        ({"N": 1000, "memory": "80 %"}, "memory: 80 %", "the order N of the matrix is given, too"),
        ({"memory": "150 %"}, "memory: 150 %", "must be a share such as 80 %"),
        ({"N": 1000, "block": 2}, "block: 2", "suite hpl has no parameter 'block'"),
        ({"N": 1000, "nb": 2}, "nb: 2", "suite hpl has no parameter 'nb' | did you mean 'NB'"),
    ],
)
def test_what_cannot_run_is_refused_with_the_numbers(
    tmp_path: Path, keys: Any, line: str, message: str
) -> None:
    [found] = messages(tmp_path, **keys)
    assert found.startswith(f"{line} | ")
    assert message in found


def test_several_errors_are_reported_at_once(tmp_path: Path) -> None:
    assert len(messages(tmp_path, N=0, NB=0, ndiv=1)) == 3


def test_an_unknown_memory_needs_an_order(tmp_path: Path) -> None:
    [found] = messages(tmp_path, node_memory=None)
    assert "follows from the memory of a node, which is unknown | give N, or node_memory" in found
    assert messages(tmp_path, node_memory=None, N=10**6) == []


def benchmark_of(**parameters: str) -> Benchmark:
    return Benchmark("HPL", "hpl", "xhpl", Provider("path", "/apps/xhpl"), parameters=parameters)


def test_parameters_and_the_file_are_part_of_the_identity() -> None:
    plans = [
        plan(campaign(benchmark=benchmark_of(N=order), group={"node_memory": GIB}))
        for order in ("1000", "2000")
    ]
    first, second = (each.runs[0].declared for each in plans)
    differing = {key for key in first if first[key] != second[key]}
    assert differing == {"parameters.N", "input.HPL.dat"}


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
