"""The HPC Challenge suite (``hpccoutf.txt``), 1.0 to 1.5: the values of its summary section.

Of the sections before the summary, which the programs of the suite print themselves, failures are read. A
component whose check failed has no value. Units in the summary: GB = 10^9 B (as the parts print: "1 MB/s =
10**6 byte/sec"; STREAM and PTRANS divide bytes by 10^9), GUP = 10^9 updates, and microseconds. What was not
run is printed as -1 or 0, or as what happened to be in memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from mpicampaign.base.dimension import BANDWIDTH, DURATION, FLOPS, FRACTION, TIME, UPDATE_RATE
from mpicampaign.base.records import Series
from mpicampaign.suites.hpl import (
    GIGA,
    THRESHOLD,
    LinearSystemSuite,
    check_residual,
    operations,
)
from mpicampaign.suites.reading import (
    MICROSECOND,
    OutputError,
    ParsedOutput,
    agree,
    check_order,
    integer,
    missing,
    numbered_lines,
    scientific,
    shown,
)
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources

# ---- metrics; some are also those of the kernels latency_bandwidth (rings, pairs) and stream (memory)

RINGS = {
    "random_ring_latency": ColumnMetric("random ring latency", TIME, headline=True),
    "natural_ring_latency": ColumnMetric("natural ring latency", TIME),
    "ping_pong_latency": ColumnMetric("ping-pong latency, worst pair", TIME),
    "ping_pong_latency_average": ColumnMetric("ping-pong latency, mean of pairs", TIME),
    "ping_pong_latency_best": ColumnMetric("ping-pong latency, best pair", TIME),
    "random_ring_bandwidth": ColumnMetric("random ring bandwidth per process", BANDWIDTH, headline=True),
    "natural_ring_bandwidth": ColumnMetric("natural ring bandwidth per process", BANDWIDTH),
    "ping_pong_bandwidth": ColumnMetric("ping-pong bandwidth, worst pair", BANDWIDTH),
    "ping_pong_bandwidth_average": ColumnMetric("ping-pong bandwidth, mean of pairs", BANDWIDTH),
    "ping_pong_bandwidth_best": ColumnMetric("ping-pong bandwidth, best pair", BANDWIDTH),
}
STREAM = {
    f"stream_{name}_star": ColumnMetric(
        f"STREAM {name} per process, all at once", BANDWIDTH, headline=name == "triad"
    )
    for name in ("copy", "scale", "add", "triad")
}
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
    **{
        f"stream_{name}_single": ColumnMetric(f"STREAM {name} of one process", BANDWIDTH)
        for name in ("copy", "scale", "add", "triad")
    },
}

# ---- the sections above the summary, each of one benchmark, in which its checks are printed

_STREAM = ("Copy", "Scale", "Add", "Triad")
_DGEMM = ("StarDGEMM", "SingleDGEMM")  # only rank 0 prints its residual: one proves neither
# section -> the columns that it alone proves
_SECTIONS = {
    "HPL": ("hpl_flops", "hpl_time"),
    "PTRANS": ("ptrans_bandwidth", "ptrans_time"),
    "StarDGEMM": ("dgemm_star_flops",),
    "SingleDGEMM": ("dgemm_single_flops",),
    "StarSTREAM": tuple(f"stream_{name.lower()}_star" for name in _STREAM),
    "SingleSTREAM": tuple(f"stream_{name.lower()}_single" for name in _STREAM),
    "MPIRandomAccess": ("random_access_rate", "random_access_time"),
    "StarRandomAccess": ("random_access_star_rate",),
    "SingleRandomAccess": ("random_access_single_rate",),
    "MPIRandomAccess_LCG": ("random_access_lcg_rate", "random_access_lcg_time"),
    "StarRandomAccess_LCG": ("random_access_lcg_star_rate",),
    "SingleRandomAccess_LCG": ("random_access_lcg_single_rate",),
    "MPIFFT": ("fft_flops",),
    "StarFFT": ("fft_star_flops",),
    "SingleFFT": ("fft_single_flops",),
    "LatencyBandwidth": tuple(RINGS),
}
_MARK = re.compile(r"(Begin|End) of (\w{1,40}) section\.")
_FAILED = re.compile(r"(?:WALL|CPU )( +\S+){7} FAILED |.{0,200}\(failed\)\.$")
_WITH_ERROR = re.compile(r"(?:Node\(s\) with error|Failed nodes) +[1-9]")
_SCALED = re.compile(r"Scaled residual: (?:([0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[+-][0-9]{1,3})?)\s*$)?")
_LARGEST = 16.0  # scaled residual of DGEMM


@dataclass(slots=True)
class _Sections:
    """What the lines above the summary say; ``failed``: why, by section.

    ``errors``: the same of nodes with errors and residuals, which mean nothing where HPCC reports success.
    """

    threshold: str = ""
    current: str = ""  # the section that is being read
    failed: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def read(self, number: int, line: str) -> None:
        where = f"line {number}: {line.strip()[:120]}"
        if mark := _MARK.match(line):
            self.current = mark[2] if mark[1] == "Begin" else ""
        elif _FAILED.match(line):
            self._fail(f"line {number}: a check failed: {line.strip()[:120]}")
        elif (residual := _SCALED.match(line)) and not (residual[1] and float(residual[1]) < _LARGEST):
            self.errors |= dict.fromkeys(_DGEMM, where) | self.errors
        elif _WITH_ERROR.match(line):
            self.errors.setdefault(self.current, where)
        elif match := THRESHOLD.match(line):
            self.threshold = match[1]
        else:
            try:
                check_residual(number, line, self.threshold)
            except OutputError as error:
                self._fail(str(error))

    def _fail(self, reason: str) -> None:
        if not self.current:
            raise OutputError(reason)
        self.failed.setdefault(self.current, reason)


# ---- the summary

_TERA = 1e12
# key in the summary -> column and factor to SI
_COLUMNS: dict[str, tuple[str, float]] = {
    "HPL_Tflops": ("hpl_flops", _TERA),
    "HPL_time": ("hpl_time", 1),
    "PTRANS_GBs": ("ptrans_bandwidth", GIGA),
    "MPIRandomAccess_GUPs": ("random_access_rate", GIGA),
    "StarRandomAccess_GUPs": ("random_access_star_rate", GIGA),
    "SingleRandomAccess_GUPs": ("random_access_single_rate", GIGA),
    "MPIFFT_Gflops": ("fft_flops", GIGA),
    "StarFFT_Gflops": ("fft_star_flops", GIGA),
    "SingleFFT_Gflops": ("fft_single_flops", GIGA),
    "StarDGEMM_Gflops": ("dgemm_star_flops", GIGA),
    "SingleDGEMM_Gflops": ("dgemm_single_flops", GIGA),
    **{
        f"{who}STREAM_{op}": (f"stream_{op.lower()}_{who.lower()}", GIGA)
        for who in ("Star", "Single")
        for op in _STREAM
    },
    "RandomlyOrderedRingLatency_usec": ("random_ring_latency", MICROSECOND),
    "NaturallyOrderedRingLatency_usec": ("natural_ring_latency", MICROSECOND),
    "MaxPingPongLatency_usec": ("ping_pong_latency", MICROSECOND),
    "AvgPingPongLatency_usec": ("ping_pong_latency_average", MICROSECOND),
    "MinPingPongLatency_usec": ("ping_pong_latency_best", MICROSECOND),
    "RandomlyOrderedRingBandwidth_GBytes": ("random_ring_bandwidth", GIGA),
    "NaturallyOrderedRingBandwidth_GBytes": ("natural_ring_bandwidth", GIGA),
    "MinPingPongBandwidth_GBytes": ("ping_pong_bandwidth", GIGA),
    "AvgPingPongBandwidth_GBytes": ("ping_pong_bandwidth_average", GIGA),
    "MaxPingPongBandwidth_GBytes": ("ping_pong_bandwidth_best", GIGA),
}
# What releases before 1.4 do not print.
_LATER: dict[str, tuple[str, float]] = {
    "PTRANS_time": ("ptrans_time", 1),
    "MPIRandomAccess_time": ("random_access_time", 1),
    "MPIRandomAccess_LCG_GUPs": ("random_access_lcg_rate", GIGA),
    "MPIRandomAccess_LCG_time": ("random_access_lcg_time", 1),
    "StarRandomAccess_LCG_GUPs": ("random_access_lcg_star_rate", GIGA),
    "SingleRandomAccess_LCG_GUPs": ("random_access_lcg_single_rate", GIGA),
}
# What identifies the run; kept in the metadata as it is printed.
_PARAMETERS = (
    *("HPL_N", "HPL_NB", "HPL_nprow", "HPL_npcol", "PTRANS_n", "PTRANS_nb", "MPIRandomAccess_N"),
    *("MPIFFT_N", "DGEMM_N", "STREAM_VectorSize", "STREAM_Threads"),
)
_HPL_KEYS = {"N": "HPL_N", "NB": "HPL_NB", "P": "HPL_nprow", "Q": "HPL_npcol"}
_NEVER_WRITTEN = re.compile(r"[0-9.]{1,20}e-3[0-9]{2}", re.ASCII)  # what memory held: no rate, no time
_DIGITS = 6  # significant digits of C's %g

_Values = dict[str, tuple[int, str]]  # key -> line and value


def _value(values: _Values, key: str, factor: float = 1) -> float | None:
    number, token = values[key]
    if _NEVER_WRITTEN.fullmatch(token):
        return None
    value = scientific(token.removeprefix("-"), number, key)
    return None if token.startswith("-") else value * factor or None


def _check_values(values: _Values) -> None:
    _check_rate(values, "HPL_N", "HPL_time", "HPL_Tflops", lambda order: operations(order) / _TERA)
    updates, time = "MPIRandomAccess_ExeUpdates", "MPIRandomAccess_time"
    _check_rate(values, updates, time, "MPIRandomAccess_GUPs", lambda updates: updates / GIGA)
    for what in ("Latency_usec", "Bandwidth_GBytes"):
        keys = [f"{which}PingPong{what}" for which in ("Min", "Avg", "Max")]
        low, middle, high = (_value(values, key) for key in keys)
        if low is not None and middle is not None and high is not None:
            check_order(low, middle, high, values[keys[1]][0], 2 * _half_digit(high))


def _check_rate(values: _Values, work: str, time: str, rate: str, amount: Callable[[int], float]) -> None:
    """Refuse a rate that its own work and time contradict; an older summary does not print them all."""
    if not {work, time, rate} <= values.keys():
        return
    took, reached = _value(values, time), _value(values, rate)
    if took is None or reached is None:
        return
    number, token = values[work]
    done = amount(integer(token, number, work))
    if not agree(done, took, _half_digit(took), reached, _half_digit(reached)):
        raise OutputError(
            f"line {values[rate][0]}: {rate}={values[rate][1]} contradicts {work}={shown(token)}"
            f" and {time}={values[time][1]}"
        )


def _half_digit(value: float) -> float:
    """Half a unit of the last digit that C's %g prints."""
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) + 1 - _DIGITS)


