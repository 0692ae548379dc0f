"""The kernel latency_bandwidth: its measurements and output, and reading that output.

More ranks than cores is fine here: nothing is claimed about speed.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest
from test_kernels import Build, Launch

from mpicampaign.suites import parse

SIZES = {8: 30, 2_000_000: 10}  # message size: random rings
QUICK = ("--budget", "0.1")


# --- rings and pairs


def ring(build: Build, ranks: int, seed: int, number: int) -> tuple[int, ...]:
    return tuple(map(int, build.unit("test_rings", "ring", f"{ranks}", f"{seed}", f"{number}").split()))


@pytest.mark.mpi
def test_neighbours_stand_before_and_after_a_rank(build: Build) -> None:
    order = ring(build, 7, 1, 3)
    for place, rank in enumerate(order):
        found = build.unit("test_rings", "neighbours", "7", "1", "3", f"{rank}").split()
        assert found == [f"{order[place - 1]}", f"{order[(place + 1) % 7]}"]


def hpcc_stride(ranks: int, affordable: int) -> int:
    """As HPC Challenge 1.5 chooses it: ranks over the square root of the pairs, then up to a prime."""
    stride = int(ranks / max(5, math.isqrt(affordable)) + 0.9)
    if stride in (2, 3):
        return 3
    while stride > 3 and any(stride % k == 0 for k in range(2, stride)) and stride <= ranks // 3:
        stride += 1
    return max(1, stride)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3, 6, 10, 12, 27, 88, 1000, 5000])
def test_strides_are_those_of_hpcc(build: Build, ranks: int) -> None:
    for affordable in (0, 4, 30, 100, 1000, 20_000, 10**9):
        found = int(build.unit("test_rings", "stride", f"{ranks}", f"{affordable}"))
        assert found == hpcc_stride(ranks, affordable), affordable


@pytest.mark.mpi
@pytest.mark.parametrize(("ranks", "stride"), [(2, 1), (5, 1), (7, 3), (8, 3), (30, 7)])
def test_clients_count_from_the_first_rank_and_servers_from_the_last(
    build: Build, ranks: int, stride: int
) -> None:
    lines = build.unit("test_rings", "pairs", f"{ranks}", f"{stride}").splitlines()
    clients, servers = range(0, ranks, stride), range(ranks - 1, -1, -stride)
    expected = {(client, server) for client in clients for server in servers if client != server}
    assert Counter(tuple(map(int, line.split())) for line in lines) == Counter(expected)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 10, 33])
def test_in_a_tournament_all_meet_once(build: Build, ranks: int) -> None:
    met: Counter[frozenset[int]] = Counter()
    for line in build.unit("test_rings", "tournament", f"{ranks}", "0").splitlines():
        partners = list(map(int, line.split()))
        assert partners.count(-1) == ranks % 2
        playing = [(rank, partner) for rank, partner in enumerate(partners) if partner >= 0]
        assert all(partners[partner] == rank for rank, partner in playing)
        met.update({frozenset(pair) for pair in playing})
    assert met == {frozenset(pair): 1 for pair in permutations(range(ranks), 2)}


# --- runs


def check_rows(launch: Launch, ranks: int) -> None:
    pairs = Counter((row["size"], int(row["from"]), int(row["to"])) for row in launch.rows("ping_pong"))
    assert pairs == Counter((f"{size}", *pair) for size in SIZES for pair in permutations(range(ranks), 2))
    rings = Counter((int(row["size"]), row["ring"], int(row["number"])) for row in launch.rows("rings"))
    repetitions = {int(row["size"]): int(row["ring_repetitions"]) for row in launch.rows("sizes")}
    natural = {(size, "natural", 0): repetitions[size] for size in SIZES}
    random = {
        (size, "random", n): repetitions[size] for size, last in SIZES.items() for n in range(1, last + 1)
    }
    assert rings == natural | random
    for row in launch.rows("rings") + launch.rows("ping_pong"):
        assert float(row["seconds"]) >= 10e-6  # shorter blocks would measure the clock
    assert {row["verified"] for row in launch.rows("sizes")} == {"1"}


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, *(pytest.param(n, marks=pytest.mark.full) for n in (2, 4))])
def test_all_pairs_and_rings_are_measured(build: Build, ranks: int) -> None:
    launch = build.launch(ranks, "latency_bandwidth", *QUICK, "--seed", "7")
    assert (launch.status, launch.statuses) == (0, [0] * ranks), launch.errors
    assert (launch.header("seed"), launch.header("ping_pong_strides")) == ("7", "8:1,2000000:1")
    assert "rings: largest duration over ranks" in launch.header("seconds")
    check_rows(launch, ranks)
    (series,) = parse("kernel", launch.output).series
    assert all(value is not None for (value,) in series.columns.values())


# --- wrong data


RIGHT, LEFT = "30", "31"  # the tags of messages to the neighbours, each checked apart
DAMAGES = [
    ("MPI_Recv", "tail", 0, {}, "ping-pong at 2000000 B"),
    ("MPI_Sendrecv", "tail", 1, {"DAMAGE_TAG": RIGHT}, "rings by MPI_Sendrecv at 2000000 B"),
    ("MPI_Irecv", "tail", 0, {"DAMAGE_TAG": LEFT}, "rings by MPI_Isend at 2000000 B"),
    ("MPI_Irecv", "byte", 0, {"DAMAGE_TAG": RIGHT, "DAMAGE_SMALLEST": "8"}, "rings by MPI_Isend at 8 B"),
    ("MPI_Sendrecv", "byte", 1, {"DAMAGE_TAG": LEFT, "DAMAGE_SMALLEST": "8"}, "rings by MPI_Sendrecv at 8 B"),
    ("MPI_Recv", "byte", 0, {"DAMAGE_SMALLEST": "8"}, "ping-pong at 8 B"),
]
MORE = [pytest.param(*damage, marks=pytest.mark.full) for damage in DAMAGES[3:]]


@pytest.mark.mpi
@pytest.mark.parametrize(("call", "damage", "victim", "which", "where"), [*DAMAGES[:3], *MORE])
def test_wrong_data_fail_the_run_on_all_ranks(
    build: Build, call: str, damage: str, victim: int, which: dict[str, str], where: str
) -> None:
    shim = {"DAMAGE": damage, "DAMAGE_RANK": f"{victim}", "DAMAGE_CALL": call} | which
    launch = build.launch(2, "latency_bandwidth", *QUICK, preload="damage.so", **shim)
    assert launch.statuses == [1, 1]
    wrong = f"rank {victim} received other bytes than rank {1 - victim} sent"
    assert f"latency_bandwidth: wrong data in {where}: {wrong}" in launch.errors
    assert "status=failed" in launch.end
