"""The whole machine on the test cluster: every node, and every pair, in one job; what a fault costs."""

from __future__ import annotations

import re
import shutil
import signal
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest
from build_campaigns import TWO_NODES, write_jobs
from cluster_site import Site, killed_after
from conftest import PROJECT, executable, succeeded
from minicluster import MiniCluster, NodeGroup
from on_cluster import cluster_project, system_of
from test_cluster_faults import has_results, meanwhile, wait_for

from mpicampaign.base.records import DECLARED, OK

pytestmark = pytest.mark.slow

# A latency that is 12 % above the others' on n3; what else a test asks of it comes before.
BODY = r"""{more}
node=$(uname -n) base=500
[ "$node" != n3 ] || [ -e {folder}/repaired ] || base=560
printf '# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 0.%03d\n' $((base + RANDOM % 8))
exit 0"""


NODES = [NodeGroup("blue", nodes=4)]


def write(
    site: Site, more: str = "", hosts: str = "n[1-4]", body: str = BODY, take: str = "idle", **keys: object
) -> None:
    """A campaign of every node."""
    site.write(
        body=body.format(more=more, folder=site.folder),
        busy_machine="rank",
        repeats=None,
        system={},
        group={"hosts": hosts, "exclusive": True},
        placements={"two": {**TWO_NODES, "nodes": 1}},
        entry={"each": {"unit": "node", "take": take}},
        **{"time_limit": "1 min", **keys},
    )


def steps(site: Site) -> list[str]:
    """The steps that Slurm started on any node, by job and number."""
    logs = (site.cluster.node_log(node) for node in site.cluster.nodes)
    return sorted({step for log in logs for step in re.findall(r"launch task StepId=(\d+\.\d+)", log)})


