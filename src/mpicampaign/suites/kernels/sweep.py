"""Kernels that sweep sizes: rows of samples, levels and sizes for each operation, variant and size."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping

from mpicampaign.base.records import Series
from mpicampaign.suites.kernels.frame import Columns, KernelFrame, Layout, Row, grouped
from mpicampaign.suites.reading import OutputError
from mpicampaign.suites.suite import Active, Sends, UsefulBandwidth

BASELINE = "MPI_Gather"  # what kernels that gather measure beside themselves, in the same run
# What an MPI library's own gather sends along which tree is not known.
BASELINE_SENDS = Sends(Active.ALL, useful=UsefulBandwidth("rank"))
GATHER_SENDS = Sends(Active.ALL, useful=UsefulBandwidth("rank", wire=True, baseline=BASELINE))

MOST_LEVELS = 31  # ranks are counted in an int

_NO_VARIANT = "-"

_Key = tuple[str, str, int]  # operation, variant, size
OfSize = dict[str, float | None]  # values of one size, by column
_PerOperation = Mapping[str, Callable[[list[Row]], OfSize]]


def sweep_layout(variant: str, per_operation: _PerOperation | None = None) -> Layout:
    """The layout of a kernel whose operations differ in the variant, such as ``tree``.

    ``per_operation``: what is made of the rows of its levels at one size.
    """
    return Layout(
        needed={
            "samples": frozenset({"operation", variant, "size", "seconds", "useful_bytes", "wire_bytes"}),
            "levels": frozenset(
                {"operation", variant, "size", "rank", "level", "receive_seconds", "merge_seconds"}
            ),
            "sizes": frozenset({"operation", variant, "size", "samples", "converged", "verified"}),
        },
        names=frozenset({"operation", variant}),
        seconds=frozenset({"seconds", "receive_seconds", "merge_seconds"}),
        series=lambda frame: _sweep_series(frame, variant, per_operation or {}),
        optional=frozenset({"hit"}),
        in_part=True,
    )


def _sweep_series(frame: KernelFrame, variant: str, per_operation: _PerOperation) -> tuple[Series, ...]:
    def key(row: Row) -> _Key:
        return str(row["operation"]), str(row[variant]), int(row["size"])

    samples, levels, sizes = (grouped(frame.rows(kind), key) for kind in ("samples", "levels", "sizes"))
    if frame.lacks:  # a size is complete where its own row closes it
        samples, levels = ({key: by[key] for key in by if key in sizes} for by in (samples, levels))
    if not samples:
        raise OutputError(frame.lacks or "no samples")
    _check_sizes(sizes, samples, levels)
    depths: dict[tuple[str, str], int] = defaultdict(int)  # levels of the root, which receives on all of them
    for (operation, which, _), rows in levels.items():
        of_root = (int(row["level"]) + 1 for row in rows if row["rank"] == 0)
        depths[operation, which] = max(depths[operation, which], *of_root, 0)
    columns: dict[tuple[str, str], Columns] = {}
    for place, rows in samples.items():
        operation, which, _ = place
        values = _values(rows, sizes[place][0]) | _of_root(levels.get(place, []), depths[operation, which])
        if operation in per_operation:
            values |= per_operation[operation](levels.get(place, []))
        for name, value in values.items():
            columns.setdefault((operation, which), {}).setdefault(name, []).append(value)
    return tuple(
        Series(operation, frame.ranks, of_sizes, {} if which == _NO_VARIANT else {variant: which})
        for (operation, which), of_sizes in columns.items()
    )


def _check_sizes(
    sizes: dict[_Key, list[Row]], samples: dict[_Key, list[Row]], levels: dict[_Key, list[Row]]
) -> None:
    for key in sorted(samples.keys() | sizes.keys() | levels.keys()):
        what = " ".join(map(str, key))
        if len(sizes.get(key, ())) != 1:
            raise OutputError(f"{what} B: {len(sizes.get(key, ()))} rows of sizes, not one")
        if not sizes[key][0]["verified"]:
            raise OutputError(f"{what} B: the data was not verified")
        if not 0 < len(samples.get(key, ())) <= float(sizes[key][0]["samples"]):
            raise OutputError(f"{what} B: {len(samples.get(key, ()))} samples of {sizes[key][0]['samples']}")


def _values(samples: list[Row], size: Row) -> OfSize:
    from statistics import median  # slow to load, and not needed to plan

    times = [float(row["seconds"]) for row in samples]
    if min(times) <= 0:
        raise OutputError(f"{size['operation']} {size['size']} B: a sample took no time at all")
    time = median(times)
    return {
        "size": int(size["size"]),
        "time": time,
        "time_min": min(times),
        "time_max": max(times),
        "samples": int(size["samples"]),
        "bandwidth": _rate(samples, "useful_bytes", time),
        "bandwidth_wire": _rate(samples, "wire_bytes", time),
        "converged": int(size["converged"]),
        "width": _width(times, int(size["samples"])),
        **_hits(size),
    }


def _of_root(levels: list[Row], count: int) -> OfSize:
    """What each level of the root takes: ``receive_0``, ``merge_0`` … (s)."""
    of_root = {int(row["level"]): row for row in levels if row["rank"] == 0}
    return {
        f"{what}_{level}": float(of_root[level][f"{what}_seconds"]) if level in of_root else None
        for level in range(min(count, MOST_LEVELS))
        for what in ("receive", "merge")
    }


def _hits(size: Row) -> OfSize:
    """Samples that met a rank that waited for a CPU: not examined on some kernels, nor by older versions."""
    if "hit" not in size:
        return {}
    hits = float(size["hit"])
    if hits > float(size["samples"]):
        raise OutputError(
            f"{size['operation']} {size['size']} B: {size['hit']} hit of {size['samples']} samples"
        )
    return {"hit": None if math.isnan(hits) else int(hits)}


def _width(times: list[float], measured: int) -> float | None:
    """How far the median may be off, as a fraction of it; None for a single sample.

    The order-statistic interval of the median (95 %), or the distance between the medians of both halves
    where that is larger: kernels look at both to stop. ``times``: in order of time, evenly chosen of those
    ``measured``.
    """
    from statistics import median

    if len(times) < 2:
        return None
    ordered, centre = sorted(times), median(times)
    outside = max(0, math.floor((measured - 1.96 * math.sqrt(measured)) / 2) - 1)  # on each side
    place = outside * len(times) // measured
    half = len(times) // 2
    drift = abs(median(times[:half]) - median(times[half:]))
    return max(centre - ordered[place], ordered[-1 - place] - centre, drift) / centre


def _rate(samples: list[Row], name: str, time: float) -> float | None:
    volumes = {int(row[name]) for row in samples}
    if len(volumes) != 1:
        raise OutputError(f"{name} differs between samples of one size: {sorted(volumes)}")
    return volumes.pop() / time
