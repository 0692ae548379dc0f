"""Charts of HPC Challenge: the figures of its paper, which of them can be drawn, and what the others lack.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005), figures 1 to 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.dimension import BALANCE, BANDWIDTH, FLOPS, FRACTION, TIME, UPDATE_RATE
from mpicampaign.base.text import counted, visible
from mpicampaign.questions.balance.find import NAME
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
    Quantity,
    hpcc_results,
    hpcc_rows,
    interpolated,
    whole_system,
    with_reference_blas,
)
from mpicampaign.show.charts import model
from mpicampaign.show.charts.looks import COLOURS
from mpicampaign.show.charts.scene import HOST_GROUP, left_out, repeats_of
from mpicampaign.show.view import quantity
from mpicampaign.statistics.medians import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpicampaign.base.dimension import Dimension
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.questions.balance.find_hpcc import HpccResult
    from mpicampaign.show.charts.scene import Scene
    from mpicampaign.show.view import View

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
_INTERVALS = "stroke: interval of the median"
# What the marks mean.
POINTS = (
    f"filled: own results; hollow and grey: published; {_INTERVALS}; a number that finds no room is left out"
)
BARS = f"filled: own results; hollow: published; {_INTERVALS}"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of the paper (``figures 4 to 6``) with the results that have a place in it."""

    scene: Scene
    paper: str
    title: str
    columns: tuple[str, ...]
    results: tuple[HpccResult, ...]
    members: tuple[model.Member, ...]
    omitted: str  # what is left out, as sentences

    def summaries(self, wanted: Quantity) -> tuple[Summary | None, ...]:
        """Of each result."""
        return tuple(result.summary(wanted) for result in self.results)

    def whole(self, wanted: Quantity) -> list[Summary]:
        """Of columns that all results have."""
        return [summary for summary in self.summaries(wanted) if summary is not None]


# Names


def members_of(scene: Scene, results: Sequence[HpccResult]) -> tuple[model.Member, ...]:
    """The results by their names and looks, own ones in the look of their host group."""
    platforms = list(dict.fromkeys(result.platform for result in results))
    return tuple(
        model.Member(
            _full_name(scene, result),
            short_name(scene, result),
            scene.looks[HOST_GROUP][scene.place(result.row)] if result.row else None,
            platforms.index(result.platform),
        )
        for result in results
    )


def short_name(scene: Scene, result: HpccResult) -> str:
    """Without the processor of published systems, and what HPL of own ones depends on."""
    if result.row is None:
        return visible(f"{result.system}, {result.placement}")
    ranks = counted(result.ranks, "rank") + ", disturbed" * result.row.disturbed
    return f"{scene.place(result.row)} {visible(result.placement)}, {ranks}"


def _full_name(scene: Scene, result: HpccResult) -> str:
    if result.row is None:
        return visible(f"{result.system}, {result.host_group}, {result.placement}")
    row, size = result.row, result.row.linear_system
    further = (f"N {size}" if size else "", visible(row.blas))
    return ", ".join(filter(None, (short_name(scene, result), *further)))


def omitted(scene: Scene, without: Sequence[HpccResult]) -> str:
    """What is left out: results ``without`` the columns, reference BLAS, and runs that do not count."""
    own = [short_name(scene, result) for result in without if result.row is not None]
    published = sum(result.row is None for result in without)
    names = [*own, f"{published} published"] if published else own
    text = f" Without the columns needed: {', '.join(names)}." if names else ""
    places = [
        f"{scene.place(row)} {visible(row.case.placement)}" for row in with_reference_blas(scene.comparison)
    ]
    text += f" Left out for their reference BLAS: {', '.join(dict.fromkeys(places))}." if places else ""
    rows = sorted(hpcc_rows(scene.comparison), key=lambda row: row.counted)
    return text + left_out(scene, list({row.case: row for row in rows}.values()))


