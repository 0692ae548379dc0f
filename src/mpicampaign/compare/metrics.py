"""The figures that are taken from each run for comparison: which ones, and how they are read.

One figure per run (launch): the samples inside a run are already summarised in its series.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from mpicampaign.dimension import (
    BANDWIDTH,
    DURATION,
    FLOPS,
    FRACTION,
    MESSAGE_RATE,
    RATIO,
    TIME,
)
from mpicampaign.suites import SUITES, sends, single_metrics
from mpicampaign.suites.kernels.sweep import BASELINE as BASELINE  # others read it from here
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.dimension import Dimension
    from mpicampaign.records import Record, Series

KERNEL = "kernel"
POINT_TO_POINT = "point_to_point"  # no gather; what it sends is what it delivers

_DIMENSIONS = {
    "flops": FLOPS,
    "time": TIME,
    "bandwidth": BANDWIDTH,
    "bandwidth_wire": BANDWIDTH,
    "message_rate": MESSAGE_RATE,
    "overlap": FRACTION,
}


# From this message size (B) on, bandwidth is compared with the line rate: below it, latency and buffers
# decide.
BOUND_SIZE = 1 << 20


def dimension_of(column: str) -> Dimension:
    """What a column of a series measures."""
    single = single_metrics().get(column)
    return single.dimension if single else _DIMENSIONS[column]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a run.

    ``size``: the message size in B at which the column is read; ``None``: the column's maximum over
    all sizes, or its only value where the benchmark has no sizes. ``group`` is what metrics shown side
    by side have in common, ``part`` what tells them apart. ``baseline``: the figure is divided by that
    of `BASELINE` in the same run. ``bound``: it is divided by what the link can carry. ``headline``: ranked
    in words.
    """

    name: str
    column: str
    size: int | None = None
    group: str = ""
    part: str = ""
    baseline: bool = False
    bound: bool = False
    headline: bool = False
    duration: bool = False

    @property
    def dimension(self) -> Dimension:
        """What it measures."""
        if self.bound:
            return FRACTION
        if self.baseline:
            return RATIO
        if self.duration:
            return DURATION
        return dimension_of(self.column)

    @property
    def lower_is_better(self) -> bool:
        """Whether less of it is better."""
        return self.dimension.lower_is_better


