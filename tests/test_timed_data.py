"""One bit flipped at the head or the tail of one timed message: found, by every kernel, each time."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

import pytest
from test_kernels import Build

pytestmark = [pytest.mark.mpi, pytest.mark.slow]


class Timed(NamedTuple):
    """A kernel's run, and the filters of damage.c that leave its timed messages."""

    kernel: str
    ranks: int
    options: tuple[str, ...]
    filters: dict[str, str]


SMALL = ("--min-size", "8", "--max-size", "4KiB", "--budget", "0.1")
TREES = (*SMALL, "--tree", "natural")
RUNS = {
    "tree_gather": Timed("tree_gather", 3, TREES, {"DAMAGE_TAG": "10", "DAMAGE_SMALLEST": "8"}),
    "tree_gather, a rank that forwards": Timed(
        "tree_gather", 4, TREES, {"DAMAGE_TAG": "10", "DAMAGE_SMALLEST": "8", "DAMAGE_RANK": "2"}
    ),
    "MPI_Gather": Timed("tree_gather", 3, TREES, {"DAMAGE_CALL": "MPI_Gather", "DAMAGE_SMALLEST": "8"}),
    "tree_merge": Timed("tree_merge", 3, TREES, {"DAMAGE_TAG": "11", "DAMAGE_SMALLEST": "8"}),
    "tree_merge, uint64": Timed(
        "tree_merge", 3, (*TREES, "--key", "uint64"), {"DAMAGE_TAG": "11", "DAMAGE_SMALLEST": "8"}
    ),
}
EARLY = 0.5  # of the messages of a run without damage: the next run may have fewer


def messages(build: Build, run: Timed) -> int:
    """How many messages a run without damage receives, all of them right."""
    launch = build.launch(
        run.ranks, run.kernel, *run.options, preload="damage.so", DAMAGE="count", **run.filters
    )
    assert launch.statuses == [0] * run.ranks, launch.errors
    found = re.search(r"damage\.so: (\d+) messages", launch.errors)
    assert found is not None, launch.errors
    return int(found[1])


@pytest.mark.parametrize("tries", [2, pytest.param(20, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", RUNS)
def test_one_flipped_bit_is_found(build: Build, name: str, tries: int) -> None:
    run = RUNS[name]
    last = int(EARLY * messages(build, run))
    assert last > 100
    choose = random.Random(f"{name} {tries}")
    for seed in range(tries):
        damage = {"DAMAGE": "ends", "DAMAGE_AFTER": str(choose.randrange(last)), "DAMAGE_SEED": str(seed)}
        launch = build.launch(
            run.ranks, run.kernel, *run.options, preload="damage.so", **{**run.filters, **damage}
        )
        assert launch.statuses == [1] * run.ranks, (damage, launch.errors)
        assert f"{run.kernel}: wrong data" in launch.errors
        assert "status=failed" in launch.end
        rows = launch.rows("sizes")
        assert rows[-1]["verified"] == "0" and {row["verified"] for row in rows[:-1]} <= {"0", "1"}
