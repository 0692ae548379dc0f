"""Blocks on the test cluster: none on two sets of nodes, nothing lost, nothing twice, whatever is killed."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from build_campaigns import TWO_NODES, program_at
from cluster_site import Site, killed_after
from conftest import succeeded
from minicluster import MiniCluster, NodeGroup, cpu_limits
from test_cluster_faults import has_results, meanwhile, wait_for

from mpicampaign.base.grouping import grouped
from mpicampaign.base.host_lists import expand
from mpicampaign.base.records import OK, Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.blocks.find import WORSE
from mpicampaign.verdicts.rank_tests import rank_sum_and_welch

pytestmark = pytest.mark.slow

CANDIDATES, BENCHMARKS = ("two", "other"), ("trivial", "second")
KINDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


NODES = [NodeGroup("blue", nodes=4)]


def write(site: Site, blocks: int, requeue: bool) -> None:
    """Two placements as candidates, of two benchmarks; half of the cluster for each block."""
    site.write(
        body="sleep 0.5",
        busy_machine="rank",
        repeats=None,
        group={"exclusive": True, "requeue": requeue},
        placements=dict.fromkeys(CANDIDATES, TWO_NODES),
        benchmarks=dict.fromkeys(BENCHMARKS, program_at(site.folder / "program")),
        entry={"repeats": blocks, "blocks": "all pairs"},
    )


def busy(site: Site) -> list[list[str]]:
    """The nodes of a block that runs: that of its script first."""
    listed = site.cluster.call(["squeue", "--noheader", "--states=RUNNING", "--format=%N"]).stdout.split()
    return [expand(each) for each in listed]


def lose_nodes(site: Site, generator: random.Random, lost: int, runs: int, stopping: Event) -> None:
    """A power cut of a node that has a block, ``lost`` times while so many runs are made."""
    for number in range(1, lost + 1):
        if wait_for(partial(has_results, site, number * runs // (lost + 1) + 1), stopping):
            wait_for(lambda: bool(busy(site)), stopping)
            nodes = generator.choice(busy(site) or [["n1", "n2"]])
            node = nodes[0 if number % 2 else 1]
            site.cluster.kill_node(node)
            print(f"{node} of {nodes} is lost at {time.strftime('%T')}")
            wait_for(lambda node=node: "down" in site.cluster.node_states().get(node, ""), stopping)
            site.cluster.boot_node(node)


def complete(site: Site, blocks: int, candidates: int, benchmarks: int) -> list[Record]:
    """Run the campaign to its end: each block complete on one set of nodes, no run doubled; the results."""
    for _ in range(5):  # a launch that fails for a lost node is a failed run, which the next call repeats
        if (done := site.run(timeout=900)).returncode == 0:
            break
    assert succeeded(done)
    status = site.call("status").stdout
    print(status)
    assert f"{blocks} of {blocks} blocks complete" in status
    good = [record for record in site.records() if record.status == OK]
    parts = grouped(good, lambda record: (record.case.benchmark, record.repeat))
    whole = [part for part in parts.values() if len(part) == candidates]
    assert all(len({frozenset(record.hosts) for record in part}) == 1 for part in whole)
    assert len(whole) >= blocks * benchmarks  # one that failed may be requeued after all
    assert len({frozenset(record.hosts) for record in good}) > 1  # nodes as they come
    assert status.count(" stands in for it") >= (len(parts) > len(whole))
    assert site.submitted_while_alive() == []
    assert " 0 still to be done" in site.call("plan").stdout
    print(f"{len(good)} results, {len(parts) - len(whole)} parts of blocks left")
    return good


@pytest.mark.parametrize(
    ("blocks", "kills", "lost", "requeue"),
    [
        pytest.param(3, 2, 1, False, marks=pytest.mark.full),
        pytest.param(12, 8, 4, True, marks=pytest.mark.soak),
    ],
)
def test_blocks_stay_whole_whatever_is_killed(
    site: Site, blocks: int, kills: int, lost: int, requeue: bool
) -> None:
    write(site, blocks, requeue)
    generator = random.Random(blocks)
    with meanwhile(partial(lose_nodes, site, generator, lost, blocks * 3)):
        for _ in range(kills):
            kind = generator.choice(KINDS)
            site.run(before=killed_after("", kind, generator.randrange(1, 2 * blocks)))
    complete(site, blocks, len(CANDIDATES), len(BENCHMARKS))


# A race, which asks for further blocks by its results

# Its time is that of a sleep.
SLEEP = r"""began=${EPOCHREALTIME/./}; sleep 0.$SETTING; ended=${EPOCHREALTIME/./}
printf '# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 %s.00\n' $((ended - began)); exit"""


@pytest.mark.full
def test_a_race_that_is_killed_is_won_by_the_shortest_delay(site: Site) -> None:
    site.write(
        body=SLEEP,
        busy_machine="rank",
        repeats=None,
        group={"exclusive": True},
        placements={"two": {**TWO_NODES, "environment": {"SETTING": [20, 40, 10]}}},
        entry={"race": {}},
    )
    site.run(before=killed_after("result", signal.SIGKILL, 4))
    said = site.call("status").stdout
    assert re.search(r"3 left, next look after 8 blocks: \d of 8 blocks complete, \d missing: ", said), said
    done = site.run(timeout=900)
    assert succeeded(done) and "\nSETTING=10 beats SETTING=20 in 1 (ratio " in done.stdout
    said = site.call("status").stdout
    assert re.search(r"race, ended: (8|12) of \1 blocks complete\n", said), said
    assert "export SETTING=10" in (site.folder / "results/jobs/settings/environment.sh").read_text()
    of_settings = grouped(site.records(), lambda record: record.case.placement).values()
    counts = [sum(record.status == OK for record in runs) for runs in of_settings]
    assert counts[0] == counts[2] in (8, 12) and counts[1] == 8, counts
    assert site.submitted_while_alive() == []


# Two libraries on nodes that differ more than the libraries do

CPUS = (0.08, 0.17, 0.36)  # of a node, in groups of two
BLOCKS = 12
LIBRARIES = {"openmpi5": "openmpi", "mpich-ofi": "mpich"}
PLANTED = {"mpich-ofi": {"DELAY": 4000}}  # µs of CPU time in each MPI_Allreduce, beside 20,000 of a step
STEP = """\
campaign: jobs
busy_machine: rank
time_limit: 1 min
systems: {{mini: {{scheduler: slurm, mpi: {libraries}, environment: {environment}}}}}
host_groups:
  all: {{system: mini, exclusive: true, requeue: true, fabrics: {{tcp: {{transport: tcp, interface: eth0}}}}}}
