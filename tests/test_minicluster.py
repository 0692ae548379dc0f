"""The end of a test cluster: nothing is left of it on this machine."""

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
from minicluster import MiniCluster

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent


def submit(cluster: MiniCluster, command: str, *options: str) -> str:
    done = cluster.call(["sbatch", "--parsable", *options, f"--wrap={command}"])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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