@pytest.mark.full
def test_the_slow_node_is_named_and_the_drained_one_listed(site: Site) -> None:
    """A submission for all rounds that are due, a step for each round."""
    write(site)
    site.cluster.administer(["scontrol", "update", "nodename=n4", "state=drain", "reason=bad dimm"])
    done = site.run()
    assert succeeded(done)
    assert "1 of 3 nodes is slow: n3" in done.stdout
    assert "Not measured: n4: drained (bad dimm)" in done.stdout
    assert len(site.cluster.completed_jobs()) == 2  # two rounds of all, four more that confirm
    assert steps(site) == ["1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "2.3", "2.4"]  # one watches the driver
    folders = [path.name for path in site.folder.glob("results/jobs/runs/*")]
    assert sorted(folders) == ["n1", "n2", "n3", "n4"]  # as a host group of this one host has it
    status = site.call("status").stdout
    assert "all two trivial: 6 of 6 rounds made; n4 is drained (bad dimm)" in status, status
    site.cluster.administer(["touch", str(site.folder / "repaired")])
    done = site.call("run", "--only", "n3")
    print(done.stdout + done.stderr)
    assert succeeded(done)
    again = [record for record in site.records() if record.case.host_group.startswith("all:n3 ")]
    assert len([record for record in again if record.status == OK]) >= 3 * 6
    assert len([record for record in site.records() if record.status == OK]) == 3 * 6 + len(again) - 2
    assert "1 of 3 nodes is slow: n3" in done.stdout  # as it was before
    assert "--only" in site.call("run", "--only", "n9").stderr


# ACTION COMMAND...: does something while the command waits for busy nodes.
WHILE_IT_WAITS = """
setsid "${@:2}" 2>call.log &
until grep -q "busy: judged when" call.log || ! kill -0 $!; do sleep 0.05; done
eval "$1"; wait $!; status=$?; cat call.log >&2; exit $status
"""


@pytest.mark.full
def test_nodes_that_others_use_are_judged_once_they_are_free(tmp_path: Path) -> None:
    """Killed while it waits, a call goes on by the same command; no run is made for nothing."""
    with MiniCluster(tmp_path / "cluster", [NodeGroup("blue", nodes=8)], [PROJECT]) as cluster:
        site = Site(cluster)
        body = BODY.replace("!= n3 ]", '!= n3 ] && [ "$node" != n7 ]')
        write(site, body=body, hosts="n[1-8]", time_when_busy="1 s")
        held = ["sbatch", "--parsable", "--nodelist=n[5-8]", "--nodes=4", "--exclusive", "--wrap=sleep 600"]
        number = cluster.call(held).stdout.strip()
        cluster.wait_for(lambda: cluster.queue().get(number) == "RUNNING", 30, "n5 to n8 are in use")
        first = site.run()
        print(first.stdout + first.stderr)
        assert succeeded(first)
        assert "1 of 4 nodes is slow: n3" in first.stdout
        busy = r"4 nodes were busy until 20\S+ \d\d:\d\d UTC: not judged"
        for text in (first.stdout, first.stderr, site.call("status").stdout):
            assert re.search(busy, text), text
        assert "any node of those judged is wrongly named" in first.stdout
        before = {(run.case, run.repeat, run.identity, run.started) for run in site.records() if run.started}
        write(site, body=body, hosts="n[1-8]", time_when_busy="10 min")
        kills = {"kill -KILL -- -$!": 137, "kill -TERM -- -$!": 143, "kill -HUP -- -$!": 129}
        for action, status in {**kills, f"scancel {number}": 0}.items():
            assert {*cluster.queue().values()} == {"COMPLETED", "RUNNING"}
            assert re.search(busy, site.call("status").stdout)
            done = site.run(before=("bash", "-c", WHILE_IT_WAITS, "bash", action))
            print(done.stdout + done.stderr)
            assert done.returncode == status
        assert re.search(r"2 of 8 nodes are slow: (?:n3\b[\s\S]*\bn7|n7\b[\s\S]*\bn3)\b", done.stdout)
        assert " 0 still to be done" in site.call("plan").stdout
        records = site.records()
        assert before <= {(run.case, run.repeat, run.identity, run.started) for run in records}
        # as if it had been there from the start
        assert {run.repeat for run in records if "n7" in run.hosts} >= {1, 2}
        assert {run.status for run in records} == {OK}
        assert set(site.submissions().values()) == {1}


@pytest.mark.full
def test_a_job_does_not_wait_for_a_node_that_is_drained_meanwhile(site: Site) -> None:
    write(site, take="all")
    other = site.cluster.call(["sbatch", "--parsable", "--nodes=4", "--exclusive", "--wrap=sleep 600"])
    number, reported = other.stdout.strip(), list[str]()
    site.cluster.wait_for(lambda: site.states().get(number) == "RUNNING", 30, "all nodes are in use")

    def drain(stopping: Event) -> None:
        waits = "job 2: PENDING (Resources); a job waits until all its nodes are free"
        wait_for(lambda: waits in site.call("status").stdout, stopping)
        reported.append(site.call("report").stdout)
        site.cluster.administer(["scontrol", "update", "nodename=n4", "state=drain", "reason=bad dimm"])
        wait_for(lambda: "CANCELLED" in site.cluster.queue().values(), stopping)
        site.cluster.call(["scancel", number])

    with meanwhile(drain):
        done = site.run()
    print(done.stdout + done.stderr)
    assert succeeded(done)
    assert "all: 4 nodes busy: a job waits until all its nodes are free" in done.stderr
    assert re.search(r"4 nodes were busy until \S+ \S+ UTC: not judged", reported[0]), reported
    assert "busy until" not in done.stdout
    assert "node-hours; a job waits until all its nodes are free" in site.call("plan").stdout
    assert "waits for nodes that it cannot have (n4 is drain" in done.stderr
    assert "1 of 3 nodes is slow: n3" in done.stdout


@pytest.mark.full
def test_a_fault_costs_only_what_was_in_flight(site: Site) -> None:
    """A call and a job are killed, a node dies, a run hangs."""
    hang = '[ "$(uname -n)" != n2 ] || [ -e hung ] || { touch hung; sleep 1000; }'
    write(site, f"cd {site.folder}; {hang}; sleep 1", time_limit="8 s")

    def break_it(stopping: Event) -> None:
        if wait_for(partial(has_results, site, 5), stopping):
            site.cluster.kill_node("n4")

    site.run(before=killed_after("submitted", signal.SIGKILL))
    with meanwhile(break_it):
        site.run()
    site.cluster.boot_node("n4")
    site.cluster.wait_for(lambda: site.cluster.node_states().get("n4") == "idle", 60, "n4 is back")
    site.run(before=killed_after("submitted", signal.SIGTERM))
    alive = [number for number, state in site.cluster.queue().items() if state in ("RUNNING", "PENDING")]
    site.cluster.call(["scancel", *alive])
    done = site.run()
    assert succeeded(done)
    records = site.records()
    # The hung one is made again where it was disturbed; a kill may come just before a result is moved.
    reasons = [record.reason for record in records if record.status != OK]
    in_flight = Counter(
        ["stopped at the time limit of 8 s", "complete, but its script could not rename it to"]
    )
    assert Counter(kind for kind in in_flight for reason in reasons if reason.startswith(kind)) <= in_flight
    assert len(reasons) <= 2, reasons
    again = len(list(site.folder.glob("results/jobs/runs/*/*/*/*/attempt-*")))
    print(f"{len(records)} runs, {again} attempts without a result")
    assert again <= 1 + 1 + 4  # the hung one, those on the node that died, and in the job that was killed
    ended = {int(job["JobId"]): job for job in site.cluster.completed_jobs()}  # also says what a job lost
    jobs = [ended[number] for number in sorted(ended)]
    assert all(job["EndTime"] <= later["SubmitTime"] for job, later in pairwise(jobs))
    assert "n3" in done.stdout


LIBRARIES = {
    "openmpi4": ("mpirun.openmpi", "mpicc.openmpi"),
    "mpich-ucx": ("mpiexec.hydra", "mpicc.mpich"),
    "intelmpi": ("", ""),
}


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.parametrize(
    "mpi", ["intelmpi", *(pytest.param(name, marks=pytest.mark.soak) for name in ("openmpi4", "mpich-ucx"))]
)
def test_every_pair_with_each_library(cluster_parts: None, tmp_path: Path, mpi: str) -> None:
    """All pairs twice and all nodes twice are one job; the launcher reaches the second node without Slurm."""
    command, compiler = LIBRARIES[mpi]
    if compiler and not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    with MiniCluster(tmp_path / "cluster", [NodeGroup("blue", nodes=4)], visible=[PROJECT]) as cluster:
        project = cluster_project(cluster, f"pairs-{mpi}", **campaign(cluster, mpi, command, compiler))
        records = project.run(may_fail=mpi == "mpich-ucx")  # which hangs now and then in MPI_Finalize
        jobs = cluster.completed_jobs()
    screen = [record for record in records if not record.further]
    assert len(screen) == 2 * 6 + 2 * 4
    for record in screen:
        nodes = record.case.host_group.removeprefix("blue ").split("+")
        if mpi != "mpich-ucx" or record.status == OK:
            assert (record.verdict, sorted(record.hosts)) == (DECLARED, nodes), record.verdict_reasons
    assert {record.job_id for record in screen} == {"1"}
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}


