"""What an MPI library itself says about the transport it uses, found in its own output.

Each reader takes the run's whole output and returns the transports (shm, tcp, ibv) between different
ranks, or None where the library said nothing. What was read on which version: docs/method.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

IBV_PROVIDERS = ("verbs", "mlx", "psm", "opx", "efa")


def _of_provider(provider: str) -> str:
    if provider.startswith(("tcp", "sockets")):
        return "tcp"
    return "ibv" if provider.startswith(IBV_PROVIDERS) else provider


def intel_mpi(output: str) -> set[str] | None:
    """I_MPI_DEBUG=5: a libfabric provider is named when, and only when, libfabric is used."""
    if "MPI startup(): Intel(R) MPI Library" not in output:
        return None
    providers = re.findall(r"MPI startup\(\): libfabric provider: (\S+)", output)
    return {_of_provider(provider) for provider in providers} or {"shm"}


def platform_mpi(output: str) -> set[str] | None:
    """-prot: a line for the communication between nodes where there are several, else within the node."""
    if "-node communication is: " not in output:
        return None
    between = re.findall(r"All Inter-node communication is: (\w+)", output)
    within = re.findall(r"All Intra-node communication is: (\w+)", output)
    found = between or within
    return {name.lower() for name in found} or None


def open_mpi_4(output: str) -> set[str] | None:
    """bml_base_verbose: the component chosen for each other rank."""
    if "mca: bml: Using" not in output:
        return None
    return _names(re.findall(r"mca: bml: Using (\w+) btl for send to", output))


def open_mpi_5(output: str) -> set[str] | None:
    """ompi_display_comm=mpi_init: like Platform MPI's, between nodes where there are several."""
    if "all connections are " not in output:
        return None
    between = re.findall(r"^\s*off-host: all connections are ([\w/]+)", output, re.MULTILINE)
    within = re.findall(r"^\s*on-host: +all connections are ([\w/]+)", output, re.MULTILINE)
    return _names(between) or _names(within)


def mpich_ucx(output: str) -> set[str] | None:
    """UCX_LOG_LEVEL=info: the lanes of each endpoint; the endpoint to the rank itself is left out."""
    if "ep_cfg[" not in output:
        return None
    endpoints = re.findall(r"ep_cfg\[\d+\]: (.+)$", output, re.MULTILINE)
    lanes = [lane for endpoint in endpoints if "self/" not in endpoint for lane in LANE.findall(endpoint)]
    return _names(lanes)


LANE = re.compile(r"(\w+)/\w+")
SHARED_MEMORY = {"sm", "vader", "sysv", "posix", "cma", "xpmem", "knem"}
INFINIBAND = ("rc", "dc", "ud", "openib")


def _names(found: list[str]) -> set[str] | None:
    """The transports behind a library's own names; None where it named none."""
    names = {_transport(name) for name in found if name not in ("self", "n/a")}
    return names or None


def _transport(name: str) -> str:
    if name in SHARED_MEMORY:
        return "shm"
    return "ibv" if name.startswith(INFINIBAND) else name


READERS: dict[str, Callable[[str], set[str] | None]] = {
    "intelmpi": intel_mpi,
    "mpich-ucx": mpich_ucx,
    "openmpi4": open_mpi_4,
    "openmpi5": open_mpi_5,
    "platform": platform_mpi,
}


def reported_transports(mpi: str, output: str) -> set[str] | None:
    """The transports that the library reports, or None where it says nothing that is understood."""
    reader = READERS.get(mpi)
    return reader(output) if reader else None