class Reading(NamedTuple):
    """A figure, and the message size (B) at which it was found."""

    value: float
    size: int | None


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
    suite : the benchmark's suite; kernels show useful and wire bandwidth side by side
    tables : the same series of all runs
    wanted : message sizes (B) at which bandwidth or time is shown
    """
    columns = {name for table in tables for name in table.columns if _holds(table, name)}
    printed = printed_sizes(tables)
    sizes = chosen_sizes(wanted, printed)
    if suite == KERNEL and "bandwidth" in columns:
        return _kernel_metrics(tables[0].benchmark, sizes, columns)
    if not printed:
        return _single_metrics(suite, columns)
    if "bandwidth" in columns:
        return _transfer_metrics(sizes, printed, columns)
    return _time_metrics(tables[0].benchmark, sizes, printed, columns)


def _holds(table: Series, column: str) -> bool:
    return any(value is not None for value in table.columns[column])


def _single_metrics(suite: str, columns: set[str]) -> tuple[Metric, ...]:
    if "flops" in columns:
        plain = _rated_metrics(columns)
    else:
        plain = [Metric(name, name, headline=True) for name in _DIMENSIONS if name in columns]
    of_suite = found.metrics if (found := SUITES.get(suite)) else {}
    named = [(name, single) for name, single in of_suite.items() if name in columns]
    singles = (Metric(s.title, name, group=s.title, headline=s.headline) for name, s in named)
    return (*plain, *singles)


def _rated_metrics(columns: set[str]) -> list[Metric]:
    """The rate of a calculation, and beside it the time, which says the same and is not ranked."""
    rate = Metric("flop rate", "flops", group="flop rate", headline=True)
    return [rate, *([Metric("time", "time", group="time", duration=True)] if "time" in columns else [])]


def _transfer_metrics(sizes: Sequence[int], printed: Sequence[int], columns: set[str]) -> tuple[Metric, ...]:
    found = []
    if "time" in columns:
        found.append(_latency(printed[0]))
    found += [_at("bandwidth", "bandwidth", size) for size in sizes]
    found.append(Metric("maximum bandwidth", "bandwidth", group="maximum bandwidth", headline=True))
    if "message_rate" in columns:
        name = "maximum message rate"
        found.append(Metric(name, "message_rate", group=name, headline="time" not in columns))
    return tuple(found)


def _time_metrics(
    benchmark: str, sizes: Sequence[int], printed: Sequence[int], columns: set[str]
) -> tuple[Metric, ...]:
    """Collectives: an operation on 0 B does nothing, so its time is no latency and is not shown."""
    if "latency" in benchmark.lower():
        first = _latency(printed[0])
    else:
        smallest = next((size for size in printed if size > 0), printed[0])
        first = _at("time", "time", smallest, headline=True)
    others = [size for size in sizes if size != first.size]
    last = max((size for size in others if size in printed), default=None)
    found = [first, *(_at("time", "time", size, headline=size == last) for size in others)]
    if "overlap" in columns:
        found += [_at("overlap", "overlap", size) for size in sizes]
    return tuple(found)


def _kernel_metrics(benchmark: str, sizes: Sequence[int], columns: set[str]) -> tuple[Metric, ...]:
    """Useful beside wire bandwidth, always: wire bandwidth can rise while nothing completes earlier."""
    found = []
    for size in (*sizes, None):
        unit = "message" if benchmark == POINT_TO_POINT else "rank"
        group = "maximum" if size is None else f"at {format_size(size)} per {unit}"
        named = "maximum {}" if size is None else f"{{}} {group}"
        name = named.format("B_useful")
        found.append(Metric(name, "bandwidth", size, group, "B_useful", headline=size is None))
        if benchmark == POINT_TO_POINT:
            continue
        if "bandwidth_wire" in columns and benchmark != BASELINE:  # nobody knows what MPI sends
            found.append(Metric(named.format("B_wire"), "bandwidth_wire", size, group, "B_wire"))
        if benchmark != BASELINE and size is not None:
            name = named.format(f"B_useful / {BASELINE}")
            found.append(Metric(name, "bandwidth", size, group, f"/ {BASELINE}", baseline=True))
    return tuple(found)


def _latency(size: int) -> Metric:
    name = f"latency at {format_size(size)}"
    return Metric(name, "time", size, name, headline=True)


def _at(words: str, column: str, size: int, headline: bool = False) -> Metric:
    name = f"{words} at {format_size(size)}"
    return Metric(name, column, size, name, headline=headline)


def fraction_of_line_rate(suite: str) -> Metric:
    """The largest bandwidth from `BOUND_SIZE` on, divided by what the link can carry."""
    name = "fraction of line rate"
    return Metric(name, "bandwidth", group=name, part="B_useful" if suite == KERNEL else "", bound=True)


def link_bound(run: Record, table: Series) -> float | None:
    """What the link can carry of that which the figures count (B/s).

    None where no rate is given, where the ranks of a host share a link, and for benchmarks whose figures do
    not tell what crossed one.
    """
    hosts = len(run.hosts)
    if run.line_rate is None or hosts < 2:
        return None
    sent = sends(run.suite, table.benchmark)
    if sent is None:
        return None
    alone = hosts == 2 and table.ranks in (2, None) if sent.of_pairs else table.ranks == hosts
    return sent.directions * run.line_rate if alone else None


def read_fraction(run: Record, table: Series) -> Reading | None:
    """The fraction of the link's bound that was reached, and the message size (B) at which."""
    bound = link_bound(run, table)
    points = {size: value for size, value in curve(table, "bandwidth").items() if size >= BOUND_SIZE}
    if not bound or not points:
        return None
    size = max(points, key=points.__getitem__)
    return Reading(points[size] / bound, size)


def read(metric: Metric, table: Series, run: Iterable[Series]) -> Reading | None:
    """The metric's figure in one series of a run; ``run``: all series of that run, for the baseline."""
    found = _maximum(table, metric.column) if metric.size is None else _value_at(table, metric)
    if found is None or not metric.baseline:
        return found
    for other in run:
        if other.benchmark == BASELINE:
            base = _value_at(other, metric)
            return Reading(found.value / base.value, found.size) if base and base.value else None
    return None


def _value(table: Series, column: str, size: int) -> float | None:
    """The figure of `curve` at one size; faster, where no size is there twice."""
    sizes = table.columns.get("size", [])
    if sizes.count(size) != 1 or len(sizes) != len(table.columns.get(column, [])):
        return curve(table, column).get(size)
    value = table.columns[column][sizes.index(size)]
    return value if _usable(value) else None


def curve(table: Series, column: str) -> dict[int, float]:
    """The column over message size (B): only what was printed, is finite and not negative."""
    sizes = table.columns.get("size", [])
    values = table.columns.get(column, [])
    if len(sizes) != len(values):
        return {}
    pairs = zip(sizes, values, strict=True)
    return {int(size): value for size, value in pairs if size is not None and _usable(value)}


def _value_at(table: Series, metric: Metric) -> Reading | None:
    value = _value(table, metric.column, metric.size if metric.size is not None else -1)
    return None if value is None else Reading(value, metric.size)


def _maximum(table: Series, column: str) -> Reading | None:
    points = curve(table, column)
    if points:
        size = max(points, key=points.__getitem__)
        return Reading(points[size], size)
    values = [value for value in table.columns.get(column, []) if _usable(value)]
    return Reading(max(values), None) if values and not table.columns.get("size") else None


def _usable(value: float | None) -> TypeGuard[float]:
    return value is not None and 0 <= value < math.inf
