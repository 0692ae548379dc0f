"""HPC Challenge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import BANDWIDTH, DURATION, FLOPS, FRACTION, UPDATE_RATE
from mpicampaign.suites.hpcc_metrics import RINGS, STREAM
from mpicampaign.suites.hpl import problem
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpicampaign.base.records import Series
    from mpicampaign.suites.reading import ParsedOutput
    from mpicampaign.suites.suite import Request

# Keys of the summary that identify the run; kept in the metadata as they are printed.
PARAMETERS = (
    *("HPL_N", "HPL_NB", "HPL_nprow", "HPL_npcol", "PTRANS_n", "PTRANS_nb", "MPIRandomAccess_N"),
    *("MPIFFT_N", "DGEMM_N", "STREAM_VectorSize", "STREAM_Threads"),
)


_PROBLEM = re.compile(r"^HPL_(N|NB|nprow|npcol)=([0-9]{1,20})\s*$", re.MULTILINE)
_HPL_PROBLEM = re.compile(r"^(N|NB|P|Q) {1,6}: +([0-9]{1,20}) *$", re.MULTILINE)  # above all results
_PARTS_OF_PROBLEM = 4
_CURRENT_TIME = re.compile(r"^Current time \(([0-9]{1,12})\) is ", re.ASCII | re.MULTILINE)
_LONGEST_NUMBER = 10
_NO_MORE_OF_PTRANS = """\
this line separates HPL's part from that of PTRANS
0            number of further orders for PTRANS
0            orders
0            number of further block sizes for PTRANS
0            block sizes
"""


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.hpcc.parser import parse_hpcc

    return parse_hpcc(text)


_METRICS = {
    "hpl_flops": ColumnMetric("HPL", FLOPS, headline=True),
    "hpl_flops_per_process": ColumnMetric("HPL per process", FLOPS),
    "hpl_peak": ColumnMetric("HPL, fraction of peak, an estimate", FRACTION),
    "hpl_time": ColumnMetric("HPL time", DURATION),
    "ptrans_bandwidth": ColumnMetric("PTRANS", BANDWIDTH),
    "ptrans_time": ColumnMetric("PTRANS time", DURATION),
    "random_access_rate": ColumnMetric("RandomAccess", UPDATE_RATE, headline=True),
    "random_access_star_rate": ColumnMetric("RandomAccess per process, all at once", UPDATE_RATE),
    "random_access_single_rate": ColumnMetric("RandomAccess of one process", UPDATE_RATE),
    "random_access_time": ColumnMetric("RandomAccess time", DURATION),
    "random_access_lcg_rate": ColumnMetric("RandomAccess (LCG)", UPDATE_RATE),
    "random_access_lcg_star_rate": ColumnMetric("RandomAccess (LCG) per process, all at once", UPDATE_RATE),
    "random_access_lcg_single_rate": ColumnMetric("RandomAccess (LCG) of one process", UPDATE_RATE),
    "random_access_lcg_time": ColumnMetric("RandomAccess (LCG) time", DURATION),
    "fft_flops": ColumnMetric("FFT", FLOPS),
    "fft_star_flops": ColumnMetric("FFT per process, all at once", FLOPS),
    "fft_single_flops": ColumnMetric("FFT of one process", FLOPS),
    "dgemm_star_flops": ColumnMetric("DGEMM per process, all at once", FLOPS),
    "dgemm_single_flops": ColumnMetric("DGEMM of one process", FLOPS),
    **STREAM,
    "stream_copy_single": ColumnMetric("STREAM copy of one process", BANDWIDTH),
    "stream_scale_single": ColumnMetric("STREAM scale of one process", BANDWIDTH),
    "stream_add_single": ColumnMetric("STREAM add of one process", BANDWIDTH),
    "stream_triad_single": ColumnMetric("STREAM triad of one process", BANDWIDTH),
}


class _Hpcc(problem.LinearSystemSuite):
    input_name = "hpccinf.txt"
    result_file = "hpccoutf.txt"
    holds = ("hpl", "stream")
    published_plain = ("HPCC", "balance")
    options = tuple(key.lower() for key in PARAMETERS)

    def input_text(self, request: Request) -> str:
        """HPL's file; PTRANS takes its order and block size."""
        return problem.input_file(request) + _NO_MORE_OF_PTRANS

    def names(self, text: str, program: str) -> tuple[str, str]:
        """Runs of different linear systems are not repeats: ``HPCC-N2000-NB80-1x2``."""
        for printed in (_PROBLEM, _HPL_PROBLEM):
            given = {key: value for key, value in printed.findall(text) if len(value) < _LONGEST_NUMBER}
            if len(given) == _PARTS_OF_PROBLEM:
                order, block, rows, columns = given.values()
                return f"HPCC-N{order}-NB{block}-{rows}x{columns}", program
        return "HPCC", program

    def no_output(self, text: str) -> str:
        from mpicampaign.suites.hpcc.parser import SUMMARY_ALONE, is_summary

        return SUMMARY_ALONE if is_summary(text) else ""

    def least_time(self, tables: Iterable[Series]) -> float:
        """Its parts run one after another; some print their time."""
        timed = ("hpl_time", "ptrans_time", "random_access_time")
        return sum(
            table.columns[name][0] or 0.0 for table in tables for name in timed if name in table.columns
        )

    def printed_times(self, output: str, offset: int) -> Iterator[float]:
        return (float(moment) for moment in _CURRENT_TIME.findall(output))


SUITE = _Hpcc(
    name="hpcc",
    title="HPCC",
    banner=Banner("HPC Challenge", re.compile(r"This is the DARPA/DOE HPC Challenge Benchmark ")),
    parse=_parse,
    programs=r"hpcc\w*",
    benchmarks={"HPCC": {"program": "hpcc", "provider": "path"}},
    sources=Sources(spack="hpcc", modules="HPCC", debian="hpcc", address="https://hpcchallenge.org/hpcc/"),
    whole=(r"^End of Summary section\.", r"^End of HPC Challenge tests\."),
    end="End of HPC Challenge tests.",
    metrics=RINGS | _METRICS,
    published={"HPCC": "HPCC", "balance": "HPCC"},
)
