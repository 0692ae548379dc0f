"""The OSU Micro-Benchmarks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.suites.osu.end import doubt_of_end
from mpicampaign.suites.osu.sizes import largest_size
from mpicampaign.suites.osu.titles import program_of_title
from mpicampaign.suites.suite import Active, Banner, Sends, Sources, Suite

if TYPE_CHECKING:
    from mpicampaign.suites.reading import ParsedOutput

_BUILT_IN = ("osu_latency", "osu_bw", "osu_bibw", "osu_mbw_mr", "osu_gather")


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.osu.parser import parse_osu

    return parse_osu(text)


def _names(text: str, program: str) -> tuple[str, str]:
    program = program_of_title(text) or program
    return program, program


SUITE = Suite(
    name="osu",
    title="OSU",
    banner=Banner("# OSU ", re.compile(r"# OSU \S.*? Test(?: v\S{1,21})?\s*$")),
    parse=_parse,
    programs=r"osu_\w+",
    sources=Sources(
        spack="osu-micro-benchmarks",
        modules="OSU-Micro-Benchmarks",
        address="https://mvapich.cse.ohio-state.edu/benchmarks/",
        folders=("libexec/osu-micro-benchmarks",),
    ),
    whole=("^ *[0-9]+[0-9.]*( |$)|^nprocs:|^This is a test with", "^# *OSU"),
    closing_line=False,
    benchmarks={name: {"program": name, "provider": "path", "ranks_minimum": 2} for name in _BUILT_IN},
    sends={  # by the titles of the outputs
        "MPI Latency": Sends(Active.FIRST_TWO, one_way=True),
        "MPI Bandwidth": Sends(Active.FIRST_TWO),
        "MPI Bi-Directional Bandwidth": Sends(Active.FIRST_TWO, directions=2),
        "MPI Multiple Bandwidth / Message Rate": Sends(Active.HALVES, windows=True),
    },
    resolution={"time": 1e-8, "bandwidth": 1e4},  # two decimals of a µs and of a MB/s
    latencies="(?i:.*latency.*)",
    ends_early=True,
    options=("window_size", "datatype", "window_creation", "synchronization"),
    largest_size=largest_size,
    names=_names,
    doubt_of_end=doubt_of_end,
)
