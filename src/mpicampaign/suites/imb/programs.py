"""The benchmarks of the Intel MPI Benchmarks 2017 to 2021.11, by program.

Source: the names that each suite declares (``src_cpp/*/*_suite.cpp``, ``*_benchmark.cpp``, ``src_c/P2P``) in
the tags v2018.0 to IMB-v2021.11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"),
    *("gatherv", "reduce", "reduce_scatter", "scatter", "scatterv"),
)
_FILES = ("Indv", "Expl", "Shared")
_MPI1 = (
    *("PingPong", "PingPongSpecificSource", "PingPongAnySource"),
    *("PingPing", "PingPingSpecificSource", "PingPingAnySource"),
    *("Sendrecv", "Exchange", "Uniband", "Biband", "Reduce_local", "Reduce_scatter_block"),
    *(name.capitalize() for name in COLLECTIVES),
)
_RMA = (
    *("Unidir_put", "Unidir_get", "Bidir_put", "Bidir_get", "Put_local", "Get_local", "Put_all_local"),
    *("Get_all_local", "One_put_all", "One_get_all", "All_put_all", "All_get_all", "Exchange_put"),
    *("Exchange_get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
    "Truly_passive_put",
)
_MT = (
    *(
        "PingPongMT",
        "PingPingMT",
        "SendRecvMT",
        "ExchangeMT",
        "UniBandMT",
        "BiBandMT",
        "BarrierMT",
        "BcastMT",
    ),
    *("ReduceMT", "AllReduceMT", "ScatterMT", "ScattervMT", "ReduceScatterMT", "GatherMT", "GathervMT"),
    *("AllgatherMT", "AllgathervMT", "AlltoallMT", "AlltoallvMT", "PingPongMTSpecificSourceAnyTag"),
    *("PingPongMTAnySourceSpecificTag", "PingPongMTAnySourceAnyTag"),
)
BENCHMARKS: Mapping[str, tuple[str, ...]] = {
    "IMB-MPI1": _MPI1,
    "IMB-MPI1-GPU": _MPI1,
    "IMB-P2P": (
        *("PingPong", "PingPing", "Unirandom", "Birandom", "Corandom", "Stencil2D", "Stencil3D"),
        "SendRecv_Replace",
    ),
    "IMB-RMA": _RMA,
    "IMB-RMA-GPU": _RMA,
    "IMB-EXT": ("Window", "Unidir_Get", "Unidir_Put", "Bidir_Get", "Bidir_Put", "Accumulate"),
    "IMB-IO": (
        *(f"S_{how}_{what}" for how in ("Write", "IWrite", "Read", "IRead") for what in _FILES[:2]),
        *(f"P_{how}_{what}" for how in ("Write", "IWrite", "Read", "IRead") for what in (*_FILES, "Priv")),
        *(f"C_{how}_{what}" for how in ("Write", "IWrite", "Read", "IRead") for what in _FILES),
        "Open_Close",
    ),
    "IMB-NBC": (*(f"I{name}" for name in COLLECTIVES), *(f"I{name}_pure" for name in COLLECTIVES)),
    "IMB-MPI4": (
        *(f"{name.capitalize()}_persist" for name in COLLECTIVES),
        *(f"{name.capitalize()}_persist_pure" for name in COLLECTIVES),
    ),
    "IMB-MT": _MT,
}
