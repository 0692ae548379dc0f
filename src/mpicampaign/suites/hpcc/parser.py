"""Outputs of the HPC Challenge suite (``hpccoutf.txt``), 1.0 to 1.5: the values of its summary section.

Of the sections before the summary, which the programs of the suite print themselves, failures are read. A
component whose check failed has no value; of an output that ends above its summary, the sections that ended
are kept. Units in the summary: GB = 10^9 B (as the parts print: "1 MB/s = 10**6 byte/sec"; STREAM and PTRANS
divide bytes by 10^9), GUP = 10^9 updates, and microseconds. What was not run is printed as -1 or 0, or as
what happened to be in memory.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpicampaign.base.records import Series
from mpicampaign.suites.hpcc import PARAMETERS
from mpicampaign.suites.hpcc.sections import PRINTED, SECTION_OF, Sections
from mpicampaign.suites.hpl.rows import GIGA, operations
from mpicampaign.suites.reading import (
    MICROSECOND,
    OutputError,
    ParsedOutput,
    aborted,
    agree,
    check_order,
    integer,
    is_aborted,
    missing,
    numbered_lines,
    scientific,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_TERA = 1e12
_Values = dict[str, tuple[int, str]]  # key -> line and value

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
        f"{who}STREAM_{what}": (f"stream_{what.lower()}_{who.lower()}", GIGA)
        for who in ("Star", "Single")
        for what in ("Copy", "Scale", "Add", "Triad")
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

_BANNER = "This is the DARPA/DOE HPC Challenge Benchmark"
_BEGIN, _CLOSE = "Begin of Summary section.", "End of Summary section."
_END = "End of HPC Challenge tests."
_NO_END = "the summary section or the closing line of HPCC is missing: it did not end"
_VERSION = re.compile(r" version ([0-9][0-9A-Za-z.]{0,20})")
_HPL_KEYS = {"N": "HPL_N", "NB": "HPL_NB", "P": "HPL_nprow", "Q": "HPL_npcol"}
SUMMARY_ALONE = (
    "the header of HPCC is missing; its summary alone does not show whether it ended and passed its checks: "
    "take the whole hpccoutf.txt"
)
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,60})=(\S{0,60})\s*$", re.ASCII)
_NEVER_WRITTEN = re.compile(r"[0-9.]{1,20}e-3[0-9]{2}", re.ASCII)  # what memory held: no rate, no time
_DIGITS = 6  # significant digits of C's %g


@dataclass(slots=True)
class _HpccReader:
    """The state while the lines go by."""

    started: bool = False
    version: str = ""
    in_summary: bool = False
    sections: Sections = field(default_factory=Sections)
    aborted: str = ""
    closed: bool = False
    ended: bool = False
    values: _Values = field(default_factory=dict)

    def read(self, number: int, line: str) -> None:
        if not line:
            return
        if line.startswith((_BANNER, _BEGIN)) and (self.in_summary or self.closed):
            raise OutputError(f"line {number}: a second output: HPCC appends to hpccoutf.txt")
        if line.startswith(_BANNER):
            self._start(number, line)
        elif line.startswith(_BEGIN):
            self.in_summary = True
        elif line.startswith(_CLOSE):
            self.closed, self.in_summary = self.in_summary, False
        elif line.startswith(_END):
            self.ended = self.closed
        elif self.in_summary:
            self._pair(number, line)
        elif not self.ended:
            self._other(number, line)

    def _start(self, number: int, line: str) -> None:
        if self.started:
            raise OutputError(f"line {number}: a second header: HPCC appends to hpccoutf.txt")
        self.started = True
        version = _VERSION.search(line)
        self.version = version[1] if version else ""

    def _pair(self, number: int, line: str) -> None:
        match = _PAIR.match(line)
        if not match:
            self._abort(number, line)
            return
        if match[1] in self.values:
            raise OutputError(f"line {number}: {match[1]} a second time: two outputs in one file")
        self.values[match[1]] = number, match[2]

    def _other(self, number: int, line: str) -> None:
        if not self._abort(number, line):
            self.sections.read(number, line)

    def _abort(self, number: int, line: str) -> bool:
        if not is_aborted(line):
            return False
        self.aborted = self.aborted or aborted(line, number)
        return True


def parse_hpcc(text: str) -> ParsedOutput:
    """Read ``hpccoutf.txt``, or an output into which it was printed: one series of single values.

    Raises
    ------
    OutputError
        when nothing proves itself, or when values contradict each other.
    """
    reader = _HpccReader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.started:
        missing_header = "the header of HPCC is missing: empty, cut or another program's"
        raise OutputError(SUMMARY_ALONE if reader.values else missing_header)
    return _of_summary(reader) if reader.ended else _of_sections(reader)


def _of_sections(reader: _HpccReader) -> ParsedOutput:
    """Of an output that was cut."""
    sections, values = reader.sections, reader.sections.values()
    lacks = _lacks(sections, [_NO_END, reader.aborted])
    if not values:
        raise OutputError(lacks)
    columns: dict[str, list[float | None]] = {column: [value] for column, value in values.items()}
    if (hpl := values.get("hpl_flops")) and sections.ranks:
        columns["hpl_flops_per_process"] = [hpl / sections.ranks]
    given = {_HPL_KEYS[name]: (0, value) for name, value in sections.problem.items()}
    series = Series("HPCC", sections.ranks, columns, _problem(given) if "HPL_N" in given else {})
    metadata = {key.lower(): value for key, (_, value) in given.items()}
    return ParsedOutput(reader.version, metadata, (series,), lacks)


def _lacks(sections: Sections, reasons: list[str]) -> str:
    """How many components are missing, and why; releases before 1.4 have no LCG."""
    known = {name for name in PRINTED if not name.endswith("_LCG") or name in sections.ended}
    lost = {name for name in known if not sections.proves(name)}
    return missing(
        len(lost), len(known), "component", [*(sections.errors | sections.failed).values(), *reasons]
    )


def _of_summary(reader: _HpccReader) -> ParsedOutput:
    values, failed = reader.values, reader.sections.failed
    _check_keys(values)
    if values["Success"][1] != "1":
        failed = reader.sections.errors | failed
        _check_named(values["Success"], failed)
    printed = _COLUMNS | {key: column for key, column in _LATER.items() if key in values}
    columns = {column: [_value(values, key, factor)] for key, (column, factor) in printed.items()}
    columns |= {column: [None] for column in columns if SECTION_OF.get(column) in failed}
    if all(columns[column] == [None] for column, _ in _COLUMNS.values()):
        raise OutputError(
            "; ".join(dict.fromkeys(failed.values())) or "no values: none of the benchmarks was run"
        )
    _check_values(values)
    ranks = integer(values["CommWorldProcs"][1], values["CommWorldProcs"][0], "CommWorldProcs")
    metadata = {key.lower(): values[key][1] for key in PARAMETERS if key in values}
    if hpl := columns["hpl_flops"][0]:
        columns["hpl_flops_per_process"] = [hpl / ranks]
    lacks = missing(len(failed), len(PRINTED), "component", [*failed.values(), reader.aborted])
    series = Series("HPCC", ranks, columns, _problem(values))
    return ParsedOutput(_version(values), metadata, (series,), lacks)


def _problem(values: _Values) -> dict[str, str]:
    """The linear system, named as HPL names it: runs of unlike systems are not repeats of one."""
    keys = ("HPL_N", "HPL_NB", "HPL_nprow", "HPL_npcol")
    if not values.keys() >= set(keys):
        return {"N": values["HPL_N"][1]}
    order, block, rows, columns = (values[key][1] for key in keys)
    return {"N": order, "NB": block, "grid": f"{rows} x {columns}"}


def is_summary(text: str) -> bool:
    """Whether a text holds HPCC's summary, be it without the line above it."""
    return re.search(rf"^(?:{_BEGIN}|HPL_Tflops=)", text, re.MULTILINE) is not None


