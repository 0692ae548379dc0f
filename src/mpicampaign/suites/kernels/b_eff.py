"""The kernel b_eff: rates of patterns, methods and message lengths become the effective bandwidth.

The derivation of the formulas is in docs/measurement.md, after the b_eff page of HLRS
(Koniges, Rabenseifner, Solchenbach). Bandwidths are B/s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.base.records import Series
from mpicampaign.base.units import format_size
from mpicampaign.suites.kernels.frame import Columns, Kernel, KernelFrame, Layout, Row, grouped
from mpicampaign.suites.reading import OutputError
from mpicampaign.suites.suite import ColumnMetric

_NAME = "b_eff"
_LENGTHS = 21
_RINGS = 6
_SETS = {"ring", "random", "cartesian", "first", "pair"}

_Pattern = tuple[str, str]  # set, name
_Rates = dict[_Pattern, list[Row]]
_Best = dict[int, float]  # length (B) -> the best rate over methods and repetitions (B/s)


def _layout() -> Layout:
    return Layout(
        needed={
            "rates": frozenset(
                {"set", "pattern", "method", "length", "repetition", "loops", "messages", "seconds"}
            ),
            "patterns": frozenset({"set", "pattern", "messages", "verified"}),
        },
        names=frozenset({"set", "pattern", "method"}),
        seconds=frozenset({"seconds"}),
        series=_series,
    )


def _series(frame: KernelFrame) -> tuple[Series, ...]:
    rates = grouped(frame.rows("rates"), _pattern)
    _check_patterns(frame, rates)
    _check_counts(frame, rates)
    best = {pattern: _best(rows) for pattern, rows in rates.items()}
    lmax = _header_number(frame, "lmax")
    for pattern, of_lengths in best.items():
        if pattern[0] != "first" and max(of_lengths) != lmax:
            largest = f"the largest message is {max(of_lengths)} B, Lmax {lmax} B"
            raise OutputError(f"{' '.join(pattern)}: {largest}")
    # at another Lmax than the definition's it measures something else, so its series is another one
    defined = frame.header.get("lmax_rule") == "memory/128"
    given = {} if defined else {"Lmax": f"{format_size(lmax)} given"}
    tables = [
        (_bandwidths(best, rates, lmax), given),
        (_first_approach(best), {"patterns": "first approach"}),
    ]
    if any(group == "cartesian" for group, _ in best):
        tables.append((_cartesian(best), {"patterns": "cartesian", **given}))
    return tuple(Series(_NAME, frame.ranks, columns, qualifiers) for columns, qualifiers in tables)


def _pattern(row: Row) -> _Pattern:
    return str(row["set"]), str(row["pattern"])


def _check_patterns(frame: KernelFrame, rates: _Rates) -> None:
    """Each pattern has one row of its own that reports it verified, and complete rates."""
    patterns = grouped(frame.rows("patterns"), _pattern)
    for pattern in sorted(patterns.keys() | rates.keys()):
        what = " ".join(pattern)
        rows = patterns.get(pattern, [])
        if len(rows) != 1:
            raise OutputError(f"{what}: {len(rows)} rows of patterns, not one")
        if not rows[0]["verified"]:
            raise OutputError(f"{what}: the data was not verified")
        _check_rates(what, rates.get(pattern, []), int(rows[0]["messages"]))


def _check_rates(what: str, rows: list[Row], messages: int) -> None:
    """Check that each method has as many rates at each length, with the messages of the pattern."""
    counts = Counter((row["method"], row["length"], row["repetition"]) for row in rows)
    wanted = math.prod(len({key[place] for key in counts}) for place in range(3))
    if not rows or len(counts) != wanted or len(rows) != wanted:
        raise OutputError(f"{what}: {len(rows)} rates of {wanted} combinations: some are missing or double")
    for row in rows:
        if float(row["seconds"]) <= 0:
            raise OutputError(f"{what} {row['length']} B: a measurement took no time at all")
        if row["messages"] != messages or not row["messages"] or not row["loops"] or not row["length"]:
            raise OutputError(f"{what} {row['length']} B: messages, loops or length contradict the pattern")


def _check_counts(frame: KernelFrame, rates: _Rates) -> None:
    """Refuse an output without all patterns and message lengths of b_eff's definition."""
    counts = Counter(group for group, _ in rates)
    unknown = counts.keys() - _SETS
    if unknown:
        raise OutputError(f"unknown set of patterns {sorted(unknown)[0]!r}")
    randoms = _header_number(frame, "random_patterns")
    for group, number in {"ring": _RINGS, "random": randoms, "first": 2, "pair": 1}.items():
        if counts[group] != number or not number:
            raise OutputError(f"{counts[group]} {group} patterns, not {number}")
    for pattern, rows in rates.items():
        lengths = len({row["length"] for row in rows})
        if lengths != (2 if pattern[0] == "pair" else _LENGTHS):
            raise OutputError(f"{' '.join(pattern)}: rates at {lengths} message lengths")


def _best(rows: Iterable[Row]) -> _Best:
    """What all processes together sent in one measurement, divided by its time."""
    best_of: _Best = {}
    for row in rows:
        length = int(row["length"])
        rate = length * int(row["messages"]) * int(row["loops"]) / float(row["seconds"])
        best_of[length] = max(rate, best_of.get(length, 0.0))
    return best_of


def _header_number(frame: KernelFrame, key: str) -> int:
    text = frame.header.get(key, "")
    if not text.isdecimal() or len(text) > 18:
        raise OutputError(f"the header's {key} is {text[:40]!r}, not a whole number")
    return int(text)


