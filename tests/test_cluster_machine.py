"""The whole machine on the test cluster: the faults that were planted are named, whatever is killed meanwhile."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from cluster_site import Site, killed_after
from conftest import PROJECT, succeeded
from minicluster import MiniCluster, NodeGroup, cpu_limits
from test_cluster_faults import has_results, meanwhile, wait_for

from mpicampaign.records import OK

pytestmark = pytest.mark.slow

CAMPAIGN = """\
campaign: jobs
busy_machine: rank
time_limit: 1 min
systems: {{mini: {{scheduler: slurm, mpi: intelmpi, prefix: wheel, environment: {environment}}}}}
host_groups:
  milan:
    {{system: mini, hosts: "n[1-{nodes}]", exclusive: true, fabrics: {{data: {{transport: tcp, interface: eth1}}}}}}
placements:
  core: {{nodes: 1, ranks_per_node: 1, transport: shm}}
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
  - {{host_groups: milan, placements: core, benchmarks: product, each: {{unit: node, at_once: 4}}}}
"""
PAIRS = """\
  - {host_groups: milan, placements: pair, benchmarks: point_to_point, each: {unit: pair, at_once: 1}}
"""
# A product of matrices, again and again.
PRODUCT = r"""
#include <mpi.h>
#include <stdio.h>

enum { SIZE = 128, TIMES = 400 };
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
CPUS = 0.4  # of a node, so that four are measured side by side on two
SLOW, ODD, LINK = "n3", "n5", ("n2", "n7")
RATE, RATE_OF_LINK = "64mbit", "32mbit"
PORT = "class/infiniband/mlx5_0/ports/1/rate"


@contextmanager
def site_of(folder: Path, nodes: int, share: float) -> Iterator[Site]:
    """Like nodes, of which one has a share of the others' CPU time and one a slow port."""
    if why := cpu_limits.refused():
        pytest.skip(f"no limits of CPU time: {why}")
    sizes = (2, CPUS), (1, share * CPUS), (nodes - 3, CPUS)
    groups = [NodeGroup(f"g{n}", nodes=count, cpus=cpus) for n, (count, cpus) in enumerate(sizes)]
    with MiniCluster(folder, groups, [PROJECT]) as cluster:
        for node in cluster.nodes:
            plant(cluster, node)
        site = Site(cluster)
        (site.folder / "product").mkdir()
        (site.folder / "product/product.c").write_text(PRODUCT)
        yield site


def plant(cluster: MiniCluster, node: str) -> None:
    """What a node has from its boot on: the rate of its port, and that of its links."""
    odd = node == ODD or len(cluster.nodes) == 4 and node == "n2"
    cluster.declare(node, PORT, "50 Gb/sec (2X HDR)" if odd else "100 Gb/sec (4X EDR)")
    other = dict([LINK, LINK[::-1]]).get(node, "")
    cluster.shape_links(node, "eth1", RATE, {other: RATE_OF_LINK} if other in cluster.nodes else {})


def write(site: Site, pairs: str = "") -> None:
    environment = json.dumps(site.cluster.environment)
    text = CAMPAIGN.format(environment=environment, nodes=len(site.cluster.nodes))
    (site.folder / "jobs.yaml").write_text(text + pairs)
    site.cluster.give(site.folder)


@pytest.mark.full
def test_slow(cluster_parts: None, tmp_path: Path) -> None:
    with site_of(tmp_path / "cluster", 4, .6) as site:
        write(site)
        done = site.run(timeout=900)
        print(done.stdout, done.stderr)
        assert succeeded(done)

@pytest.mark.soak
def test_all(cluster_parts: None, tmp_path: Path) -> None:
    with site_of(tmp_path / "cluster", 8, .9) as site:
        write(site, PAIRS)
        done = site.run(timeout=1900)
        print(done.stdout, done.stderr)
        assert succeeded(done)
