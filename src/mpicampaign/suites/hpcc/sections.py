"""The parts of HPCC's output above its summary: which ended, which failed, and what they print.

Each benchmark has a section of its own, from ``Begin of NAME section.`` to ``End of NAME section.`` In an
output that was cut these are all there is; else the summary has their values, with more digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mpicampaign.suites.hpl.rows import GIGA, THRESHOLD, HplRow, check_residual, is_heading, is_row, read_row
from mpicampaign.suites.reading import MEGABYTE, OutputError

_MILLISECOND = 1e-3
_OPERATIONS = ("Copy", "Scale", "Add", "Triad")
_RANDOM_ACCESS = {"": "random_access", "_LCG": "random_access_lcg"}
_VALUE = r"\s*([0-9]{1,9}\.[0-9]{1,9})(?: |$)"

# section -> (what stands in front of a value, column, factor to SI); the last such line counts
PRINTED: dict[str, tuple[tuple[str, str, float], ...]] = {
    **{
        f"{kind}RandomAccess{variant}": line
        for variant, name in _RANDOM_ACCESS.items()
        for kind, line in {
            "MPI": (
                (r"(?=.* Billion\(10\^9\) Updates    per second)", f"{name}_rate", GIGA),
                ("Real time used =", f"{name}_time", 1.0),
            ),
            "Star": (("Average GUP/s", f"{name}_star_rate", GIGA),),
            "Single": (("Single GUP/s", f"{name}_single_rate", GIGA),),
        }.items()
    },
    "PTRANS": ((r"WALL(?: +[0-9.]+){7} PASSED", "ptrans_bandwidth", GIGA),),
    "StarDGEMM": (("Average Gflop/s", "dgemm_star_flops", GIGA),),
    "SingleDGEMM": (("Single DGEMM Gflop/s", "dgemm_single_flops", GIGA),),
    "StarSTREAM": tuple((f"Average {op} GB/s", f"stream_{op.lower()}_star", GIGA) for op in _OPERATIONS),
    "SingleSTREAM": tuple(
        (f"Single STREAM {op} GB/s", f"stream_{op.lower()}_single", GIGA) for op in _OPERATIONS
    ),
    "MPIFFT": (("Gflop/s:", "fft_flops", GIGA),),
    "StarFFT": (("Average Gflop/s", "fft_star_flops", GIGA),),
    "SingleFFT": (("Single FFT Gflop/s", "fft_single_flops", GIGA),),
    "LatencyBandwidth": (
        ("Max Ping Pong Latency:", "ping_pong_latency", _MILLISECOND),
        ("Randomly Ordered Ring Latency:", "random_ring_latency", _MILLISECOND),
        ("Min Ping Pong Bandwidth:", "ping_pong_bandwidth", MEGABYTE),
        ("Naturally Ordered Ring Bandwidth:", "natural_ring_bandwidth", MEGABYTE),
        ("Randomly  Ordered Ring Bandwidth:", "random_ring_bandwidth", MEGABYTE),
    ),
    "HPL": (),  # its rows are HPL's
}
_OF_SUMMARY = {"ptrans_time": "PTRANS", "hpl_flops": "HPL", "hpl_time": "HPL"}
SECTION_OF = {column: name for name, lines in PRINTED.items() for _, column, _ in lines} | _OF_SUMMARY

_MARK = re.compile(r"(Begin|End) of (\w{1,40}) section\.")
_FAILED = re.compile(r"(?:WALL|CPU )( +\S+){7} FAILED |.{0,200}\(failed\)\.$")
_WITH_ERROR = re.compile(r"(?:Node\(s\) with error|Failed nodes) +[1-9]")
_SCALED = re.compile(r"Scaled residual: (?:([0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[+-][0-9]{1,3})?)\s*$)?")
_LARGEST = 16.0  # scaled residual of DGEMM
_DGEMM = ("StarDGEMM", "SingleDGEMM")  # only rank 0 prints its residual: one proves neither
_PARAMETER = re.compile(r"(N|NB|P|Q) {1,6}: +([0-9]{1,9}) *$")
_RANKS = re.compile(r"(?:Running|Execution time .{1,60}) on ([0-9]{1,9}) process(?:or|e)s")


@dataclass(slots=True)
class Sections:
    """What the lines above the summary say; ``failed``: why, by section.

    ``errors``: the same of nodes with errors and residuals, which mean nothing where HPCC reports success.
    """

    problem: dict[str, str] = field(default_factory=dict)  # N, NB, P, Q, where one of each was to run
    ranks: int | None = None
    threshold: str = ""
    current: str = ""  # the section that is being read
    ended: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    printed: dict[str, float] = field(default_factory=dict)  # by column
    heading: str = ""
    rows: list[HplRow] = field(default_factory=list)

    def read(self, number: int, line: str) -> None:
        """Take a line.

        Raises
        ------
        OutputError
            at a failed check of no section.
        """
        if mark := _MARK.match(line):
            self._mark(mark[1], mark[2])
        elif _FAILED.match(line):
            self._fail(f"line {number}: a check failed: {line.strip()[:120]}")
        elif _is_too_large(line):
            self.errors |= dict.fromkeys(_DGEMM, f"line {number}: {line.strip()[:120]}") | self.errors
        elif _WITH_ERROR.match(line):
            self.errors.setdefault(self.current, f"line {number}: {line.strip()[:120]}")
        elif match := THRESHOLD.match(line):
            self.threshold = match[1]
        elif match := _PARAMETER.match(line):
            self.problem.setdefault(match[1], match[2])
        elif match := _RANKS.match(line):
            self.ranks = int(match[1])
        else:
            self._value(number, line)

    def _mark(self, what: str, name: str) -> None:
        if what == "End" and name == self.current:
            self.ended.add(name)
        self.current = name if what == "Begin" else ""

    def _fail(self, reason: str) -> None:
        if not self.current:
            raise OutputError(reason)
        self.failed.setdefault(self.current, reason)

    def _value(self, number: int, line: str) -> None:
        try:
            passed = check_residual(number, line, self.threshold)
            if self.current == "HPL":
                self._row(number, line, passed)
        except OutputError as error:
            self._fail(str(error))
        for label, column, factor in PRINTED.get(self.current, ()):
            if match := re.match(label + _VALUE, line):
                self.printed[column] = float(match[1]) * factor

    def _row(self, number: int, line: str, passed: bool) -> None:
        if is_heading(line):
            self.heading = line
        elif self.heading and is_row(line):
            self.rows.append(read_row(number, line, self.heading))
        elif passed and self.rows:
            self.rows[-1].passed += 1

    def values(self) -> dict[str, float]:
        """What the sections that ended without a failed check print, by column (SI)."""
        values = {column: value for column, value in self.printed.items() if self.proves(SECTION_OF[column])}
        if self.proves("HPL") and len(self.rows) == 1 and self.rows[0].passed:
            values |= {"hpl_flops": self.rows[0].gflops * GIGA, "hpl_time": self.rows[0].time}
        return {column: value for column, value in values.items() if value}

    def proves(self, name: str) -> bool:
        """Whether a section ended and no check in it failed."""
        return name in self.ended and name not in self.failed | self.errors


def _is_too_large(line: str) -> bool:
    """Whether a line is DGEMM's residual, and not below what HPCC allows."""
    residual = _SCALED.match(line)
    return residual is not None and not (residual[1] and float(residual[1]) < _LARGEST)
