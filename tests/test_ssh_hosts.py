"""Hosts without a scheduler, reached by ssh: campaigns on two nodes of the test cluster without its Slurm."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from threading import Event

import pytest
from conftest import ProjectCopy, copy_project, executable, succeeded
from minicluster import MiniCluster, NodeGroup
from test_cluster_faults import meanwhile, wait_for

from mpicampaign.base.records import (
    CHOSEN_TRANSPORT,
    DECLARED,
    FAILED,
    NOT_AVAILABLE,
    OK,
    VERIFIED,
    Record,
    read_records,
)
from mpicampaign.evidence.evidence import Evidence, read_evidence

pytestmark = [pytest.mark.slow, pytest.mark.mpi]

CAMPAIGN = """\
campaign: ssh
repeats: 1
busy_machine: rank # the hosts are one machine, which other tests share
time_limit: {limit}
systems: {{vms: {{scheduler: none, hosts_from: list, mpi: {mpi}, environment: {environment}}}}}
{mpis}
host_groups:
  vm:
    system: vms
    hosts: [n1, n2]
    fabrics: {{eth: {{transport: tcp, interface: eth0}}}}
placements:
  free: {{nodes: 2, ranks_per_node: 1, transport: tcp, binding: none}}
  four: {{nodes: 2, ranks_per_node: 2, sockets: 1, transport: tcp}}
benchmarks:
  PingPong: {{arguments: -iter 300 -time 2 -msglog 0:20 PingPong}}
  tree_gather: {{arguments: --tree natural --min-size 64KiB --max-size 1MiB --budget 1}}
  {program}
matrix:
  - {{host_groups: vm, placements: [{placements}], benchmarks: {benchmark}}}
