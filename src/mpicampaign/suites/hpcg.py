"""HPCG, the High-Performance Conjugate Gradients benchmark: its results file, as text (3.1) or YAML (3.0).

One result a run, whose rating counts the time for setting the problem up. Failed tests of convergence,
symmetry, iterations or reproducibility make it INVALID: no value. Source: src/ReportResults.cpp,
src/OutputFile.cpp and src/YAML_Doc.cpp of HPCG 3.0 and 3.1, nvidia-hpcg and rocHPCG. Units: GB and GFLOP of
10^9, seconds. The file may be in the standard output, too, as NVIDIA's build prints it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from operator import truediv
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import DURATION, FLOPS
from mpicampaign.base.records import Series
from mpicampaign.suites.hpl import GIGA
from mpicampaign.suites.reading import OutputError, ParsedOutput, numbered_lines, scientific
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Mapping

# Intel's build puts the problem in place of the name, as in n104-8p-1t.
_BANNER = re.compile(
    r"HPCG-Benchmark\s*$"
    r"|(?:HPCG-Benchmark|n[0-9]{1,5}-[0-9]{1,7}p-[0-9]{1,4}t) version: V?([0-9]\S{0,20})\s*$"
)
_VERSION = re.compile(r"version=([0-9]\S{0,20})\s*$")
_VALID = "HPCG result is VALID with a GFLOP/s rating of"
_INVALID = "HPCG result is"
_SUMMARY = "Final Summary"
_RATING = "Total with convergence and optimization phase overhead"
_RANKS, _THREADS = (("Machine Summary", key) for key in ("Distributed Processes", "Threads per processes"))
_GRID, _POINTS = ("Processor Dimensions", "np"), ("Global Problem Dimensions", "Global n")
_EQUATIONS, _RATE = ("Linear System Information", "Number of Equations"), ("GFLOP/s Summary", "Raw Total")
_WORK, _TIME = ("Floating Point Operations Summary", "Total"), ("Benchmark Time Summary", "Total")
_ROUNDED = 2e-5  # relative, of values with six digits

# section, key -> column and factor to SI
_COLUMNS: Mapping[tuple[str, str], tuple[str, float]] = {
    (_SUMMARY, _VALID): ("flops", GIGA),
    _RATE: ("hpcg_raw_flops", GIGA),
    _TIME: ("time", 1.0),
}


@dataclass(slots=True)
class _Reader:
    """The state while the lines go by. ``values``: each with its line, by section and key."""

    begun: bool = False
    version: str = ""
    section: str = ""
    values: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def read(self, number: int, line: str) -> None:
        if title := _BANNER.match(line):
            if self.begun:
                raise OutputError(f"line {number}: a second title: two outputs in one file")
            self.begun, self.version = True, title[1] or ""
        elif version := _VERSION.match(line):
            self.version = version[1]
        elif self.begun and "=" in line and not line.startswith(" "):
            path, _, value = line.rpartition("=")
            self._value(number, path.partition("::")[0], path.rpartition("::")[2], value)
        elif self.begun and ": " in line:
            key, _, value = line.rpartition(": ")
            self.section = self.section if key.startswith(" ") else key.strip("_ ")
            self._value(number, self.section, key.strip(), value)

    def _value(self, number: int, section: str, key: str, value: str) -> None:
        """Of coarse grids the same keys come again: the first counts."""
        if value := value.strip():
            self.values.setdefault((section, key), (number, value))

    def number(self, section: str, key: str) -> float:
        if (section, key) not in self.values:
            raise OutputError(f"the results lack {section}: {key}: lines are missing")
        number, token = self.values[section, key]
        return scientific(token, number, key)

    def of_axes(self, section: str, name: str) -> list[float]:
        return [self.number(section, f"{name}{axis}") for axis in "xyz"]


def _parse(text: str) -> ParsedOutput:
    """One series of single values, of a result that HPCG calls valid."""
    reader = _Reader()
    for number, line in numbered_lines(text):
        reader.read(number, line)
    if not reader.begun:
        raise OutputError("the title of HPCG's results is missing: empty, cut or another program's")
    _check_valid(reader)
    _check_values(reader)
    ranks = reader.number(*_RANKS)
    columns: dict[str, list[float | None]] = {
        column: [reader.number(*place) * factor] for place, (column, factor) in _COLUMNS.items()
    }
    columns["hpcg_flops_per_process"] = [reader.number(_SUMMARY, _VALID) * GIGA / ranks]
    metadata = {"threads": f"{reader.number(*_THREADS):g}"}
    # not as printed for rank 0: NVIDIA's build leaves out a dimension, and CPUs may have less than GPUs
    of_rank = map(truediv, reader.of_axes(*_POINTS), reader.of_axes(*_GRID))
    series = Series("HPCG", int(ranks), columns, {"domain": " x ".join(f"{side:g}" for side in of_rank)})
    return ParsedOutput(reader.version, metadata, (series,))


def _check_valid(reader: _Reader) -> None:
    failed = [
        f"line {number}: {section}: {value}"
        for (section, key), (number, value) in reader.values.items()
        if (key == "Result" and value != "PASSED") or (section, key) == (_SUMMARY, _INVALID)
    ]
    if failed:
        raise OutputError(f"the result does not count: {'; '.join(failed)}")
    if (_SUMMARY, _VALID) not in reader.values:
        raise OutputError("the final summary of HPCG is missing: it did not end")


def _check_values(reader: _Reader) -> None:
    """Refuse processes, sizes and rates that contradict the rest of the file."""
    for total, place in ((_RANKS, _GRID), (_EQUATIONS, _POINTS)):
        if (product := math.prod(sides := reader.of_axes(*place))) != reader.number(*total) or not product:
            shown = " x ".join(f"{side:g}" for side in sides)
            raise OutputError(f"{total[1]}: {reader.number(*total):.0f} is not {shown}: damaged")
    rating, again = reader.values[_SUMMARY, _VALID], reader.number("GFLOP/s Summary", _RATING)
    if reader.number(_SUMMARY, _VALID) != again:
        raise OutputError(f"line {rating[0]}: a rating of {rating[1]}, but {again:g} GFLOP/s above: damaged")
    work, time, rate = (reader.number(*place) for place in (_WORK, _TIME, _RATE))
    if not time or abs(work / time / GIGA - rate) > _ROUNDED * rate:
        raise OutputError(f"{work:g} operations in {time:g} s are not {rate:g} GFLOP/s: damaged")


class _Hpcg(Suite):
    only_imported = True
    options = ("threads",)

    def names(self, text: str, program: str) -> tuple[str, str]:
        return "HPCG", program


SUITE = _Hpcg(
    name="hpcg",
    title="HPCG",
    banner=Banner(("HPCG-Benchmark", "t version: V"), _BANNER),
    parse=_parse,
    programs=r"xhpcg\w*|rochpcg",
    sources=Sources(spack="hpcg", modules="HPCG", address="https://github.com/hpcg-benchmark/hpcg"),
    whole=(r"^(?:Final Summary::|  )HPCG result is",),
    metrics={
        "flops": ColumnMetric("rating", FLOPS, headline=True),
        "hpcg_flops_per_process": ColumnMetric("rating per process", FLOPS),
        "hpcg_raw_flops": ColumnMetric("flop rate without overheads", FLOPS),
        "time": ColumnMetric("time", DURATION),
    },
)
