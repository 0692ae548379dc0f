"""HPC Challenge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.dimension import BANDWIDTH, DURATION, FLOPS, UPDATE_RATE
from mpicampaign.suites.rings import RINGS
from mpicampaign.suites.suite import Banner, SingleMetric, Suite

if TYPE_CHECKING:
    from mpicampaign.suites.reading import ParsedOutput


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.hpcc.parser import parse_hpcc

    return parse_hpcc(text)


def _names(text: str, program: str) -> tuple[str, str]:
    return "HPCC", program


def _no_output(text: str) -> str:
    from mpicampaign.suites.hpcc.parser import SUMMARY_ALONE, is_summary

    return SUMMARY_ALONE if is_summary(text) else ""


_METRICS = {
    "hpl_flops": SingleMetric("HPL", FLOPS, headline=True),
    "hpl_time": SingleMetric("HPL time", DURATION),
    "ptrans_bandwidth": SingleMetric("PTRANS", BANDWIDTH),
    "random_access_rate": SingleMetric("RandomAccess", UPDATE_RATE, headline=True),
    "random_access_star_rate": SingleMetric("RandomAccess per process, all at once", UPDATE_RATE),
    "random_access_single_rate": SingleMetric("RandomAccess of one process", UPDATE_RATE),
    "fft_flops": SingleMetric("FFT", FLOPS),
    "fft_star_flops": SingleMetric("FFT per process, all at once", FLOPS),
    "fft_single_flops": SingleMetric("FFT of one process", FLOPS),
    "dgemm_star_flops": SingleMetric("DGEMM per process, all at once", FLOPS),
    "dgemm_single_flops": SingleMetric("DGEMM of one process", FLOPS),
    "stream_copy_star": SingleMetric("STREAM copy per process, all at once", BANDWIDTH),
    "stream_scale_star": SingleMetric("STREAM scale per process, all at once", BANDWIDTH),
    "stream_add_star": SingleMetric("STREAM add per process, all at once", BANDWIDTH),
    "stream_triad_star": SingleMetric("STREAM triad per process, all at once", BANDWIDTH, headline=True),
    "stream_copy_single": SingleMetric("STREAM copy of one process", BANDWIDTH),
    "stream_scale_single": SingleMetric("STREAM scale of one process", BANDWIDTH),
    "stream_add_single": SingleMetric("STREAM add of one process", BANDWIDTH),
    "stream_triad_single": SingleMetric("STREAM triad of one process", BANDWIDTH),
}

SUITE = Suite(
    name="hpcc",
    banner=Banner("HPC Challenge", re.compile(r"This is the DARPA/DOE HPC Challenge Benchmark ")),
    parse=_parse,
    programs=r"hpcc\w*",
    whole=(r"^End of Summary section\.", r"^End of HPC Challenge tests\."),
    holds=("hpl",),
    end="End of HPC Challenge tests.",
    metrics=RINGS | _METRICS,
    names=_names,
    no_output=_no_output,
)
