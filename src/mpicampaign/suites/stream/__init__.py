"""STREAM; BabelStream, and STREAM in CUDA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.suites.reading import ParsedOutput

TITLE = re.compile(r" ?STREAM [Vv]ersion \$Revision: *(\S{1,20}) *\$")
CSV = "function,num_times,"
_CUDA = "STREAM Benchmark implementation in "
UNCHECKED_TITLE = re.compile(rf"(?:Babel|GPU-)(?i:stream)\s*$| ?{_CUDA}\w+|{CSV}")
_RULE = re.compile(r" ?-{40,}\s*\n")


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.stream.parser import parse_stream

    return parse_stream(text)


class _Stream(Suite):
    ranks_at_once = True
    options = ("array", "threads", "precision", "implementation")

    def names(self, text: str, program: str) -> tuple[str, str]:
        """Ranks at once measure something else than one."""
        lines = [line for line in text.split("\n") if not line.startswith(CSV)]  # may be below a title
        titles = [line for line in lines if TITLE.match(line) or UNCHECKED_TITLE.match(line)]
        name = "CUDA-STREAM" if _CUDA in text else self.called
        return (f"{name}-at-once" if len(titles) > 1 else name), program

    def facts(self, text: str) -> Mapping[str, str]:
        from mpicampaign.suites.stream.parser import facts_of

        return facts_of(text)


class _BabelStream(_Stream):
    closing_line: ClassVar[bool] = False


_METRICS = {
    "bandwidth": ColumnMetric("best rate", BANDWIDTH, headline=True),
    "time": ColumnMetric("average time", TIME),
    "time_min": ColumnMetric("shortest time", TIME),
    "time_max": ColumnMetric("longest time", TIME),
    "rate_mean": ColumnMetric("best rate of a process, mean of all at once", BANDWIDTH, headline=True),
    "rate_lowest": ColumnMetric("best rate of a process, lowest", BANDWIDTH),
    "rate_highest": ColumnMetric("best rate of a process, highest", BANDWIDTH),
}
SUITE = (
    _Stream(
        name="stream",
        title="STREAM",
        banner=Banner("STREAM ", TITLE, above=_RULE),
        parse=_parse,
        programs=r"stream(?:_c|_f|_mpi|_omp)?(?:\.exe)?",
        sources=Sources(spack="stream", modules="STREAM", address="https://www.cs.virginia.edu/stream/"),
        whole=("^ ?Solution Validates",),
        end="Solution Validates",
        metrics=_METRICS,
    ),
    _BabelStream(
        name="babelstream",
        title="BabelStream",
        banner=Banner(("Stream", "STREAM", CSV), UNCHECKED_TITLE),
        parse=_parse,
        programs=r"[a-z0-9]+-stream",
        sources=Sources(spack="babelstream", address="https://github.com/UoB-HPC/BabelStream"),
        whole=("^(?:Triad|Dot)[ ,:]",),
        metrics=_METRICS,
    ),
)
