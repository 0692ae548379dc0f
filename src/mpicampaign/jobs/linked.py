"""Whether a program is linked to the MPI library of its system: reads files, executes nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.jobs.local_mpi import find_mpi, is_on_this_machine
from mpicampaign.jobs.mpi_files import is_of, mapped, mpi_library_of
from mpicampaign.mpis import links_as, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.campaign.model import Benchmark, System


def wrong_mpi(system: System, benchmark: Benchmark, program: Path) -> str:
    """Why a program cannot run with the MPI library of a system; empty where it can, or where nobody knows.

    Where modules or sourced files bring the library, only a name that it never has is a wrong library.
    """
    needed = mpi_library_of(program)
    fitting = links_as(system.mpi.name)
    if not needed or not fitting:
        return ""
    linked = f"{program} is linked to {needed} ({titles_of(needed)})"
    declared = f"system {system.name} uses {system.mpi.name}"
    if needed not in fitting:
        return f"{linked}; {declared} ({' or '.join(fitting)}): {_hint(benchmark)}"
    if not is_on_this_machine(system) or benchmark.provider.modules:
        return ""
    file = mapped(program, needed, _first(system), _last(system))
    if file is None:
        return f"{linked}, which is not on this machine; {declared}: {_hint(benchmark)}"
    if _is_other(system, file):
        return f"{linked} and would load {file}; {declared}{_of_prefix(system)}: {_hint(benchmark)}"
    return ""


def _hint(benchmark: Benchmark) -> str:
    built = "build it with that library by provider: {kind: source, …}"
    return f"{built}, or give {benchmark.name} the path or module of such a build"


def _of_prefix(system: System) -> str:
    return f" below {system.prefix}" if system.prefix else ""


def _first(system: System) -> Iterator[Path]:
    """The folders of LD_LIBRARY_PATH in the system's jobs."""
    if system.prefix:
        yield Path(system.prefix) / "lib"
    path = system.environment.get("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", ""))
    yield from map(Path, filter(None, path.split(":")))


def _last(system: System) -> Iterator[Path]:
    """Launchers may add their own library's folder."""
    command = Path(find_mpi(system).command)
    if command.is_absolute():
        for folder in ("lib", "lib64"):
            yield command.parent.parent / folder


def _is_other(system: System, file: Path) -> bool:
    """Whether the loader would map another library than the system's."""
    own = [
        path
        for name in ("lib", "lib64")
        if system.prefix
        for path in Path(system.prefix, name).glob("libmpi*")
    ]
    if own:
        below = file.is_relative_to(system.prefix) or file.resolve() in {path.resolve() for path in own}
        return not below
    return is_of(system.mpi.name, file) is False
