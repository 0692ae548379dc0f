"""The kernel b_eff, built and run with the MPI library of this environment; its units without MPI.

Small messages and budgets; more ranks than cores is fine here: nothing is claimed about speed.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest
from test_kernels import Build, Launch

from mpicampaign.suites import parse

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

QUICK = ("--lmax", "64KiB", "--budget", "0.5")
METHODS = ["sendrecv", "alltoallv", "nonblocking"]


# --- patterns, lengths and plans


def shapes(build: Build, first: int, last: int) -> dict[int, dict[str, tuple[int, ...]]]:
    """By ranks, set and name: processes, directions, rings, smallest, largest, messages, sound."""
    found: dict[int, dict[str, tuple[int, ...]]] = {}
    for line in build.unit("test_patterns", "patterns", str(first), str(last)).splitlines():
        ranks, group, name, *numbers = line.split()
        found.setdefault(int(ranks), {})[f"{group} {name}"] = tuple(map(int, numbers))
    assert sorted(found) == list(range(first, last + 1))
    return found


def test_every_pattern_is_closed_rings_over_its_processes(build: Build) -> None:
    for ranks, patterns in shapes(build, 2, 70).items():
        assert all(shape[-1] == 1 for shape in patterns.values()), ranks
        groups = Counter(name.split()[0] for name in patterns)
        assert (groups["ring"], groups["random"], groups["first"], groups["pair"]) == (6, 30, 2, 1)
        for name, (processes, _, rings, smallest, largest, messages, _) in patterns.items():
            if name.startswith(("ring", "random")):
                assert processes == ranks
                if smallest > 2:
                    assert messages == 2 * ranks
            if name.startswith("random"):
                assert (rings, smallest, largest) == (1, ranks, ranks)
            if name.startswith("first"):
                assert (processes, rings, messages) == (ranks // 2 * 2, ranks // 2, ranks // 2 * 2)


def test_sizes_of_rings_are_those_defined(build: Build) -> None:
    for ranks in range(2, 71):
        lines = build.unit("test_patterns", "sizes", str(ranks)).splitlines()
        targets = [2, 4, 8, max(16, ranks // 4), max(32, ranks // 2), ranks]
        for line, target in zip(lines, targets, strict=True):
            sizes = [int(size) for size in line.split()]
            target = min(target, ranks)
            assert sum(sizes) == ranks
            assert len(sizes) == max(1, min(math.floor(ranks / target + 0.4), ranks // 2))
            assert max(sizes) - min(sizes) <= 1 and min(sizes) >= 2
            odd = [size % 2 for size in sizes]
            assert odd == sorted(odd)  # rings of the even size first
            if len(sizes) >= 0.6 * target:
                assert {abs(size - target) <= 1 for size in sizes} == {True}, (ranks, target)


@pytest.mark.parametrize(
    ("ranks", "dimensions", "shape"),
    [
        (3, 2, "3 1"),
        (5, 3, "2 2 1"),
        (7, 2, "3 2"),
        (11, 3, "2 2 2"),
        (13, 3, "3 2 2"),
        (67, 1, "67"),
        (67, 3, "11 3 2"),
    ],
)
def test_cartesian_shapes_of_primes(build: Build, ranks: int, dimensions: int, shape: str) -> None:
    assert build.unit("test_patterns", "shape", str(ranks), str(dimensions)).strip() == shape


def test_random_rings_differ_by_index_and_seed_and_repeat(build: Build) -> None:
    orders = [
        build.unit("test_patterns", "order", "12", seed, str(index))
        for seed, index in [("1", 0), ("1", 1), ("2", 0), ("1", 0)]
    ]
    assert orders[0] == orders[3]
    assert len(set(orders)) == 3
    assert all(sorted(map(int, order.split())) == list(range(12)) for order in orders)


@pytest.mark.parametrize(
    ("memory", "lmax"), [(512 << 20, 4 << 20), (16 << 30, 128 << 20), (100 << 30, 128 << 20)]
)
def test_lmax_and_lengths(build: Build, memory: int, lmax: int) -> None:
    first, second = build.unit("test_patterns", "lmax", str(memory)).splitlines()
    lengths = [int(length) for length in second.split()]
    assert int(first) == lengths[-1] == lmax
    assert lengths[:13] == [2**power for power in range(13)]
    assert len(lengths) == 21
    for k, length in enumerate(lengths[13:], start=1):
        assert length == pytest.approx(4096 * (lmax / 4096) ** (k / 8), abs=0.51)


def test_a_budget_shortens_loops_then_repetitions_then_random_patterns(build: Build) -> None:
    def planned(seconds: float) -> tuple[list[str], str]:
        words = build.unit("test_patterns", "plan", str(seconds), "1e-5", "0.02").split(maxsplit=4)
        return words[:4], words[4].strip()

    assert planned(80)[0][:3] == ["0.00375", "3", "30"]
    assert planned(80)[1] == planned(25)[1] == "nothing"
    assert planned(20)[1] == "loops of 0.001 s, not 0.0025 s"
    assert planned(2)[1] == "loops of 0.0002 s, not 0.0025 s; 1 of 3 repetitions"
    assert planned(1)[1].endswith("s; 1 of 3 repetitions; 16 of 30 random patterns")
    assert planned(0.001)[0][:3] == ["0.0002", "1", "1"]
    for seconds in (1, 2, 5, 10, 20, 40):
        assert float(planned(seconds)[0][3]) <= seconds


def test_contents_and_walks_of_buffers(build: Build) -> None:
    assert build.unit("test_patterns", "data") == ""


# --- runs


def check(launch: Launch, ranks: int, methods: list[str]) -> None:
    """Complete: every pattern with every method at 21 lengths, verified, and read by the parser."""
    assert launch.statuses == [0] * ranks, launch.errors
    patterns = launch.rows("patterns")
    assert all(row["verified"] == "1" for row in patterns)
    rates = launch.rows("rates")
    repetitions, randoms = int(launch.header("repetitions")), int(launch.header("random_patterns"))
    assert Counter(row["set"] for row in patterns)["random"] == randoms
    counts = Counter((row["set"], row["pattern"]) for row in rates)
    for row in patterns:
        one = {"pair": 2, "first": 21}.get(row["set"], 21 * len(methods))
        least = 3 if row["set"] == "pair" else 1  # one measurement may have been interrupted
        assert counts[row["set"], row["pattern"]] == one * max(least, repetitions), row
    assert {row["method"] for row in rates if row["set"] == "ring"} == set(methods)
    assert all(float(row["seconds"]) > 0 and int(row["loops"]) > 0 for row in rates)
    assert parse("kernel", launch.output).series


def test_split_methods_and_several_nodes(build: Build) -> None:
    launch = build.launch(3, "b_eff", "--split-methods", *QUICK, preload="pretend.so", PRETEND_NODES="3")
    check(launch, 3, [*METHODS, "irecv_send", "isend_recv"])
    assert launch.header("sync") == "dissemination_barrier"


def test_lmax_follows_the_smallest_share_of_a_node(build: Build) -> None:
    pages = (64 << 20) // 4096
    memory = {"preload": "pretend.so", "PRETEND_PAGES": str(pages)}
    launch = build.launch(2, "b_eff", "--budget", "0.5", **memory)
    check(launch, 2, METHODS)
    assert launch.header("lmax") == str((pages * 4096 // 2) // 128)
    assert launch.header("lmax_rule") == "memory/128"
    assert launch.header("memory_per_process_bytes") == str(12 * ((1 << 20) + 16) + (4 * 4 + 8) * 2)
    assert parse("kernel", launch.output).series[0].label == "b_eff"


@pytest.mark.alone
def test_measurements_are_not_shorter_than_planned_and_the_output_is_small(build: Build) -> None:
    launch = build.launch(2, "b_eff", "--split-methods", "--lmax", "8KiB", "--budget", "2")
    check(launch, 2, [*METHODS, "irecv_send", "isend_recv"])
    planned = float(launch.header("loop_seconds"))
    rates = launch.rows("rates")
    short = [row for row in rates if float(row["seconds"]) < planned / 2]
    assert len(short) <= 0.01 * len(rates)
    full = 44 * 21 * 5 * 3  # patterns, lengths, methods, repetitions
    assert len(launch.output.encode()) / len(rates) * full < 2_000_000


# --- refusals


def test_too_little_memory_is_refused(build: Build) -> None:
    memory = {"preload": "pretend.so", "PRETEND_PAGES": str((1 << 30) // 4096)}
    launch = build.launch(2, "b_eff", "--lmax", "128MiB", **memory)
    assert launch.statuses == [2, 2]
    assert "more than half of its memory" in launch.errors and "smaller --lmax" in launch.errors


# --- wrong data


def damaged(build: Build, ranks: int, **damage: str) -> Launch:
    launch = build.launch(ranks, "b_eff", "--split-methods", *QUICK, preload="damage.so", **damage)
    assert launch.statuses == [1] * ranks, launch.errors
    assert "status=failed" in launch.end
    return launch


@pytest.mark.parametrize(
    ("call", "method"),
    [
        ("MPI_Sendrecv", "sendrecv"),
        ("MPI_Alltoallv", "alltoallv"),
        ("MPI_Irecv", "nonblocking"),
        ("MPI_Recv", "isend_recv"),
    ],
)
@pytest.mark.parametrize(
    ("damage", "above", "size"),
    [pytest.param("byte", "0", "64 B", marks=pytest.mark.full), ("tail", "256", "512 B")],
)
def test_damage_fails_the_run_on_all_ranks(
    build: Build, call: str, method: str, damage: str, above: str, size: str
) -> None:
    launch = damaged(build, 3, DAMAGE=damage, DAMAGE_CALL=call, DAMAGE_RANK="2", DAMAGE_ABOVE=above)
    assert f"wrong data in random-1 with {method} at {size}: rank 2 received" in launch.errors


def test_verification_finds_what_lies_between_the_ends_of_long_messages(build: Build) -> None:
    """Of messages above 64 KiB the timed part looks at the ends alone."""
    long = ("--lmax", "128KiB", "--budget", "0.5")
    shim = {"DAMAGE": "byte", "DAMAGE_CALL": "MPI_Sendrecv", "DAMAGE_RANK": "1", "DAMAGE_ABOVE": "65536"}
    launch = build.launch(2, "b_eff", *long, preload="damage.so", **shim)
    assert launch.statuses == [1, 1]
    wrong = "rank 1 received other bytes than rank 0 sent, first at offset 65536 of a message of 131072 B"
    assert f"wrong data in random-1 with sendrecv at 131072 B: {wrong}" in launch.errors


def test_alltoallv_sends_to_the_neighbours_of_the_present_pattern_alone(build: Build) -> None:
    launch = build.launch(5, "b_eff", *QUICK, preload="damage.so", MOST_PEERS="2")
    assert launch.statuses == [0] * 5, launch.errors


# --- sanitizers


@pytest.mark.full
def test_sanitizers_find_nothing(sanitized: Build) -> None:
    shapes(sanitized, 2, 40)
    assert sanitized.unit("test_patterns", "data") == ""
    launch = sanitized.launch(3, "b_eff", "--split-methods", *QUICK)
    check(launch, 3, [*METHODS, "irecv_send", "isend_recv"])
    assert "Sanitizer" not in launch.errors and "runtime error" not in launch.errors