placements: {{pair: {{nodes: 2, ranks_per_node: 1, transport: tcp, fabric: tcp}}}}
benchmarks:
  step:
    suite: own
    program: step
    provider: {{kind: source, location: step, build: mpicc -O2 -o step step.c}}
    whole: [us$]
    metrics: {{time: {{pattern: '^(?P<value>[0-9.]+) us', unit: us, better: lower}}}}
matrix: [{{host_groups: all, placements: pair, benchmarks: step, blocks: reference, repeats: {blocks}}}]
"""
# Steps that take CPU time, of which a node has little; a library may be slower by a delay.
STEP_C = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double used(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * now.tv_sec + 1e-3 * now.tv_nsec;
}
static void work(double us) {
    double start = used();
    while (used() - start < us)
        continue;
}
int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm all) {
    work(getenv("DELAY") ? atof(getenv("DELAY")) : 0);
    return PMPI_Allreduce(in, out, count, type, op, all);
}
int main(int argc, char **argv) {
    int rank, steps = 0;
    double start, seconds = 0, longest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (start = MPI_Wtime(), longest = 0; longest < 15; steps++) {
        work(20000);
        seconds = MPI_Wtime() - start;
        MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.3f us\n", longest / steps * 1e6);
    MPI_Finalize();
}
"""


@pytest.fixture
def unequal(cluster_parts: None, tmp_path: Path, test_mpi: Callable[[str], str]) -> Iterator[Site]:
    """Six nodes with different shares of CPU time, and a program with two libraries."""
    if why := cpu_limits.refused():
        pytest.skip(f"no limits of CPU time: {why}")
    prefixes = {name: test_mpi(wheel) for name, wheel in LIBRARIES.items()}
    groups = [NodeGroup(f"of-{cpus}", nodes=2, cpus=cpus) for cpus in CPUS]
    with MiniCluster(tmp_path / "cluster", groups, [*map(Path, prefixes.values())]) as cluster:
        site = Site(cluster)
        (site.folder / "step").mkdir()
        (site.folder / "step/step.c").write_text(STEP_C)
        libraries = json.dumps(
            [
                {"mpi": name, "prefix": prefix, "environment": PLANTED.get(name, {})}
                for name, prefix in prefixes.items()
            ]
        )
        environment = json.dumps({**cluster.environment, "MPICC": "mpicc"})
        text = STEP.format(libraries=libraries, environment=environment, blocks=BLOCKS)
        (site.folder / "jobs.yaml").write_text(text)
        cluster.give(site.folder)
        yield site


@pytest.mark.soak
def test_two_libraries_in_blocks_on_unequal_nodes(unequal: Site) -> None:
    """What the blocks show is real, and all runs together, without the blocks, do not show it."""
    site, generator, seen = unequal, random.Random(8), dict[Path, tuple[int, int]]()
    with meanwhile(partial(lose_nodes, site, generator, 2, BLOCKS)):
        for _ in range(8):
            kind = generator.choice(KINDS)
            assert site.run(before=killed_after("result", kind)).returncode
            seen |= {path: own for path, own in results(site).items() if path not in seen}
    good = complete(site, BLOCKS, len(LIBRARIES), 1)
    assert seen.items() <= results(site).items()
    [found] = compare(good).blocks
    [verdict] = found.verdicts
    together = rank_sum_and_welch(*zip(*(block.values for block in found.blocks), strict=True))
    within = f"{verdict.ratio.median:.3f} times within blocks, p = {verdict.pair.p:.4f}"
    print(f"{within}; over all runs p = {together:.2f}; {len(seen)} files of results were there at a kill")
    assert seen and verdict.word == WORSE and together > 0.05


def results(site: Site) -> dict[Path, tuple[int, int]]:
    """When each result was written, and into which file."""
    files = site.folder.glob("results/jobs/runs/*/*/*/*/result.txt")
    return {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}
