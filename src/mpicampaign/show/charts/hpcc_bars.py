"""Charts of HPC Challenge as bars: systems side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
    Quantity,
    whole_system,
)
from mpicampaign.dimension import BANDWIDTH, FLOPS, FRACTION, TIME
from mpicampaign.show.charts.hpcc import (
    BARS,
    NAMES,
    axis_of,
    caption,
    short_name,
    values_text,
)
from mpicampaign.show.charts.looks import COLOURS
from mpicampaign.show.charts.model import BarChart, BarColumn, BarSeries
from mpicampaign.show.numbers import quantity
from mpicampaign.statistics.medians import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.dimension import Dimension
    from mpicampaign.show.charts.hpcc import Drawing


class _Bars(NamedTuple):
    """What is drawn in one column, by the names and colours of its series."""

    title: str
    dimension: Dimension
    series: tuple[tuple[str, str, Quantity], ...]


_BLUE, _ORANGE, _GREEN, _, _RED, _DARK, _PINK = COLOURS
_BANDS = (
    _Bars(
        "latency",
        TIME,
        (("ping-pong", _BLUE, Quantity(LATENCY)), ("random ring", _ORANGE, Quantity(RING_LATENCY))),
    ),
    _Bars(
        "bandwidth",
        BANDWIDTH,
        (
            ("ping-pong", _BLUE, Quantity(PING_PONG)),
            ("natural ring", _GREEN, Quantity(NATURAL_RING)),
            ("random ring", _ORANGE, Quantity(RANDOM_RING)),
        ),
    ),
    _Bars(
        "ratio of bandwidths",
        FRACTION,
        (
            ("natural / ping-pong", _GREEN, Quantity(NATURAL_RING, PING_PONG)),
            ("random / ping-pong", _ORANGE, Quantity(RANDOM_RING, PING_PONG)),
            ("random / natural", _PINK, Quantity(RANDOM_RING, NATURAL_RING)),
        ),
    ),
    _Bars("HPL, accumulated", FLOPS, (("", _DARK, Quantity(HPL)),)),
)


def bands(drawing: Drawing) -> BarChart:
    """Latencies, bandwidths, their ratios, and HPL; series that no result has are omitted."""
    columns = tuple(column for band in _BANDS for column in _band(drawing, band))
    text = "Bandwidths of the rings are per process; ping-pong is that of the worst pair. "
    text += "By falling random ring bandwidth, a platform's results together."
    without = [result for result in drawing.results if not result.has(NATURAL_RING)]
    if without:
        own = [short_name(drawing.scene, result) for result in without if result.row is not None]
        published = len(without) - len(own)
        names = [*own, *([f"the {published} published systems"] if published else [])]
        text += f" No natural ring, nor its two ratios, of {', '.join(names)}: no such values are there."
    title = f"HPCC: {drawing.title}"
    wanted = [
        (f"{band.title} {name}".strip(), band.dimension, each)
        for band in _BANDS
        for name, _, each in band.series
    ]
    alt = f"{title}. {values_text(drawing, wanted)}"
    return BarChart(title, caption(drawing, text), alt, drawing.members, columns, BARS)


def _band(drawing: Drawing, band: _Bars) -> Iterator[BarColumn]:
    drawn = [BarSeries(name, colour, drawing.summaries(each)) for name, colour, each in band.series]
    series = tuple(each for each in drawn if any(each.bars))
    if series:
        values = [bar for each in series for bar in each.bars]
        logarithmic = False if band.dimension == FRACTION else None
        yield BarColumn(band.title, axis_of(drawing.scene, "", band.dimension, values, logarithmic), series)


_PARALLEL = (
    ("HPL", Quantity(HPL)),
    *((NAMES[column][0], whole_system(column, HPL)) for column in (DGEMM, FFT, PTRANS, COPY, RANDOM_RING)),
    ("1 / ring latency", Quantity(by=RING_LATENCY)),
    ("Random Access", Quantity(RANDOM_ACCESS, HPL)),
)


def parallel(drawing: Drawing) -> BarChart:
    """Each column divided by HPL, then by its largest value."""
    columns = tuple(_share(drawing, title, wanted) for title, wanted in _PARALLEL)
    largest = max(summary.median for summary in drawing.whole(Quantity(HPL)))
    text = "Accumulated values divided by HPL, then each column by its largest value, which is 100 %. Not "
    text += f"divided by HPL are HPL itself (100 %: {quantity(largest, FLOPS)}) and the latency's reciprocal."
    title = f"HPCC: {drawing.title}"
    alt = f"{title}. {_shares_text(drawing, columns)}"
    return BarChart(title, caption(drawing, text), alt, drawing.members, columns, BARS)


def _share(drawing: Drawing, title: str, wanted: Quantity) -> BarColumn:
    found = drawing.whole(wanted)
    largest = max(summary.median for summary in found)
    shares = tuple(_divided(summary, largest) for summary in found)
    axis = axis_of(drawing.scene, "", FRACTION, shares, logarithmic=False)
    return BarColumn(title, axis, (BarSeries("", _BLUE, shares),))


def _divided(summary: Summary, by: float) -> Summary:
    return Summary(
        summary.n,
        summary.median / by,
        summary.interval.divided(by) if summary.interval else None,
        summary.mean / by,
        summary.minimum / by,
        summary.maximum / by,
    )


def _shares_text(drawing: Drawing, columns: Sequence[BarColumn]) -> str:
    lines = []
    for place, member in enumerate(drawing.members):
        bars = ((column.title, column.series[0].bars[place]) for column in columns)
        said = [f"{title} {quantity(bar.median, FRACTION)}" for title, bar in bars if bar]
        lines.append(f"{member.name}: {', '.join(said)}")
    return "; ".join(lines)