def _bandwidths(best: Mapping[_Pattern, _Best], rates: _Rates, lmax: int) -> Columns:
    rings, randoms = (_of_set(best, group) for group in ("ring", "random"))
    means = [[_pattern_bandwidth(pattern) for pattern in group] for group in (rings, randoms)]
    at_lmax = [[pattern[lmax] for pattern in group] for group in (rings, randoms)]
    (pair,) = _of_set(best, "pair")
    shortest = _repeated_pair(rates, min(pair))
    return {
        "b_eff": [_effective_bandwidth(*means)],
        "b_eff_rings": [_logarithmic_mean(means[0])],
        "b_eff_random": [_logarithmic_mean(means[1])],
        "b_eff_random_slowest": [min(means[1])],
        "b_eff_at_lmax": [_effective_bandwidth(*at_lmax)],
        "ping_pong_at_lmax": [pair[lmax] if _repeated_pair(rates, lmax) else None],
        "b_eff_latency": [min(map(_latency, shortest), default=None)],
        "random_patterns": [len(randoms)],
    }


def _of_set(best: Mapping[_Pattern, _Best], group: str) -> list[_Best]:
    return [rates for (of, _), rates in best.items() if of == group]


def _repeated_pair(rates: _Rates, length: int) -> list[Row]:
    """The rows of ranks 0 and 1; none where there is but one: interrupted, it would be no value.

    The kernel repeats it from version 2 on; before, a short budget left one.
    """
    rows = [
        row for (group, _), of in rates.items() if group == "pair" for row in of if row["length"] == length
    ]
    return rows if len(rows) > 1 else []


def _latency(row: Row) -> float:
    """A ping-pong exchanges two messages a loop."""
    return float(row["seconds"]) / (int(row["loops"]) * int(row["messages"]))


def _first_approach(rates: Mapping[_Pattern, _Best]) -> Columns:
    """The mean of best and worst grouping: arithmetic, as first proposed, and logarithmic."""
    for name in ("best", "worst"):
        if ("first", name) not in rates:
            raise OutputError(f"no rates of first {name}")
    best, worst = (_pattern_bandwidth(rates["first", name]) for name in ("best", "worst"))
    return {
        "first_approach": [(best + worst) / 2],
        "first_approach_logarithmic": [math.sqrt(best * worst)],
        "first_approach_best": [best],
        "first_approach_worst": [worst],
    }


def _cartesian(best: Mapping[_Pattern, _Best]) -> Columns:
    means = {name: _pattern_bandwidth(rates) for (group, name), rates in best.items() if group == "cartesian"}
    columns: Columns = {"cartesian": [_logarithmic_mean(means.values())]}
    return columns | {f"cartesian_{name.replace('-', '_')}": [value] for name, value in means.items()}


def _pattern_bandwidth(best: Mapping[int, float]) -> float:
    """One pattern: the mean over message lengths of the best rate at each."""
    return math.fsum(best.values()) / len(best)


def _logarithmic_mean(bandwidths: Iterable[float]) -> float:
    """The mean on a logarithmic scale: the geometric mean. No value may be 0."""
    logarithms = [math.log(bandwidth) for bandwidth in bandwidths]
    return math.exp(math.fsum(logarithms) / len(logarithms))


def _effective_bandwidth(rings: Iterable[float], randoms: Iterable[float]) -> float:
    """b_eff: rings and random patterns count alike, however many patterns there are of each."""
    return math.sqrt(_logarithmic_mean(rings) * _logarithmic_mean(randoms))


KERNEL = Kernel(
    name="b_eff",
    version=3,
    published="b_eff",
    layout=_layout,
    quick=("--lmax", "8KiB", "--budget", "0.5"),
    metrics={
        "b_eff": ColumnMetric("b_eff", BANDWIDTH, headline=True, share="b_eff_rings"),
        "b_eff_rings": ColumnMetric("ring patterns", BANDWIDTH),
        "b_eff_random": ColumnMetric("random patterns", BANDWIDTH),
        "b_eff_random_slowest": ColumnMetric("slowest random pattern", BANDWIDTH),
        "b_eff_at_lmax": ColumnMetric("b_eff at Lmax", BANDWIDTH),
        "ping_pong_at_lmax": ColumnMetric("ping-pong at Lmax", BANDWIDTH),
        "b_eff_latency": ColumnMetric("latency", TIME),
        "first_approach": ColumnMetric("first approach", BANDWIDTH),
        "first_approach_logarithmic": ColumnMetric("first approach, logarithmic", BANDWIDTH),
        "first_approach_best": ColumnMetric("best grouping", BANDWIDTH),
        "first_approach_worst": ColumnMetric("worst grouping", BANDWIDTH),
        "cartesian": ColumnMetric("cartesian, logarithmic mean", BANDWIDTH),
        "cartesian_1d_x": ColumnMetric("1-d x", BANDWIDTH),
        "cartesian_2d_x": ColumnMetric("2-d x", BANDWIDTH),
        "cartesian_2d_y": ColumnMetric("2-d y", BANDWIDTH),
        "cartesian_2d_xy": ColumnMetric("2-d xy", BANDWIDTH),
        "cartesian_3d_x": ColumnMetric("3-d x", BANDWIDTH),
        "cartesian_3d_y": ColumnMetric("3-d y", BANDWIDTH),
        "cartesian_3d_z": ColumnMetric("3-d z", BANDWIDTH),
        "cartesian_3d_xyz": ColumnMetric("3-d xyz", BANDWIDTH),
    },
)
