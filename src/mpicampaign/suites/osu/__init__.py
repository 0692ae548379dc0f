"""The OSU Micro-Benchmarks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from mpicampaign.suites.osu.options import SIZES, given
from mpicampaign.suites.osu.programs import KINDS, SILENT, XCCL, lacking, name_of
from mpicampaign.suites.osu.sizes import doubt_of_end, largest_size
from mpicampaign.suites.osu.titles import buffers_of, operation_of, program_of_title
from mpicampaign.suites.suite import Active, Banner, Refusal, Sends, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpicampaign.base.records import Series
    from mpicampaign.suites.reading import ParsedOutput
    from mpicampaign.suites.suite import Request

# Its main ends without MPI_Finalize in version 7.4, and with it in 7.0.
_UNFINISHED = (
    "osu_latency_mt of OSU 7.4 ends without MPI_Finalize; launchers such as those of Intel MPI and MPICH "
    "report that as an abort, and the run fails: use another version"
)


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.osu.parser import parse_osu

    return parse_osu(text)


class _Osu(Suite):
    closing_line = False
    ends_early = True
    silent = SILENT
    latencies = "(?i:.*latency.*)"
    gathers: ClassVar = dict.fromkeys(("MPI Gather Latency", "MPI Gather Latency Test"), "osu_gather")
    options = ("window_size", "datatype", "buffers", "window_creation", "synchronization")
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e4}  # two decimals of a µs and of a MB/s

    def refuses(self, request: Request) -> Iterator[Refusal]:
        """Sizes that nobody can read: OSU takes 1K for 1, and only the last size proves an output whole."""
        sizes = given(request.arguments, "m")
        if sizes and not SIZES.fullmatch(sizes):
            yield Refusal("the value of -m must be [MIN:]MAX in bytes, such as 1:1024", "", f"-m {sizes}")

    def warns(self, request: Request) -> Iterable[str]:
        return (_UNFINISHED,) if name_of(request.program) == "osu_latency_mt" else ()

    def lacks(self, request: Request) -> str:
        return lacking(request)

    def largest_size(self, program: str, arguments: Sequence[str], ranks: int) -> int | None:
        return largest_size(program, arguments, ranks)

    def names(self, text: str, program: str) -> tuple[str, str]:
        program = program_of_title(text) or program
        return program, program

    def facts(self, text: str) -> Mapping[str, str]:
        return {"buffers": buffers_of(text)}

    def operation(self, series: str, metadata: Mapping[str, str]) -> str:
        return operation_of(series)

    def doubt_of_end(
        self, facts: Mapping[str, str], arguments: Sequence[str] | None, tables: Iterable[Series]
    ) -> str:
        return doubt_of_end(facts, arguments, tables)


SUITE = _Osu(
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
    benchmarks={
        name: {"program": name, "provider": "path", "ranks_minimum": 1 if kind == "start" else 2}
        for name, kind in (KINDS | dict.fromkeys(XCCL, "")).items()
    },
    sends={  # by the titles of the outputs
        "MPI Latency": Sends(Active.FIRST_TWO, one_way=True),
        "MPI Bandwidth": Sends(Active.FIRST_TWO),
        "MPI Bi-Directional Bandwidth": Sends(Active.FIRST_TWO, directions=2),
        "MPI Multiple Bandwidth / Message Rate": Sends(Active.HALVES, windows=True),
    },
)
