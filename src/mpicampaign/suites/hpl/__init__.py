"""HPL, the High-Performance Linpack benchmark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import DURATION, FLOPS, FRACTION
from mpicampaign.suites.hpl import problem
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.base.records import Series
    from mpicampaign.suites.reading import ParsedOutput

OPTIONS = ("pmap", "pfact", "nbmin", "ndiv", "rfact", "bcast", "depth", "swap", "l1", "u", "equil", "align")
_ERROR = re.compile(r"^HPL ERROR [^\n]{1,200}\n>>> ([^\n]{1,120}?) <<<", re.MULTILINE)


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.hpl.parser import parse_hpl

    return parse_hpl(text)


class _Hpl(problem.LinearSystemSuite):
    input_name = "HPL.dat"
    refused = "^HPL ERROR "
    options = OPTIONS

    def names(self, text: str, program: str) -> tuple[str, str]:
        return "HPL", program

    def no_output(self, text: str) -> str:
        """HPL reports errors of its input before its header."""
        error = _ERROR.search(text)
        remedy = "correct HPL.dat or the number of ranks and run it again"
        return f"HPL did not start: it reports {error[1]!r}; {remedy}" if error else ""

    def least_time(self, tables: Iterable[Series]) -> float:
        from mpicampaign.suites.reading import measured_time

        return measured_time(tables)


SUITE = _Hpl(
    name="hpl",
    title="HPL",
    banner=Banner("HPLinpack ", re.compile(r"HPLinpack [0-9]\S{0,20}\s+--\s+High-Performance Linpack")),
    parse=_parse,
    programs=r"xhpl\w*",
    benchmarks={"HPL": {"program": "xhpl", "provider": "path"}},
    sources=Sources(
        spack="hpl",
        modules="HPL",
        debian="hpcc (as benchmark HPCC)",
        address="https://www.netlib.org/benchmark/hpl/",
    ),
    whole=("^W[RC][RC]?[0-9]", r"^End of Tests\."),
    end="End of Tests.",
    metrics={
        "flops": ColumnMetric("flop rate", FLOPS, headline=True),
        "hpl_flops_per_process": ColumnMetric("flop rate per process", FLOPS),
        "hpl_peak": ColumnMetric("fraction of peak, an estimate", FRACTION),
        "time": ColumnMetric("time", DURATION),  # of the whole calculation: the rate in other terms
    },
    published={"HPL": "HPL"},
)
