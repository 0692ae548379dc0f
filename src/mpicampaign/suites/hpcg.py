"""HPCG, the High-Performance Conjugate Gradients benchmark: its results file, as text (3.1) or YAML (3.0).

One result a run, whose rating counts the time for setting the problem up. Failed tests of convergence,
symmetry, iterations or reproducibility make it INVALID: no value. Source: src/ReportResults.cpp,
src/OutputFile.cpp and src/YAML_Doc.cpp of HPCG 3.0 and 3.1, nvidia-hpcg and rocHPCG. Unit: GFLOP of 10^9.
The file may be in the standard output, too, as NVIDIA's build prints it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from operator import truediv

from mpicampaign.base.dimension import FLOPS
from mpicampaign.base.records import Series
from mpicampaign.suites.hpl import GIGA
from mpicampaign.suites.reading import OutputError, ParsedOutput, numbered_lines, scientific
from mpicampaign.suites.suite import Banner, ColumnMetric, Sources, Suite

# Intel's build puts the problem in place of the name, as in n104-8p-1t.
_BANNER = re.compile(
    r"HPCG-Benchmark\s*$"
    r"|(?:HPCG-Benchmark|n[0-9]{1,5}-[0-9]{1,7}p-[0-9]{1,4}t) version: V?([0-9]\S{0,20})\s*$"
)
_VERSION = re.compile(r"version=([0-9]\S{0,20})\s*$")
_VALID = "Final Summary: HPCG result is VALID with a GFLOP/s rating of"
_INVALID = "Final Summary: HPCG result is"
_AGAIN = "GFLOP/s Summary: Total with convergence and optimization phase overhead"
_RANKS = "Machine Summary: Distributed Processes"
_GRID, _POINTS = "Processor Dimensions: np", "Global Problem Dimensions: Global n"
_PRODUCTS = {_RANKS: _GRID, "Linear System Information: Number of Equations": _POINTS}


@dataclass(slots=True)
class _Results:
    """What the file says: ``values``, each with its line, by ``section: key``."""

    version: str
    values: dict[str, tuple[int, str]] = field(default_factory=dict)

    def number(self, name: str) -> float:
        if name not in self.values:
            raise OutputError(f"the results lack {name}: lines are missing")
        line, token = self.values[name]
        return scientific(token, line, name.partition(": ")[2])

    def of_axes(self, name: str) -> list[float]:
        return [self.number(f"{name}{axis}") for axis in "xyz"]


def _read(text: str) -> _Results:
    """The values; of coarse grids the same keys come again: the first counts."""
    results, section = None, ""
    for number, line in numbered_lines(text):
        if title := _BANNER.match(line):
            if results:
                raise OutputError(f"line {number}: a second title: two outputs in one file")
            results = _Results(title[1] or "")
        elif results is None:
            continue
        elif version := _VERSION.match(line):
            results.version = version[1]
        else:
            path, _, value = line.rpartition("=" if "::" in line else ": ")
            if path and not path.startswith(" "):
                section = path.partition("::")[0].strip("_ ")
            if value := value.strip():
                results.values.setdefault(f"{section}: {path.rpartition('::')[2].strip()}", (number, value))
    if results is None:
        raise OutputError("the title of HPCG's results is missing: empty, cut or another program's")
    return results


def _parse(text: str) -> ParsedOutput:
    """One series of single values, of a result that HPCG calls valid."""
    results = _read(text)
    _check_valid(results)
    _check_values(results)
    ranks, rating = results.number(_RANKS), results.number(_VALID) * GIGA
    columns: dict[str, list[float | None]] = {
        "flops": [rating],
        "hpcg_flops_per_process": [rating / ranks],
    }
    metadata = {"threads": f"{results.number('Machine Summary: Threads per processes'):g}"}
    # not as printed for rank 0: NVIDIA's build leaves out a dimension, and CPUs may have less than GPUs
    of_rank = map(truediv, results.of_axes(_POINTS), results.of_axes(_GRID))
    series = Series("HPCG", int(ranks), columns, {"domain": " x ".join(f"{side:g}" for side in of_rank)})
    return ParsedOutput(results.version, metadata, (series,))


def _check_valid(results: _Results) -> None:
    failed = [
        f"line {number}: {name.removesuffix(': Result').removesuffix(': HPCG result is')}: {value}"
        for name, (number, value) in results.values.items()
        if (name.endswith(": Result") and value != "PASSED") or name == _INVALID
    ]
    if failed:
        raise OutputError(f"the result does not count: {'; '.join(failed)}")
    if _VALID not in results.values:
        raise OutputError("the final summary of HPCG is missing: it did not end")


def _check_values(results: _Results) -> None:
    """Refuse processes, sizes and rates that contradict the rest of the file."""
    for name, axes in _PRODUCTS.items():
        sides, total = results.of_axes(axes), results.number(name)
        if math.prod(sides) != total or not total:
            shown = " x ".join(f"{side:g}" for side in sides)
            raise OutputError(f"{name.partition(': ')[2]}: {total:.0f} is not {shown}: damaged")
    (line, rating), again = results.values[_VALID], results.number(_AGAIN)
    if results.number(_VALID) != again:
        raise OutputError(f"line {line}: a rating of {rating}, but {again:g} GFLOP/s above: damaged")


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
    },
)
