"""An MPI library from outside: Intel MPI under another name, launched by Hydra's own command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.mpis.mpi import Launcher, MpiLibrary

if TYPE_CHECKING:
    from mpicampaign.mpis.mpi import Launch


def tokens(launch: Launch) -> list[str]:
    return [launch.command, "-np", str(launch.ranks), *launch.options]


def report(output: str) -> set[str] | None:
    """A libfabric provider is named where one is used."""
    if "MPI startup(): Intel(R) MPI Library" not in output:
        return None
    return set(re.findall(r"libfabric provider: (\w+)", output)) or {"shm"}


MPI = MpiLibrary(
    name="toympi",
    title="Toy MPI",
    launcher=Launcher("toyhydra", "PMI_RANK", "MPI_LOCALRANKID", tokens, ("mpiexec.hydra",)),
    settings={
        "command": "mpiexec.hydra",
        "environment": {"I_MPI_DEBUG": "5"},
        "unbound": {"environment": {"I_MPI_PIN": "off"}},
        "transports": {"shm": {"environment": {"I_MPI_FABRICS": "shm"}}},
    },
    report=report,
    prefix_variable="I_MPI_ROOT",
)
