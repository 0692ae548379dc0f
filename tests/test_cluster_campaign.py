"""A campaign on the test cluster: under real Slurm each run is verified, or n/a with its reason."""

from __future__ import annotations

import pytest
from minicluster import MiniCluster
from on_cluster import PING_PONG, TWO_FABRICS, cluster_project, host_groups, system

from mpicampaign.records import DECLARED, NOT_AVAILABLE, OK, Record

pytestmark = [pytest.mark.slow, pytest.mark.mpi, pytest.mark.usefixtures("imb")]

KERNEL = {"arguments": "--tree natural --min-size 64KiB --max-size 1MiB --budget 1"}
PLACEMENTS = ["SHM-1", "SHM-2", "SHM", "TCP-first", "TCP-second", "IBV"]
ABSENT = {
    ("blue", "SHM-2"): "needs 2 cores on 2 socket(s); n1 offers 1 socket(s) and 2 core(s)",
    ("red", "SHM-1"): "needs 2 cores on 1 socket(s); n3 offers 2 socket(s) and 2 core(s)",
    ("blue", "IBV"): "no InfiniBand device mlx5_0 on n1",
    ("red", "IBV"): "no InfiniBand device mlx5_0 on n3",
}
HOSTS = {"blue": {"n1", "n2"}, "red": {"n3", "n4"}}
# What the counters must say, as words of the verdict's reasons.
CARRIED = {"TCP-first": "over interface eth0", "TCP-second": "over interface eth1"}


@pytest.fixture(scope="module")
def records(minicluster: MiniCluster) -> list[Record]:
    campaign = {
        "campaign": "two-groups",
        "repeats": 1,
        "time_limit": "1 min",
        "systems": {"cluster": system(minicluster)},
        "host_groups": host_groups(),
        "placements": TWO_FABRICS,
        "benchmarks": {"PingPong": PING_PONG, "tree_gather": KERNEL, "tree_merge": KERNEL},
        "matrix": [
            {
                "host_groups": ["blue", "red"],
                "placements": PLACEMENTS,
                "benchmarks": ["PingPong", "tree_gather", "tree_merge"],
            }
        ],
    }
    return cluster_project(minicluster, campaign).run()


def test_each_case_is_there(records: list[Record]) -> None:
    cases = {(record.case.host_group, record.case.placement, record.case.benchmark) for record in records}
    assert len(cases) == len(records) == 2 * 6 * 3


def test_what_a_node_cannot_offer_is_not_available_with_its_reason(records: list[Record]) -> None:
    found = {}
    for record in records:
        if record.status == NOT_AVAILABLE:
            found.setdefault((record.case.host_group, record.case.placement), []).append(record.reason)
    assert found == {case: [reason] * 3 for case, reason in ABSENT.items()}


def test_all_other_runs_are_verified_against_the_declared_topology(records: list[Record]) -> None:
    for record in records:
        if record.status == NOT_AVAILABLE:
            continue
        assert (record.status, record.verdict) == (OK, DECLARED), (record.case, record.verdict_reasons)
        words = " ".join(record.verdict_reasons)
        placement, group = record.case.placement, record.case.host_group
        assert "topology: declared by /run/mpicampaign/sysfs, not the node's own" in words
        assert set(record.hosts) <= HOSTS[group]
        assert len(record.hosts) == (2 if placement in CARRIED else 1)
        assert CARRIED.get(placement, "no interface carried it") in words
        assert f"host group: members of {group}" in words
        if placement.startswith("SHM-"):
            assert f"sockets: {placement[-1]} socket(s)" in words
