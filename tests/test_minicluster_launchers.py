"""Which launcher starts which MPI library on two nodes: its own under Slurm, srun, its own over ssh."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from minicluster import MiniCluster

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.mpi]

VENV = Path(sys.prefix)
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, length, sum;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s, sum %d\n", rank, size, host, sum);
    return MPI_Finalize();
}
"""
LIMIT = 15  # seconds; a launch takes one or two
EXPECTED = ["rank 0 of 2 on n1, sum 1", "rank 1 of 2 on n2, sum 1"]


@dataclass(frozen=True)
class Library:
    name: str
    compiler: str
    settings: dict[str, str]  # so that it uses TCP on eth0
    tries: int = 1


OPENMPI_TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "eth0"}
OPENMPI = Library("openmpi", "mpicc.openmpi", OPENMPI_TCP)
# MPICH 4.0.2 over UCX 1.13 and TCP hangs in MPI_Finalize in one of ten launches, by whichever launcher.
MPICH = Library("mpich", "mpicc.mpich", {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}, tries=4)
INTEL_TCP = {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"}
INTEL_PLACE = {"I_MPI_ROOT": str(VENV), "LD_LIBRARY_PATH": str(VENV / "lib")}
INTEL = Library("intel", str(VENV / "bin/mpicc"), {**INTEL_PLACE, **INTEL_TCP})

UNDER_SLURM = [
    (OPENMPI, "mpirun.openmpi -n 2 --map-by node"),
    (OPENMPI, "srun --mpi=pmix"),
    (MPICH, "mpiexec.hydra -n 2 -ppn 1"),
    (MPICH, "srun --mpi=pmi2"),
    (INTEL, f"{VENV}/bin/mpirun -n 2 -ppn 1"),
    (INTEL, "srun --mpi=pmi2"),
]
OVER_SSH = [
    (OPENMPI, "mpirun.openmpi -n 2 --host n1,n2"),
    (MPICH, "mpiexec.hydra -n 2 -ppn 1 -hosts n1,n2"),
    (INTEL, f"{VENV}/bin/mpirun -n 2 -ppn 1 -hosts n1,n2"),
]


def name_of(value: object) -> str:
    return value.name if isinstance(value, Library) else Path(str(value).split(" -")[0]).name


def build(cluster: MiniCluster, library: Library) -> Path:
    if not shutil.which(library.compiler):
        pytest.skip(f"{library.compiler} is not installed")
    program = cluster.folder / f"hello-{library.name}"
    source = program.with_suffix(".c")
    source.write_text(PROGRAM)
    command = [library.compiler, str(source), "-o", str(program)]
    subprocess.run(command, env={**os.environ, **library.settings}, check=True, timeout=240)
    return program


def run_under_slurm(cluster: MiniCluster, library: Library, line: str) -> tuple[str, list[str]]:
    """The job's last state, and its output in order."""
    output = cluster.home / "output.txt"
    output.unlink(missing_ok=True)
    options = ["-pblue", "-N2", "--ntasks-per-node=1", f"--output={output}"]
    command = ["sbatch", "--parsable", *options, f"--wrap=timeout --kill-after=2 {LIMIT} {line}"]
    job = cluster.call(command, env=library.settings).stdout.strip()
    ended = {"COMPLETED", "FAILED", "CANCELLED"}
    cluster.wait_for(lambda: cluster.queue().get(job) in ended, LIMIT + 20, "the job has ended")
    return cluster.queue()[job], sorted(output.read_text().splitlines())


@pytest.mark.parametrize(("library", "launcher"), UNDER_SLURM, ids=name_of)
def test_under_slurm(minicluster: MiniCluster, library: Library, launcher: str) -> None:
    program = build(minicluster, library)
    seen = []
    for _ in range(library.tries):
        seen.append(run_under_slurm(minicluster, library, f"{launcher} {program}"))
        if seen[-1][0] == "COMPLETED":
            break
    assert seen[-1] == ("COMPLETED", EXPECTED), seen


@pytest.mark.parametrize(("library", "launcher"), OVER_SSH, ids=name_of)
def test_over_ssh_without_slurm(minicluster: MiniCluster, library: Library, launcher: str) -> None:
    program = build(minicluster, library)
    minicluster.start_sshd()
    command = ["timeout", "--kill-after=2", str(LIMIT), *launcher.split(), str(program)]
    for _ in range(library.tries):
        done = minicluster.call_on("n1", command, env=library.settings)
        if done.returncode == 0:
            break
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, EXPECTED), done.stderr
