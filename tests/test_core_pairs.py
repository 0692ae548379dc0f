"""core_pairs: the matrix, its classes beside the system's own topology, contention, and the tuned tree.

The classes are tested on made and on recorded matrices (tests/fixtures/core_pairs): this needs no MPI.
"""

from __future__ import annotations

import math
import os
import random
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import build_records as make
import pytest
from test_kernels import Build
from test_parsers import text_of as read_output

from mpicampaign.base.records import Series
from mpicampaign.compare.compare import compare
from mpicampaign.report.make import to_terminal
from mpicampaign.suites import parse

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

RECORDED = Path(__file__).parent / "fixtures/core_pairs"
Matrix = list[list[float]]


def two_way(ranks: int, latency: dict[tuple[int, int], float]) -> Matrix:
    matrix = [[math.nan] * ranks for _ in range(ranks)]
    for (a, b), seconds in latency.items():
        matrix[a][b] = matrix[b][a] = seconds
    return matrix


def made(places: list[tuple[int, ...]], steps: list[float], noise: float = 0.1, seed: int = 1) -> Matrix:
    """Latencies by how many leading parts of two places are the same, with noise that only adds."""
    chance = random.Random(seed)
    latency = {}
    for a, b in combinations(range(len(places)), 2):
        same = next(
            (i for i, pair in enumerate(zip(places[a], places[b], strict=True)) if pair[0] != pair[1]), -1
        )
        latency[a, b] = steps[same] * (1 + noise * chance.random())
    return two_way(len(places), latency)


def recorded(name: str, ranks: int) -> Matrix:
    rows = [[float(word) for word in line.split()] for line in (RECORDED / name).read_text().splitlines()]
    return two_way(ranks, {(a, b): rows[a][b] * 1e-9 for a in range(ranks) for b in range(a)})


def found(build: Build, folder: Path, matrix: Matrix, levels: Matrix | None = None) -> dict[str, list[str]]:
    path = folder / "matrix"
    lines = [str(len(matrix)), *(" ".join(map(str, row)) for row in matrix + (levels or []))]
    path.write_text("\n".join(lines) + "\n")
    said = build.unit("test_pairs", "levels" if levels else "classes", str(path))
    return {line.split()[0]: line.split()[1:] for line in said.splitlines()}


