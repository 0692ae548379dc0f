"""The last call of each timed block is checked as a whole, and the output says of how many bytes."""

from __future__ import annotations

import pytest
from test_kernels import Build

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


def test_all_bytes_of_blocks_of_one_call_are_checked(build: Build) -> None:
    launch = build.launch(2, "point_to_point", *RUN)
    assert launch.statuses == [0, 0], launch.errors
    assert launch.header("bytes_checked") == launch.header("bytes_timed") != "0"


# --- any size


@pytest.mark.parametrize("options", [("--size", "7"), ("--min-size", "8", "--max-size", "9")])
def test_trees_merge_whole_keys(build: Build, options: tuple[str, ...]) -> None:
    launch = build.refuse(2, "tree_merge", *options)
    assert f"{options[-1]} B are not a whole number of keys of 4 B" in launch.errors
    assert launch.statuses == [2, 2]
