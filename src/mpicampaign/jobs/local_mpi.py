"""The MPI library of a system on this machine: its own launcher and compiler wrapper, not the first ones.

And whether a program is linked to it. Modules and sourced files are left alone: only jobs see what they
bring.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.commands import call
from mpicampaign.base.extras import how_to_install
from mpicampaign.base.places import how_to_get_wheel, wheel_folder
from mpicampaign.campaign.model import Benchmark, System
from mpicampaign.jobs.mpi_files import is_of, library_in, mapped, mpi_library_of
from mpicampaign.mpis import (
    MPIS,
    facts,
    is_launcher_of,
    launcher_version,
    library_of_mpirun,
    titles_of,
    wheel_library,
)
from mpicampaign.mpis.mpi import MpiLibrary

SECONDS = 10.0  # for a launcher to print its version


class LocalMpi(NamedTuple):
    """The launch command of a system and its compiler wrapper, or why its library cannot be used here.

    ``compiler`` is empty where there is none, or where only a module brings it.
    """

    command: str
    compiler: str = ""
    not_available: str = ""


class _Wanted(NamedTuple):
    """What decides where a system's library is. ``folders``: where its job scripts look for commands."""

    system: str
    mpi: str
    command: str
    prefix: str
    folders: tuple[str, ...]
    compiler: str
    here: bool  # on this machine itself, without modules

    @property
    def library(self) -> MpiLibrary | None:
        return MPIS.get(self.mpi)


def is_on_this_machine(system: System) -> bool:
    """Whether a system's jobs run here and find their software without modules and sourced files."""
    return system.local and not system.modules and not system.source


def find_mpi(system: System) -> LocalMpi:
    """The launcher and the compiler wrapper of a system's MPI library on this machine."""
    given = system.environment
    path = given.get("PATH") or os.environ.get("PATH") or os.defpath
    folders = (f"{system.prefix}/bin",) if system.prefix else _folders(path)
    mpi, compiler = system.mpi, given.get("MPICC", "")
    here = is_on_this_machine(system)
    local = _find(_Wanted(system.name, mpi.name, mpi.command, system.prefix, folders, compiler, here))
    return local if local.not_available else local._replace(not_available=_refuses_root(system))


@cache
def _folders(path: str) -> tuple[str, ...]:
    """The folders of a PATH, only the first of those that are one: /bin may be /usr/bin."""
    folders = path.split(":")
    once = {os.path.realpath(folder): folder for folder in reversed(folders) if folder}
    return tuple(folder for folder in folders if folder in once.values())


@cache  # asked for each case, and one call must plan and build with the same
def _find(wanted: _Wanted) -> LocalMpi:
    local = _launcher(wanted) if wanted.here else LocalMpi(wanted.command)
    if local.not_available:
        return local
    launcher = next(_executables([local.command], wanted.folders), "")
    return local._replace(compiler=_compiler(wanted, os.path.dirname(launcher)))  # noqa: PTH120


