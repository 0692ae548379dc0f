"""The test cluster itself: a real Slurm with real networks and a clean end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import wait_until
from minicluster import BLUE, RED, MiniCluster, NodeGroup
from minicluster.layout import USER, USER_ID

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent


def submit(cluster: MiniCluster, command: str, *options: str) -> str:
    done = cluster.call(["sbatch", "--parsable", *options, f"--wrap={command}"])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- The nodes


def test_jobs_run_as_an_ordinary_user_in_the_shared_folder(minicluster: MiniCluster) -> None:
    output = minicluster.home / "who.txt"
    job = submit(
        minicluster, "id -un; id -u; hostname; pwd; ls /root/.ssh /etc/shadow-", f"--output={output}"
    )
    minicluster.wait_for(
        lambda: minicluster.queue().get(job) == "FAILED", 120, f"job {job} failed"
    )  # ls may not look there
    user, number, host, folder, *_ = output.read_text().split()
    assert (user, number, folder) == (USER, str(USER_ID), str(minicluster.home))
    assert host in minicluster.nodes
    assert minicluster.call(["stat", "--format=%U", str(output)]).stdout.strip() == USER


@pytest.mark.parametrize("folder", ["/dev/shm", "/tmp", "/run/user-of-the-test"])
def test_memory_and_temporary_files_are_private_to_a_node(minicluster: MiniCluster, folder: str) -> None:
    minicluster.administer(["sh", "-c", f"mkdir -p {folder} && echo one >{folder}/private"], "n1")
    seen = [Path(folder, "private").exists()]
    seen += [
        minicluster.call_on(node, ["test", "-e", f"{folder}/private"]).returncode == 0
        for node in minicluster.nodes
    ]
    assert seen == [False, True, False, False, False]


def test_each_node_sees_its_own_interfaces_only(minicluster: MiniCluster) -> None:
    addresses = set()
    for node in minicluster.nodes.values():
        assert minicluster.call_on(node.name, ["ls", "/sys/class/net"]).stdout.split() == [
            "eth0",
            "eth1",
            "lo",
        ]
        words = minicluster.call_on(node.name, ["ip", "-4", "-brief", "address"]).stdout.split()
        assert {word.split("/")[0] for word in words if "/" in word} == {"127.0.0.1", *node.addresses}
        addresses.add(minicluster.call_on(node.name, ["cat", "/sys/class/net/eth0/address"]).stdout)
    assert len(addresses) == 4


def test_the_two_networks_are_not_connected(minicluster: MiniCluster) -> None:
    """n2's address on the second network is reached through the second card, and not without it."""
    connect = [sys.executable, "-c", "import socket; socket.create_connection(('n2-eth1', 6818), 2)"]
    assert minicluster.call_on("n1", connect).returncode == 0
    minicluster.cut_link("n1", "eth1")
    try:
        assert minicluster.call_on("n1", connect).returncode != 0
        assert minicluster.call(["srun", "-N2", "-pblue", "true"]).returncode == 0
    finally:
        minicluster.join_link("n1", "eth1")


TOPOLOGY = (
    'for c in "$S"/devices/system/cpu/cpu*; do echo $(cat $c/topology/physical_package_id) $(ls $c); done'
)


@pytest.mark.parametrize(("group", "sockets"), [(BLUE, "0 0"), (RED, "0 1")])
def test_a_group_shows_its_declared_hardware(
    minicluster: MiniCluster, group: NodeGroup, sockets: str
) -> None:
    script = f"export S=$MPICAMPAIGN_SYSFS; {TOPOLOGY}; ls $S/class/net; echo $MPICAMPAIGN_ALLOWED"
    command = ["srun", f"-p{group.name}", "-N1", "bash", "-c", script]
    lines = minicluster.call(command, env=minicluster.environment).stdout.splitlines()
    cpus, rest = lines[:2], lines[2:]
    assert " ".join(line.split()[0] for line in cpus) == sockets
    real = [path.name for path in sorted(Path("/sys/devices/system/cpu").glob("cpu[01]/node*"))]
    assert [line.split()[1] for line in cpus] == (real * 2)[:2] or not real
    assert rest[:3] == ["eth0", "eth1", "lo"]
    assert sorted(rest[3].split(",")) == ["0", "1"][: os.cpu_count()]


def test_a_command_that_hangs_is_ended_inside(minicluster: MiniCluster) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        minicluster.call(["sleep", "4711"], timeout=0.5)
    assert minicluster.call(["pgrep", "-f", "^sleep 4711"]).returncode == 1


# ---- The end of a cluster

KINDS = ("pid", "net", "mnt", "uts", "ipc")


def children(process: int) -> list[int]:
    numbers: list[str] = []
    with suppress(OSError):  # the process has just ended
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):  # a thread alone has just ended
                numbers += (thread / "children").read_text().split()
    return [int(number) for number in numbers]


def descendants(process: int) -> list[int]:
    return [process for child in children(process) for process in (child, *descendants(child))]


def namespaces(process: int) -> set[str]:
    found = set()
    for kind in KINDS:
        try:
            found.add(str(Path(f"/proc/{process}/ns/{kind}").readlink()))
        except OSError:
            continue  # it has just ended
    return found


def namespaces_of_cluster(parent: int) -> set[str]:
    inside = [namespaces(process) for process in descendants(parent)]
    return set[str]().union(*inside) - namespaces(os.getpid())


def members(wanted: set[str]) -> list[int]:
    """Processes of this machine in any of these namespaces."""
    processes = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [process for process in processes if namespaces(process) & wanted]


def traces(folder: Path) -> list[str]:
    """Mounts that concern the cluster, and links of its making, as this machine sees them."""
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line]
    links = [path.name for path in Path("/sys/class/net").iterdir() if re.match(r"n\d+-eth", path.name)]
    return mounts + links


def wait_until_empty(wanted: set[str]) -> None:
    wait_until(lambda: not members(wanted))


def test_nothing_is_left_after_stop(cluster_parts: None, tmp_path: Path) -> None:
    others = namespaces_of_cluster(os.getpid())  # of the cluster that tests share
    with MiniCluster(tmp_path) as cluster:
        cluster.start_sshd()
        submit(cluster, "sleep 300", "-N2")
        inside = namespaces_of_cluster(os.getpid()) - others
        assert len(members(inside)) >= 10
        assert len(inside) >= 3 * len(KINDS)  # head and two nodes
    wait_until_empty(inside)
    assert traces(tmp_path) == []


OWNER = """\
import sys, time
from pathlib import Path
from minicluster import MiniCluster
cluster = MiniCluster(Path(sys.argv[1]))
cluster.start()
cluster.call(["sbatch", "-N2", "--wrap=srun sleep 300"])
print("up", flush=True)
cluster.call(["sleep", "300"], timeout=300)
"""


@pytest.mark.full
def test_nothing_is_left_after_kill_9_of_the_owner(cluster_parts: None, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(TESTS)}, stdout=subprocess.PIPE
    ) as owner:
        try:
            assert owner.stdout and owner.stdout.readline() == b"up\n"
            time.sleep(0.5)  # the job starts
            inside = namespaces_of_cluster(owner.pid)
            assert len(members(inside)) >= 10
        finally:
            owner.send_signal(signal.SIGKILL)
    wait_until_empty(inside)
    assert traces(tmp_path) == []