# ---- the whole output

_BANNER = "This is the DARPA/DOE HPC Challenge Benchmark"
_BEGIN, _CLOSE = "Begin of Summary section.", "End of Summary section."
_END = "End of HPC Challenge tests."
_NO_END = "the summary section or the closing line of HPCC is missing: it did not end"
_VERSION = re.compile(r" version ([0-9][0-9A-Za-z.]{0,20})")
_SUMMARY_ALONE = (
    "the header of HPCC is missing; its summary alone does not show whether it ended and passed its checks: "
    "take the whole hpccoutf.txt"
)
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,60})=(\S{0,60})\s*$", re.ASCII)


@dataclass(slots=True)
class _HpccReader:
    """The state while the lines go by."""

    started: bool = False
    version: str = ""
    in_summary: bool = False
    sections: _Sections = field(default_factory=_Sections)
    closed: bool = False
    ended: bool = False
    values: _Values = field(default_factory=dict)

    def read(self, number: int, line: str) -> None:
        if not line:
            return
        if line.startswith((_BANNER, _BEGIN)) and (self.in_summary or self.closed):
            raise OutputError(f"line {number}: a second output: HPCC appends to hpccoutf.txt")
        if line.startswith(_BANNER):
            if self.started:
                raise OutputError(f"line {number}: a second header: HPCC appends to hpccoutf.txt")
            version = _VERSION.search(line)
            self.started, self.version = True, version[1] if version else ""
        elif line.startswith(_BEGIN):
            self.in_summary = True
        elif line.startswith(_CLOSE):
            self.closed, self.in_summary = self.in_summary, False
        elif line.startswith(_END):
            self.ended = self.closed
        elif self.in_summary and (match := _PAIR.match(line)):
            if match[1] in self.values:
                raise OutputError(f"line {number}: {match[1]} a second time: two outputs in one file")
            self.values[match[1]] = number, match[2]
        elif self.ended and not self.in_summary:
            return
        elif not self.in_summary:
            self.sections.read(number, line)


