"""MPI libraries: all facts of a library are in one file. No I/O.

Another package brings a library by an entry point of the group ``mpicampaign.mpis`` (docs/extending.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any

from mpicampaign.base.registry import Registry
from mpicampaign.mpis.libfabric import ONCE_IBV
from mpicampaign.mpis.mpi import Launcher, MpiLibrary

MPIS = Registry("mpicampaign.mpis", "MPI", MpiLibrary)

_OF_OTHER_SITES = ("jsrun", "ibrun", "aprun")  # launch commands that are read in job scripts, never written
# Layers below several libraries (libfabric, UCX, PSM, collectives), launchers, and the threads of ranks.
_OF_ALL = ("FI_", "UCX_", "UCC_", "HCOLL_", "PSM", "PMI_", "HYDRA_", "MPIEXEC_", "OMP_", "KMP_", "GOMP_")
# Variables that change no message: of this program, compiler wrappers, places, and what starts ranks.
_NOT_AT_RUN = re.compile(
    r"MPICAMPAIGN_.*|\w*MPI(CH)?_?(CC|CXX|FC|F77|F90)|.*(PATH|ROOT|DIR|HOME)|"
    r"PMIX?_.*|PRTE_.*|OMPI_(?!MCA_).*|(I_MPI_)?HYDRA_.*|MPIEXEC_.*"
)
# Variables that are read beside the ranks' libraries, or without getenv(): by launchers, and by OpenMP.
_OF_OTHERS = re.compile(r"I_MPI_(PIN|HYDRA)|HYDRA_|MPIEXEC_|PMI_|OMP_|KMP_|GOMP_")
# Of these, what only says where something is.
_PLACES = (
    *("FI_PROVIDER_PATH", "UCX_MODULE_DIR", "PMIX_PREFIX", "PRTE_PREFIX"),
    *("MPI_ROOT", "MPI_HOME", "MPI_BIN", "MPI_LIB", "MPI_INCLUDE"),
)


_UNKNOWN = MpiLibrary(name="", title="", launcher=Launcher("", "", "", lambda launch: [], ()), settings={})


def facts(name: str) -> MpiLibrary:
    """The facts of a library; none of one that only a campaign file describes."""
    return MPIS.get(name) or _UNKNOWN


def definitions(named: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The libraries that a campaign file with these names may use, override or extend under ``mpis:``.

    Other packages are read only where a name is not built in.
    """
    built_in = {library.name: library for library in MPIS.built_in()}
    others = () if built_in.keys() >= set(named) else MPIS.values()
    return {library.name: library.definition for library in (*built_in.values(), *others)}


def launcher_names() -> list[str]:
    """The launchers of all libraries."""
    return list(dict.fromkeys(library.launcher.name for library in MPIS.values()))


def library_launcher(name: str) -> Launcher | None:
    """The launcher of a name; None where no library has it."""
    library = MPIS.first(lambda library: library.launcher.name == name)
    return library.launcher if library else None


def launch_commands() -> list[str]:
    """The commands that start ranks in job scripts, apart from those of schedulers."""
    commands = [command for library in MPIS.values() for command in library.launcher.commands]
    return list(dict.fromkeys((*commands, *_OF_OTHER_SITES)))


def wheel_library(machine: str) -> str:
    """The library whose wheel pyproject.toml installs on such a machine."""
    by_machine = {of: library.name for library in MPIS.built_in() for of in library.wheel_for}
    return by_machine.get(machine) or by_machine["*"]


def steers(variable: str) -> bool:
    """Whether an environment variable may change what an MPI library does."""
    return variable.startswith(steering())


def steering() -> tuple[str, ...]:
    """The prefixes of the variables that may change what an MPI library, or a layer below it, does."""
    of_libraries = (prefix for library in MPIS.values() for prefix in library.variables)
    return tuple(dict.fromkeys((*of_libraries, *_OF_ALL)))


def places() -> tuple[str, ...]:
    """Variables with such a prefix without which a library of the shell is not found, or does not start."""
    of_libraries = (
        name for library in MPIS.values() for name in (library.prefix_variable, *library.as_root) if name
    )
    return tuple(dict.fromkeys((*of_libraries, *_PLACES)))


@lru_cache(maxsize=256)
def of_launcher(name: str, variable: str) -> bool:
    """Whether a library's launcher sets a variable by itself, or the variable changes no message."""
    known = facts(name).launcher_sets
    return bool(_NOT_AT_RUN.fullmatch(variable) or (known and known.fullmatch(variable)))


def is_derived(name: str, variable: str, value: str, settings: str) -> bool:
    """Whether a library's launcher gives a variable this value by these settings: NAME=value, and options."""
    whole_value = rf"{re.escape(value)}(?![^\s;])"
    givens = (given for pattern, given in facts(name).derives.items() if re.fullmatch(pattern, variable))
    filled = (
        given.replace("{name}", re.escape(variable)).replace("{value}", whole_value) for given in givens
    )
    return any(re.search(pattern, settings) for pattern in filled)


@lru_cache(maxsize=256)
def steers_library(name: str, variable: str) -> bool:
    """Whether a variable changes what a library does; never, where it is not known what its launcher sets."""
    library = facts(name)
    is_known = library.launcher_sets is not None and not of_launcher(name, variable)
    return is_known and variable.startswith((*library.variables, *_OF_ALL))


