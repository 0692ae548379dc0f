"""The metrics that are taken from each run for comparison: which ones, and how they are read.

A metric has one value per run (launch): the samples inside a run are already summarised in its series.
Which columns a suite has of its own, what it ranks, and what its bandwidth counts: see `Suite`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple, TypeGuard

from mpicampaign.base.dimension import (
    BANDWIDTH,
    DURATION,
    FLOPS,
    FRACTION,
    MESSAGE_RATE,
    RATIO,
    TIME,
    Dimension,
    own_dimension,
)
from mpicampaign.base.records import Record, Series
from mpicampaign.base.units import format_size
from mpicampaign.collect.startup import LAUNCHER, MPI_INIT, START_UP
from mpicampaign.evidence.plausible import BOUND_SIZE, link_bound
from mpicampaign.suites import SUITES, sends
from mpicampaign.suites.suite import ColumnMetric, UsefulBandwidth

# Columns that any suite may have, in the order in which they are shown.
_COMMON = {
    "flops": FLOPS,
    "time": TIME,
    "bandwidth": BANDWIDTH,
    "bandwidth_wire": BANDWIDTH,
    "message_rate": MESSAGE_RATE,
    "overlap": FRACTION,
}
_BESIDE = {"time_min": "s", "time_max": "s", "repetitions": "1", "samples": "1"}  # their SI units

_TITLE = re.compile(r" at ([0-9.]+ [KMGT]?i?B)(?: per [a-z]+)?$")  # what follows it
NOT_RANKED = " (not ranked)"  # ends the title of a metric of which nothing says which values are better


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that is taken from each run.

    ``size``: the message size in B at which the column is read; ``None``: the column's maximum over
    all sizes, or its only value where the benchmark has no sizes. ``group`` is what metrics shown side
    by side have in common, ``part`` what distinguishes them. ``headline``: it is ranked. ``baseline``: the
    series of the same run by whose value it is divided. ``bound``: it is divided by what the link can carry.
    """

    name: str
    column: str
    dimension: Dimension
    size: int | None = None
    group: str = ""
    part: str = ""
    headline: bool = False
    baseline: str = ""
    bound: bool = False

    @property
    def lower_is_better(self) -> bool | None:
        """Whether less of it is better; None where neither is known to be."""
        return self.dimension.lower_is_better

    def cost(self, value: float) -> float:
        """The logarithm of what should be low, of a positive value: of a rate that of its reciprocal."""
        return math.log(value) if self.lower_is_better else -math.log(value)


STARTUP_METRICS = tuple(
    Metric(name, name, DURATION, group=name, headline=True) for name in (START_UP, MPI_INIT, LAUNCHER)
)


def dimension_named(suite: str, own: Mapping[str, tuple[str, str]], name: str) -> Dimension | None:
    """What a metric of this name measures; ``None`` where no run of a suite can have one.

    ``own``: unit and better of the metrics of a program of one's own. Which sizes are printed, only runs say.
    """
    known_suite = SUITES.get(suite)
    titles = {
        **_COMMON,
        "message rate": MESSAGE_RATE,
        "latency": TIME,
        "B_useful": BANDWIDTH,
        "B_wire": BANDWIDTH,
    }
    titles |= {about.title: about.dimension for about in known_suite.metrics.values()} if known_suite else {}
    titles |= {"fraction of line rate": FRACTION} | {
        metric.name: metric.dimension for metric in STARTUP_METRICS
    }
    for title, (unit, better) in own.items():
        titles[title if better else f"{title}{NOT_RANKED}"] = own_dimension(unit, better)
    title = _TITLE.sub("", name.removeprefix("maximum "))
    return RATIO if title.startswith("B_useful / ") else titles.get(name) or titles.get(title)


class Reading(NamedTuple):
    """A value, and the message size (B) at which it was found."""

    value: float
    size: int | None


class _Sizes(NamedTuple):
    """Message sizes (B): those to show, and those that any run printed, ascending."""

    shown: Sequence[int]
    printed: Sequence[int]


def printed_sizes(tables: Iterable[Series]) -> list[int]:
    """All message sizes (B) that any of the series holds, ascending."""
    sizes = (size for table in tables for size in table.columns.get("size", []))
    return sorted({int(size) for size in sizes if size is not None})


