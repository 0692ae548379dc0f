"""Platform MPI (IBM), after its documentation; its report as in published outputs."""

from __future__ import annotations

import re

from mpicampaign.mpis.mpi import Launch, Launcher, MpiLibrary

_RANKS = " -- ranks"
_HOST = re.compile(r"^Host \d+ -- ip \S+ -- ranks", re.MULTILINE)


def _tokens(launch: Launch) -> list[str]:
    place = ["-hostlist", launch.host_slots] if launch.hosts else ["-np", str(launch.ranks)]
    if launch.scheduler == "lsf":
        place = []  # the library's option -lsf takes hosts and ranks from LSF
    exported = [token for key, value in launch.environment.items() for token in ("-e", f"{key}={value}")]
    return [launch.command, *place, *launch.options, *exported]


def _report(output: str) -> set[str] | None:
    """-prot: the communication between nodes, or within a single node."""
    if "-node communication is: " not in output:
        return None
    between = re.findall(r"All Inter-node communication is: (\w+)", output)
    within = re.findall(r"All Intra-node communication is: (\w+)", output)
    return {name.lower() for name in between or within} or None


def _listed_hosts(output: str) -> int:
    """The hosts in the list above its table."""
    return len(_HOST.findall(output)) if _RANKS in output else 0


MPI = MpiLibrary(
    name="platform",
    title="Platform MPI",
    launcher=Launcher("platform", "MPI_RANKID", "MPI_LOCALRANKID", _tokens, ("mpirun",)),
    settings={
        "options": ["-lsf", "-prot"],
        "transports": {
            "shm": {},
            "tcp": {"options": ["-TCP"]},
            "ibv": {"options": ["-IBV"]},
            "tcp+shm": {"options": ["-TCP", "-intra=shm"]},
            "ibv+shm": {"options": ["-IBV", "-intra=shm"]},
        },
    },
    report=_report,
    variables=("MPI_", "MPIRUN_"),
    listed_hosts=_listed_hosts,
)
