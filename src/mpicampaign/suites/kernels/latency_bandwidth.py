"""The kernel latency_bandwidth: ping-pong over pairs, natural and random rings; one value each per run.

Definitions as in HPC Challenge: the best repetition of each ring, the geometric mean over the random rings,
the worst pair's ping-pong. See docs/measurement.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from mpicampaign.base.records import Series
from mpicampaign.suites.hpcc import RINGS
from mpicampaign.suites.kernels.frame import Kernel, KernelFrame, Layout, Row
from mpicampaign.suites.reading import OutputError

_LATENCY_SIZE = 8
_BANDWIDTH_SIZE = 2_000_000

_NATURAL = "natural"
_RANDOM = "random"
_RINGS = (_NATURAL, _RANDOM)
_ROUNDING = 1e-5  # times are printed with seven digits

_SUMMARY = ("shortest_seconds", "mean_seconds", "longest_seconds", "harmonic_mean_seconds")
_METHODS = ("sendrecv_seconds", "nonblocking_seconds")


def _layout() -> Layout:
    return Layout(
        needed={
            "ping_pong": frozenset({"from", "to", "size", "loops", "seconds"}),
            "pairs": frozenset({"size", "pairs", *_SUMMARY}),
            "rings": frozenset({"ring", "number", "size", "repetition", "loops", "seconds", *_METHODS}),
            "sizes": frozenset({"size", "ring_repetitions", "complete", "verified"}),
        },
        names=frozenset({"ring"}),
        seconds=frozenset({"seconds", *_SUMMARY, *_METHODS}),
        series=_series,
    )


def _series(frame: KernelFrame) -> tuple[Series, ...]:
    sizes = _by_size(frame.rows("sizes"), "sizes")
    pairs = _by_size(frame.rows("pairs"), "pairs")
    for row in sizes.values():
        if not row["verified"]:
            raise OutputError(f"{row['size']} B: the data was not verified")
    for row in pairs.values():
        _check_pairs(row, [pair for pair in frame.rows("ping_pong") if pair["size"] == row["size"]])
    rings = {size: _rings(frame.rows("rings"), row) for size, row in sizes.items()}
    (short, short_rings), (long, long_rings) = (
        (pairs[size], rings[size]) for size in (_LATENCY_SIZE, _BANDWIDTH_SIZE)
    )
    values = {
        "random_ring_latency": short_rings[_RANDOM],
        "natural_ring_latency": short_rings[_NATURAL],
        "ping_pong_latency": float(short["longest_seconds"]),
        "ping_pong_latency_average": float(short["mean_seconds"]),
        "ping_pong_latency_best": float(short["shortest_seconds"]),
        "random_ring_bandwidth": _BANDWIDTH_SIZE / long_rings[_RANDOM],
        "natural_ring_bandwidth": _BANDWIDTH_SIZE / long_rings[_NATURAL],
        "ping_pong_bandwidth": _BANDWIDTH_SIZE / float(long["longest_seconds"]),
        # the mean over pairs of size / time
        "ping_pong_bandwidth_average": _BANDWIDTH_SIZE / float(long["harmonic_mean_seconds"]),
        "ping_pong_bandwidth_best": _BANDWIDTH_SIZE / float(long["shortest_seconds"]),
    }
    return (Series("latency_bandwidth", frame.ranks, {name: [value] for name, value in values.items()}),)


def _by_size(rows: Iterable[Row], kind: str) -> dict[int, Row]:
    """One row for each of the two sizes."""
    of_sizes = list(rows)
    if sorted(int(row["size"]) for row in of_sizes) != [_LATENCY_SIZE, _BANDWIDTH_SIZE]:
        named = ", ".join(str(row["size"]) for row in of_sizes) or "none"
        wanted = f"one for {_LATENCY_SIZE} B and one for {_BANDWIDTH_SIZE} B"
        raise OutputError(f"rows of {kind} for the sizes {named}, not {wanted}")
    return {int(row["size"]): row for row in of_sizes}


def _check_pairs(summary: Row, rows: list[Row]) -> None:
    """The rows of single pairs, or of some of them, must lie within the limits of the summary."""
    what = f"ping-pong at {summary['size']} B"
    if not rows or len(rows) > int(summary["pairs"]):
        raise OutputError(f"{what}: {len(rows)} rows of {summary['pairs']} pairs")
    shortest, mean, longest, harmonic = (_positive(summary, name, what) for name in _SUMMARY)
    ordered = [shortest, harmonic, mean, longest]
    if any(a > b * (1 + _ROUNDING) for a, b in pairwise(ordered)):
        raise OutputError(f"{what}: shortest, mean and longest contradict each other")
    for row in rows:
        time = _per_message(row, "seconds", what)
        if not shortest * (1 - _ROUNDING) <= time <= longest * (1 + _ROUNDING):
            raise OutputError(f"{what}: {row['from']} to {row['to']} is outside of shortest to longest")


def _rings(rows: Iterable[Row], summary: Row) -> dict[str, float]:
    """Time of one message: best repetition of the natural ring, geometric mean over the random ones."""
    size = summary["size"]
    times: dict[tuple[str, int], list[float]] = defaultdict(list)
    repetitions: dict[tuple[str, int], list[int]] = defaultdict(list)
    for row in (row for row in rows if row["size"] == size):
        key = str(row["ring"]), int(row["number"])
        times[key].append(_ring_time(row))
        repetitions[key].append(int(row["repetition"]))
    for (ring, number), numbers in repetitions.items():
        if len(numbers) != summary["ring_repetitions"] or sorted(numbers) != list(range(len(numbers))):
            named = ", ".join(map(str, numbers))
            raise OutputError(
                f"{ring} ring {number} at {size} B: repetitions {named} of {summary['ring_repetitions']}"
            )
    best = {ring: [min(values) for (name, _), values in times.items() if name == ring] for ring in _RINGS}
    if len(best[_NATURAL]) != 1 or not best[_RANDOM]:
        counts = " and ".join(f"{len(values)} {ring}" for ring, values in best.items())
        raise OutputError(f"rings at {size} B: {counts}, not 1 {_NATURAL} and some {_RANDOM}")
    return {ring: math.exp(math.fsum(map(math.log, values)) / len(values)) for ring, values in best.items()}


def _ring_time(row: Row) -> float:
    """One message of the faster method; each rank's faster one is at most as slow as either method."""
    what = f"{row['ring']} ring {row['number']} at {row['size']} B"
    faster, *methods = (_per_message(row, name, what) for name in ("seconds", *_METHODS))
    if faster > min(methods) * (1 + _ROUNDING):
        raise OutputError(f"{what}: the faster method took longer than one of the two")
    return faster


def _per_message(row: Row, name: str, what: str) -> float:
    """A loop is a ping and a pong, or a message to each of two neighbours."""
    if not row["loops"]:
        raise OutputError(f"{what}: measured over no loops")
    return _positive(row, name, what) / (2 * int(row["loops"]))


def _positive(row: Row, name: str, what: str) -> float:
    value = float(row[name])
    if value <= 0:
        raise OutputError(f"{what}: took no time at all")
    return value


KERNEL = Kernel(name="latency_bandwidth", version=3, layout=_layout, metrics=RINGS)
