"""HPL, the High-Performance Linpack benchmark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.dimension import DURATION, FLOPS
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

if TYPE_CHECKING:
    from mpicampaign.suites.reading import ParsedOutput

OPTIONS = ("pmap", "pfact", "nbmin", "ndiv", "rfact", "bcast", "depth", "swap", "l1", "u", "equil", "align")
_ERROR = re.compile(r"^HPL ERROR [^\n]{1,200}\n>>> ([^\n]{1,120}?) <<<", re.MULTILINE)


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.hpl.parser import parse_hpl

    return parse_hpl(text)


def _names(text: str, program: str) -> tuple[str, str]:
    return "HPL", program


def _no_output(text: str) -> str:
    """HPL reports errors of its input before its header."""
    error = _ERROR.search(text)
    remedy = "correct HPL.dat or the number of ranks and run it again"
    return f"HPL did not start: it reports {error[1]!r}; {remedy}" if error else ""


SUITE = Suite(
    name="hpl",
    title="HPL",
    banner=Banner("HPLinpack ", re.compile(r"HPLinpack [0-9]\S{0,20}\s+--\s+High-Performance Linpack")),
    parse=_parse,
    programs=r"xhpl\w*",
    sources=Sources(spack="hpl", modules="HPL", address="https://www.netlib.org/benchmark/hpl/"),
    whole=("^W[RC][RC]?[0-9]", r"^End of Tests\."),
    refused="^HPL ERROR ",
    metrics={
        "flops": ColumnMetric("flop rate", FLOPS, headline=True),
        "time": ColumnMetric("time", DURATION),  # of the whole calculation: the rate in other terms
    },
    published={"HPL": "HPL"},
    options=OPTIONS,
    names=_names,
    no_output=_no_output,
)
