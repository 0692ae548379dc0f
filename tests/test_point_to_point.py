"""point_to_point: pairs, right data, tables; the last call of each timed block is checked as a whole."""

from __future__ import annotations

import subprocess

import pytest
from test_kernels import KERNELS, Build, Launch

from mpicampaign.suites import parse

pytestmark = pytest.mark.mpi

QUICK = ("--budget", "0.1")


def small(first: int, last: int) -> tuple[str, ...]:
    return ("--min-size", str(first), "--max-size", str(last), *QUICK)


def pairs_of(launch: Launch) -> list[int]:
    return list(dict.fromkeys(int(row["pairs"]) for row in launch.rows("sizes")))


# --- what is sent


@pytest.fixture(scope="module")
def limited(build: Build) -> str:
    """The kernel with limits that small runs reach: 2 rows of pairs, 64 B of messages."""
    objects = [str(path) for path in (build.folder / "common").rglob("*.o")]
    limits = ["-DPAIR_ROWS=2", "-DPAIR_BYTES=64"]
    source = [f"-I{KERNELS / 'common'}", "-std=c11", *limits, str(KERNELS / "point_to_point.c")]
    program = build.folder / "point_to_point_with_limits"
    command = ["mpicc", *source, *objects, "-lm", "-o", str(program)]
    subprocess.run(command, env=build.environment, check=True, timeout=60)
    return program.name


def test_the_fastest_and_the_slowest_pair_where_all_would_be_too_many(build: Build, limited: str) -> None:
    launch = build.launch(6, limited, "--pairs", "3", *small(8, 8))
    assert launch.header("pairs_rows") == "fastest and slowest pair by their medians"
    medians = [float(row["seconds_median"]) for row in launch.rows("pairs_seconds")]
    assert len(medians) == 2 and medians[0] <= medians[1]


def test_large_messages_are_fewer(build: Build, limited: str) -> None:
    launch = build.launch(2, limited, *small(4, 128))
    assert launch.statuses == [0, 0], launch.errors
    assert launch.header("messages") == "4:16,8:8,16:4,32:2,64:1,128:1"
    assert launch.header("memory_per_process_bytes") == "136"  # 8: ends of short messages reach beyond
    for row in launch.rows("samples"):
        assert int(row["useful_bytes"]) == (64 if row["size"] != "128" else 128)


def test_chosen_numbers_of_pairs_keep_their_order(build: Build) -> None:
    launch = build.launch(6, "point_to_point", "--pairs", "3,1", *small(8, 8))
    assert pairs_of(launch) == [3, 1]


# --- refusals and wrong data


@pytest.mark.parametrize("damage", ["byte", "tail", "unsort", "stale"])
def test_damaged_data_fail_the_run_on_all_ranks(build: Build, damage: str) -> None:
    shim = {"preload": "damage.so", "DAMAGE": damage, "DAMAGE_RANK": "3"}
    launch = build.launch(4, "point_to_point", *small(64, 64), **shim)
    assert launch.statuses == [1] * 4
    wrong = "a message from rank 1 is not what was sent"
    assert f"point_to_point: wrong data in point_to_point 2 at 64 B: {wrong}" in launch.errors
    assert "status=failed" in launch.end


def test_damage_in_timed_calls_leaves_no_value(build: Build) -> None:
    """Timed calls are checked: the rows of pairs, printed before the last check, are missing, too."""
    shim = {"preload": "damage.so", "DAMAGE": "byte", "DAMAGE_RANK": "1"}
    shim |= {"DAMAGE_AFTER": "20"}
    launch = build.launch(2, "point_to_point", "--messages", "1", *small(64, 64), **shim)
    assert launch.statuses == [1, 1]
    assert launch.rows("samples") == []
    assert launch.rows("pairs_seconds") == []


def test_a_message_too_many_fails_the_run_on_all_ranks(build: Build) -> None:
    shim = {"preload": "damage.so", "DAMAGE": "twice", "DAMAGE_RANK": "0"}
    launch = build.launch(2, "point_to_point", "--messages", "1", *small(64, 64), **shim)
    assert launch.statuses == [1, 1]
    assert "wrong data in point_to_point 1 at 64 B: a message from rank 0" in launch.errors


LARGE = str(1 << 20)
# One message a call, and one call a block, since it takes longer than a block must.
RUN = ("--messages", "1", "--size", LARGE, "--budget", "0.05")


@pytest.mark.parametrize("block", range(1, 6))
def test_one_damaged_message_of_any_block_is_found(build: Build, block: int) -> None:
    """Before each block there is an untimed call, whose message does not matter."""
    shim = {"DAMAGE": "byte", "DAMAGE_RANK": "1", "DAMAGE_SMALLEST": LARGE}
    shim |= {"DAMAGE_AFTER": str(2 * block - 1), "DAMAGE_TIMES": "1"}
    launch = build.launch(2, "point_to_point", *RUN, preload="damage.so", **shim)
    assert launch.statuses == [1, 1]
    assert "wrong data in point_to_point 1 at 1048576 B" in launch.errors
    assert launch.rows("samples") == []
    assert launch.end.endswith("status=failed")


def test_never_more_bytes_are_checked_than_timed(build: Build) -> None:
    launch = build.launch(2, "point_to_point", "--messages", "1", "--size", "8", "--budget", "0.05")
    assert launch.statuses == [0, 0], launch.errors
    timed, checked = (int(launch.header(f"bytes_{which}")) for which in ("timed", "checked"))
    assert 0 < checked <= timed and checked % 8 == 0
    metadata = parse("kernel", launch.output).metadata
    assert (metadata["bytes_timed"], metadata["bytes_checked"]) == (str(timed), str(checked))


# --- any size


@pytest.mark.parametrize("kernel", ["point_to_point", "tree_gather"])
@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        (("--min-size", "0", "--max-size", "5"), [0, 1, 2, 4, 5]),
        pytest.param(("--min-size", "3", "--max-size", "7"), [3, 6, 7], marks=pytest.mark.full),
        pytest.param(("--size", "7"), [7], marks=pytest.mark.full),
        (("--size", "1000001"), [1000001]),
        pytest.param(("--size", "0"), [0], marks=pytest.mark.full),
    ],
)
def test_any_size_is_measured(build: Build, kernel: str, options: tuple[str, ...], sizes: list[int]) -> None:
    launch = build.launch(3, kernel, *options, "--budget", "0.05")
    assert launch.statuses == [0] * 3, launch.errors
    for series in parse("kernel", launch.output).series:
        assert series.columns["size"] == sizes
        rates = zip(sizes, series.columns["bandwidth"], strict=True)
        assert all((rate > 0) == (size > 0) for size, rate in rates if rate is not None)