def chosen_sizes(wanted: Sequence[int], printed: Sequence[int]) -> tuple[int, ...]:
    """The sizes to show: those wanted, or where none of them was printed smallest, middle and largest."""
    positive = [size for size in printed if size > 0]
    if not positive or set(wanted) & set(positive):
        return tuple(wanted)
    return tuple(sorted({positive[0], positive[len(positive) // 2], positive[-1]}))


def choose_metrics(suite: str, tables: Sequence[Series], wanted: Sequence[int]) -> tuple[Metric, ...]:
    """The metrics for like series of several runs, in the order in which they are shown.

    Parameters
    ----------
    suite : the benchmark's suite, whose own metrics follow the common ones
    tables : the same series of all runs
    wanted : message sizes (B) at which metrics over sizes are shown
    """
    columns = {name for table in tables for name in table.columns if _holds(table, name)}
    printed = printed_sizes(tables)
    sizes = _Sizes(chosen_sizes(wanted, printed), printed)
    of_suite = {**(known_suite.metrics if (known_suite := SUITES.get(suite)) else {}), **_of_series(tables)}
    declared = {column: metric for column, metric in of_suite.items() if column in columns}
    others = columns - declared.keys()
    metrics: list[Metric] = []
    if not declared or others & _COMMON.keys():
        metrics += _common_metrics(suite, tables[0].benchmark, others, sizes)
    for column, about in declared.items():
        metrics += _of_column(about.title, column, about.dimension, sizes, about.headline)
    return tuple(metrics)


def units_printed(suite: str, series: Series) -> dict[str, str]:
    """The SI units of what a series printed, by column; without those of pairs of ranks."""
    of_suite = {**(found.metrics if (found := SUITES.get(suite)) else {}), **_of_series([series])}
    known = {name: dimension.si_unit for name, dimension in _COMMON.items()} | _BESIDE
    known |= {name: metric.dimension.si_unit for name, metric in of_suite.items()}
    return {name: known[name] for name in series.columns if name in known}


def times_at_sizes(suite: str, tables: Sequence[Series]) -> tuple[Metric, ...]:
    """The time at each message size from 1 B on; what is ranked, of series without them."""
    sizes = [size for size in printed_sizes(tables) if size > 0]
    if sizes and any(_holds(table, "time") for table in tables if "time" in table.columns):
        return tuple(_at("time", "time", TIME, size) for size in sizes)
    return tuple(metric for metric in choose_metrics(suite, tables, ()) if metric.headline)


def _of_series(tables: Sequence[Series]) -> dict[str, ColumnMetric]:
    """What campaign files say of the columns of their own programs."""
    about_columns = {title: about for table in tables for title, about in table.metrics.items()}
    return {
        title: ColumnMetric(
            title if about["better"] else f"{title}{NOT_RANKED}",
            own_dimension(about["unit"], about["better"]),
            headline=bool(about["better"]),
        )
        for title, about in about_columns.items()
    }


def _holds(table: Series, column: str) -> bool:
    return any(value is not None for value in table.columns[column])


def _common_metrics(suite: str, series: str, columns: set[str], sizes: _Sizes) -> list[Metric]:
    useful = useful_bandwidth(suite, series)
    if useful and "bandwidth" in columns:
        return _useful_metrics(useful, sizes, columns)
    if not sizes.printed:
        present = ((name, dimension) for name, dimension in _COMMON.items() if name in columns)
        return [Metric(name, name, dimension, headline=True) for name, dimension in present]
    if "bandwidth" not in columns:
        latency = _latency(sizes.printed[0]) if is_latency(suite, series) else None
        times = _of_column("time", "time", TIME, sizes, first=latency)
        overlaps = sizes.shown if "overlap" in columns else ()
        return [*times, *(_at("overlap", "overlap", FRACTION, size) for size in overlaps)]
    metrics = [_latency(sizes.printed[0])] if "time" in columns else []
    metrics += _of_column("bandwidth", "bandwidth", BANDWIDTH, sizes)
    if "message_rate" in columns:
        name = "maximum message rate"
        ranked = "time" not in columns
        metrics.append(Metric(name, "message_rate", MESSAGE_RATE, group=name, headline=ranked))
    return metrics


def _of_column(
    title: str,
    column: str,
    dimension: Dimension,
    sizes: _Sizes,
    ranked: bool = True,
    first: Metric | None = None,
) -> list[Metric]:
    """A column at the sizes to show. What should be high is ranked by its maximum.

    What should be low is ranked at the smallest and the largest size. ``first``: instead of the smallest size
    from 1 B on. A collective on 0 B does nothing, so its time is no latency and is not shown.
    """
    if not sizes.printed:
        return [Metric(title, column, dimension, group=title, headline=ranked)]
    if not (ranked and dimension.lower_is_better):
        maximum = f"maximum {title}"
        shown = [_at(title, column, dimension, size) for size in sizes.shown]
        return [*shown, Metric(maximum, column, dimension, group=maximum, headline=True)] if ranked else shown
    smallest = next((size for size in sizes.printed if size > 0), sizes.printed[0])
    first = first or _at(title, column, dimension, smallest, headline=True)
    others = [size for size in sizes.shown if size != first.size]
    last = max((size for size in others if size in sizes.printed), default=None)
    return [first, *(_at(title, column, dimension, size, headline=size == last) for size in others)]


def _useful_metrics(useful: UsefulBandwidth, sizes: _Sizes, columns: set[str]) -> list[Metric]:
    """Useful beside wire bandwidth, always: wire bandwidth can rise while nothing completes earlier.

    Before them the time of one call of the smallest blocks; of single messages a call sends many.
    """
    metrics: list[Metric] = []
    smallest = next((size for size in sizes.printed if size > 0), None)
    if "time" in columns and smallest is not None and useful.per == "rank":
        time = _at("time", "time", TIME, smallest)
        metrics.append(replace(time, name=f"{time.name} per rank", group=f"{time.group} per rank"))
    for size in (*sizes.shown, None):
        group = "maximum" if size is None else f"at {format_size(size)} per {useful.per}"
        named = "maximum {}" if size is None else f"{{}} {group}"
        name = named.format("B_useful")
        ranked = size is None
        metrics.append(Metric(name, "bandwidth", BANDWIDTH, size, group, "B_useful", headline=ranked))
        if useful.wire and "bandwidth_wire" in columns:
            metrics.append(Metric(named.format("B_wire"), "bandwidth_wire", BANDWIDTH, size, group, "B_wire"))
        if useful.baseline and size is not None:
            part = f"/ {useful.baseline}"
            name = named.format(f"B_useful {part}")
            metrics.append(Metric(name, "bandwidth", RATIO, size, group, part, baseline=useful.baseline))
    return metrics


def _latency(size: int) -> Metric:
    return _at("latency", "time", TIME, size, headline=True)


def _at(title: str, column: str, dimension: Dimension, size: int, headline: bool = False) -> Metric:
    name = f"{title} at {format_size(size)}"
    return Metric(name, column, dimension, size, name, headline=headline)


def fraction_of_line_rate(suite: str, series: str) -> Metric:
    """The largest bandwidth from `BOUND_SIZE` on, divided by what the link can carry."""
    name, part = "fraction of line rate", "B_useful" if useful_bandwidth(suite, series) else ""
    return Metric(name, "bandwidth", FRACTION, group=name, part=part, bound=True)


def useful_bandwidth(suite: str, series: str) -> UsefulBandwidth | None:
    """What the bandwidth of a series counts, where that is delivered blocks."""
    sent = sends(suite, series)
    return sent.useful if sent else None


def is_latency(suite: str, series: str) -> bool:
    """Whether the time of a series without bandwidth is a latency."""
    known_suite = SUITES.get(suite)
    return known_suite is not None and re.fullmatch(known_suite.latencies, series) is not None


def read_fraction(run: Record, table: Series) -> Reading | None:
    """The fraction of the link's bound that was reached, and the message size (B) at which."""
    bound = None if stopped_at(table) is not None else link_bound(run, table)
    points = {size: value for size, value in curve(table, "bandwidth").items() if size >= BOUND_SIZE}
    if not bound or not points:
        return None
    size = max(points, key=points.__getitem__)
    return Reading(points[size] / bound, size)


def read(metric: Metric, table: Series, run: Iterable[Series]) -> Reading | None:
    """The metric's value in one series of a run; ``run``: all series of that run, for the baseline."""
    reading = _read(metric, table)
    if reading is None or not metric.baseline:
        return reading
    base = next((_read(metric, other) for other in run if other.benchmark == metric.baseline), None)
    return Reading(reading.value / base.value, reading.size) if base and base.value else None


def _read(metric: Metric, table: Series) -> Reading | None:
    if metric.size is None:
        return _maximum(table, metric.column)
    value = _value(table, metric.column, metric.size)
    return Reading(value, metric.size) if _usable(value) else None


def _value(table: Series, column: str, size: int) -> float | None:
    """The value of `curve` at one size; faster where each size occurs once."""
    sizes = table.columns.get("size", [])
    if sizes.count(size) != 1 or len(sizes) != len(table.columns.get(column, [])):
        return curve(table, column).get(size)
    return table.columns[column][sizes.index(size)]


def curve(table: Series, column: str) -> dict[int, float]:
    """The column over message size (B): only what was printed, is finite and not negative."""
    sizes = table.columns.get("size", [])
    values = table.columns.get(column, [])
    if len(sizes) != len(values):
        return {}
    pairs = zip(sizes, values, strict=True)
    return {
        int(size): value
        for size, value in pairs
        if size is not None and value is not None and 0 <= value < math.inf
    }


def at_sizes(table: Series, sizes: Collection[int]) -> Series:
    """The lines of a series at these sizes (B)."""
    chosen = [size is not None and int(size) in sizes for size in table.columns.get("size", [])]
    return replace(table, columns={name: [*compress(of, chosen)] for name, of in table.columns.items()})


def end_of(table: Series) -> int:
    """The largest size (B) with a value in any column."""
    if not (sizes := table.columns.get("size")):
        return 0
    columns = [
        values for name, values in table.columns.items() if name != "size" and len(values) == len(sizes)
    ]
    if any(None not in values for values in columns):  # most are whole
        return int(max(filter(None, sizes), default=0))
    rows = zip(sizes, zip(*columns, strict=True), strict=False)
    return max((int(size or 0) for size, row in rows if any(value is not None for value in row)), default=0)


def stopped_at(table: Series) -> int | None:
    """The last size (B) with a value, where the program went on to larger ones, but gave up."""
    end = end_of(table)
    return end if end < max(filter(None, table.columns.get("size", ())), default=0) else None


def _maximum(table: Series, column: str) -> Reading | None:
    """The largest value; ``None`` if larger sizes were given up: the maximum may be among them."""
    if stopped_at(table) is not None:
        return None
    points = curve(table, column)
    if any(points.values()):
        size = max(points, key=points.__getitem__)
        return Reading(points[size], size)
    values = [value for value in table.columns.get(column, []) if _usable(value)]
    return Reading(max(values), None) if values and not table.columns.get("size") else None


def gave_up(table: Series, metric: Metric) -> bool:
    """Whether the program went to the metric's size (for a maximum: to any), but printed no value there."""
    sizes = table.columns.get("size", [])
    rows = zip(sizes, table.columns.get(metric.column, []), strict=False)
    return any(value is None and size and metric.size in (None, size) for size, value in rows)


def _usable(value: float | None) -> TypeGuard[float]:
    return value is not None and 0 <= value < math.inf


# Repeats whose values end at a smaller message than those of others give no maximum


def cut_repeats(curves: Iterable[tuple[Record, Series]]) -> dict[int, int]:
    """The repeats that end before the longest one, each with its last size (B)."""
    ends = {run.repeat: end_of(series) for run, series in curves if ends_early(run)}
    last = max(ends.values(), default=0)
    return {repeat: end for repeat, end in ends.items() if end < last}


def readings(metric: Metric, curves: Sequence[tuple[Record, Series]]) -> dict[int, Reading]:
    """By repeat; a maximum over fewer sizes than in other repeats does not count."""
    cut = cut_repeats(curves) if metric.size is None else {}
    all_readings = (
        (run.repeat, read_fraction(run, series) if metric.bound else read(metric, series, run.series))
        for run, series in curves
        if run.repeat not in cut
    )
    return {repeat: reading for repeat, reading in all_readings if reading is not None}


def ends_early(run: Record) -> bool:
    """Whether outputs of its suite may end early: cut, or without what time or memory did not allow."""
    suite = SUITES.get(run.suite)
    return suite is not None and suite.ends_early