def _parse(text: str) -> ParsedOutput:
    """One series of single values."""
    reader = _HpccReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.started:
        missing_header = "the header of HPCC is missing: empty, cut or another program's"
        raise OutputError(_SUMMARY_ALONE if reader.values else missing_header)
    if not reader.ended:
        raise OutputError("; ".join([*reader.sections.failed.values(), _NO_END]))
    return _of_summary(reader)


def _of_summary(reader: _HpccReader) -> ParsedOutput:
    values, failed = reader.values, reader.sections.failed
    needed = ("VersionMajor", "VersionMinor", "Success", "CommWorldProcs", "HPL_N", *_COLUMNS)
    if absent := [key for key in needed if key not in values]:
        raise OutputError(f"the summary lacks {', '.join(absent)}: lines are missing or garbled")
    number, success = values["Success"]
    if success != "1":
        failed = reader.sections.errors | failed
        if not failed:  # no section says that it is its own
            raise OutputError(f"line {number}: HPCC reports Success={success[:40]}: a benchmark of it failed")
    printed = _COLUMNS | {key: column for key, column in _LATER.items() if key in values}
    columns = {column: [_value(values, key, factor)] for key, (column, factor) in printed.items()}
    columns |= {column: [None] for name in failed for column in _SECTIONS.get(name, ()) if column in columns}
    if all(columns[column] == [None] for column, _ in _COLUMNS.values()):
        raise OutputError(
            "; ".join(dict.fromkeys(failed.values())) or "no values: none of the benchmarks was run"
        )
    _check_values(values)
    ranks = integer(values["CommWorldProcs"][1], values["CommWorldProcs"][0], "CommWorldProcs")
    metadata = {key.lower(): values[key][1] for key in _PARAMETERS if key in values}
    if hpl := columns["hpl_flops"][0]:
        columns["hpl_flops_per_process"] = [hpl / ranks]
    version = [values[key][1] for key in ("VersionMajor", "VersionMinor", "VersionMicro") if key in values]
    release = values.get("VersionRelease", (0, ""))[1]
    lacks = missing(len(failed), len(_SECTIONS), "component", failed.values())
    series = Series("HPCC", ranks, columns, _problem(values))
    return ParsedOutput(".".join(version) + release, metadata, (series,), lacks)


