"""The Intel MPI Benchmarks."""

from __future__ import annotations

import re
from calendar import timegm
from typing import TYPE_CHECKING, Any, ClassVar

from mpicampaign.suites.imb.programs import BENCHMARKS, COLLECTIVES
from mpicampaign.suites.suite import ROOTED, Active, Banner, Sends, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mpicampaign.base.records import Series
    from mpicampaign.suites.reading import ParsedOutput
    from mpicampaign.suites.suite import Request

# With the newline above: a search for that is many times as fast as one for the begin of a line.
_BENCHMARK = re.compile(r"\n# Benchmarking (\S+)")
_CALL = re.compile(r"\n# (?:\S*/)?(IMB-\w+(?:-GPU)?)(?: |$)", re.MULTILINE)
_ON_GPU = re.compile(r"^# (?:\S*/)?IMB-\w+-GPU(?: .*-mem_alloc_type +(\w{1,20}))?", re.MULTILINE)
GIVEN_UP = ("time-out", "out-of-mem", "int-overflow")  # printed instead of values
_DATE = re.compile(
    r"^# Date +: \w{3} (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})$", re.ASCII | re.MULTILINE
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LONGEST_NAME = 64  # characters that a label may have

_BUILT_IN = (
    "PingPong",
    "PingPing",
    "Sendrecv",
    "Exchange",
    "Uniband",
    "Biband",
    "Gather",
    "Allreduce",
    "Alltoall",
)


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.imb.parser import parse_imb

    return parse_imb(text)


_OPERATIONS = {"PingPong", "Reduce_scatter_block", *(name.capitalize() for name in COLLECTIVES)}
_FIXED_ROOT = re.compile(r"20(?:1[7-9]|[2-9][0-9])")  # versions before 2017 change the root, without barriers


class _Imb(Suite):
    refused = "^Invalid benchmark name"  # said of unknown options, too, but not by IMB-P2P
    ends_early = True
    given_up = GIVEN_UP
    gathers: ClassVar = {"Gather": "IMB Gather"}
    options = ("mpi_datatype", "mpi_datatype_for_reductions")
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e4}  # two decimals of a µs and of a MB/s

    def warns(self, request: Request) -> Iterable[str]:
        unasked = request.program.endswith("-GPU") and not request.gpus
        return (f"{request.program} without GPUs: the placement has no gpus_per_node",) if unasked else ()

    def offers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Those of all programs, and the programs themselves; a GPU version is one by its program only."""
        yield from self.benchmarks.items()
        for program, names in BENCHMARKS.items():
            entry = {"program": program, "provider": "wheel", "ranks_minimum": 2}
            for name in names if not program.endswith("-GPU") else ():
                yield name, {**entry, "arguments": name}
            yield program, entry

    def quick(self, program: str) -> str:
        """At least 0.2 s, for shorter runs are not judged; IMB-P2P and IMB-MT have other options."""
        return "" if program in ("IMB-P2P", "IMB-MT") else "-iter 5000,250 -time 1 -msglog 0:22"

    def names(self, text: str, program: str) -> tuple[str, str]:
        """All benchmarks that were measured (the program where their names are too long), and the program."""
        lines = f"\n{text}"
        called = _CALL.search(lines)
        program = called[1] if called else program
        names = "+".join(dict.fromkeys(_BENCHMARK.findall(lines)))
        return names if len(names) <= _LONGEST_NAME else program or names, program

    def facts(self, text: str) -> Mapping[str, str]:
        """Where the buffers of a GPU version are: on the device, unless its call says otherwise."""
        called = "-GPU" in text and _ON_GPU.search(text)
        return {"buffers": called[1] or "device"} if called else {}

    def operation(self, series: str, metadata: Mapping[str, str]) -> str:
        """Not of a rooted one whose root changes, or that overlaps the next: then no rank waits for all."""
        arguments = metadata.get("calling_sequence", "").split()
        fixed = _FIXED_ROOT.match(metadata.get("version", "")) and not {"-root_shift", "-sync"} & {*arguments}
        return series if series in _OPERATIONS and (fixed or series not in ROOTED) else ""

    def least_time(self, tables: Iterable[Series]) -> float:
        """A PingPong takes twice the time that is printed, and warm-ups are not counted."""
        from mpicampaign.suites.reading import measured_time

        return measured_time(tables, "repetitions")

    def printed_times(self, output: str, offset: int) -> Iterator[float]:
        """The date of the header, in the local time of rank 0."""
        date = _DATE.search(output)
        if date and date[1] in _MONTHS:
            month, day, hour, minute, second, year = _MONTHS.index(date[1]) + 1, *map(int, date.groups()[1:])
            yield timegm((year, month, day, hour, minute, second)) - offset


SUITE = _Imb(
    name="imb",
    title="IMB",
    banner=Banner("MPI Benchmark", re.compile(r"#\s+Intel ?\((?:R|TM)\) MPI Benchmark(?:s| Suite) ")),
    parse=_parse,
    programs=r"IMB-\w+(?:-GPU)?",
    sources=Sources(
        wheel="impi-rt",  # see pyproject.toml
        spack="intel-mpi-benchmarks",
        modules="IMB",
        address="https://github.com/intel/mpi-benchmarks",
    ),
    # IMB-MT has no such closing line.
    whole=("^ +[0-9]+ ", "^# All processes entering MPI_Finalize|, MT part"),
    end="# All processes entering MPI_Finalize",
    benchmarks={
        name: {"program": "IMB-MPI1", "provider": "wheel", "arguments": name, "ranks_minimum": 2}
        for name in _BUILT_IN
    },
    sends={
        "PingPong": Sends(Active.FIRST_TWO, one_way=True),
        "PingPing": Sends(Active.FIRST_TWO, one_way=True),
        "Sendrecv": Sends(Active.ALL, directions=2),
        "Exchange": Sends(Active.ALL, directions=2),
        "Uniband": Sends(Active.HALVES, windows=True),
        "Biband": Sends(Active.HALVES, directions=2, windows=True),
    },
    published={"PingPong": "PingPong"},
)
