"""HPC Challenge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.dimension import BANDWIDTH, DURATION, FLOPS, UPDATE_RATE
from mpicampaign.suites.rings import RINGS
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

if TYPE_CHECKING:
    from mpicampaign.suites.reading import ParsedOutput

# Keys of the summary that tell what was run; kept in the metadata as they are printed.
PARAMETERS = (
    *("HPL_N", "HPL_NB", "HPL_nprow", "HPL_npcol", "PTRANS_n", "PTRANS_nb", "MPIRandomAccess_N"),
    *("MPIFFT_N", "DGEMM_N", "STREAM_VectorSize", "STREAM_Threads"),
)


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.hpcc.parser import parse_hpcc

    return parse_hpcc(text)


def _names(text: str, program: str) -> tuple[str, str]:
    return "HPCC", program


def _no_output(text: str) -> str:
    from mpicampaign.suites.hpcc.parser import SUMMARY_ALONE, is_summary

    return SUMMARY_ALONE if is_summary(text) else ""


_METRICS = {
    "hpl_flops": ColumnMetric("HPL", FLOPS, headline=True),
    "hpl_time": ColumnMetric("HPL time", DURATION),
    "ptrans_bandwidth": ColumnMetric("PTRANS", BANDWIDTH),
    "random_access_rate": ColumnMetric("RandomAccess", UPDATE_RATE, headline=True),
    "random_access_star_rate": ColumnMetric("RandomAccess per process, all at once", UPDATE_RATE),
    "random_access_single_rate": ColumnMetric("RandomAccess of one process", UPDATE_RATE),
    "fft_flops": ColumnMetric("FFT", FLOPS),
    "fft_star_flops": ColumnMetric("FFT per process, all at once", FLOPS),
    "fft_single_flops": ColumnMetric("FFT of one process", FLOPS),
    "dgemm_star_flops": ColumnMetric("DGEMM per process, all at once", FLOPS),
    "dgemm_single_flops": ColumnMetric("DGEMM of one process", FLOPS),
    "stream_copy_star": ColumnMetric("STREAM copy per process, all at once", BANDWIDTH),
    "stream_scale_star": ColumnMetric("STREAM scale per process, all at once", BANDWIDTH),
    "stream_add_star": ColumnMetric("STREAM add per process, all at once", BANDWIDTH),
    "stream_triad_star": ColumnMetric("STREAM triad per process, all at once", BANDWIDTH, headline=True),
    "stream_copy_single": ColumnMetric("STREAM copy of one process", BANDWIDTH),
    "stream_scale_single": ColumnMetric("STREAM scale of one process", BANDWIDTH),
    "stream_add_single": ColumnMetric("STREAM add of one process", BANDWIDTH),
    "stream_triad_single": ColumnMetric("STREAM triad of one process", BANDWIDTH),
}

SUITE = Suite(
    name="hpcc",
    title="HPCC",
    banner=Banner("HPC Challenge", re.compile(r"This is the DARPA/DOE HPC Challenge Benchmark ")),
    parse=_parse,
    programs=r"hpcc\w*",
    sources=Sources(spack="hpcc", modules="HPCC", debian="hpcc", address="https://hpcchallenge.org/hpcc/"),
    whole=(r"^End of Summary section\.", r"^End of HPC Challenge tests\."),
    holds=("hpl",),
    end="End of HPC Challenge tests.",
    metrics=RINGS | _METRICS,
    published={"HPCC": "HPCC"},
    options=tuple(key.lower() for key in PARAMETERS),
    names=_names,
    no_output=_no_output,
)