def caption(drawing: Drawing, text: str) -> str:
    """With where the figure is from, how many repeats, and the size of own linear systems."""
    rows = [result.row for result in drawing.results if result.row is not None]
    references = dict.fromkeys(result.reference for result in drawing.results if result.reference)
    start = f"As {drawing.paper} of R. Rabenseifner, Balance of HPC Systems (2005). {text}"
    start += f" Own results: the largest N measured, {repeats_of(rows)}." if rows else ""
    start += f" Hollow: published, {', '.join(references)}." if references else ""
    return start + drawing.omitted


# Values


def axis_of(
    scene: Scene,
    name: str,
    dimension: Dimension,
    summaries: Iterable[Summary | None],
    logarithmic: bool | None,
) -> model.Axis:
    """An axis that holds medians and intervals."""
    known = [summary for summary in summaries if summary is not None]
    bounds = [value for s in known if s.interval for value in (s.interval.low, s.interval.high)]
    axis = scene.axis(name, dimension, [*bounds, *(summary.median for summary in known)], logarithmic)
    assert axis is not None, "all values of a result are positive"
    return axis


def values_text(drawing: Drawing, wanted: Sequence[tuple[str, Dimension, Quantity]]) -> str:
    """Each member with its medians."""
    lines = []
    for member, result in zip(drawing.members, drawing.results, strict=True):
        found = ((name, what, result.summary(each)) for name, what, each in wanted)
        said = [f"{name} {drawing.scene.view.quantity(s.median, what)}" for name, what, s in found if s]
        lines.append(f"{member.name}: {', '.join(said)}")
    return "; ".join(lines)


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


def bands(drawing: Drawing) -> model.BarChart:
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
    return model.BarChart(title, caption(drawing, text), alt, drawing.members, columns, BARS, folded=True)


def _band(drawing: Drawing, band: _Bars) -> Iterator[model.BarColumn]:
    drawn = [model.BarSeries(name, colour, drawing.summaries(each)) for name, colour, each in band.series]
    series = tuple(each for each in drawn if any(each.bars))
    if series:
        values = [bar for each in series for bar in each.bars]
        logarithmic = False if band.dimension == FRACTION else None
        yield model.BarColumn(
            band.title, axis_of(drawing.scene, "", band.dimension, values, logarithmic), series
        )


_PARALLEL = (
    ("HPL", Quantity(HPL)),
    *((NAMES[column][0], whole_system(column, HPL)) for column in (DGEMM, FFT, PTRANS, COPY, RANDOM_RING)),
    ("1 / ring latency", Quantity(by=RING_LATENCY)),
    ("Random Access", Quantity(RANDOM_ACCESS, HPL)),
)


def parallel(drawing: Drawing) -> model.BarChart:
    """Each column divided by HPL, then by its largest value."""
    columns = tuple(_share(drawing, title, wanted) for title, wanted in _PARALLEL)
    largest = max(summary.median for summary in drawing.whole(Quantity(HPL)))
    text = "Accumulated values divided by HPL, then each column by its largest value, which is 100 %. Not "
    text += f"divided by HPL are HPL itself (100 %: {quantity(largest, FLOPS)}) and the latency's reciprocal."
    title = f"HPCC: {drawing.title}"
    alt = f"{title}. {_shares_text(drawing, columns)}"
    return model.BarChart(title, caption(drawing, text), alt, drawing.members, columns, BARS, folded=True)


def _share(drawing: Drawing, title: str, wanted: Quantity) -> model.BarColumn:
    summaries = drawing.whole(wanted)
    largest = max(summary.median for summary in summaries)
    shares = tuple(_divided(summary, largest) for summary in summaries)
    axis = axis_of(drawing.scene, "", FRACTION, shares, logarithmic=False)
    return model.BarColumn(title, axis, (model.BarSeries("", _BLUE, shares),))


def _divided(summary: Summary, by: float) -> Summary:
    return Summary(
        summary.n,
        summary.median / by,
        summary.interval.divided(by) if summary.interval else None,
        summary.mean / by,
        summary.minimum / by,
        summary.maximum / by,
    )


def _shares_text(drawing: Drawing, columns: Sequence[model.BarColumn]) -> str:
    lines = []
    for place, member in enumerate(drawing.members):
        bars = ((column.title, column.series[0].bars[place]) for column in columns)
        said = [f"{title} {quantity(bar.median, FRACTION)}" for title, bar in bars if bar]
        lines.append(f"{member.name}: {', '.join(said)}")
    return "; ".join(lines)


