"""The evidence of Fortran programs: no MPI library calls MPI_Init for all of Fortran's ways to call it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from test_kernels import LIMIT, mpi_environment, read_evidence

if TYPE_CHECKING:
    from test_kernels import Build

pytestmark = pytest.mark.mpi


class Library(NamedTuple):
    """How to compile Fortran with an MPI library and launch one rank."""

    compiler: str
    options: tuple[str, ...]
    launch: tuple[str, ...]


WHEEL = f"{sys.prefix}/lib"
LIBRARIES = {
    "Intel MPI": Library("gfortran", (f"-L{WHEEL}", "-lmpifort", "-lmpi"), ("mpirun", "-n", "1")),
    "Open MPI": Library("mpif90.openmpi", (), ("mpirun.openmpi", "-n", "1")),
    "MPICH": Library("mpif90.mpich", (), ("mpiexec.mpich", "-n", "1")),
}
PLAIN = "  implicit none\n  integer :: provided, status\n"
PROGRAMS = {
    "init": f"{PLAIN}  call mpi_init(status)\n  call mpi_finalize(status)\n",
    "init_thread": f"{PLAIN}  call mpi_init_thread(0, provided, status)\n  call mpi_finalize(status)\n",
    "f08": "  use mpi_f08\n  implicit none\n  call MPI_Init()\n  call MPI_Finalize()\n",
    "f08 thread": (
        "  use mpi_f08\n  implicit none\n  integer :: provided\n"
        "  call MPI_Init_thread(MPI_THREAD_SINGLE, provided)\n  call MPI_Finalize()\n"
    ),
}


def build_fortran(library: Library, text: str, folder: Path) -> Path:
    source, program = folder / "program.f90", folder / "program"
    source.write_text(f"program ranks\n{text}end program\n")
    command = [library.compiler, "-o", program, source, *library.options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=environment(library)
    )
    if "mpi_f08.mod" in done.stderr:
        pytest.skip("the library has no mpi_f08 for this compiler")
    assert done.returncode == 0, done.stderr
    return program


def environment(library: Library) -> dict[str, str]:
    """Debian's libraries must not meet the wheel's."""
    return (
        mpi_environment()
        if library.options
        else dict(os.environ)
        | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
        }
    )


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_start_and_end_are_recorded_once(build: Build, tmp_path: Path, name: str, program: str) -> None:
    library = LIBRARIES[name]
    variables = environment(library)
    for needed in (library.compiler, library.launch[0]):
        if shutil.which(needed, path=variables["PATH"]) is None:
            pytest.skip(f"{needed} is not installed")
    path = tmp_path / "evidence"
    evidence = {
        "LD_PRELOAD": str(build.folder / "evidence.so"),
        "MPICAMPAIGN_RANK": "3",
        "MPICAMPAIGN_EVIDENCE_FILE": str(path),
    }
    preload = [f"{key}={value}" for key, value in evidence.items()]
    binary = build_fortran(library, PROGRAMS[program], tmp_path)
    command = [*LIMIT, *library.launch, "env", *preload, binary]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = read_evidence(path)  # no key twice
    for moment in ("start", "end"):
        assert found[moment].keys() >= {"program", "library", "library_version", "cpu_ns"}
        assert found[moment]["program"] == str(binary)
    assert "tcp" in found["end"]
