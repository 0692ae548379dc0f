"""The programs of the OSU Micro-Benchmarks 5 to 7: their kinds, and the ranks and nodes that they need.

Source: ``numprocs`` in the ``main`` of each program, and ``omb_neighborhood_create`` for the neighbourhoods.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.suites.osu.options import given, on_devices

if TYPE_CHECKING:
    from mpicampaign.suites.suite import Request

_BLOCKING = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"),
)
_NEIGHBOURS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
_KINDS = {
    "pair": (
        *("osu_latency", "osu_latency_persistent", "osu_latency_mt", "osu_latency_mp"),
        *("osu_bw", "osu_bibw", "osu_bw_persistent", "osu_bibw_persistent"),
    ),
    "pairs": ("osu_multi_lat", "osu_mbw_mr"),
    "fan": ("osu_bw_fan_in", "osu_bw_fan_out"),
    "collective": (
        *(f"osu_{name}" for name in _BLOCKING),
        *(f"osu_i{name}" for name in _BLOCKING),
        *(f"osu_{name}_persistent" for name in _BLOCKING if name != "reduce_scatter_block"),
    ),
    "neighbourhood": (
        *(f"osu_neighbor_{name}" for name in _NEIGHBOURS),
        *(f"osu_ineighbor_{name}" for name in _NEIGHBOURS),
    ),
    "one-sided": (
        *("osu_put_latency", "osu_get_latency", "osu_acc_latency", "osu_get_acc_latency"),
        *("osu_fop_latency", "osu_cas_latency", "osu_put_bw", "osu_put_bibw", "osu_get_bw"),
    ),
    "start": ("osu_init",),
}
KINDS = {program: kind for kind, programs in _KINDS.items() for program in programs}
SILENT = {"osu_hello": "osu_init measures the start"}

_TWO = {*_KINDS["pair"], *_KINDS["one-sided"], "osu_xccl_latency", "osu_xccl_bw", "osu_xccl_bibw"}
XCCL = tuple(  # by NCCL or RCCL
    f"osu_xccl_{name}"
    for name in (
        *("latency", "bw", "bibw"),
        *("allgather", "allreduce", "alltoall", "bcast", "reduce", "reduce_scatter"),
    )
)
_DEVICES = re.compile(r"osu_(?:xccl|nccl|rccl)_\w+")


def name_of(program: str) -> str:
    """The name of a program, without its folder."""
    return program.rsplit("/", 1)[-1]


def lacking(request: Request) -> str:
    """Why a program ends without a table in this placement."""
    name, ranks = name_of(request.program), request.ranks
    kind = KINDS.get(name, "")
    here = f"the placement has {ranks}"
    if name in SILENT:
        return f"{name} measures nothing; {SILENT[name]}"
    if (on_devices(request.arguments) or _DEVICES.fullmatch(name)) and not request.gpus:
        return "device buffers: the placement has no gpus_per_node"
    if kind == "fan" and request.nodes < 2:
        return f"{name} needs at least 2 nodes; the placement has {request.nodes}"
    if name in _TWO and ranks != 2:
        return f"{name} needs exactly 2 ranks; {here}"
    if name == "osu_multi_lat" and ranks % 2:
        return f"{name} needs an even number of ranks; {here}"
    in_a_ring = kind == "neighbourhood" and not given(request.arguments, "N")
    least = 3 if in_a_ring else 1 if kind in ("", "start") else 2
    return f"{name} needs at least {least} ranks; {here}" if ranks < least else ""
