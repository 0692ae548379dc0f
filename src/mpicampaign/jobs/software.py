"""The programs on this machine, also those built from source: here alone planning reads the disk."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.extras import how_to_install
from mpicampaign.base.places import shipped, working_folder
from mpicampaign.base.records import defined_name
from mpicampaign.base.yaml_lines import printable
from mpicampaign.campaign.model import Benchmark, System
from mpicampaign.jobs.elf import build_id
from mpicampaign.jobs.local_mpi import find_mpi, is_on_this_machine, wrong_mpi
from mpicampaign.schedulers import batch_scheduler
from mpicampaign.suites import SUITES
from mpicampaign.suites.suite import Sources

WHEEL = "wheel"  # System.prefix: the environment that this program runs in


class Program(NamedTuple):
    """A benchmark's program: its path (or its name, where a module loads it), or why it is missing."""

    command: str
    sha256: str = ""
    not_available: str = ""


def is_here(system: System) -> bool:
    """Whether this machine can run the system's jobs: it has the scheduler's command, or needs none."""
    scheduler = batch_scheduler(system.scheduler)
    return scheduler is None or shutil.which(scheduler.submit[0]) is not None


def find_program(system: System, benchmark: Benchmark) -> Program:
    """The program of a benchmark; on another machine it is assumed to exist."""
    kind, name, location = benchmark.provider.kind, benchmark.program, benchmark.provider.location
    if name in system.programs:
        kind, location = "path", system.programs[name]
    if not is_here(system) and kind == "source":
        return Program(str(source_program(system, benchmark)))
    if not is_here(system) and kind != "bundled":
        return Program(str(Path(location).expanduser()) if location else name)
    if kind == "bundled":
        reason = lacks_compiler(system)
        return Program(str(build_folder(system) / name), not_available=reason)
    if kind == "source":
        return _from_source(system, benchmark)
    if kind in ("module", "spack"):
        return Program(name)  # found on the node, after the module is loaded
    sources = SUITES[benchmark.suite].sources
    for candidate in _candidates(kind, location, name, sources):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            reason = wrong_mpi(system, benchmark, candidate.absolute())
            return Program(str(candidate.absolute()), _sha256(candidate), reason)
    return Program(name, not_available=_absence(kind, location, name, sources))


def _from_source(system: System, benchmark: Benchmark) -> Program:
    """The program as `mpicampaign build` leaves it; before that, only its path is known."""
    folder = source_folder(benchmark)
    if not folder.is_dir():
        return Program(benchmark.program, not_available=f"the source folder {folder} is not on this machine")
    if reason := lacks_compiler(system):
        return Program(benchmark.program, not_available=reason)
    path = source_program(system, benchmark)
    if not path.is_file():
        return Program(str(path))
    return Program(str(path), _sha256(path), wrong_mpi(system, benchmark, path))


def _candidates(kind: str, location: str, name: str, sources: Sources) -> list[Path]:
    if kind == WHEEL:
        return [Path(sys.prefix) / "bin" / name]
    root = Path(location).expanduser() if location else None
    if kind == "conda" and root:
        beside = [path for folder in sources.folders for path in sorted(root.glob(f"{folder}/**/{name}"))]
        return [root / "bin" / name, *beside]
    if root:
        return [root, root / name] if root.name == name else [root / name]
    path = shutil.which(name)
    return [Path(path)] if path else []


def _absence(kind: str, location: str, name: str, sources: Sources) -> str:
    if kind == WHEEL:
        wheel = f"if {sources.wheel or 'it'} has a wheel for {os.uname().machine}"
        return f"{name} is not in the Python environment: {how_to_install('mpi')}, {wheel}"
    if location:
        return f"{name} is not at {location}"
    return f"{name} is not on this machine's PATH"


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lacks_compiler(system: System) -> str:
    """Why nothing can be built for a system; empty with a compiler wrapper, or where a module brings it."""
    local = find_mpi(system)
    if local.compiler or local.not_available or not is_on_this_machine(system):
        return ""
    where = f"in {system.prefix}/bin" if system.prefix else "on the PATH"
    hint = f"install it, or give system {system.name} environment: {{MPICC: PATH}}"
    return f"no mpicc of {system.mpi.name} is {where}: {hint}"


def libraries(system: System) -> str:
    """The MPI libraries below a system's prefix, by `library_id`."""
    return _libraries(system.prefix) if system.prefix else ""


@cache
def _libraries(prefix: str) -> str:
    return " ".join(sorted({library_id(path) for path in _files_of_libraries(prefix)}))


