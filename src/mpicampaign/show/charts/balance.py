"""The figures of HPC Challenge's paper: which can be drawn, and what the others lack.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005), figures 1 to 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.compare.hpcc import (
    COPY,
    DGEMM,
    FFT,
    HPL,
    LATENCY,
    NATURAL_RING,
    PING_PONG,
    PTRANS,
    RANDOM_ACCESS,
    RANDOM_RING,
    RING_LATENCY,
    TRIAD,
    hpcc_results,
    hpcc_rows,
    with_reference_blas,
)
from mpicampaign.show.charts.hpcc import NAMES, Drawing, members_of, omitted
from mpicampaign.show.charts.hpcc_bars import bands, parallel
from mpicampaign.show.charts.hpcc_scatter import over_hpl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpicampaign.compare.hpcc import HpccResult
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.charts.model import Chart
    from mpicampaign.show.charts.scene import Scene

_LEAST = 3  # results, without which a chart compares little


@dataclass(frozen=True, slots=True)
class _Figure:
    """One of the paper's. ``needs``: the columns without which a result has no place in it."""

    number: str
    title: str
    needs: tuple[str, ...]
    chart: Callable[[Drawing], Chart]
    least: int = _LEAST

    @property
    def name(self) -> str:
        """``figure 2``, ``figures 4 to 6``."""
        return f"figure{'s' * (' ' in self.number)} {self.number}"


def balance(scene: Scene) -> Iterator[Chart]:
    """Those of the paper's figures for which there are enough results."""
    found = hpcc_results(scene.comparison)
    for figure in _FIGURES:
        drawn = tuple(result for result in found if result.has(*figure.needs))
        if len(drawn) >= figure.least:
            text = omitted(scene, [result for result in found if not result.has(*figure.needs)])
            about = (figure.name, figure.title, figure.needs)
            yield figure.chart(Drawing(scene, *about, drawn, members_of(scene, drawn), text))


def not_drawn(comparison: Comparison) -> str:
    """Which of the paper's figures cannot be drawn, and what they lack; empty where nothing is of HPCC."""
    found = hpcc_results(comparison)
    lacking = [text for figure in _FIGURES if (text := _lacking(figure, found))]
    if not lacking or not (found or hpcc_rows(comparison)):
        return ""
    blas = " Runs with reference BLAS do not count." if with_reference_blas(comparison) else ""
    return (
        f"Not drawn, since these figures of HPCC's paper need {_LEAST} results with all of their columns: "
        f"{'; '.join(lacking)}. {_LEAST} HPCC runs of your own, on two or more ranks, are enough for all of "
        f"them; imported runs count, too.{blas}"
    )


def _lacking(figure: _Figure, found: Sequence[HpccResult]) -> str:
    """The figure, and the columns that the results nearest to it lack; empty where it is drawn."""
    missing = [[column for column in figure.needs if not result.has(column)] for result in found]
    nearest = sorted(missing, key=len)[: figure.least]
    if len(nearest) == figure.least and not nearest[-1]:
        return ""
    columns = [column for column in figure.needs if any(column in each for each in nearest)]
    return figure.name + (f" (lacks {', '.join(NAMES[column][0] for column in columns)})" if columns else "")


def _over(number: str, name: str, *columns: str) -> _Figure:
    return _Figure(number, f"{name} over HPL", (HPL, *columns), over_hpl)


_FIGURES = (
    _Figure(
        "1",
        "latencies, bandwidths and their ratios",
        (LATENCY, RING_LATENCY, PING_PONG, RANDOM_RING),
        bands,
        least=1,
    ),
    _over("2", "accumulated random ring bandwidth", RANDOM_RING),
    _over("3", "accumulated STREAM copy and triad bandwidth", COPY, TRIAD),
    _Figure(
        "4 to 6",
        "results divided by HPL, side by side",
        (HPL, DGEMM, FFT, PTRANS, COPY, RANDOM_RING, RING_LATENCY, RANDOM_ACCESS),
        parallel,
    ),
    _over("7", "FFT", FFT),
    _over("8", "accumulated natural ring bandwidth", NATURAL_RING),
    _over("9", "PTRANS bandwidth", PTRANS),
)