SOCKETS = [(rank % 2,) for rank in range(8)]  # ranks by turns on two sockets
NUMA = [(rank // 8, rank // 4 % 2) for rank in range(16)]  # two NUMA nodes on each socket
THREADS = [(rank // 4 % 2, rank % 4) for rank in range(16)]  # two on each core, four cores a socket


@pytest.mark.parametrize(
    ("places", "steps", "pairs", "groups"),
    [
        (SOCKETS, [6e-7, 3e-7], ["12", "16"], [rank % 2 for rank in range(8)]),
        (NUMA, [9e-7, 5e-7, 3e-7], ["24", "32", "64"], [rank // 4 for rank in range(16)]),
        (THREADS, [6e-7, 3e-7, 1e-7], ["8", "48", "64"], [*range(8), *range(8)]),
        ([(0,), (0,), (1,), (1,)], [6e-7, 3e-7], ["2", "4"], [0, 0, 1, 1]),
        ([(0,), (0,), (0,), (1,)], [6e-7, 3e-7], ["3", "3"], [0, 0, 0, 1]),
        ([(0,)] * 6, [6e-7, 3e-7], ["15"], [0] * 6),
    ],
)
def test_classes_and_groups_of_made_matrices(
    build: Build,
    tmp_path: Path,
    places: list[tuple[int, ...]],
    steps: list[float],
    pairs: list[str],
    groups: list[int],
) -> None:
    for seed in range(5):
        result = found(build, tmp_path, made(places, steps, seed=seed))
        assert result["pairs"] == pairs
        if places != THREADS:  # there the numbers follow the cores
            assert result["groups"] == list(map(str, groups))
        assert len(set(result["groups"])) == len(set(groups))
        crossing = int(result["crossing"][0])
        assert crossing == (0 if len(set(groups)) == 1 else crossing) and crossing <= len(places) - 1
    if len(set(groups)) == 1:
        assert result["tree"] == [str(rank) for rank in range(len(places))]  # natural


@pytest.mark.parametrize("stragglers", [1, 3, 6])
def test_slow_stragglers_make_no_class_and_no_group(build: Build, tmp_path: Path, stragglers: int) -> None:
    matrix = made(SOCKETS, [6e-7, 3e-7])
    for i in range(stragglers):
        a, b = i, (i + 2 * (i % 3 + 1)) % 8
        matrix[a][b] = matrix[b][a] = 2e-6 * (i + 1)
    result = found(build, tmp_path, matrix)
    assert result["classes"] == ["2"]
    assert result["groups"] == [str(rank % 2) for rank in range(8)]


def test_nothing_measured_makes_no_class_and_one_group(build: Build, tmp_path: Path) -> None:
    result = found(build, tmp_path, two_way(4, {}))
    assert (result["classes"], result["groups"]) == (["0"], ["0"] * 4)


@pytest.mark.parametrize(
    ("name", "ranks", "pairs", "groups"),
    [
        ("xeon-x5650.txt", 12, ["30", "36"], [rank // 6 for rank in range(12)]),
        ("xeon-x5650.txt", 24, ["12", "120", "144"], [rank % 12 for rank in range(24)]),
        ("xeon-e5-2680-v4.txt", 28, ["182", "196"], [rank // 14 for rank in range(28)]),
        ("xeon-e5-2680-v4.txt", 56, ["28", "728", "784"], [rank % 28 for rank in range(56)]),
    ],
)
def test_recorded_machines(
    build: Build, tmp_path: Path, name: str, ranks: int, pairs: list[str], groups: list[int]
) -> None:
    result = found(build, tmp_path, recorded(name, ranks))
    assert result["pairs"] == pairs
    assert result["groups"] == list(map(str, groups))
    assert int(result["crossing"][0]) >= ranks - 2


def test_agreement_counts_pairs_and_ignores_what_is_not_known(build: Build, tmp_path: Path) -> None:
    matrix = made(SOCKETS, [6e-7, 3e-7])
    levels = [[1.0 if a % 2 == b % 2 else 3.0 for b in range(8)] for a in range(8)]
    whole = [[int(level) for level in row] for row in levels]
    assert found(build, tmp_path, matrix, whole)["agreement"] == ["28/28"]
    whole[0][1] = 1  # what the system says of one pair differs
    whole[2][3] = -1
    assert found(build, tmp_path, matrix, whole)["agreement"] == ["26/27"]


# --- min-inter


def crossing(build: Build, tree: str, nodes: list[int]) -> int:
    return int(build.unit("test_pairs", "tree", tree, *map(str, nodes)))


def fewest(nodes: list[int]) -> int:
    """The minimum over all arrangements of two nodes in the binomial tree, by brute force."""
    ranks = len(nodes)
    best = ranks
    for places in map(set, combinations(range(1, ranks), sum(nodes))):
        best = min(best, sum((v in places) != (v & (v - 1) in places) for v in range(1, ranks)))
    return best


@pytest.mark.parametrize("each", [2, 3, 4, 5, 6, 7])
def test_min_inter_has_the_fewest_crossings_on_two_nodes(build: Build, each: int) -> None:
    nodes = [0] * each + [1] * each
    assert crossing(build, "min-inter", nodes) == fewest(nodes)


@pytest.mark.parametrize(("small", "large"), [(1, 4), (2, 5), (3, 8), (4, 7)])
def test_min_inter_has_the_fewest_crossings_on_unequal_nodes(build: Build, small: int, large: int) -> None:
    for nodes in ([0] * small + [1] * large, [0] * large + [1] * small):
        assert crossing(build, "min-inter", nodes) == fewest(nodes)


# --- the kernel


# Ranks that share processors have no classes: here they are made to believe that they share none.
ENOUGH_PROCESSORS = {"preload": "pretend.so", "PRETEND_PROCESSORS": "8"}
PATIENT = ("--budget", "40")  # spent only where other programs keep the processors busy


def single_values(series: Series) -> set[str]:
    """The columns without those that hold a value for each pair."""
    return {name for name in series.columns if not name.startswith("pairs_")}


def test_five_ranks_have_classes_and_contention(build: Build) -> None:
    launch = build.launch(5, "core_pairs", "--budget", "1", **ENOUGH_PROCESSORS)
    assert launch.statuses == [0] * 5, launch.errors
    measured = sum(row["latency_seconds"] != "-" for row in launch.rows("core_pairs"))
    assert launch.header("latency_pairs") == f"{measured}/20"
    assert int(launch.header("classes")) >= 1
    for row in launch.rows("contention"):
        assert len({row[name] for name in ("from", "to", "other_from", "other_to")}) == 4
    assert "topology_agreement" in launch.output
    assert parse("kernel", launch.output).series[0].columns["pair_classes"][0]


def test_ranks_that_share_a_processor_have_no_classes(build: Build) -> None:
    """Waiting for a processor would look like distance, and like a shared path."""
    alone = {"preload": "pretend.so", "PRETEND_PROCESSORS": "3"}
    launch = build.launch(4, "core_pairs", "--budget", "0.5", **alone)
    assert launch.statuses == [0] * 4, launch.errors
    for key in ("classes", "contention_shared"):
        assert launch.header(key).startswith("n/a: needs a processor for each rank")
    assert single_values(parse("kernel", launch.output).series[0]) == {"pair_latency", "pair_bandwidth"}
    launch = build.launch(4, "tree_gather", "--tree", "tuned", **alone)
    assert launch.statuses == [2] * 4
    assert "--tree tuned needs a processor for each rank" in launch.errors


def test_a_budget_spent_before_the_first_pair_still_measures_that_and_says_so(build: Build) -> None:
    """As on a machine that is so busy that the warm-up takes longer."""
    launch = build.launch(4, "core_pairs", "--budget", "0.000001", **ENOUGH_PROCESSORS)
    assert launch.statuses == [0] * 4, launch.errors
    (row,) = launch.rows("core_pairs")
    assert float(row["latency_seconds"]) > 0 and float(row["bandwidth_seconds"]) > 0
    assert launch.header("shortened") == "1 and 1 of 12 pairs for latency and bandwidth"
    assert launch.header("classes") == "1"
    assert launch.header("contention_shared") == "n/a: none was measured within the budget"
    assert parse("kernel", launch.output).series[0].columns["pair_classes"] == [1]


@pytest.mark.full
def test_the_topology_is_read_where_hwloc_reads_it(build: Build, tmp_path: Path) -> None:
    for cpu in range(os.cpu_count() or 1):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}"
        (folder / "topology").mkdir(parents=True)
        (folder / "topology/physical_package_id").write_text("0\n")
        (folder / "topology/core_id").write_text("3\n")  # all on one core: no rank can move
        (folder / "node1").mkdir()
    settings = {**ENOUGH_PROCESSORS, "MPICAMPAIGN_SYSFS": str(tmp_path / "sys"), "PRETEND_NODES": "2"}
    launch = build.launch(4, "core_pairs", *PATIENT, **settings)
    assert launch.header("topology_moved_ranks") == "0"
    pairs = launch.header("topology_pairs")
    assert re.fullmatch(r"(?:[0-4]:(?:same_core=[12]|other_node=[1-4]),?)+", pairs)
    assert "same_core=" in pairs and "other_node=" in pairs
    levels = {(row["from"], row["to"]): row["level"] for row in launch.rows("core_pairs")}
    assert Counter(levels.values()) == {"0": 4, "4": 8}
    assert all(levels[to, start] == level for (start, to), level in levels.items())


@pytest.mark.parametrize(
    ("damage", "victim", "smallest", "after", "bytes_wrong"),
    [
        ("byte", 0, 64, 0, 2_000_000),
        ("tail", 1, 64, 0, 2_000_000),
        ("stale", 1, 64, 3, 2_000_000),  # lost after the timed part: what is there was right before
        ("byte", 1, 8, 0, 8),
        ("tail", 0, 8, 0, 8),
    ],
)
def test_damaged_messages_fail_the_run_on_all_ranks(
    build: Build, damage: str, victim: int, smallest: int, after: int, bytes_wrong: int
) -> None:
    shim = {"DAMAGE": damage, "DAMAGE_RANK": str(victim)}
    shim |= {"DAMAGE_SMALLEST": str(smallest), "DAMAGE_AFTER": str(after)}
    launch = build.launch(2, "core_pairs", *PATIENT, preload="damage.so", **shim)
    assert launch.statuses == [1, 1]
    assert f"core_pairs: wrong data in messages of {bytes_wrong} B" in launch.errors
    assert "status=failed" in launch.end


# --- the tuned tree in the kernels


@pytest.mark.parametrize("kernel", ["tree_gather", "tree_merge"])
def test_the_tuned_tree_delivers_the_right_data(build: Build, kernel: str) -> None:
    sizes = ("--min-size", "8", "--max-size", "64", "--budget", "0.5")
    launch = build.launch(5, kernel, "--tree", "tuned,natural", *sizes, **ENOUGH_PROCESSORS)
    assert launch.statuses == [0] * 5, launch.errors
    assert launch.header("trees") == "tuned,natural"
    assert {row["tree"] for row in launch.rows("sizes")} == {"tuned", "natural", "-"}
    assert launch.header("tuned_groups")
    assert launch.header("tuned_measured").endswith("the least counts")


def test_damaged_messages_refuse_the_tuned_tree(build: Build) -> None:
    shim = {**ENOUGH_PROCESSORS, "preload": "damage.so pretend.so"}
    shim |= {"DAMAGE": "byte", "DAMAGE_RANK": "1", "DAMAGE_SMALLEST": "8"}
    launch = build.launch(4, "tree_gather", "--tree", "tuned", "--max-size", "8", **shim)
    assert launch.statuses == [2] * 4
    assert "wrong data in the messages that --tree tuned measures" in launch.errors


# --- sanitizers


@pytest.mark.full
def test_sanitizers_find_nothing(sanitized: Build, tmp_path: Path) -> None:
    for program in (("core_pairs", "--budget", "1"), ("tree_gather", "--tree", "tuned", "--max-size", "8")):
        launch = sanitized.launch(4, *program, **ENOUGH_PROCESSORS)
        assert launch.statuses == [0] * 4, launch.errors
        assert "Sanitizer" not in launch.errors and "runtime error" not in launch.errors
    found(sanitized, tmp_path, recorded("xeon-x5650.txt", 24))
    crossing(sanitized, "min-inter", [0] * 5 + [1] * 7)


# --- reading the output

OUTPUT = read_output("made/kernel_core_pairs")


def test_series_of_the_matrix() -> None:
    (series,) = parse("kernel", OUTPUT).series
    assert (series.label, series.ranks) == ("core_pairs", 4)
    assert series.columns == {
        "pair_latency": [pytest.approx(3e-7)],
        "pair_bandwidth": [pytest.approx(2e6 / 4e-4)],
        "pair_classes": [2],
        "fastest_class_latency": [pytest.approx(2e-7)],
        "slowest_class_latency": [pytest.approx(9e-7)],
        "fastest_class_bandwidth": [pytest.approx(1e10)],
        "slowest_class_bandwidth": [pytest.approx(5e9)],
        "contention": [pytest.approx(1.5)],
    }


def test_each_metric_has_its_own_heading() -> None:
    series = parse("kernel", OUTPUT).series
    run = make.run(make.case("SHM", "core_pairs"), 1, *series, suite="kernel", hosts=("a",))
    text = to_terminal(compare([run], [1024]))
    for heading in ("latency, median pair (µs)", "pair classes (number)", "largest contention factor (×)"):
        assert heading in text
    assert text.count("1/1") == 8