# Scatter: accumulated values over HPL, and what they are for each operation


def over_hpl(drawing: Drawing) -> model.ScatterChart:
    """Each column over HPL and divided by it: logarithmic above, linear below."""
    panels = [
        panel
        for column in drawing.columns[1:]
        for logarithmic in (True, False)
        for panel in (_panel(drawing, column, "", logarithmic), _panel(drawing, column, HPL, logarithmic))
    ]
    text = "Left: over HPL; right: divided by HPL. Logarithmic axes above, linear ones below."
    if PER_PROCESS & set(drawing.columns):
        text += " Accumulated: per process × number of processes."
    text += " Lines join results of one platform."
    for column in drawing.columns[1:]:
        found = interpolated_text(drawing.results, column, drawing.scene.view)
        text += f" {found}" if found else ""
    title = f"HPCC: {drawing.title}"
    alt = f"{title}. {_alt_over_hpl(drawing)}"
    said = (title, caption(drawing, text), alt)
    return model.ScatterChart(*said, drawing.members, tuple(panels), POINTS, folded=True)


def interpolated_lines(comparison: Comparison, table: Table, view: View) -> list[str]:
    """Of the table of balances, where a rate is asked for."""
    text = interpolated_text(hpcc_results(comparison), RANDOM_RING, view) if table.label == NAME else ""
    return [text] if text else []


def interpolated_text(results: Iterable[HpccResult], column: str, view: View) -> str:
    """``random ring / HPL at 1000 Gflop/s, interpolated, not measured: NEC SX-6 59.6 byte/kflop …``."""
    name, dimension = NAMES[column]
    if view.balance_at is None:
        return ""
    ratio = _ratio_of(dimension)
    found = [
        f"{visible(low.system)} {view.quantity(value, ratio)} ({visible(low.placement)} to "
        f"{visible(high.placement)})"
        for low, high, value in interpolated(results, whole_system(column, HPL), view.balance_at)
    ]
    rate = view.quantity(view.balance_at, FLOPS)
    said = "; ".join(found) if found else "no platform has results on both sides"
    return f"{name} / HPL at {rate}, interpolated, not measured: {said}."


def _panel(drawing: Drawing, column: str, by: str, logarithmic: bool) -> model.ScatterPanel:
    speeds = drawing.whole(Quantity(HPL))
    values = drawing.whole(whole_system(column, by))
    name, dimension = NAMES[column]
    dimension = _ratio_of(dimension) if by else dimension
    across = axis_of(drawing.scene, "HPL", FLOPS, speeds, logarithmic)
    up = axis_of(drawing.scene, name, dimension, values, logarithmic)
    points = tuple(model.ScatterPoint(x, y) for x, y in zip(speeds, values, strict=True))
    accumulated = f"{name}, accumulated" if column in PER_PROCESS else name
    title = f"{name} / HPL" if by else accumulated
    return model.ScatterPanel(f"{title} ({up.unit.name})", across, up, points)


def _alt_over_hpl(drawing: Drawing) -> str:
    columns = drawing.columns
    wanted = [(*NAMES[column], whole_system(column)) for column in columns]
    wanted += [
        (f"{NAMES[column][0]} / HPL", _ratio_of(NAMES[column][1]), whole_system(column, HPL))
        for column in columns[1:]
    ]
    return values_text(drawing, wanted)


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
    chart: Callable[[Drawing], model.Chart]
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
            text = omitted(scene, [result for result in results if not result.has(*figure.needs)])
            about = (figure.name, figure.title, figure.needs)
            yield figure.chart(Drawing(scene, *about, drawn, members_of(scene, drawn), text))


def not_drawn(comparison: Comparison) -> str:
    """Which of the paper's figures cannot be drawn, and what they lack; empty where nothing is of HPCC."""
    results = hpcc_results(comparison)
    lacking = [text for figure in _FIGURES if (text := _lacking(figure, results))]
    if not lacking or not (results or hpcc_rows(comparison)):
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
