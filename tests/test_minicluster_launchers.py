"""Which launcher starts which MPI library on two nodes: by itself under Slurm, by srun, by ssh without Slurm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from minicluster import MiniCluster

pytestmark = [pytest.mark.slow, pytest.mark.mpi]

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
EXPECTED = ["rank 0 of 2 on n1, sum 1", "rank 1 of 2 on n2, sum 1"]


@dataclass(frozen=True)
class Library:
    name: str
    compiler: str
    settings: dict[str, str]  # so that it uses TCP on eth0


OPENMPI_TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "eth0"}
OPENMPI = Library("openmpi", "mpicc.openmpi", OPENMPI_TCP)
MPICH = Library("mpich", "mpicc.mpich", {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"})
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
    subprocess.run(command, env={**os.environ, **library.settings}, check=True, timeout=60)
    return program


@pytest.mark.parametrize(("library", "launcher"), UNDER_SLURM, ids=name_of)
def test_under_slurm(minicluster: MiniCluster, library: Library, launcher: str) -> None:
    program = build(minicluster, library)
    output = minicluster.home / "output.txt"
    output.unlink(missing_ok=True)
    options = ["-pblue", "-N2", "--ntasks-per-node=1", f"--output={output}"]
    command = ["sbatch", "--parsable", *options, f"--wrap={launcher} {program}"]
    job = minicluster.call(command, env=library.settings).stdout.strip()
    ended = {"COMPLETED", "FAILED", "CANCELLED"}
    minicluster.wait_for(lambda: minicluster.queue().get(job) in ended, 60, "the job has ended")
    assert minicluster.queue()[job] == "COMPLETED", output.read_text()
    assert sorted(output.read_text().splitlines()) == EXPECTED


@pytest.mark.parametrize(("library", "launcher"), OVER_SSH, ids=name_of)
def test_over_ssh_without_slurm(minicluster: MiniCluster, library: Library, launcher: str) -> None:
    program = build(minicluster, library)
    minicluster.start_sshd()
    done = minicluster.call_on("n1", [*launcher.split(), str(program)], env=library.settings)
    assert sorted(done.stdout.splitlines()) == EXPECTED, done.stderr
