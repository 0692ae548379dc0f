"""Programs built from a folder of source with each system's MPI library, by the user's own command."""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.jobs.local_mpi import find_mpi
from mpicampaign.places import working_folder

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Benchmark, System

_BUILT = re.compile(r"/source-([0-9a-f]{12})-[0-9a-f]{12}/bin/[^/]+$")
_OF_OTHER_LANGUAGES = {"mpicxx": ("mpicxx", "mpic++"), "mpifort": ("mpifort", "mpif90")}


def source_folder(benchmark: Benchmark) -> Path:
    """The folder that holds the source; relative ones are in the current folder, as for provider path."""
    return Path(benchmark.provider.location).expanduser().absolute()


def source_build_folder(system: System, benchmark: Benchmark) -> Path:
    """Where a program is built for a system: named by its source and command, then by the MPI library."""
    provider, compiler = benchmark.provider, find_mpi(system).compiler
    wrapper = Path(compiler).resolve().read_bytes() if compiler else b""
    source = (_tree_checksum(source_folder(benchmark)), provider.build)
    others = (
        *(provider.modules, system.mpi.name, system.prefix, system.modules, system.source, compiler),
        hashlib.sha256(wrapper).hexdigest(),
        sorted(system.environment.items()),
    )
    return working_folder() / "build" / system.name / f"source-{_key(source)}-{_key(others)}"


def _key(inputs: object) -> str:
    return hashlib.sha256(repr(inputs).encode()).hexdigest()[:12]


def source_key(program: str) -> str:
    """The key of source and command in the path of a built program; empty in other paths."""
    found = _BUILT.search(program)
    return found[1] if found else ""


def source_program(system: System, benchmark: Benchmark) -> Path:
    """The path of the program, once it is built."""
    return source_build_folder(system, benchmark) / "bin" / benchmark.program


@cache
def _tree_checksum(folder: Path) -> str:
    """SHA-256 of all files of a folder with their names; .git is left out."""
    digest = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = Path(root, name)
            executable = os.access(path, os.X_OK)
            digest.update(os.fsencode(path.relative_to(folder)) + b"\0x" * executable + b"\0")
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def wrappers(compiler: str) -> dict[str, str]:
    """The compiler wrappers of each language beside that of C; empty where there is none."""
    if not compiler:
        return {}
    folder, ending = Path(compiler).parent, Path(compiler).name.removeprefix("mpicc")
    found = {"mpicc": compiler}
    for name, names in _OF_OTHER_LANGUAGES.items():
        paths = (folder / f"{each}{ending}" for each in names)
        found[name] = next((str(path) for path in paths if path.is_file()), "")
    return found