def _check_keys(values: _Values) -> None:
    needed = ("VersionMajor", "VersionMinor", "Success", "CommWorldProcs", "HPL_N", *_COLUMNS)
    absent = [key for key in needed if key not in values]
    if absent:
        raise OutputError(f"the summary lacks {', '.join(absent)}: lines are missing or garbled")


def _check_named(success: tuple[int, str], failed: Mapping[str, str]) -> None:
    """Refuse a failure of which no section says that it is its own."""
    if not failed:
        number, said = success
        raise OutputError(f"line {number}: HPCC reports Success={said[:40]}: a benchmark of it failed")


def _version(values: _Values) -> str:
    keys = ("VersionMajor", "VersionMinor", "VersionMicro")
    release = values.get("VersionRelease", (0, ""))[1]
    return ".".join(values[key][1] for key in keys if key in values) + release


def _value(values: _Values, key: str, factor: float) -> float | None:
    number, token = values[key]
    if _NEVER_WRITTEN.fullmatch(token):
        return None
    if token.startswith("-"):
        scientific(token[1:], number, key)
        return None
    return scientific(token, number, key) * factor or None


def _check_values(values: _Values) -> None:
    _check_rate(values, "HPL_N", "HPL_time", "HPL_Tflops", lambda order: operations(order) / _TERA)
    updates, time = "MPIRandomAccess_ExeUpdates", "MPIRandomAccess_time"
    _check_rate(values, updates, time, "MPIRandomAccess_GUPs", lambda updates: updates / GIGA)
    for what in ("Latency_usec", "Bandwidth_GBytes"):
        keys = [f"{which}PingPong{what}" for which in ("Min", "Avg", "Max")]
        low, middle, high = (_value(values, key, 1) for key in keys)
        if low is not None and middle is not None and high is not None:
            check_order(low, middle, high, values[keys[1]][0], 2 * _half_digit(high))


def _check_rate(values: _Values, work: str, time: str, rate: str, amount: Callable[[int], float]) -> None:
    """Refuse a rate that its own work and time contradict; an older summary does not print them all."""
    if not {work, time, rate} <= values.keys():
        return
    took, reached = _value(values, time, 1), _value(values, rate, 1)
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
