"""core_pairs: single values from the matrix of all pairs of ranks, its classes, and contention."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mpicampaign.base.dimension import BANDWIDTH, COUNT, SLOWDOWN, TIME
from mpicampaign.base.records import Series
from mpicampaign.suites.kernels.frame import Columns, Kernel, KernelFrame, Layout, Row
from mpicampaign.suites.reading import OutputError, shown
from mpicampaign.suites.suite import ColumnMetric

_BANDWIDTH_BYTES = 2_000_000  # of the messages whose time is bandwidth_seconds
# What a record keeps of each pair, for the maps; of more pairs nothing, so that records stay small.
_OF_PAIRS = ("from", "to", "latency_seconds", "bandwidth_seconds", "class", "level")
_MOST_PAIRS = 8000  # about 300 kB, all pairs of 89 ranks


def _layout() -> Layout:
    """The layout: in the rows of pairs, ``-`` is what the budget did not allow."""
    measured = frozenset({"latency_seconds", "bandwidth_seconds"})
    times = frozenset({"seconds_alone", "seconds_together"})
    return Layout(
        needed={
            "core_pairs": frozenset({"from", "to", "class"}) | measured,
            "contention": frozenset({"from", "to", "other_from", "other_to"}) | times,
        },
        names=frozenset(),
        seconds=measured | times,
        series=_series,
        optional=measured | {"class", "level"},
    )


def _series(frame: KernelFrame) -> tuple[Series, ...]:
    pairs = frame.rows("core_pairs")
    if not pairs:
        raise OutputError("no pair was measured within the budget")
    values = {
        "pair_latency": _median(pairs, "latency_seconds"),
        "pair_bandwidth": _bandwidth(pairs),
        **_class_values(pairs, frame.header.get("classes", "")),
        "contention": _largest_factor(frame.rows("contention")),
    }
    columns: Columns = {name: [value] for name, value in values.items() if value is not None}
    if frame.header.get("pairs_rows") == "all" and len(pairs) <= _MOST_PAIRS:
        columns |= {f"pairs_{name}": [_known(row, name) for row in pairs] for name in _OF_PAIRS}
    return (Series("core_pairs", frame.ranks, columns),)


def _known(row: Row, name: str) -> float | None:
    """The value; None if it was not measured, is unknown, or was not yet printed."""
    value = float(row.get(name, math.nan))
    return None if math.isnan(value) else value


def _class_values(pairs: Iterable[Row], count: str) -> dict[str, float | None]:
    """``count``: of the classes, as the header has it; among many pairs not each one has a row."""
    classed = [row for row in pairs if not math.isnan(float(row["class"]))]
    if not classed:
        return {}
    fastest, slowest = (choose(int(row["class"]) for row in classed) for choose in (min, max))
    if not count.isdecimal() or len(count) > 3 or int(count) <= slowest:
        raise OutputError(f"a pair is in class {slowest}; the header counts {shown(count)} classes")
    first, last = ([row for row in classed if row["class"] == which] for which in (fastest, slowest))
    return {
        "pair_classes": int(count),
        "fastest_class_latency": _median(first, "latency_seconds"),
        "slowest_class_latency": _median(last, "latency_seconds"),
        "fastest_class_bandwidth": _bandwidth(first),
        "slowest_class_bandwidth": _bandwidth(last),
    }


def _seconds(rows: Iterable[Row], name: str) -> list[float]:
    seconds = [float(row[name]) for row in rows if not math.isnan(float(row[name]))]
    if seconds and min(seconds) <= 0:
        raise OutputError(f"{name}: a pair took no time at all")
    return seconds


def _median(rows: Iterable[Row], name: str) -> float | None:
    from statistics import median  # slow to load, and not needed to plan

    seconds = _seconds(rows, name)
    return median(seconds) if seconds else None


def _bandwidth(rows: Iterable[Row]) -> float | None:
    seconds = _median(rows, "bandwidth_seconds")
    return None if seconds is None else _BANDWIDTH_BYTES / seconds


def _largest_factor(rows: list[Row]) -> float | None:
    """How much slower a pair was, at most, while another one was busy."""
    alone, together = (_seconds(rows, name) for name in ("seconds_alone", "seconds_together"))
    return max((b / a for a, b in zip(alone, together, strict=True)), default=None)


KERNEL = Kernel(
    name="core_pairs",
    version=3,
    layout=_layout,
    quick=("--budget", "1"),
    metrics={
        "pair_latency": ColumnMetric("latency, median pair", TIME, headline=True),
        "pair_bandwidth": ColumnMetric("bandwidth, median pair", BANDWIDTH),
        "pair_classes": ColumnMetric("pair classes", COUNT),
        "fastest_class_latency": ColumnMetric("latency, fastest class", TIME),
        "slowest_class_latency": ColumnMetric("latency, slowest class", TIME),
        "fastest_class_bandwidth": ColumnMetric("bandwidth, fastest class", BANDWIDTH),
        "slowest_class_bandwidth": ColumnMetric("bandwidth, slowest class", BANDWIDTH),
        "contention": ColumnMetric("largest contention factor", SLOWDOWN),
    },
)
