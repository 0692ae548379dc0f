"""Which OSU program printed an output, by the title above its table.

Titles as in the programs' sources, series 3 to 7. A job script may start several programs, or
may be lost; the title is always there.
"""

from __future__ import annotations

import re
from functools import cache

from mpicampaign.base.errors import nearest
from mpicampaign.suites.reading import OutputError, shown

_TITLE = re.compile(
    r"^# OSU (?:One Sided )?(MPI|[NR]CCL)([-_ ]\S.{0,78}?) Test(?: v\S{1,21})?\s*$", re.MULTILINE
)
_BUFFERS = re.compile(
    r"^# Send Buffer on [A-Z ]{4,20}\((\w{1,2})\) and Receive Buffer on [A-Z ]{4,20}\((\w{1,2})\)",
    re.MULTILINE,
)
_DEVICE = re.compile(r"-[A-Z]{3,}(?: MANAGED)?(?!\S)")  # "MPI-CUDA Latency", "MPI_Put-CUDA Latency"
_EXCHANGE = " personalized exchange"  # with all-to-all, but not in every series
_ALL_TO_ALL = {"all-to-all": "alltoall", "all-to-allv": "alltoallv", "all-to-allw": "alltoallw"}
_COLLECTIVES = {
    **_ALL_TO_ALL,
    **{
        name: name
        for name in (
            *("allgather", "allgatherv", "allreduce", "barrier", "gather", "gatherv"),
            *("reduce", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"),
        )
    },
    "broadcast": "bcast",
}
_NEIGHBOURS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
_PROGRAMS = {
    "latency": "osu_latency",
    "bandwidth": "osu_bw",
    "bi-directional bandwidth": "osu_bibw",
    "latency persistent": "osu_latency_persistent",
    "bandwidth persistent": "osu_bw_persistent",
    "bi-directional bandwidth persistent": "osu_bibw_persistent",
    "multi latency": "osu_multi_lat",
    "multi-threaded latency": "osu_latency_mt",
    "multi-process latency": "osu_latency_mp",
    "multiple bandwidth / message rate": "osu_mbw_mr",
    "init": "osu_init",
    "hello world": "osu_hello",
    **{f"{title} latency": f"osu_{name}" for title, name in _COLLECTIVES.items()},
    **{f"non-blocking {title} latency": f"osu_i{name}" for title, name in _COLLECTIVES.items()},
    **{f"{title} persistent latency": f"osu_{name}_persistent" for title, name in _COLLECTIVES.items()},
    **{f"neighborhood {name} latency": f"osu_neighbor_{name}" for name in _NEIGHBOURS},
    "neighborhood all-to-allv latency": "osu_neighbor_alltoallv",
    **{f"non-blocking neighborhood {name} latency": f"osu_ineighbor_{name}" for name in _NEIGHBOURS},
    "put latency": "osu_put_latency",
    "put bandwidth": "osu_put_bw",
    "put bi-directional bandwidth": "osu_put_bibw",
    "get latency": "osu_get_latency",
    "get bandwidth": "osu_get_bw",
    "accumulate latency": "osu_acc_latency",
    "get_accumulate latency": "osu_get_acc_latency",
    "fetch_and_op latency": "osu_fop_latency",
    "compare_and_swap latency": "osu_cas_latency",
}


_WORDS = {word for title in _PROGRAMS for word in title.split()}
_ALIKE = 0.8  # ratio of difflib


def program_of_title(text: str) -> str:
    """The program's name; empty where the title is missing, or one that is not known.

    Raises
    ------
    OutputError
        when the title is a misspelling of a known one: it would become a new benchmark.
    """
    match = _TITLE.search(text)
    title = _plain(match[2]) if match else ""
    meant = _PROGRAMS.get(" ".join(map(_word_meant, title.split())), "")
    if match and meant and title not in _PROGRAMS:
        raise OutputError(f"no OSU benchmark has the title {shown(match[0])}; did you mean that of {meant}?")
    program = _PROGRAMS.get(title, "")
    return program if not match or match[1] == "MPI" else program.replace("osu_", "osu_xccl_")


def buffers_of(text: str) -> str:
    """Where the buffers lie of sender and receiver, such as ``D H``; empty where none is printed."""
    buffers = _BUFFERS.search(text)
    return f"{buffers[1]} {buffers[2]}" if buffers else ""


def operation_of(series: str) -> str:
    """``Allgather`` for ``MPI Allgather Latency``; empty for all but blocking collectives and osu_latency."""
    title = _plain(series.removeprefix("MPI").removesuffix(" Test"))
    name = _PROGRAMS.get(title, "").removeprefix("osu_")
    return "PingPong" if name == "latency" else name.capitalize() if name in _COLLECTIVES.values() else ""


def _plain(title: str) -> str:
    """A title without what differs between versions and builds, in lower case."""
    return _DEVICE.sub("", title).lower().replace(_EXCHANGE, "").lstrip("_ ")


@cache
def _word_meant(word: str) -> str:
    """The known word that a word is a misspelling of, else the word itself.

    New functions of MPI are named by a letter before or behind a known name: Iallgather, Rput, Alltoallv.
    """
    if word in _WORDS:
        return word
    meant = next((each for each in _WORDS if sorted(each) == sorted(word)), "") or nearest(
        word, _WORDS, _ALIKE
    )
    function = word in {f"i{meant}", f"r{meant}", f"{meant}v", f"{meant}w"}
    return word if function else meant or word
