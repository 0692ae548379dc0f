"""collectives: a sweep of sizes for each operation, from a start that all nodes share to the last rank's end.

A time is known no better than what the clocks were found to be off. Where no repetition began in time on all
ranks there is none.
"""

from __future__ import annotations

from dataclasses import replace

from mpicampaign.base.dimension import COUNT, TIME
from mpicampaign.base.records import Series
from mpicampaign.suites.kernels.frame import Columns, Kernel, KernelFrame, Layout, Row, grouped
from mpicampaign.suites.kernels.sweep import sweep_layout
from mpicampaign.suites.reading import OutputError
from mpicampaign.suites.suite import ColumnMetric

_SWEEP = sweep_layout("start")
_STARTS = {"common": {"from": "common start to last end"}, "barrier": {"after": "barrier, slowest rank"}}
_QUANTILES = frozenset(
    {f"last_p{n}" for n in (5, 25, 50, 75, 95)}  # over repetitions, of the last rank's end
    | {f"rank_{n}" for n in ("min", "p25", "p50", "p75", "max")}  # over ranks, of their median ends
)
_TIMES: frozenset[str] = _QUANTILES | {"clock_bound", "clock_found"}


def _series(frame: KernelFrame) -> tuple[Series, ...]:
    rows = frame.rows("ends")
    if frame.lacks:  # a size is complete where its own row, below its ends, closes it
        closed = {(row["operation"], row["start"], row["size"]) for row in frame.rows("sizes")}
        rows = [r for r in rows if not r["samples"] or (r["operation"], r["start"], r["size"]) in closed]
    if not (frame.lacks or frame.rows("samples")):
        late = sum(int(row["late"]) for row in rows)
        raise OutputError(f"no repetition began in time on all ranks, {late} did not: do ranks share cores?")
    if wrong := {str(row["start"]) for row in (*rows, *frame.rows("samples"))} - _STARTS.keys():
        raise OutputError(f"unknown start {wrong.pop()}")
    swept = {(series.benchmark, series.qualifiers["start"]): series for series in _SWEEP.series(frame)}
    ends = grouped(rows, lambda row: (str(row["operation"]), str(row["start"])))
    names = next(iter(swept.values())).columns
    for name, start in ends.keys() - swept.keys():  # all were late
        swept[name, start] = Series(name, frame.ranks, {of: [] for of in names}, {"start": start})
    return tuple(_with_ends(swept[key], ends.get(key, [])) for key in ends | swept)


def _with_ends(series: Series, ends: list[Row]) -> Series:
    """At all sizes, without values where all repetitions were late."""
    start, swept = series.qualifiers["start"], series.columns
    timed = [row for row in ends if row["samples"]]
    if [row["size"] for row in timed] != swept["size"]:
        raise OutputError(f"{series.label}: samples and ends are of other sizes")
    names = sorted(_TIMES if start == "common" else _QUANTILES)  # after a barrier they are durations
    added: Columns = {name.replace("last_", "time_"): [float(row[name]) for row in timed] for name in names}
    if start == "common" and not all(row["last_p50"] for row in timed):
        raise OutputError(f"{series.label}: a time of 0")
    if start == "common":
        errors = [float(row["clock_found"]) / float(row["last_p50"]) for row in timed]
        added["width"] = [max(a or 0, b) for a, b in zip(swept["width"], errors, strict=True)]
    known = {name: iter(values) for name, values in (swept | added).items()}
    columns = {name: [next(of) if row["samples"] else None for row in ends] for name, of in known.items()}
    columns["size"] = [int(row["size"]) for row in ends]
    if start == "common":
        columns["late"] = [int(row["late"]) for row in ends]
    for name in ("bandwidth", "bandwidth_wire", *(["size"] if series.benchmark == "Barrier" else [])):
        del columns[name]
    return replace(series, columns=columns, qualifiers=_STARTS[start])


KERNEL = Kernel(
    name="collectives",
    layout=lambda: Layout(
        needed={
            **_SWEEP.needed,
            "ends": frozenset({"operation", "start", "size", "samples", "late"}) | _TIMES,
        },
        names=_SWEEP.names,
        seconds=_SWEEP.seconds | _TIMES,
        optional=_SWEEP.optional | _QUANTILES,
        series=_series,
        in_part=True,
    ),
    quick=("--max-size", "1KiB", "--after-barrier", "--budget", "0.5"),
    metrics={
        "rank_min": ColumnMetric("first rank's end", TIME),
        "clock_found": ColumnMetric("clocks' error", TIME),
        "late": ColumnMetric("late repetitions, left out", COUNT),
    },
)