def _files_of_libraries(prefix: str) -> set[Path]:
    folders = [Path(prefix) / name for name in ("lib", "lib64")]
    return {path.resolve() for folder in folders for path in folder.glob("libmpi.so*")}


def library_sums(prefix: str) -> str:
    """The SHA-256 of the MPI libraries below a prefix that this machine sees: a build-id may be copied."""
    return " ".join(sorted({_sha256(path) for path in _files_of_libraries(prefix)}) if prefix else ())


def present_library(system: System, recorded: str) -> str:
    """An MPI library's present `library_id`; empty where this machine does not see it.

    ``recorded`` is the file that a run mapped: below the system's prefix, which may have moved since, or
    anywhere on this machine if it makes the runs.
    """
    name = Path(recorded).name
    below = [Path(system.prefix) / folder / name for folder in ("lib", "lib64")] if system.prefix else []
    here = [Path(recorded)] if system.local and not system.prefix else []
    return next((library_id(path) for path in (*below, *here) if path.is_file()), "")


@cache
def library_id(path: Path) -> str:
    """The build-id of a library, or its SHA-256 where it has none."""
    return build_id(path) or _sha256(path)


def build_folder(system: System) -> Path:
    """Where the bundled kernels are built for a system.

    The name holds a key of all inputs of the build (sources, MPI, modules), so that a change of these makes a
    new build. A build that finds another compiler behind the same names leaves a mark, which adds to the key.
    """
    first = first_build_folder(system)
    mark = compiler_mark(first)
    key = mark.read_text().strip() if mark.exists() else ""
    return first.with_name(f"{first.name}-{key}") if key else first


def first_build_folder(system: System) -> Path:
    """The build folder as known without calling the compiler wrapper."""
    wrapper = compiler_wrapper(system)
    key = _build_key(system.mpi.name, system.prefix, system.modules, system.source, wrapper)
    return working_folder() / "build" / defined_name(system.name) / key


def build_problem(folder: Path) -> Path:
    """The file that says why the last build in a folder failed, as long as it is so."""
    return folder.with_suffix(".problem")


def why_not_built(system: System, benchmark: Benchmark) -> str:
    """Why the last build failed that runs of a benchmark wait for; empty if it did not."""
    folders = [first_build_folder(system)]
    if benchmark.provider.kind == "source":
        folders.append(source_build_folder(system, benchmark))
    problems = filter(Path.is_file, map(build_problem, folders))
    return next((printable(path.read_text(errors="replace").strip()) for path in problems), "")


def compiler_mark(first: Path) -> Path:
    """The file with the key of a compiler other than that of the first build."""
    return first.with_suffix(".changed")


@cache
def _build_key(
    mpi: str, prefix: str, modules: tuple[str, ...], source: tuple[str, ...], wrapper: Path | None
) -> str:
    digest = hashlib.sha256(repr((mpi, prefix, modules, source, wrapper)).encode())
    kernels = shipped("kernels")
    files = [path for path in kernels.rglob("*") if path.is_file() and path.parent.name != "tests"]
    for path in sorted(files):
        digest.update(str(path.relative_to(kernels.parent)).encode() + b"\0" + path.read_bytes())
    if wrapper:
        digest.update(wrapper.read_bytes())
    return digest.hexdigest()[:12]


def compiler_wrapper(system: System) -> Path | None:
    """The system's mpicc (or MPICC of its environment), if it exists without any module."""
    wrapper = find_mpi(system).compiler
    return Path(wrapper).resolve() if wrapper else None


# ---- programs built from a folder of source with each system's MPI library, by the user's own command


_BUILT = re.compile(r"/source-([0-9a-f]{12})-[0-9a-f]{12}/bin/[^/]+$")
_OF_OTHER_LANGUAGES = {"mpicxx": ("mpicxx", "mpic++"), "mpifort": ("mpifort", "mpif90")}


def source_folder(benchmark: Benchmark) -> Path:
    """The folder that holds the source."""
    return Path(benchmark.provider.location).expanduser()


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
    return working_folder() / "build" / defined_name(system.name) / f"source-{_key(source)}-{_key(others)}"


def _key(inputs: object) -> str:
    return hashlib.sha256(repr(inputs).encode()).hexdigest()[:12]


def source_key(program: str) -> str:
    """The key of source and command in the path of a built program; empty in other paths."""
    match = _BUILT.search(program)
    return match[1] if match else ""


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
    paths_of = {"mpicc": compiler}
    for name, names in _OF_OTHER_LANGUAGES.items():
        paths = (folder / f"{program}{ending}" for program in names)
        paths_of[name] = next((str(path) for path in paths if path.is_file()), "")
    return paths_of