def campaign(cluster: MiniCluster, mpi: str, command: str, compiler: str) -> dict[str, object]:
    own = {"MPICC": compiler} if compiler else {}
    fabrics = {"first": {"transport": "tcp", "interface": "eth0"}}
    group = {"system": "cluster", "hosts": "n[1-4]", "exclusive": True, "cores": 2, "fabrics": fabrics}
    kernel = {"host_groups": "blue", "benchmarks": "point_to_point"}
    prefix = None if compiler else "wheel"
    return {
        "repeats": None,
        "time_limit": "20 s",
        "system": system_of(cluster, mpi=mpi, prefix=prefix, environment=cluster.environment | own),
        "mpis": {mpi: {"command": command}} if command else {},
        "host_groups": {"blue": group},
        "placements": {"NODE": {"nodes": 1, "ranks_per_node": 2, "transport": "shm"}},
        "benchmarks": {"point_to_point": {"arguments": "--max-size 4KiB --budget 0.1"}},
        "matrix": [
            {**kernel, "placements": "TCP", "each": "pair"},
            {**kernel, "placements": "NODE", "each": {"unit": "node", "at_once": 2}},
        ],
    }


LAUNCH = """#!/bin/bash
while [[ $1 != */rank ]]; do shift; done
export PMI_RANK=0 MPI_LOCALRANKID=0
exec "$@"
"""


@pytest.mark.full
def test_listed_hosts_are_reached_by_ssh(site: Site) -> None:
    """Side by side, too; a host that does not answer costs nothing but its own runs."""
    site.cluster.start_sshd()
    executable(site.folder / "launch", LAUNCH)
    executable(site.folder / "program", "#!/bin/bash\n" + BODY.format(more="", folder=site.folder))
    write_jobs(
        site.folder,
        busy_machine="rank",
        repeats=None,
        system={"scheduler": "none"},
        group={"hosts": ["n1", "n2", "n3", "n4", "n9"]},
        placements={"one": {**TWO_NODES, "nodes": 1}},
        entry={"each": "node"},
    )
    site.cluster.give(site.folder)
    done = site.call("run")
    print(done.stdout + done.stderr)
    assert succeeded(done)
    assert "not measured: n9 left no files" in done.stderr
    assert "1 of 4 nodes is slow: n3" in done.stdout
    assert "Not measured: n9: not reachable by ssh" in done.stdout
    begins = {
        record.started for record in site.records() if record.metadata["round"] == "1" and record.started
    }
    assert len(begins) <= 2  # at once
