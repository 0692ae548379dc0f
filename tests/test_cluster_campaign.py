"""A campaign on the test cluster: under real Slurm each run is verified, or n/a with its reason."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest
from minicluster import MiniCluster
from on_cluster import cluster_project, host_groups

from mpicampaign.base.records import DECLARED, NOT_AVAILABLE, OK, Record
from mpicampaign.questions.configurations.find import configurations

pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.usefixtures("imb")]

PLACEMENTS = ["SHM-1", "SHM-2", "SHM", "TCP-loopback", "TCP-first", "TCP-second", "IBV"]
BENCHMARKS = ["PingPong", "Allreduce", "tree_gather"]
ABSENT = {
    ("blue", "SHM-2"): "needs 2 cores on 2 sockets; n1 offers 1 socket and 2 cores",
    ("red", "SHM-1"): "needs 2 cores on 1 socket; n3 offers 2 sockets and 2 cores",
    ("blue", "IBV"): "no RDMA device mlx5_0 on n1",
    ("red", "IBV"): "no RDMA device mlx5_0 on n3",
}
NODES, BIOS = ("n1", "n2", "n3", "n4"), "class/dmi/id/bios_version"
HOSTS = {"blue": {"n1", "n2"}, "red": {"n3", "n4"}}
# What the ranks' sockets must show, as text in the verdict's reasons.
CARRIED = {
    "TCP-loopback": "over interface lo",
    "TCP-first": "over interface eth0",
    "TCP-second": "over interface eth1",
}
BETWEEN_NODES = ("TCP-first", "TCP-second")


@pytest.fixture(scope="module")
def records(minicluster: MiniCluster) -> list[Record]:
    entries = (
        (("blue", "red"), PLACEMENTS, BENCHMARKS),
        ("blue", "TCP-first", "Small"),
        ("red", "SHM", "Small"),
    )
    for node in NODES:  # red's agree
        minicluster.declare(node, BIOS, "2.4" if node == "n2" else "2.19")
    made = cluster_project(minicluster, "two-groups", *entries).run()
    for node in NODES:
        minicluster.undeclare(node, BIOS)
    return made


def test_nodes_that_only_ranks_saw_are_described_and_unlike_ones_named(records: list[Record]) -> None:
    made = [record for record in records if record.status == OK]
    assert all(record.nodes.keys() == set(record.hosts) for record in made)
    (blue,) = configurations(records)
    assert blue.host_group == "blue"
    assert {each.nodes: str(each.differences[0]) for each in blue.odd} == {
        ("n1",): "BIOS 2.19 (no majority)",
        ("n2",): "BIOS 2.4 (no majority)",
    }


def test_each_case_is_there(records: list[Record]) -> None:
    cases = {(record.case.host_group, record.case.placement, record.case.benchmark) for record in records}
    assert len(cases) == len(records) == 2 * 7 * 3 + 2


def test_what_a_node_cannot_offer_is_not_available_with_its_reason(records: list[Record]) -> None:
    found = {}
    for record in records:
        if record.status == NOT_AVAILABLE:
            found.setdefault((record.case.host_group, record.case.placement), []).append(record.reason)
    assert found == {case: [reason] * 3 for case, reason in ABSENT.items()}


def test_all_other_runs_are_verified_against_the_declared_topology(records: list[Record]) -> None:
    """They are honest where the same cases lie in test_cluster_lies."""
    for record in records:
        if record.status == NOT_AVAILABLE:
            continue
        assert (record.status, record.verdict) == (OK, DECLARED), (record.case, record.verdict_reasons)
        words = " ".join(record.verdict_reasons)
        placement, group = record.case.placement, record.case.host_group
        assert "topology: declared by /run/mpicampaign/sysfs, not the node's own" in words
        assert set(record.hosts) <= HOSTS[group]
        assert len(record.hosts) == (2 if placement in BETWEEN_NODES else 1)
        assert CARRIED.get(placement, "the ranks sent each other 0 B over TCP") in words
        assert f"host group: members of {group}" in words
        if placement.startswith("SHM-"):
            assert f"sockets: {placement[-1]} socket" in words


# Of 1514 bytes that the shaped link counts for a full frame, 1448 are payload; what one burst lets pass comes
# on top. Without the shaping the fraction is above 10; the machine may be busy with something else, too.
POSSIBLE = 1448 / 1514 + 0.015
SLOWED = 0.1


@pytest.fixture
def gigabit(minicluster: MiniCluster) -> Iterator[MiniCluster]:
    """The first network with links of 1 Gbit/s."""
    for node in ("n1", "n2"):
        minicluster.shape(node, "eth0", "1gbit")
    yield minicluster
    for node in ("n1", "n2"):
        minicluster.unshape(node, "eth0")


def test_a_link_of_1_gbit_shows_in_the_table_with_the_fraction_reached(gigabit: MiniCluster) -> None:
    made = cluster_project(
        gigabit,
        "gigabit",
        ("blue", ["SHM-1", "TCP-first"], ["PingPong", "tree_gather"]),
        repeats=3,
        host_groups=host_groups(rate="1 Gbit/s"),
        benchmarks={
            "PingPong": {"arguments": "-iter 60 -time 5 -msglog 19:22 PingPong"},
            "tree_gather": {"arguments": "--tree natural --min-size 1MiB --max-size 4MiB --budget 1"},
        },
    )
    records = made.run()
    assert {record.verdict for record in records} == {DECLARED}
    table = (made.results / "tables/comparison.csv").read_text()
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["placement"] == "TCP-first"]
    figures = {(row["benchmark"], row["series"], row["metric"]): row for row in rows}
    for benchmark, label, largest in (
        ("PingPong", "PingPong", "maximum bandwidth"),
        ("tree_gather", "tree_gather (tree natural)", "maximum B_useful"),
    ):
        reached = float(figures[benchmark, label, largest]["median [unit]"])
        assert SLOWED * 125e6 < reached < 1.1 * 125e6, figures  # a burst may pass at middle sizes
        fraction = figures[benchmark, label, "fraction of line rate"]
        assert float(fraction["line_rate_bound [B/s]"]) == 125e6
        assert SLOWED < float(fraction["median [unit]"]) < POSSIBLE
    text = (made.results / "tables/comparison.txt").read_text()
    assert "fraction of line rate (%)" in text
    assert "of 125.0 MB/s" in text
    assert "of 125.0 MB/s" in (made.results / "tables/comparison.md").read_text()
    assert "of 125.0 MB/s" in (made.results / "report.html").read_text()