"""
# On each host a rank that ignores what can be ignored, and its child in a session of its own.
STUBBORN = """#!/bin/bash
trap '' TERM HUP INT
[ -n "${AGAIN-}" ] || AGAIN=1 setsid "$0" &
echo "$$" >"$0.$(uname -n)"
while :; do sleep 0.1; done
"""
FAKE_TABLE = "#!/bin/bash\nprintf '# OSU MPI Latency Test v7.4\\n# Size Latency (us)\\n1 0.50\\n'\n"
DEBIAN = "mpis: {{{mpi}: {{command: {command}}}}}"


class Hosts:
    """Two virtual machines that share a folder, and a user on the first of them."""

    def __init__(self, cluster: MiniCluster, folder: Path) -> None:
        self.cluster = cluster
        self.project: ProjectCopy = copy_project(folder)
        self.folder = folder

    def write(
        self,
        mpi: str = "wheel",
        command: str = "",
        environment: dict[str, str] | None = None,
        benchmark: str = "PingPong",
        placements: str = "TCP",
        limit: str = "1 min",
        program: str = "",
        declared: bool = True,
    ) -> None:
        values = (self.cluster.environment if declared else {}) | (environment or {})
        if program:
            executable(self.folder / "program", program)
            kind = f"{{kind: path, location: {self.folder}/program}}"
            program = f"program: {{suite: osu, program: program, provider: {kind}}}"
        (self.folder / "ssh.yaml").write_text(
            CAMPAIGN.format(
                mpi=mpi,
                mpis=DEBIAN.format(mpi=mpi, command=command) if command else "",
                environment="{" + ", ".join(f'{key}: "{value}"' for key, value in values.items()) + "}",
                benchmark="program" if program else benchmark,
                placements=placements,
                limit=limit,
                program=program,
            )
        )
        self.cluster.give(self.folder)

    def run(self, node: str = "n1", timeout: float = 200) -> CompletedProcess[str]:
        return self.call("run", "--campaign", "ssh.yaml", node=node, timeout=timeout)

    def call(self, *arguments: str, node: str = "n1", timeout: float = 200) -> CompletedProcess[str]:
        command = [sys.executable, "-m", "mpicampaign.cli", *arguments]
        environment = {"PYTHONPATH": str(self.folder / "src")}
        call = self.cluster.call if node == "head" else partial(self.cluster.call_on, node)
        return call(command, cwd=self.folder, timeout=timeout, env=environment)

    def records(self) -> list[Record]:
        return read_records(self.folder / "results/ssh/records.jsonl")[1]

    def evidence(self) -> Evidence:
        runs = self.folder / "results/ssh/runs"
        found = [*runs.glob("*/*/*/*/result.txt"), *runs.glob("*/*/*/*/attempt-*.txt")]
        return read_evidence(sorted(found, key=lambda path: path.stat().st_mtime)[-1].read_text())


@pytest.fixture(scope="module")
def machines(cluster_parts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """The first machine has one socket of two cores, the second two sockets of one."""
    groups = [NodeGroup("blue", nodes=1), NodeGroup("red", nodes=1, sockets=2, cores_per_socket=1)]
    with MiniCluster(tmp_path_factory.mktemp("machines"), groups) as cluster:
        cluster.start_sshd()
        yield cluster


@pytest.fixture
def hosts(machines: MiniCluster, request: pytest.FixtureRequest) -> Hosts:
    return Hosts(machines, machines.folder / request.node.name.replace("[", "-").replace("]", ""))


LIBRARIES = [
    # settings, launch command, compiler wrapper, benchmark (the environment's IMB needs Intel MPI), tries
    pytest.param("wheel", "", "", "PingPong", 1, id="intelmpi"),
    pytest.param(
        "openmpi4", "mpirun.openmpi", "mpicc.openmpi", "tree_gather", 1, id="openmpi4", marks=pytest.mark.full
    ),
    # MPICH 4.0.2 over UCX and TCP hangs in MPI_Finalize in about one of ten launches
    pytest.param(
        "mpich-ucx", "mpiexec.mpich", "mpicc.mpich", "tree_gather", 4, id="mpich-ucx", marks=pytest.mark.full
    ),
]


@pytest.mark.full
@pytest.mark.parametrize(("mpi", "command", "compiler", "benchmark", "tries"), LIBRARIES)
@pytest.mark.usefixtures("imb")
def test_two_hosts_are_measured_and_verified(
    hosts: Hosts, mpi: str, command: str, compiler: str, benchmark: str, tries: int
) -> None:
    environment = {"MPICC": compiler} if compiler else {}
    hosts.write(mpi, command, environment, benchmark, limit="20 s")
    for _ in range(tries):
        done = hosts.run()
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stdout + done.stderr
    [record] = hosts.records()
    assert (record.status, record.verdict) == (OK, DECLARED), (record.reason, record.verdict_reasons)
    words = "; ".join(record.verdict_reasons)
    assert "n1 (1 rank), n2 (1 rank)" in words
    assert "MB over interface eth0" in words
    nodes = hosts.evidence().nodes
    assert {name: node["sockets"] for name, node in nodes.items()} == {"n1": "1", "n2": "2"}
    assert all(node.keys() >= {"memory_kb", "speed.eth0", "after.ticks"} for node in nodes.values())


@pytest.mark.full
@pytest.mark.usefixtures("imb")
def test_full_nodes_use_shared_memory_within_and_tcp_between(hosts: Hosts) -> None:
    """Four ranks on two CPUs: few, short messages. Beside it what the library chooses by itself."""
    hosts.write(placements="TCP-full, default-full")
    campaign = hosts.folder / "ssh.yaml"
    text = campaign.read_text().replace("system: vms\n", "system: vms\n    cores: 2\n")
    short = "-iter 20 -time 10 -msglog 9:10 -npmin 4 Sendrecv"
    campaign.write_text(text.replace("-iter 300 -time 2 -msglog 0:20 PingPong", short))
    assert succeeded(hosts.run())
    full, chosen = sorted(hosts.records(), key=lambda record: record.case.placement)
    for record in (full, chosen):
        assert (record.status, record.verdict) == (OK, DECLARED), (record.reason, record.verdict_reasons)
    assert "over interface eth0" in "; ".join(full.verdict_reasons)
    assert "tcp over eth" in chosen.metadata[CHOSEN_TRANSPORT]  # eth1, or both
    assert "the ranks' sockets" in chosen.metadata[CHOSEN_TRANSPORT]


@pytest.mark.full
@pytest.mark.usefixtures("imb")
def test_the_calling_machine_need_not_be_one_of_the_hosts(hosts: Hosts) -> None:
    """Their own hardware this time, which they share, so that two bound ranks would be on one CPU."""
    hosts.write(placements="free", declared=False)
    assert succeeded(hosts.run("head"))
    [record] = hosts.records()
    assert (record.status, record.verdict) == (OK, VERIFIED), (record.reason, record.verdict_reasons)
    assert "MB over interface eth0" in "; ".join(record.verdict_reasons)
    assert set(hosts.evidence().nodes) == {"head", "n1", "n2"}


@pytest.mark.full
@pytest.mark.usefixtures("imb")
def test_hosts_may_be_addresses(hosts: Hosts) -> None:
    """The first host is the calling machine itself, under a name unknown to it."""
    hosts.write()
    campaign = hosts.folder / "ssh.yaml"
    campaign.write_text(campaign.read_text().replace("[n1, n2]", "[10.77.0.11, 10.77.0.12]"))
    assert succeeded(hosts.run())
    [record] = hosts.records()
    assert (record.status, record.verdict) == (OK, DECLARED), (record.reason, record.verdict_reasons)
    assert set(hosts.evidence().nodes) == {"n1", "n2"}


@pytest.mark.full
def test_what_the_second_host_lacks_is_reported(hosts: Hosts) -> None:
    """Two cores of one socket: the first host has them, the second has two sockets of one core."""
    hosts.write(placements="four", program=FAKE_TABLE)
    assert "no run gave a value that counts" in hosts.run().stderr
    [record] = hosts.records()
    assert record.status == NOT_AVAILABLE
    assert "n2 offers 2 sockets and 2 cores" in record.reason


@pytest.mark.full
def test_hosts_may_bind_their_ranks_by_different_tools(hosts: Hosts) -> None:
    """The second host has no numactl, then neither numactl nor taskset."""
    hosts.write()
    hidden: list[str] = []
    try:
        for tool in ("numactl", "taskset"):
            hosts.cluster.administer(["mount", "--bind", "/dev/null", f"/usr/bin/{tool}"], "n2")
            hidden.append(tool)
            shutil.rmtree(hosts.folder / "results", ignore_errors=True)
            assert hosts.run().returncode == (tool == "taskset")
            [record] = hosts.records()
            if tool == "taskset":
                assert record.status == NOT_AVAILABLE
                assert record.reason.startswith("no working numactl or taskset on n2 to bind the ranks")
            else:
                assert (record.status, record.verdict) == (OK, DECLARED), record.verdict_reasons
                both = "by numactl (memory: local) and taskset (memory: first touch)"
                assert f"binding: one core per rank, {both}" in record.verdict_reasons
    finally:
        for tool in hidden:
            hosts.cluster.administer(["umount", f"/usr/bin/{tool}"], "n2")


@pytest.mark.full
@pytest.mark.parametrize(
    ("fault", "repair", "words"),
    [
        (
            "mount -t tmpfs none {folder}/results",
            "umount {folder}/results",
            "n2 does not see {folder}/results",
        ),
        ("kill $(cat /run/sshd.pid)", "/usr/sbin/sshd -f {cluster}/slurm/sshd_config", "Connection refused"),
    ],
    ids=["folder", "sshd"],
)
def test_a_fault_of_the_second_host_is_named(hosts: Hosts, fault: str, repair: str, words: str) -> None:
    (hosts.folder / "results").mkdir()
    hosts.write(program=FAKE_TABLE)
    folders = {"folder": hosts.folder, "cluster": hosts.cluster.folder}
    hosts.cluster.administer(["sh", "-ec", fault.format(**folders)], "n2")
    try:
        done = hosts.run()
    finally:
        hosts.cluster.administer(["sh", "-ec", repair.format(**folders)], "n2")
    assert done.returncode != 0
    [record] = hosts.records()
    assert record.status == FAILED
    assert words.format(**folders) in record.reason, record.reason


@pytest.mark.full
def test_a_host_that_does_not_answer_fails_soon_with_what_to_do(hosts: Hosts) -> None:
    hosts.write(program=FAKE_TABLE)
    hosts.cluster.cut_link("n2")
    started = time.monotonic()
    try:
        done = hosts.run()
    finally:
        hosts.cluster.join_link("n2")
    print(f"a host that does not answer: {time.monotonic() - started:.1f} s")
    assert done.returncode != 0
    [record] = hosts.records()
    assert record.status == FAILED
    assert "n2 does not answer ssh from n1" in record.reason
    assert "'ssh -o BatchMode=yes n2 true' must work" in record.reason


@pytest.mark.full
def test_a_block_names_the_host_that_was_lost_and_goes_on_with_it(hosts: Hosts) -> None:
    """Its program sleeps until the time limit: the host's fault, not the slowness of a candidate."""
    began = hosts.folder / "began"
    once = f"[ -e {began} ] || {{ touch {began}; exec sleep 60; }}\n"
    program = FAKE_TABLE.replace("printf", f"{once}[ $PMI_RANK != 0 ] || printf")
    hosts.write(placements="free, four", program=program, limit="5 s")
    campaign = hosts.folder / "ssh.yaml"
    text = campaign.read_text().replace("sockets: 1, transport: tcp", "transport: tcp, binding: none")
    campaign.write_text(
        text.replace("benchmarks: program", "benchmarks: program, blocks: reference, repeats: 1")
    )

    def cut(stopping: Event) -> None:
        if wait_for(began.exists, stopping):
            hosts.cluster.cut_link("n2")

    try:
        with meanwhile(cut):
            assert hosts.run().returncode != 0
    finally:
        hosts.cluster.join_link("n2")
    assert [record.reason.count("since the launch") for record in hosts.records()].count(1) == 1
    said = hosts.call("status", "ssh.yaml").stdout
    begins = "block 1 has 0 of 2 runs: n2 does not answer ssh from n1"
    assert begins in said and "the same command makes the others, on the same nodes" in said, said
    assert succeeded(hosts.run())
    assert [record.status for record in hosts.records()] == [OK, OK]  # none counts as the slowest


@pytest.mark.full
@pytest.mark.parametrize(
    ("mpi", "command", "compiler"), [("wheel", "", ""), ("openmpi4", "mpirun.openmpi", "mpicc.openmpi")]
)
def test_stubborn_ranks_of_all_hosts_end_at_the_time_limit(
    hosts: Hosts, mpi: str, command: str, compiler: str
) -> None:
    hosts.write(mpi, command, {"MPICC": compiler} if compiler else {}, limit="5 s", program=STUBBORN)
    hosts.run()  # its exit status is 0 where other processes used the CPUs meanwhile
    assert {path.suffix for path in hosts.folder.glob("program.*")} == {".n1", ".n2"}
    [record] = hosts.records()
    assert "time limit of 5 s" in record.reason
    assert "on n2: did not end with its launcher" in hosts.evidence().job["killed"]
    for node in ("n1", "n2"):
        found = hosts.cluster.call_on(node, ["pgrep", "-af", f"{hosts.folder}/[p]rogram"])
        assert found.stdout == "", f"{node}: {found.stdout}"