def _problem(values: _Values) -> dict[str, str]:
    """The linear system, named as HPL names it: runs of unlike systems are not repeats of one."""
    if not values.keys() >= {*_HPL_KEYS.values()}:
        return {"N": values["HPL_N"][1]}
    order, block, rows, columns = (values[key][1] for key in _HPL_KEYS.values())
    return {"N": order, "NB": block, "grid": f"{rows} x {columns}"}


# ---- the suite

_PROBLEM = re.compile(r"^HPL_(N|NB|nprow|npcol)=([0-9]{1,20})\s*$", re.MULTILINE)
_HPL_PROBLEM = re.compile(r"^(N|NB|P|Q) {1,6}: +([0-9]{1,20}) *$", re.MULTILINE)  # above all results
_CURRENT_TIME = re.compile(r"^Current time \(([0-9]{1,12})\) is ", re.ASCII | re.MULTILINE)
_LONGEST_NUMBER = 10
_SUMMARY = re.compile(rf"^(?:{_BEGIN}|HPL_Tflops=)", re.MULTILINE)  # be it without the line above it


class _Hpcc(LinearSystemSuite):
    input_name = "hpccinf.txt"
    input_below = """\
this line separates HPL's part from that of PTRANS
0            number of further orders for PTRANS
0            orders
0            number of further block sizes for PTRANS
0            block sizes
"""
    result_file = "hpccoutf.txt"
    holds = ("hpl", "stream")
    options = tuple(key.lower() for key in _PARAMETERS)

    def names(self, text: str, program: str) -> tuple[str, str]:
        """Runs of different linear systems are not repeats: ``HPCC-N2000-NB80-1x2``."""
        for printed in (_PROBLEM, _HPL_PROBLEM):
            given = {key: value for key, value in printed.findall(text) if len(value) < _LONGEST_NUMBER}
            if len(given) == len(_HPL_KEYS):
                order, block, rows, columns = given.values()
                return f"HPCC-N{order}-NB{block}-{rows}x{columns}", program
        return "HPCC", program

    def no_output(self, text: str) -> str:
        return _SUMMARY_ALONE if _SUMMARY.search(text) else ""

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
    banner=Banner("HPC Challenge", re.compile(rf"{_BANNER} ")),
    parse=_parse,
    programs=r"hpcc\w*",
    benchmarks={"HPCC": {"program": "hpcc", "provider": "path"}},
    sources=Sources(spack="hpcc", modules="HPCC", debian="hpcc", address="https://hpcchallenge.org/hpcc/"),
    whole=(r"^End of Summary section\.", r"^End of HPC Challenge tests\."),
    end=_END,
    metrics=RINGS | _METRICS,
)