def _executables(names: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    """The programs of these names in these folders: by name, then by folder; a path is itself."""
    folders = tuple(folders)
    for name in names:
        for path in [name] if "/" in name else (f"{folder}/{name}" for folder in folders):
            if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113 - a Path takes longer
                yield path


def _printed(path: str, option: str) -> str:
    """What a command prints; Intel MPI's finds its own parts on the PATH."""
    folders = f"{Path(path).parent}:{os.environ.get('PATH', os.defpath)}"
    answer = call(["env", f"PATH={folders}", path, option], SECONDS)
    return f"{answer.out}\n{answer.err}"


# ---- the launcher


def _launcher(wanted: _Wanted) -> LocalMpi:
    library = wanted.library
    if library is None or wanted.command != library.settings.get("command", "mpirun"):
        everywhere = (*wanted.folders, *os.environ.get("PATH", os.defpath).split(":"))
        if next(_executables([wanted.command], everywhere), ""):
            return LocalMpi(wanted.command)
        why = f"the launch command {wanted.command} of {wanted.mpi} is not on this machine"
        return LocalMpi(wanted.command, not_available=why)
    plain = next(_executables([wanted.command], wanted.folders), "")
    if plain and (library.mpirun_says is None or (wanted.prefix and not library.distribution)):
        return LocalMpi(wanted.command)
    return _of_library(wanted, library)


def _of_library(wanted: _Wanted, library: MpiLibrary) -> LocalMpi:
    """The first launcher that says it is of this library; else the first that says nothing known.

    The default command, those of distributions, then the launcher's other names. The name is enough below a
    prefix, whose bin comes first on the PATH of job scripts.
    """
    first, ending = str(library.settings.get("command", "mpirun")), library.distribution
    names = dict.fromkeys([first, *library.launcher.commands])
    names = dict.fromkeys([first, *(f"{name}.{ending}" for name in names if ending), *names])
    candidates = list(_executables(names, wanted.folders))
    launcher = _first_of(candidates, lambda path: is_launcher_of(library.name, _version(path)))
    if launcher:
        return LocalMpi(Path(launcher).name if wanted.prefix else launcher)
    return LocalMpi(wanted.command, not_available=_absence(wanted, library, candidates))


def _first_of(candidates: Iterable[str], is_it: Callable[[str], bool | None]) -> str:
    """The first that is it; else the first of which nobody knows; else empty."""
    unknown = ""
    for candidate in candidates:
        if verdict := is_it(candidate):
            return candidate
        if verdict is None:
            unknown = unknown or candidate
    return unknown


def _absence(wanted: _Wanted, library: MpiLibrary, others: Sequence[str]) -> str:
    """Why there is no launcher of the library, what there is instead, and what to do."""
    where = f"in {wanted.prefix}/bin" if wanted.prefix else "on the PATH"
    kinds = {path: library_of_mpirun(_version(path)) for path in list(dict.fromkeys(others))[:3]}
    instead = ", ".join(
        f"{path} is {MPIS[kind].title} {launcher_version(kind, _version(path))} ({kind})"
        for path, kind in kinds.items()
    )
    of_environment = wanted.prefix == sys.prefix and library.name == wheel_library(os.uname().machine)
    install = how_to_install("mpi") if of_environment else "install it"
    ways = (f"{install}, or give system {wanted.system} its prefix or modules", _wheel_hint(library.name))
    hint = ", or ".join(filter(None, ways))
    if library.wheel and wanted.prefix == str(wheel_folder(library.wheel)):
        hint = how_to_get_wheel(library.wheel)
    return f"no launcher of {library.name} is {where}" + (f" ({instead})" if instead else "") + f": {hint}"


@cache
def _version(path: str) -> str:
    return _printed(path, "--version")


def _refuses_root(system: System) -> str:
    """Why the launcher will not start as this user; empty where it will."""
    library = MPIS.get(system.mpi.name)
    if not system.local or os.geteuid() != 0 or library is None or not library.as_root:
        return ""
    given = {**os.environ, **system.mpi.environment, **system.environment}
    if library.as_root.keys() <= given.keys():
        return ""
    if "--allow-run-as-root" in (*system.mpi.options, *system.launcher_options):
        return ""
    lines = ", ".join(f"{name}: {value}" for name, value in library.as_root.items())
    return f"{library.title} refuses to run as root: give system {system.name} environment: {{{lines}}}"


# ---- the compiler wrapper


def _compiler(wanted: _Wanted, beside: str) -> str:
    """The C compiler wrapper: MPICC of the system's environment, else the first mpicc of the library."""
    if wanted.compiler:
        return next(_executables([wanted.compiler], wanted.folders), "")
    library = wanted.library
    names = ["mpicc", *([f"mpicc.{library.distribution}"] if library and library.distribution else [])]
    candidates = list(dict.fromkeys(_executables(names, [*([beside] if beside else []), *wanted.folders])))
    if library is None or not wanted.here or (wanted.prefix and len(candidates) < 2):
        return next(iter(candidates), "")
    name = library.name
    return _first_of(candidates, lambda path: is_of(name, linked) if (linked := _linked(path)) else None)


@cache
def _linked(wrapper: str) -> Path | None:
    """The MPI library that a compiler wrapper links, by the folders and names that ``-show`` prints."""
    try:
        tokens = shlex.split(_printed(wrapper, "-show"))
    except ValueError:
        return None
    folders = [Path(token[2:]) for token in tokens if token.startswith("-L")]
    names = [token[2:] for token in tokens if token.startswith("-l")]
    return library_in((*folders, Path(wrapper).parent.parent / "lib"), names)


# ---- the library that a program is linked to


def wrong_mpi(system: System, benchmark: Benchmark, program: Path) -> str:
    """Why a program cannot run with the MPI library of a system; empty where it can, or where nobody knows.

    Where modules or sourced files bring the library, only a name that it never has tells.
    """
    needed = mpi_library_of(program)
    fitting = facts(system.mpi.name).sonames
    if not needed or not fitting:
        return ""
    linked = f"{program} is linked to {needed} ({titles_of(needed)})"
    declared = f"system {system.name} uses {system.mpi.name}"
    if needed not in fitting:
        return f"{linked}; {declared} ({' or '.join(fitting)}): {_hint(benchmark)}"
    if not is_on_this_machine(system) or benchmark.provider.modules:
        return ""
    file = mapped(program, needed, _searched_first(system), _searched_last(system))
    if file is None and (wheel := _wheel_hint(system.mpi.name)):
        return f"{linked}, which only the Python environment has; {declared}: {wheel}"
    if file is None:
        return f"{linked}, which is not on this machine; {declared}: {_hint(benchmark)}"
    if _is_other(system, file):
        below = f" below {system.prefix}" if system.prefix else ""
        return f"{linked} and would load {file}; {declared}{below}: {_hint(benchmark)}"
    return ""


def _wheel_hint(name: str) -> str:
    """How to use the wheel, where this Python environment has that of the library."""
    there = name == wheel_library(os.uname().machine) and Path(sys.prefix, "bin/mpirun").is_file()
    return "write mpi: wheel, which is there" if there else ""


def _hint(benchmark: Benchmark) -> str:
    built = "build it with that library by provider: {kind: source, …}"
    return f"{built}, or give {benchmark.name} the path or module of such a build"


def _searched_first(system: System) -> Iterator[Path]:
    """The folders of LD_LIBRARY_PATH in the system's jobs."""
    if system.prefix:
        yield Path(system.prefix) / "lib"
    path = system.environment.get("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", ""))
    yield from map(Path, filter(None, path.split(":")))


def _searched_last(system: System) -> Iterator[Path]:
    """Launchers may add their own library's folder; that of the wheel does not."""
    command = Path(find_mpi(system).command)
    if command.is_absolute() and command.parent.parent != Path(sys.prefix):
        for folder in ("lib", "lib64"):
            yield command.parent.parent / folder


def _is_other(system: System, file: Path) -> bool:
    """Whether the loader would map another library than the system's."""
    own_files = [
        path
        for name in ("lib", "lib64")
        if system.prefix
        for path in Path(system.prefix, name).glob("libmpi*")
    ]
    if own_files:
        below = file.is_relative_to(system.prefix) or file.resolve() in {path.resolve() for path in own_files}
        return not below
    return is_of(system.mpi.name, file) is False