def asks_for(name: str, variable: str) -> bool:
    """Whether the ranks of a library, not their launcher, are those that should ask for a variable."""
    return steers_library(name, variable) and not _OF_OTHERS.match(variable)


def library_of_module(module: str) -> str | None:
    """The library that a module loads; empty for an unknown library, None where it is none."""
    named = (library.of_module(module) for library in MPIS.values() if library.of_module)
    return next((name for name in named if name is not None), None)


def library_of_mpirun(version: str) -> str:
    """The library whose ``mpirun --version`` prints this; empty for an unknown one."""
    library = MPIS.first(lambda library: bool(library.mpirun_says and library.mpirun_says.search(version)))
    return library.name if library else ""


def is_launcher_of(name: str, version: str) -> bool | None:
    """Whether ``mpirun --version`` of this library prints this; None where it is of no known library."""
    says = facts(name).mpirun_says
    if says is None or says.search(version):
        return None if says is None else True
    return False if library_of_mpirun(version) else None


def is_file_of(name: str, soname: str, says: Callable[[str], bool]) -> bool | None:
    """Whether a shared library of this name is that MPI library; None where this is not known.

    ``says``: whether the file holds a text; only asked where several libraries have the name.
    """
    library = facts(name)
    if soname not in library.sonames:
        return False if library.sonames else None
    others = {other.file_says for other in _of_soname(soname) if other.title != library.title}
    if not others or says(library.file_says):
        return True
    return False if any(map(says, others)) else None


def titles_of(soname: str) -> str:
    """The MPI libraries to which a program is linked by this name: ``Intel MPI or MPICH``."""
    return " or ".join(dict.fromkeys(library.title for library in _of_soname(soname)))


def _of_soname(soname: str) -> list[MpiLibrary]:
    return [library for library in MPIS.values() if soname in library.sonames]


def library_version(text: str) -> str:
    """Name and version in the library's output, ``Intel MPI 2021.18.1``; empty where there is no version."""
    for library in MPIS.values():
        if library.version and (version := _last_group(library.version, text)):
            return f"{library.title} {version}"
    return ""


def library_called(text: str, output: str) -> str:
    """The library that calls itself so, of several the one that reports in an output; or empty."""
    title = next((mpi.title for mpi in MPIS.values() if mpi.version and mpi.version.search(text)), "")
    known = [mpi for mpi in MPIS.values() if mpi.title == title]
    reporting = (library.name for library in known if library.report and library.report(output) is not None)
    return next(reporting, next((library.name for library in known), ""))


def library_title(name: str) -> str:
    """What a library calls itself; empty where nothing is known about that."""
    library = facts(name)
    return library.title if library.version else ""


def launcher_version(name: str, text: str) -> str:
    """The version that the launcher of a library prints; empty where there is none."""
    pattern = facts(name).launcher_version
    return _last_group(pattern, text) if pattern else ""


def version_option(name: str, launcher: str, command: str) -> str:
    """The option that makes a launch command print the library's version; empty where it may do otherwise."""
    library = facts(name)
    if not library.launcher_version or launcher != library.launcher.name:
        return ""
    program = command.rpartition("/")[2].partition(".")[0]  # of mpiexec.hydra, mpirun.openmpi
    return "--version" if program in library.launcher.commands else ""


def _last_group(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return str(match[match.lastindex or 1]) if match else ""


def reported_transports(name: str, output: str) -> set[str] | None:
    """The transports that a library reports, or None where there is no report that can be read."""
    report = facts(name).report
    return report(output) if report else None


def reported_providers(name: str, output: str) -> set[str] | None:
    """The libfabric providers that a library reports, or None where there is no report that can be read."""
    providers = facts(name).providers
    return providers(output) if providers else None


def is_reported(claimed: str, reported: Collection[str]) -> bool:
    """Whether a report is that of the claimed transport; ibv is any provider that was once called so."""
    known = ONCE_IBV if claimed == "ibv" else {claimed}
    return bool(reported) and known.issuperset(reported)


def report_of_any(output: str, context: Iterable[str]) -> tuple[str, set[str]] | None:
    """The library that reports its transports in an output of unknown origin, and these transports.

    The name is empty for a report of UCX, if neither the output nor ``context`` (other texts of the job)
    names one library that uses UCX.
    """
    for library in MPIS.values():
        if library.report and (transports := library.report(output)):
            if not library.reports_by_ucx:
                return library.name, transports
            text = "\n".join((output, *context))
            users = [user.over_ucx for user in MPIS.values() if user.traces and user.traces.search(text)]
            return (users[0] if len(users) == 1 else ""), transports
    return None


def providers_of_any(output: str) -> set[str]:
    """The libfabric providers that a library reports in an output of unknown origin."""
    reports = (library.providers(output) for library in MPIS.values() if library.providers)
    return next(filter(None, reports), set())


def listed_hosts(output: str) -> int:
    """The number of hosts that a library lists in an output; 0 where none does."""
    counts = (library.listed_hosts(output) for library in MPIS.values() if library.listed_hosts)
    return next(filter(None, counts), 0)
