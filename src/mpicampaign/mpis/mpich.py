"""MPICH over libfabric and over UCX; settings and reports seen with 4.0.2 and UCX 1.13.

Over libfabric it reports its provider even where messages use shared memory: no report of the transport.
"""

from __future__ import annotations

import re
from typing import Any

from mpicampaign.mpis import libfabric
from mpicampaign.mpis.mpi import Launch, Launcher, MpiLibrary, transports_of

_MODULE = re.compile(r"(?:^|/)(?:cray-)?mpich[0-9]?(?:[/-]|$)", re.IGNORECASE)
_LANE = re.compile(r"(\w+)/\w+")
_OFI_TCP = {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "{interface}"}
_OFI_IBV = {"FI_PROVIDER": "verbs", "FI_VERBS_DEVICE_NAME": "{device}"}
_UCX_TCP, _UCX_IBV = {"UCX_NET_DEVICES": "{interface}"}, {"UCX_NET_DEVICES": "{device}:1"}
_UNBOUND = {"options": ["-bind-to", "none"]}


def _tokens(launch: Launch) -> list[str]:
    place = ["-hosts", launch.host_list] if launch.hosts else []
    counts = ["-n", str(launch.ranks), "-ppn", str(launch.ranks_per_node)]
    return [launch.command, *counts, *place, *launch.options]


def _says(network: str) -> re.Pattern[str]:
    """Hydra of a build for this network, or of one that names none."""
    return re.compile(rf"HYDRA(?!.*--with-device=ch4:(?![\w,]*{network}))", re.DOTALL)


HYDRA = Launcher("hydra", "PMI_RANK", "MPI_LOCALRANKID", _tokens, ("mpirun", "mpiexec"))


def _report_of_ucx(output: str) -> set[str] | None:
    """UCX_LOG_LEVEL=info: the lanes of each endpoint but the one to the rank itself."""
    if "ep_cfg[" not in output:
        return None
    endpoints = re.findall(r"ep_cfg\[\d+\]: (.+)$", output, re.MULTILINE)
    lanes = [lane for endpoint in endpoints if "self/" not in endpoint for lane in _LANE.findall(endpoint)]
    return transports_of(lanes)


def _of_module(module: str) -> str | None:
    """Cray MPICH is built for another network, and has no name here."""
    if not _MODULE.search(module):
        return None
    return "" if "cray" in module.lower() else "mpich-ofi"


_OF_BOTH: dict[str, Any] = {
    "title": "MPICH",
    "launcher": HYDRA,
    "version": re.compile(r"MPICH Version\s*:\s*(\d[\w.]*)"),
    "launcher_version": re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)"),
    "distribution": "mpich",
    "sonames": ("libmpi.so.12", "libmpich.so.12"),
    "file_says": "MPICH Version",
    "variables": ("MPIR_", "MPICH_"),
    "launcher_sets": re.compile(r"MPIR_CVAR_CH3_INTERFACE_HOSTNAME|MPICH_INTERFACE_HOSTNAME.*"),
    "derives": {"MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": r"(HYDRA_IFACE| --?iface)[ =]{value}"},
}

_OFI = MpiLibrary(
    name="mpich-ofi",
    settings={
        "command": "mpiexec",
        "pmi": "pmi2",
        "environment": {"MPIR_CVAR_DEBUG_SUMMARY": "1", "MPIR_CVAR_CH4_NETMOD": "ofi"},
        "unbound": _UNBOUND,
        "transports": {
            "shm": {},
            "tcp": {"environment": {**_OFI_TCP, "MPIR_CVAR_NOLOCAL": "1"}},
            "ibv": {"environment": _OFI_IBV},
            "ofi": {"environment": {"MPIR_CVAR_NOLOCAL": "1"}},
            "tcp+shm": {"environment": {**_OFI_TCP, "MPIR_CVAR_NOLOCAL": "0"}},
            "ibv+shm": {"environment": {**_OFI_IBV, "MPIR_CVAR_NOLOCAL": "0"}},
            "ofi+shm": {"environment": {"MPIR_CVAR_NOLOCAL": "0"}},
        },
    },
    providers=libfabric.providers,
    of_module=_of_module,
    mpirun_says=_says("ofi"),
    **_OF_BOTH,
    wheel="mpich",
    wheel_for=("*",),
)

_UCX = MpiLibrary(
    name="mpich-ucx",
    settings={
        "command": "mpiexec",
        "pmi": "pmi2",
        "environment": {"UCX_LOG_LEVEL": "info"},
        "unbound": _UNBOUND,
        "transports": {
            "shm": {},
            "tcp": {"environment": {"UCX_TLS": "tcp,self", **_UCX_TCP}},
            "ibv": {"environment": {"UCX_TLS": "rc,self", **_UCX_IBV}},
            "tcp+shm": {"environment": {"UCX_TLS": "tcp,sm,self", **_UCX_TCP}},
            "ibv+shm": {"environment": {"UCX_TLS": "rc,sm,self", **_UCX_IBV}},
        },
    },
    mpirun_says=_says("ucx"),
    report=_report_of_ucx,
    reports_by_ucx=True,
    over_ucx="mpich-ucx",
    # Hydra proves nothing: Intel MPI has it, too
    traces=re.compile(r"(?<![a-z])mpich|MPIR_CVAR", re.IGNORECASE),
    **_OF_BOTH,
)

MPI = (_OFI, _UCX)
