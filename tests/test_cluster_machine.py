"""The whole machine on the test cluster: planted faults are named, and nothing else, whatever is killed."""

from __future__ import annotations

import json
import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from cluster_site import Site, killed_after
from conftest import PROJECT, succeeded
from minicluster import MiniCluster, NodeGroup, cpu_limits
from test_cluster_blocks import results
from test_cluster_faults import has_results, meanwhile, wait_for

from mpicampaign.base.records import OK, RECORDS, read_records
from mpicampaign.compare.compare import compare

pytestmark = pytest.mark.slow

CAMPAIGN = """\
campaign: jobs
busy_machine: rank
time_limit: 1 min
systems: {{mini: {{scheduler: slurm, mpi: intelmpi, prefix: wheel, environment: {environment}}}}}
host_groups:
  milan:
    {{system: mini, hosts: "n[1-{nodes}]", exclusive: true, fabrics: {fabrics}}}
placements:
  core: {{nodes: 1, ranks_per_node: 1, transport: shm, binding: none}}
  pair: {{nodes: 2, ranks_per_node: 1, transport: tcp, fabric: data}}
benchmarks:
  product:
    suite: own
    program: product
    provider: {{kind: source, location: product, build: mpicc -O2 -o product product.c}}
    whole: [s$]
    metrics: {{time: {{pattern: '^(?P<value>[0-9.]+) s', unit: s, better: lower}}}}
  point_to_point: {{arguments: --min-size 256KiB --max-size 256KiB --messages 4 --budget 0.5}}
matrix:
  - {{host_groups: milan, placements: core, benchmarks: product, each: {{unit: node{at_once}}}}}
"""
AT_ONCE = ", at_once: 1"
PAIRS = """\
  - {host_groups: milan, placements: pair, benchmarks: point_to_point, each: {unit: pair, at_once: 2}}
"""
# A product of matrices, again and again.
PRODUCT = r"""
#include <mpi.h>
#include <stdio.h>

enum { SIZE = 128, TIMES = 800 };
static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

int main(int argc, char **argv) {
    double start;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < SIZE * SIZE; i++)
        a[0][i] = b[0][i] = i;
    start = MPI_Wtime();
    for (int time = 0; time < TIMES; time++)
        for (int i = 0; i < SIZE; i++)
            for (int k = 0; k < SIZE; k++)
                for (int j = 0; j < SIZE; j++)
                    c[i][j] += a[i][k] * b[k][j];
    printf("%.6f s\n", MPI_Wtime() - start);
    MPI_Finalize();
    return c[1][1] < 0;
}
"""
CPUS = 0.4  # of a node, of the two that the machine may have
SLOW, ODD, LINK = "n3", "n2", ("n4", "n7")
RATE, OF_LINK = "128mbit", "64mbit"
PORT = "class/infiniband/mlx5_0/ports/1/rate"


@contextmanager
def site_of(folder: Path, nodes: int, share: float) -> Iterator[Site]:
    """Like nodes, but one has this share of their CPU time, one a slow port, and two a slow link."""
    if why := cpu_limits.refused():
        pytest.skip(f"no limits of CPU time: {why}")
    sizes = (2, CPUS), (1, share * CPUS), (nodes - 3, CPUS)
    groups = [NodeGroup(f"g{n}", nodes=count, cpus=cpus) for n, (count, cpus) in enumerate(sizes)]
    with MiniCluster(folder, groups, [PROJECT]) as cluster:
        for node in cluster.nodes:
            plant(cluster, node)
        yield Site(cluster)


def plant(cluster: MiniCluster, node: str) -> None:
    """What a node has from its boot on: the rate of its port, and that of its links."""
    cluster.declare(node, PORT, "50 Gb/sec (2X HDR)" if node == ODD else "100 Gb/sec (4X EDR)")
    others = {b: OF_LINK for a, b in (LINK, LINK[::-1]) if a == node and b in cluster.nodes}
    cluster.shape_links(node, "eth1", RATE, others)


def write(site: Site, at_once: str = "", pairs: str = "") -> None:
    (site.folder / "product").mkdir()
    (site.folder / "product/product.c").write_text(PRODUCT)
    environment, nodes = json.dumps(site.cluster.environment), len(site.cluster.nodes)
    fabrics = "{data: {transport: tcp, interface: eth1}}"
    text = CAMPAIGN.format(environment=environment, nodes=nodes, fabrics=fabrics, at_once=at_once)
    (site.folder / "jobs.yaml").write_text(text + pairs)
    site.cluster.give(site.folder)


