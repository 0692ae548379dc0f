"""Nodes with less CPU time than others, by the CPU controller of cgroup v1."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from minicluster.layout import Node

PERIOD = 20_000  # µs: short, so that a measurement meets many of them; the kernel's least quota is 1000


def arguments(node: Node) -> list[str]:
    """For node.sh: the name of the node's control group, and its µs of CPU time in how many."""
    return [_group(node), str(round(node.group.cpus * PERIOD)), str(PERIOD)]


def remove(nodes: Iterable[Node]) -> None:
    """Remove the control groups of nodes that have ended."""
    groups = [_group(node) for node in nodes if node.group.cpus]
    each = 'for group; do [ ! -d "/media/$group" ] || rmdir "/media/$group"; done'
    if groups and (why := _in_controller(each, *groups)):
        raise OSError(why)


def refused() -> str:
    """Why this machine can't limit nodes; empty where it can."""
    return _in_controller("ls /media/cpu.cfs_quota_us")


def _group(node: Node) -> str:
    return f"minicluster-{os.getpid()}-{node.name}"


def _in_controller(script: str, *words: str) -> str:
    mounted = f"mount -t cgroup -o cpu cgroup /media; {script}"
    command = ["unshare", "--mount", "sh", "-ec", mounted, "sh", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
