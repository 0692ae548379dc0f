"""MPI libraries: all facts of a library are in one file. No I/O.

Another package brings a library by an entry point of the group ``mpicampaign.mpis`` (docs/extending.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mpicampaign.base.registry import Registry
from mpicampaign.mpis.libfabric import ONCE_IBV
from mpicampaign.mpis.mpi import MpiLibrary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from mpicampaign.mpis.mpi import Launcher

MPIS = Registry("mpicampaign.mpis", "MPI", MpiLibrary)

_OF_OTHER_SITES = ("jsrun", "ibrun", "aprun")  # launch commands that are read in job scripts, never written
# Layers below several libraries (libfabric, UCX, PSM, collectives), launchers, and the threads of ranks.
_OF_ALL = ("FI_", "UCX_", "UCC_", "HCOLL_", "PSM", "PMI_", "HYDRA_", "MPIEXEC_", "OMP_", "KMP_", "GOMP_")
# Variables that change no message: of this program, compiler wrappers, places, and what starts ranks.
_NOT_AT_RUN = re.compile(
    r"MPICAMPAIGN_.*|\w*MPI(CH)?_?(CC|CXX|FC|F77|F90)|.*(PATH|ROOT|DIR|HOME)|"
    r"PMIX?_.*|PRTE_.*|OMPI_(?!MCA_).*|(I_MPI_)?HYDRA_.*|MPIEXEC_.*"
)
# Of these, what only says where something is.
_PLACES = (
    *("FI_PROVIDER_PATH", "UCX_MODULE_DIR", "PMIX_PREFIX", "PRTE_PREFIX"),
    *("MPI_ROOT", "MPI_HOME", "MPI_BIN", "MPI_LIB", "MPI_INCLUDE"),
)


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


def measurement(name: str) -> int:
    """The measurement number of a library; 1 for one that only a campaign file describes."""
    library = MPIS.get(name)
    return library.measurement if library else 1


def prefix_variables(name: str, prefix: str) -> dict[str, str]:
    """The variables by which a library under a prefix finds itself, besides the usual paths."""
    library = MPIS.get(name)
    return {library.prefix_variable: prefix} if library and library.prefix_variable else {}


def steers(variable: str) -> bool:
    """Whether an environment variable may change what an MPI library does."""
    return variable.startswith(steering())


def steering() -> tuple[str, ...]:
    """The prefixes of the variables that may change what an MPI library, or a layer below it, does."""
    own = (prefix for library in MPIS.values() for prefix in library.variables)
    return tuple(dict.fromkeys((*own, *_OF_ALL)))


def places() -> tuple[str, ...]:
    """Variables with such a prefix without which a library of the shell is not found, or does not start."""
    own = (name for library in MPIS.values() for name in (library.prefix_variable, *library.as_root) if name)
    return tuple(dict.fromkeys((*own, *_PLACES)))


def of_launcher(name: str, variable: str) -> bool:
    """Whether a library's launcher sets a variable by itself, or the variable changes no message."""
    library = MPIS.get(name)
    known = library.launcher_sets if library else None
    return bool(_NOT_AT_RUN.fullmatch(variable) or (known and known.fullmatch(variable)))


def is_derived(name: str, variable: str, value: str, settings: str) -> bool:
    """Whether a library's launcher gives a variable this value by these settings: NAME=value, and options."""
    library = MPIS.get(name)
    patterns = library.derives.items() if library else ()
    return any(
        re.fullmatch(pattern, variable) and re.search(_filled(given, variable, value), settings)
        for pattern, given in patterns
    )


def _filled(pattern: str, variable: str, value: str) -> str:
    whole = rf"{re.escape(value)}(?![^\s;])"
    return pattern.replace("{name}", re.escape(variable)).replace("{value}", whole)


def steers_library(name: str, variable: str) -> bool:
    """Whether a variable changes what a library does; never, where it is not known what its launcher sets."""
    library = MPIS.get(name)
    if library is None or library.launcher_sets is None or of_launcher(name, variable):
        return False
    return variable.startswith((*library.variables, *_OF_ALL))


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
    library = MPIS.get(name)
    if library is None or library.mpirun_says is None:
        return None
    if library.mpirun_says.search(version):
        return True
    return False if library_of_mpirun(version) else None


def is_file_of(name: str, soname: str, says: Callable[[str], bool]) -> bool | None:
    """Whether a shared library of this name is that MPI library; None where this is not known.

    ``says``: whether the file holds a text; only asked where several libraries have the name.
    """
    library = MPIS.get(name)
    if library is None or not library.sonames:
        return None
    if soname not in library.sonames:
        return False
    others = {each.file_says for each in _of_soname(soname) if each.title != library.title}
    if not others or says(library.file_says):
        return True
    return False if any(map(says, others)) else None


def links_as(name: str) -> tuple[str, ...]:
    """The names by which programs are linked to a library; empty where they are not known."""
    library = MPIS.get(name)
    return library.sonames if library else ()


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
    title = next((each.title for each in MPIS.values() if each.version and each.version.search(text)), "")
    known = [each for each in MPIS.values() if each.title == title]
    reporting = (each.name for each in known if each.report and each.report(output) is not None)
    return next(reporting, next((each.name for each in known), ""))


def library_title(name: str) -> str:
    """What a library calls itself; empty where nothing is known about that."""
    library = MPIS.get(name)
    return library.title if library and library.version else ""


def launcher_version(name: str, text: str) -> str:
    """The version that the launcher of a library prints; empty where there is none."""
    library = MPIS.get(name)
    return _last_group(library.launcher_version, text) if library and library.launcher_version else ""


def version_option(name: str, launcher: str, command: str) -> str:
    """The option that makes a launch command print the library's version; empty where it may do otherwise."""
    library = MPIS.get(name)
    if not library or not library.launcher_version or launcher != library.launcher.name:
        return ""
    program = command.rpartition("/")[2].partition(".")[0]  # of mpiexec.hydra, mpirun.openmpi
    return "--version" if program in library.launcher.commands else ""


def _last_group(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return str(match[match.lastindex or 1]) if match else ""


def reported_transports(name: str, output: str) -> set[str] | None:
    """The transports that a library reports, or None where there is no report that can be read."""
    library = MPIS.get(name)
    return library.report(output) if library and library.report else None


def reported_providers(name: str, output: str) -> set[str] | None:
    """The libfabric providers that a library reports, or None where there is no report that can be read."""
    library = MPIS.get(name)
    return library.providers(output) if library and library.providers else None


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
            return (_user_of_ucx((output, *context)) if library.reports_by_ucx else library.name), transports
    return None


def _user_of_ucx(texts: Iterable[str]) -> str:
    text = "\n".join(texts)
    transports = [each.over_ucx for each in MPIS.values() if each.traces and each.traces.search(text)]
    return transports[0] if len(transports) == 1 else ""


def providers_of_any(output: str) -> set[str]:
    """The libfabric providers that a library reports in an output of unknown origin."""
    reports = (library.providers(output) for library in MPIS.values() if library.providers)
    return next(filter(None, reports), set())


def listed_hosts(output: str) -> int:
    """The number of hosts that a library lists in an output; 0 where none does."""
    counts = (library.listed_hosts(output) for library in MPIS.values() if library.listed_hosts)
    return next(filter(None, counts), 0)
