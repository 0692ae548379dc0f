"""The kernel collectives: right data, and a common start on clocks that differ."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from delayed_nodes import ENTER
from test_kernels import Build, Launch

from mpicampaign.suites import OutputError, parse

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

DELAY = 0.012  # s, of a message between nodes
SIMULATED = Path(__file__).with_name("delayed_nodes.py")
OVER_NETWORK = {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "I_MPI_COLL_INTRANODE": "pt2pt"}
COMMON, AFTER_BARRIER = "Bcast (from common start to last end)", "Bcast (after barrier, slowest rank)"
PAIRWISE, GATHER_AND_RELEASE = "1", "5"  # algorithms of Intel MPI's barrier


def times(launch: Launch, column: str) -> dict[str, float]:
    """Of MPI_Bcast, by start."""
    assert launch.status == 0, launch.errors
    return {row["start"]: float(row[column]) for row in launch.rows("ends") if row["samples"] != "0"}


def on_delayed_nodes(build: Build, barrier: str, program: str | Path, *arguments: str) -> Launch:
    """Two ranks, whose clocks differ by 1,000 s; they sleep while they wait: other programs need the CPUs."""
    network = [sys.executable, str(SIMULATED), str(DELAY), "0", "1000", "--"]
    command = [*network, "mpirun", "-n", "2", "sh", "-c", ENTER, "sh", program, *arguments]
    return build._run(command, **OVER_NETWORK, I_MPI_THREAD_YIELD="3", I_MPI_ADJUST_BARRIER=barrier)


@pytest.mark.full
@pytest.mark.alone
def test_a_barrier_hides_a_message_and_a_common_start_does_not(build: Build, tmp_path: Path) -> None:
    """Rank 0 leaves a gather-and-release barrier a message's time before rank 1, which then has the data."""
    if os.geteuid() or not Path("/dev/net/tun").exists() or not (Path(sys.prefix) / "bin/mpiicc").exists():
        pytest.skip("needs root, TUN devices and Intel MPI")
    kernel = (build.folder / "collectives", "--operations", "bcast", "--size", "8", "--budget", "10")
    for barrier in (PAIRWISE, GATHER_AND_RELEASE):
        tries = (on_delayed_nodes(build, barrier, *kernel, "--after-barrier") for _ in range(5))
        launch = next(one for one in tries if 0 < times(one, "last_p5").get("common", 0) < 1.8 * DELAY)
        assert (launch.header("nodes"), launch.header("sync")) == ("2", "agreed_start_time")
        assert times(launch, "last_p5")["common"] > 0.8 * DELAY
    assert times(launch, "last_p50")["barrier"] < DELAY / 4
    assert [series.label for series in parse("kernel", launch.output).series] == [COMMON, AFTER_BARRIER]
    (tmp_path / "sizes").write_text("8\n")
    imb = ("IMB-MPI1", "Bcast", "-npmin", "2", "-iter", "20", "-msglen", str(tmp_path / "sizes"))
    launch = on_delayed_nodes(build, GATHER_AND_RELEASE, *imb)
    assert parse("imb", launch.output).series[0].columns["time_max"][-1] < DELAY / 4


def test_a_clock_that_drifts_is_followed(build: Build) -> None:
    """A tenth of a second, after which clocks are learned again, is 10 ms on a clock that is 10 % fast."""
    shim = {"preload": "pretend.so", "PRETEND_NODES": "2", "PRETEND_DRIFT": "1"}
    options = ("--operations", "bcast", "--after-barrier", "--max-size", "256", "--budget", "3")
    launch = build.launch(2, "collectives", *options, **shim)
    assert min(float(row["clock_found"]) for row in launch.rows("ends")[2:]) < 5e-3


@pytest.mark.parametrize("operation", ["Bcast", "Allreduce", "Alltoall", "Gather", "Barrier"])
def test_wrong_results_fail_the_run_on_all_ranks(build: Build, operation: str) -> None:
    damage, victim = {"Gather": ("gather", "0"), "Barrier": ("barrier", "2")}.get(operation, ("result", "1"))
    shim = {"preload": "damage.so", "DAMAGE": damage, "DAMAGE_RANK": victim, "DAMAGE_SMALLEST": "1024"}
    options = ("--operations", operation, "--after-barrier", "--size", "1KiB", "--budget", "0.2")
    launch = build.launch(3, "collectives", *options, **shim)
    assert launch.statuses == [1] * 3
    assert f"collectives: wrong data in {operation}" in launch.errors


def test_what_never_starts_together_has_no_time(build: Build) -> None:
    late = {"preload": "pretend.so", "PRETEND_LATE": "1"}
    options = ("--operations", "bcast", "--size", "8", "--budget", "0.2")
    launch = build.launch(2, "collectives", *options, **late)
    with pytest.raises(OutputError, match="no repetition began in time on all ranks"):
        parse("kernel", launch.output)
    launch = build.launch(2, "collectives", *options, "--after-barrier", **late)
    never, after = parse("kernel", launch.output).series
    assert (never.label, after.label) == (COMMON, AFTER_BARRIER)
    assert never.columns["time"] == [None] and never.columns["late"][0]
