"""The last call of each timed block is checked as a whole, and the output says of how many bytes."""

from __future__ import annotations

import pytest
from test_kernels import Build

from mpicampaign.suites import parse

pytestmark = pytest.mark.mpi

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
        (("--min-size", "3", "--max-size", "7"), [3, 6, 7]),
        (("--size", "7"), [7]),
        (("--size", "1000001"), [1000001]),
        (("--size", "0"), [0]),
    ],
)
def test_any_size_is_measured(build: Build, kernel: str, options: tuple[str, ...], sizes: list[int]) -> None:
    launch = build.launch(3, kernel, *options, "--budget", "0.05")
    assert launch.statuses == [0] * 3, launch.errors
    for series in parse("kernel", launch.output).series:
        assert series.columns["size"] == sizes
        rates = zip(sizes, series.columns["bandwidth"], strict=True)
        assert all((rate > 0) == (size > 0) for size, rate in rates if rate is not None)


@pytest.mark.parametrize("options", [("--size", "7"), ("--min-size", "8", "--max-size", "9")])
def test_trees_merge_whole_keys(build: Build, options: tuple[str, ...]) -> None:
    launch = build.refuse(2, "tree_merge", *options)
    assert f"{options[-1]} B are not a whole number of keys of 4 B" in launch.errors
    assert launch.statuses == [2, 2]
