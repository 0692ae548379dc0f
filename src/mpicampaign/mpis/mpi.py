"""The facts of an MPI library, and the arguments of its launcher. Plain values; nothing of a campaign."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple


class Launch(NamedTuple):
    """What a launcher has to start.

    ``options`` and ``environment``: those of the library and the placement. ``further``: options of the
    campaign file, which follow. ``hosts``: only where no scheduler passes them to the launcher.
    """

    command: str
    nodes: int
    ranks_per_node: int
    options: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    environment: Mapping[str, str] = MappingProxyType({})
    hosts: tuple[str, ...] = ()
    scheduler: str = "none"
    prefix: str = ""  # where the library is, if no module loads it

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def host_list(self) -> str:
        """The named hosts, as Hydra takes them."""
        return ",".join(self.hosts)

    @property
    def host_slots(self) -> str:
        """The named hosts with the ranks of each: ``n1:4,n2:4``."""
        return ",".join(f"{host}:{self.ranks_per_node}" for host in self.hosts)


@dataclass(frozen=True, slots=True)
class Launcher:
    """The variables with a rank's numbers, and the command line.

    ``tokens``: the command without the campaign's own options and the program.
    ``commands``: the names of the launcher in job scripts.
    """

    name: str
    rank_variable: str
    local_rank_variable: str
    tokens: Callable[[Launch], list[str]]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MpiLibrary:
    """An MPI library, as campaign files call it.

    Parameters
    ----------
    settings : what a campaign file has under ``mpis: NAME:``, without the launcher: what makes the library
        use and report each transport. ``{interface}``, ``{device}`` and ``{provider}`` are replaced by those
        of the fabric.
    measurement : raised by hand when the way of measuring changes, with a line of history in
        docs/formats.md: every finished run of the library is then due again.
    version : finds the version in the library's output and in its MPI_Get_library_version, as its last group.
    launcher_version : finds it in what its launcher prints with ``--version``, on one line; without it, job
        scripts do not ask.
    report : the transports (shm, tcp, ibv, or a libfabric provider by its name) between different ranks that
        the library reports in a run's output; None where it reports nothing. docs/evidence.md lists the
        versions for which this is known.
    providers : the libfabric providers that it reports to have opened; None where it reports none.
    reports_by_ucx : whether it is UCX that reports, which does not name the MPI library.
    over_ucx, traces : the library's name where it uses UCX, and the texts in an output that show it.
    of_module : the library that a module of this name loads; empty for another version or build, which only a
        campaign file can describe; None where the module is not an MPI library of this kind.
    mpirun_says : matches its ``mpirun --version``, and the first line of that alone.
    distribution : the ending of its commands where a Linux distribution installs several libraries, as in
        ``mpirun.openmpi``.
    sonames : the names by which programs are linked to it; empty where they are not known.
    file_says : a text in the file of its library, which those of other libraries of the same name lack.
    as_root : the variables without which its launcher refuses to run as root.
    prefix_variable : the variable by which it finds itself under a prefix.
    variables : prefixes of the variables that steer it.
    launcher_sets : the variables of these prefixes that its launcher sets for the ranks, by its documentation
        and by honest runs; None where this is not known.
    derives : the further variables that its launcher sets for some settings: a pattern of the variable, and
        one of these settings, as ``NAME=value`` or as options, which follow a blank. In it ``{name}`` and
        ``{value}`` stand for the variable's own.
    wheel : the name of its wheel, which ``prefix: wheel`` refers to.
    wheel_for : the machines for which pyproject.toml installs that wheel; ``*`` for all others.
    listed_hosts : the number of hosts that it lists in an output.
    """

    name: str
    title: str
    launcher: Launcher
    settings: Mapping[str, Any]
    measurement: int = 1
    version: re.Pattern[str] | None = None
    launcher_version: re.Pattern[str] | None = None
    report: Callable[[str], set[str] | None] | None = None
    providers: Callable[[str], set[str] | None] | None = None
    reports_by_ucx: bool = False
    over_ucx: str = ""
    traces: re.Pattern[str] | None = None
    of_module: Callable[[str], str | None] | None = None
    mpirun_says: re.Pattern[str] | None = None
    distribution: str = ""
    sonames: tuple[str, ...] = ()
    file_says: str = ""
    as_root: Mapping[str, str] = field(default_factory=dict)
    prefix_variable: str = ""
    variables: tuple[str, ...] = ()
    launcher_sets: re.Pattern[str] | None = None
    derives: Mapping[str, str] = field(default_factory=dict)
    wheel: str = ""
    wheel_for: tuple[str, ...] = ()
    listed_hosts: Callable[[str], int] | None = None

    @property
    def definition(self) -> dict[str, Any]:
        """The library as a campaign file would describe it."""
        return {"launcher": self.launcher.name, **self.settings}


_SHARED_MEMORY = {"sm", "vader", "sysv", "posix", "cma", "xpmem", "knem"}
_INFINIBAND = ("rc", "dc", "ud", "openib")


def transports_of(components: list[str]) -> set[str] | None:
    """The transports behind the names of Open MPI's and UCX's components; None where none is named."""
    others = {name for name in components if name not in ("self", "n/a")}
    names = {"shm" if name in _SHARED_MEMORY else name for name in others}
    return {"ibv" if name.startswith(_INFINIBAND) else name for name in names} or None
