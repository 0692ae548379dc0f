"""Blocks on the test cluster: none on two sets of nodes, nothing lost, nothing twice, whatever is killed."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from cluster_site import Site, killed_after
from conftest import succeeded
from minicluster import MiniCluster, NodeGroup
from test_cluster_faults import has_results, meanwhile, wait_for

from mpicampaign.grouping import grouped
from mpicampaign.host_lists import expand
from mpicampaign.records import OK

pytestmark = pytest.mark.slow

CANDIDATES, BENCHMARKS = ("two", "other"), ("trivial", "second")


@pytest.fixture
def site(cluster_parts: None, tmp_path: Path) -> Iterator[Site]:
    with MiniCluster(tmp_path / "cluster", [NodeGroup("blue", nodes=4)]) as cluster:
        yield Site(cluster)


def write(site: Site, blocks: int, requeue: str) -> None:
    """Two placements as candidates, of two benchmarks; half of the cluster for each block."""
    site.write(body="sleep 0.5", repeats=blocks, group=f", exclusive: true, requeue: {requeue}")
    file = site.folder / "jobs.yaml"
    lines = file.read_text().splitlines()
    for name, other in (CANDIDATES, BENCHMARKS):
        [number] = [n for n, line in enumerate(lines) if line.startswith(f"  {name}: ")]
        lines.insert(number + 1, lines[number].replace(f"  {name}: ", f"  {other}: "))
    lines[-1] = (
        f"  - {{host_groups: all, placements: [{', '.join(CANDIDATES)}], "
        f"benchmarks: [{', '.join(BENCHMARKS)}], repeats: {blocks}, blocks: all pairs}}"
    )
    file.write_text("\n".join(["busy_machine: rank", *lines, ""]))
    site.cluster.give(site.folder)


def busy(site: Site) -> list[list[str]]:
    """The nodes of a block that runs: that of its script first."""
    listed = site.cluster.call(["squeue", "--noheader", "--states=RUNNING", "--format=%N"]).stdout.split()
    return [expand(each) for each in listed]


@pytest.mark.parametrize(
    ("blocks", "kills", "lost", "requeue"),
    [
        pytest.param(3, 2, 1, "false", marks=pytest.mark.full),
        pytest.param(12, 8, 4, "true", marks=pytest.mark.soak),
    ],
)
def test_blocks_stay_whole_whatever_is_killed(
    site: Site, blocks: int, kills: int, lost: int, requeue: str
) -> None:
    write(site, blocks, requeue)
    generator = random.Random(blocks)

    def lose_nodes(stopping: Event) -> None:
        for number in range(1, lost + 1):
            if wait_for(partial(has_results, site, number * blocks * 3 // (lost + 1) + 1), stopping):
                wait_for(lambda: bool(busy(site)), stopping)
                nodes = generator.choice(busy(site) or [["n1", "n2"]])
                node = nodes[0 if number % 2 else 1]
                site.cluster.kill_node(node)
                print(f"{node} of {nodes} is lost at {time.strftime('%T')}")
                stopping.wait(15)  # so that its block gets other nodes
                site.cluster.boot_node(node)

    with meanwhile(lose_nodes):
        for _ in range(kills):
            kind = generator.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            site.run(before=killed_after("", kind, generator.randrange(1, 2 * blocks)))
        for _ in range(
            1 + lost
        ):  # a launch that fails for a lost node is a failed run, which the next call repeats
            if (done := site.run(timeout=900)).returncode == 0:
                break
    assert succeeded(done)
    status = site.call("status").stdout
    print(status)
    assert f"{blocks} of {blocks} blocks complete" in status
    good = [record for record in site.records() if record.status == OK]
    parts = grouped(good, lambda record: (record.case.benchmark, record.repeat))
    whole = [part for part in parts.values() if len(part) == len(CANDIDATES)]
    assert all(len({frozenset(record.hosts) for record in part}) == 1 for part in whole)
    assert len(whole) == blocks * len(BENCHMARKS)
    assert len({frozenset(record.hosts) for record in good}) > 1  # nodes as they come
    assert status.count(" stands in for it") >= (len(parts) > len(whole))
    assert site.submitted_while_alive() == []
    print(f"{len(good)} results, {len(parts) - len(whole)} parts of blocks left")
    assert " 0 still to be done" in site.call("plan").stdout
