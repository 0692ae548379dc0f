"""tree_gather compared with MPI_Gather in the same launch: B_useful of both from 1 MiB per rank.

Two ranks on this machine over shared memory, and four ranks on two nodes of the test cluster over TCP. The
nodes of the cluster share this machine's cores: the second part compares the algorithms and says nothing
about their speed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from common import PROJECT, build_kernel, paired, title, two_bound_ranks, usually, wheel_mpi

from mpicampaign.suites import parse

sys.path.insert(0, str(PROJECT / "tests"))
from minicluster import BLUE, MiniCluster, missing_parts

LAUNCHES = usually(10, smallest=1)
BUDGET = usually("5", smallest="0.5")
ARGUMENTS = ("--tree", "max-inter,natural", "--min-size", "1MiB", "--max-size", "16MiB", "--budget", BUDGET)
TCP = {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"}


def main() -> None:
    title("tree_gather / MPI_Gather of the same launch: B_useful, by bytes per rank")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        kernel = build_kernel("tree_gather", "mpicc", folder, wheel_mpi())
        compare("2 ranks, shared memory", lambda: two_bound_ranks(kernel, *ARGUMENTS))
        if missing := missing_parts():
            print(f"  4 ranks on two nodes: not measured, the test cluster needs {', '.join(missing)}")
            return
        with MiniCluster(folder / "cluster", [BLUE]) as cluster:
            kernel = shutil.copy(kernel, cluster.folder)  # visible on its nodes
            compare("4 ranks on 2 nodes, TCP, oversubscribed", lambda: two_nodes(cluster, kernel))


def compare(where: str, launch: Callable[[], str]) -> None:
    """One row for each tree and size: B_useful of the tree and of MPI_Gather, launch by launch."""
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(LAUNCHES):
        series = {each.label: each.columns for each in parse("kernel", launch()).series}
        base = series.pop("MPI_Gather")["bandwidth"]
        for label, columns in series.items():
            for size, ours, theirs in zip(columns["size"], columns["bandwidth"], base, strict=True):
                assert size and ours and theirs
                found.setdefault(f"{label}, {size / 2**20:.0f} MiB", []).append((ours, theirs))
    print(f" {where}", flush=True)
    for what, pairs in found.items():
        ours, theirs = zip(*pairs, strict=True)
        paired(what, ours, theirs)


def two_nodes(cluster: MiniCluster, kernel: Path) -> str:
    program = [f"{sys.prefix}/bin/mpirun", "-n", "4", "-ppn", "2", str(kernel), *ARGUMENTS]
    options = ["--quiet", "-pblue", "-N2", "--ntasks-per-node=2"]
    settings = {key: value for key, value in wheel_mpi().items() if key.startswith(("I_MPI", "LD_"))}
    done = cluster.call(["salloc", *options, *program], env={**settings, **TCP})
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return done.stdout


if __name__ == "__main__":
    main()