def named(site: Site) -> tuple[set[str], set[str]]:
    """The members that are said to be slow, and the nodes that are configured unlike the others."""
    tables = site.folder / "results/jobs/tables"
    rows = json.loads((tables / "machine.json").read_text())["rows"]
    _, records = read_records(tables.parent / RECORDS)
    odd = {name for group in compare(records).configurations for alike in group.odd for name in alike.nodes}
    return {row["member"] for row in rows if row["verdict"] == "slow"}, odd


def steps(site: Site) -> dict[str, list[int]]:
    """The numbers of the steps that Slurm started, by job."""
    logs = "".join(map(site.cluster.node_log, site.cluster.nodes))
    steps_of_jobs: dict[str, list[int]] = {}
    for job, step in sorted(set(re.findall(r"launch task StepId=(\d+)\.(\d+)", logs))):
        steps_of_jobs.setdefault(job, []).append(int(step))
    return {job: sorted(numbers) for job, numbers in steps_of_jobs.items()}


@pytest.mark.full
def test_a_slow_node_and_a_slow_port_are_named(cluster_parts: None, tmp_path: Path) -> None:
    with site_of(tmp_path / "cluster", 4, 0.6) as site:
        write(site)
        site.cluster.administer(["scontrol", "update", "partitionname=all", "maxtime=5"])
        done = site.run(timeout=3600)
        assert succeeded(done)
        assert {job["TimeLimit"] for job in site.cluster.completed_jobs()} == {"5"}  # of 7 and 13
        assert named(site) == ({SLOW}, {ODD})
        assert "1 of 4 nodes is slow: n3 (product " in done.stdout
        made = steps(site)  # two rounds of all, four that confirm; in each job one step watches the driver
        assert (made["1"], made["2"]) == ([0, 1, 2], [0, 1, 2, 3, 4])


@pytest.mark.soak
def test_a_slow_node_link_and_port_are_named_whatever_is_killed(cluster_parts: None, tmp_path: Path) -> None:
    """Calls, jobs and nodes are killed, eight in all."""
    generator, seen = random.Random(33), dict[Path, tuple[int, int]]()
    with site_of(tmp_path / "cluster", 8, 0.9) as site:
        write(site, AT_ONCE, PAIRS)
        with meanwhile(partial(lose_nodes, site, generator)):
            for number in range(6):
                more = generator.randrange(1, 10)
                if number % 2:
                    site.run(before=killed_after("result", signal.SIGKILL, more))
                else:
                    with meanwhile(partial(cancel_job, site, more)):
                        site.run(timeout=3600)
                seen |= {path: own for path, own in results(site).items() if path not in seen}
                print(f"{len(seen)} files of results after {number + 1} kills")
        for _ in range(5):
            if (done := site.run(timeout=3600)).returncode == 0:
                break
        assert succeeded(done)
        assert " 0 still to be done" in site.call("plan").stdout
        assert seen.items() <= results(site).items()
        records = site.records()
        runs = {(run.case, run.repeat) for run in records}
        jobs = site.cluster.completed_jobs()
        print(f"{len(records)} runs, {len(jobs)} jobs: {done.stdout}")
        assert len(runs) == len(records) and {run.status for run in records} == {OK}
        assert named(site) == ({SLOW, "+".join(LINK)}, {ODD})


def cancel_job(site: Site, more: int, stopping: Event) -> None:
    """Cancels all jobs after some more results, when one runs."""
    wanted = len(site.project.results("jobs")) + more
    if wait_for(partial(has_results, site, wanted), stopping):
        wait_for(lambda: "RUNNING" in site.cluster.queue().values(), stopping)
        site.cluster.call(["scancel", "--user=scientist"])


def lose_nodes(site: Site, generator: random.Random, stopping: Event) -> None:
    """A power cut of the driver's node, then of any other."""
    for number, node in ((10, "n1"), (30, generator.choice(sorted(site.cluster.nodes)))):
        if wait_for(partial(has_results, site, number), stopping):
            site.cluster.kill_node(node)
            print(f"{node} is lost")
            wait_for(lambda node=node: "down" in site.cluster.node_states().get(node, ""), stopping)
            site.cluster.boot_node(node)
            plant(site.cluster, node)
