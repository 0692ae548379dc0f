"""Charts of HPC Challenge: the figures of its paper, which of them can be drawn, and what the others lack.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005), figures 1 to 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mpicampaign.base.dimension import BALANCE, BANDWIDTH, FLOPS, FRACTION, TIME, UPDATE_RATE, Dimension
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, visible
from mpicampaign.questions.balance.find_hpcc import (
    COPY,
    DGEMM,
    FFT,
    HPL,
    LATENCY,
    NATURAL_RING,
    PER_PROCESS,
    PING_PONG,
    PTRANS,
    RANDOM_ACCESS,
    RANDOM_RING,
    RING_LATENCY,
    TRIAD,
    HpccResult,
    Quantity,
    hpcc_results,
    hpcc_rows,
    is_refused,
    whole_system,
)
from mpicampaign.show.charts import model
from mpicampaign.show.charts.looks import COLOURS, Style, looks
from mpicampaign.show.charts.scene import Scene, left_out, repeats_of
from mpicampaign.show.view import quantity
from mpicampaign.statistics.medians import Summary

NAMES = {
    HPL: ("HPL", FLOPS),
    RANDOM_RING: ("random ring", BANDWIDTH),
    NATURAL_RING: ("natural ring", BANDWIDTH),
    PING_PONG: ("ping-pong", BANDWIDTH),
    RING_LATENCY: ("random ring latency", TIME),
    LATENCY: ("ping-pong latency", TIME),
    FFT: ("FFT", FLOPS),
    PTRANS: ("PTRANS", BANDWIDTH),
    DGEMM: ("DGEMM", FLOPS),
    COPY: ("STREAM copy", BANDWIDTH),
    TRIAD: ("STREAM triad", BANDWIDTH),
    RANDOM_ACCESS: ("RandomAccess", UPDATE_RATE),
}


@dataclass(frozen=True, slots=True)
class PaperChart:
    """A figure of the paper with the results that have a place in it, and those ``without`` its columns."""

    scene: Scene
    figure: _Figure
    results: tuple[HpccResult, ...]
    without: Sequence[HpccResult]

    def summaries(self, wanted: Quantity) -> tuple[Summary | None, ...]:
        """The quantity of each result; ``None`` if a result lacks it."""
        return tuple(result.summary(wanted) for result in self.results)

    def whole(self, wanted: Quantity) -> list[Summary]:
        """The quantity of the results that have it."""
        return [summary for summary in self.summaries(wanted) if summary is not None]

    @property
    def members(self) -> tuple[model.SystemResult, ...]:
        """The results by their names."""
        platforms = list(dict.fromkeys(result.platform for result in self.results))
        return tuple(
            model.SystemResult(
                _full_name(self.scene, result),
                short_name(self.scene, result),
                platforms.index(result.platform),
            )
            for result in self.results
        )

    def texts(self, text: str, alt: str) -> tuple[str, str, str]:
        """Title, caption with where the figure is from and the size of the linear systems, and values."""
        rows = [result.row for result in self.results]
        caption = f"As {self.figure.name} of R. Rabenseifner, Balance of HPC Systems (2005). {text}"
        caption += f" The largest N measured, {repeats_of(rows)}."
        title = f"HPCC: {self.figure.title}"
        return title, caption + _omitted(self.scene, self.without), f"{title}. {alt}"


def short_name(scene: Scene, result: HpccResult) -> str:
    """The name without the parameters of HPL."""
    ranks = counted(result.row.ranks or 0, "rank") + ", disturbed" * result.row.disturbed
    return f"{scene.place(result.row)} {visible(result.row.case.placement)}, {ranks}"


def _full_name(scene: Scene, result: HpccResult) -> str:
    size = result.row.linear_system
    parts = (short_name(scene, result), f"N {size}" if size else "", visible(result.row.blas))
    return ", ".join(filter(None, parts))


def _omitted(scene: Scene, without: Sequence[HpccResult]) -> str:
    """What is left out: results ``without`` the columns, reference BLAS, and runs that do not count."""
    names = [short_name(scene, result) for result in without]
    text = f" Without the columns needed: {', '.join(names)}." if names else ""
    rows = hpcc_rows(scene.comparison)
    refused = filter(is_refused, rows)
    places = dict.fromkeys(f"{scene.place(row)} {visible(row.case.placement)}" for row in refused)
    text += f" Left out for their reference BLAS: {', '.join(places)}." if places else ""
    rows = sorted(rows, key=lambda row: row.counted)
    return text + left_out(scene, list({row.case: row for row in rows}.values()))


def _axis(
    drawing: PaperChart,
    name: str,
    dimension: Dimension,
    summaries: Iterable[Summary | None],
    logarithmic: bool | None,
) -> model.Axis:
    """An axis that holds all repeats."""
    values = [end for summary in summaries if summary for end in (summary.minimum, summary.maximum)]
    axis = drawing.scene.axis(name, dimension, values, logarithmic)
    assert axis is not None, "all values of a result are positive"
    return axis


# Bars: systems side by side


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


def bands(drawing: PaperChart) -> model.BarChart:
    """Latencies, bandwidths, their ratios, and HPL; series that no result has are omitted."""
    text = "Bandwidths of the rings are per process; ping-pong is that of the worst pair. "
    text += "By falling random ring bandwidth, a platform's results together."
    if without := [result for result in drawing.results if not result.has(NATURAL_RING)]:
        names = [short_name(drawing.scene, result) for result in without]
        text += f" No natural ring, nor its two ratios, of {', '.join(names)}: no such values are there."
    return _bar_chart(drawing, text, [column for band in _BANDS for column in _band(drawing, band)])


def _band(drawing: PaperChart, band: _Bars) -> Iterator[model.BarColumn]:
    drawn = [
        model.BarSeries(name, colour, drawing.summaries(quantity)) for name, colour, quantity in band.series
    ]
    if series := tuple(bars for bars in drawn if any(bars.bars)):
        values = [bar for bars in series for bar in bars.bars]
        logarithmic = False if band.dimension == FRACTION else None
        yield model.BarColumn(band.title, _axis(drawing, "", band.dimension, values, logarithmic), series)


_PARALLEL = (
    ("HPL", Quantity(HPL)),
    *((NAMES[column][0], whole_system(column, HPL)) for column in (DGEMM, FFT, PTRANS, COPY, RANDOM_RING)),
    ("1 / ring latency", Quantity(by=RING_LATENCY)),
    ("Random Access", Quantity(RANDOM_ACCESS, HPL)),
)


def parallel(drawing: PaperChart) -> model.BarChart:
    """Each column divided by HPL, then by its largest value."""
    largest = max(summary.median for summary in drawing.whole(Quantity(HPL)))
    text = "Accumulated values divided by HPL, then each column by its largest value, which is 100 %. Not "
    text += f"divided by HPL are HPL itself (100 %: {quantity(largest, FLOPS)}) and the latency's reciprocal."
    return _bar_chart(drawing, text, [_share(drawing, title, wanted) for title, wanted in _PARALLEL])


def _share(drawing: PaperChart, title: str, wanted: Quantity) -> model.BarColumn:
    summaries = drawing.whole(wanted)
    largest = max(summary.median for summary in summaries)
    shares = tuple(_divided(summary, largest) for summary in summaries)
    axis = _axis(drawing, "", FRACTION, shares, logarithmic=False)
    return model.BarColumn(title, axis, (model.BarSeries("", _BLUE, shares),))


def _divided(summary: Summary, by: float) -> Summary:
    interval = summary.interval.divided(by) if summary.interval else None
    others = (value / by for value in (summary.mean, summary.minimum, summary.maximum))
    return Summary(summary.n, summary.median / by, interval, *others)


def _bar_chart(drawing: PaperChart, text: str, columns: Sequence[model.BarColumn]) -> model.BarChart:
    texts = drawing.texts(text, model.bars_as_text(drawing.members, columns))
    return model.BarChart(*texts, drawing.members, tuple(columns), folded=True)


# Curves: accumulated values over HPL, and what they are for each operation


def over_hpl(drawing: PaperChart) -> model.CurveChart:
    """Each column over HPL, and divided by it."""
    _, *columns = drawing.figure.needs
    panels = tuple(_panel(drawing, column, by) for column in columns for by in ("", HPL))
    text = "Left: over HPL; right: divided by HPL. Strokes: each repeat."
    if PER_PROCESS & set(columns):
        text += " Accumulated: per process × number of processes."
    text += " Lines join results of one platform."
    wanted = [(*NAMES[column], whole_system(column)) for column in (HPL, *columns)]
    wanted += [
        (f"{NAMES[column][0]} / HPL", _ratio_of(NAMES[column][1]), whole_system(column, HPL))
        for column in columns
    ]
    lines = []
    for member, result in zip(drawing.members, drawing.results, strict=True):
        summaries = ((name, dimension, result.summary(quantity)) for name, dimension, quantity in wanted)
        values = [f"{name} {drawing.scene.view.quantity(s.median, what)}" for name, what, s in summaries if s]
        lines.append(f"{member.name}: {', '.join(values)}")
    texts = drawing.texts(text, "; ".join(lines))
    across = _axis(drawing, "HPL", FLOPS, drawing.whole(Quantity(HPL)), logarithmic=True)
    ticks = tuple(across.scale.ticks())
    return model.CurveChart(*texts, across, panels, own_scales=True, keyed=True, ticks=ticks, folded=True)


def _panel(drawing: PaperChart, column: str, by: str) -> model.CurvePanel:
    values = drawing.whole(whole_system(column, by))
    name, dimension = NAMES[column]
    up = _axis(drawing, name, _ratio_of(dimension) if by else dimension, values, logarithmic=not by)
    title = f"{name} / HPL" if by else f"{name}{', accumulated' if column in PER_PROCESS else ''}"
    platforms = grouped(drawing.results, lambda result: result.platform)
    styles = looks(map(":".join, platforms))
    curves = (
        _curve(drawing, results, whole_system(column, by), styles[":".join(platform)])
        for platform, results in platforms.items()
    )
    return model.CurvePanel(title, up, tuple(curves))


def _curve(
    drawing: PaperChart, results: Sequence[HpccResult], wanted: Quantity, look: Style
) -> model.ChartCurve:
    """The results of a platform, the slowest HPL first."""
    row, hpl = results[0].row, Quantity(HPL)
    name = f"{drawing.scene.place(row)} {visible(row.case.placement)}"
    both = [(result.summary(hpl), result.summary(wanted)) for result in results]
    medians = {round(speed.median): value.median for speed, value in both if speed and value}
    repeats = tuple(
        model.Repeat(run, {round(hpl.value(values, 1)): wanted.value(values, result.row.ranks or 0)})
        for result in results
        for (run, _), values in zip(result.row.curves, result.runs, strict=True)
        if values.keys() >= {*hpl.columns, *wanted.columns}
    )
    return model.ChartCurve(name, name, look, dict(sorted(medians.items())), repeats)


def _ratio_of(dimension: Dimension) -> Dimension:
    """What a quantity of this dimension is when it is divided by HPL."""
    return BALANCE if dimension == BANDWIDTH else FRACTION


# Which can be drawn

_LEAST = 3  # results, without which a chart compares little


@dataclass(frozen=True, slots=True)
class _Figure:
    """One of the paper's. ``needs``: the columns without which a result has no place in it."""

    number: str
    title: str
    needs: tuple[str, ...]
    chart: Callable[[PaperChart], model.Chart]
    least: int = _LEAST

    @property
    def name(self) -> str:
        """``figure 2``, ``figures 4 to 6``."""
        return f"figure{'s' * (' ' in self.number)} {self.number}"


def balance(scene: Scene, few: bool = False) -> Iterator[model.Chart]:
    """The paper's figures for which there are enough results; ``few``: none for one or two results."""
    results = hpcc_results(scene.comparison)
    for figure in _FIGURES if len(results) >= _LEAST or not few else ():
        drawn = tuple(result for result in results if result.has(*figure.needs))
        if len(drawn) >= figure.least:
            without = [result for result in results if not result.has(*figure.needs)]
            yield figure.chart(PaperChart(scene, figure, drawn, without))


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
