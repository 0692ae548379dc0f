"""The kernel b_eff: rates of patterns, methods and message lengths become the effective bandwidth.

The derivation of the formulas is in docs/measurement.md, after the b_eff page of HLRS
(Koniges, Rabenseifner, Solchenbach). Bandwidths are B/s.
"""

from __future__ import annotations
from collections import Counter, defaultdict
from typing import TYPE_CHECKING
from mpicampaign.suites.kernels.frame import Frame, Layout, Row
from mpicampaign.suites.reading import OutputError
from mpicampaign.base.records import Series
from mpicampaign.base.units import format_size
from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.suites.kernels.kernel import Kernel
from mpicampaign.suites.suite import ColumnMetric
import math

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = "b_eff"
_LENGTHS = 21
_RINGS = 6
_SETS = {"ring", "random", "cartesian", "first", "pair"}

_Pattern = tuple[str, str]  # set, name
_Rates = dict[_Pattern, list[Row]]
_Best = dict[int, float]  # length (B) -> the best rate over methods and repetitions (B/s)
_Columns = dict[str, list[float | None]]


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


def _series(frame: Frame) -> tuple[Series, ...]:
    rates = _by_pattern(frame.rows("rates"))
    _check_patterns(frame, rates)
    _check_counts(frame, rates)
    best = {pattern: _best(rows) for pattern, rows in rates.items()}
    lmax = _lmax(frame, best)
    given = _given(frame, lmax)
    tables = [(_bandwidths(best, rates, lmax), given), (_first_approach(best), {"patterns": "first approach"})]
    if any(group == "cartesian" for group, _ in best):
        tables.append((_cartesian(best), {"patterns": "cartesian", **given}))
    return tuple(Series(_NAME, frame.ranks, columns, qualifiers) for columns, qualifiers in tables)


def _by_pattern(rows: Iterable[Row]) -> _Rates:
    grouped: _Rates = defaultdict(list)
    for row in rows:
        grouped[str(row["set"]), str(row["pattern"])].append(row)
    return dict(grouped)


def _check_patterns(frame: Frame, rates: _Rates) -> None:
    """Each pattern has one row of its own that reports it verified, and complete rates."""
    patterns = _by_pattern(frame.rows("patterns"))
    for pattern in sorted(patterns.keys() | rates.keys()):
        what = " ".join(pattern)
        rows = patterns.get(pattern, [])
        if len(rows) != 1:
            raise OutputError(f"{what}: {len(rows)} rows of patterns, not one")
        if not rows[0]["verified"]:
            raise OutputError(f"{what}: the data was not verified")
        _check_rates(what, rates.get(pattern, []), int(rows[0]["messages"]))


def _check_rates(what: str, rows: list[Row], messages: int) -> None:
    """Every method at every length as often, with the messages of the pattern."""
    counts = Counter((row["method"], row["length"], row["repetition"]) for row in rows)
    wanted = 1
    for place in range(3):
        wanted *= len({key[place] for key in counts})
    if not rows or len(counts) != wanted or len(rows) != wanted:
        raise OutputError(f"{what}: {len(rows)} rates of {wanted} combinations: some are missing or double")
    for row in rows:
        if float(row["seconds"]) <= 0:
            raise OutputError(f"{what} {row['length']} B: a measurement took no time at all")
        if row["messages"] != messages or not row["messages"] or not row["loops"] or not row["length"]:
            raise OutputError(f"{what} {row['length']} B: messages, loops or length contradict the pattern")


def _check_counts(frame: Frame, rates: _Rates) -> None:
    """As many patterns of each set, and lengths of each pattern, as b_eff is defined by."""
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
    best_of: _Best = {}
    for row in rows:
        length = int(row["length"])
        value = rate(length, int(row["messages"]), int(row["loops"]), float(row["seconds"]))
        best_of[length] = max(value, best_of.get(length, 0.0))
    return best_of


def _header_number(frame: Frame, key: str) -> int:
    text = frame.header.get(key, "")
    if not text.isdecimal() or len(text) > 18:
        raise OutputError(f"the header's {key} is {text[:40]!r}, not a whole number")
    return int(text)


def _lmax(frame: Frame, best: Mapping[_Pattern, _Best]) -> int:
    lmax = _header_number(frame, "lmax")
    for pattern, rates in best.items():
        if pattern[0] != "first" and max(rates) != lmax:
            raise OutputError(f"{' '.join(pattern)}: the largest message is {max(rates)} B, Lmax {lmax} B")
    return lmax


def _given(frame: Frame, lmax: int) -> dict[str, str]:
    """A run at another Lmax than the definition's measures something else, so its series is another one."""
    defined = frame.header.get("lmax_rule") == "memory/128"
    return {} if defined else {"Lmax": f"{format_size(lmax)} given"}


def _bandwidths(best: Mapping[_Pattern, _Best], rates: _Rates, lmax: int) -> _Columns:
    rings, randoms = (_of_set(best, group) for group in ("ring", "random"))
    means = [[pattern_bandwidth(pattern) for pattern in group] for group in (rings, randoms)]
    at_lmax = [[pattern[lmax] for pattern in group] for group in (rings, randoms)]
    (pair,) = _of_set(best, "pair")
    return {
        "b_eff": [effective_bandwidth(*means)],
        "b_eff_rings": [logarithmic_mean(means[0])],
        "b_eff_random": [logarithmic_mean(means[1])],
        "b_eff_random_slowest": [min(means[1])],
        "b_eff_at_lmax": [effective_bandwidth(*at_lmax)],
        "ping_pong_at_lmax": [pair[lmax] if _is_repeated(rates, lmax) else None],
        "b_eff_latency": [_latency(rates)],
        "random_patterns": [len(randoms)],
    }


def _of_set(best: Mapping[_Pattern, _Best], group: str) -> list[_Best]:
    return [rates for (of, _), rates in best.items() if of == group]


def _pair_rows(rates: _Rates) -> list[Row]:
    return [row for (group, _), of in rates.items() if group == "pair" for row in of]


def _is_repeated(rates: _Rates, length: int) -> bool:
    """Whether ranks 0 and 1 were measured more than once: a single measurement, once interrupted, is no value.

    The kernel repeats it from version 2 on; before, a short budget left one.
    """
    return len([row for row in _pair_rows(rates) if row["length"] == length]) > 1


def _latency(rates: _Rates) -> float | None:
    """One way between ranks 0 and 1, the shortest message: a ping-pong exchanges two messages a loop."""
    rows = _pair_rows(rates)
    shortest = min(int(row["length"]) for row in rows)
    if not _is_repeated(rates, shortest):
        return None
    return min(
        float(row["seconds"]) / (int(row["loops"]) * int(row["messages"]))
        for row in rows
        if row["length"] == shortest
    )


def _first_approach(best: Mapping[_Pattern, _Best]) -> _Columns:
    try:
        means = [pattern_bandwidth(best["first", name]) for name in ("best", "worst")]
    except KeyError as missing:
        raise OutputError(f"no rates of {' '.join(missing.args[0])}") from None
    arithmetic, logarithmic = first_approach(*means)
    return {
        "first_approach": [arithmetic],
        "first_approach_logarithmic": [logarithmic],
        "first_approach_best": [means[0]],
        "first_approach_worst": [means[1]],
    }


def _cartesian(best: Mapping[_Pattern, _Best]) -> _Columns:
    means = {name: pattern_bandwidth(rates) for (group, name), rates in best.items() if group == "cartesian"}
    columns: _Columns = {"cartesian": [logarithmic_mean(means.values())]}
    return columns | {f"cartesian_{name.replace('-', '_')}": [value] for name, value in means.items()}


def rate(length: int, messages: int, loops: int, seconds: float) -> float:
    """What all processes together sent in one measurement, divided by its time."""
    return length * messages * loops / seconds


def pattern_bandwidth(best: Mapping[int, float]) -> float:
    """One pattern: the mean over message lengths of the best rate at each."""
    return math.fsum(best.values()) / len(best)


def logarithmic_mean(bandwidths: Iterable[float]) -> float:
    """The mean on a logarithmic scale: the geometric mean. No value may be 0."""
    logarithms = [math.log(bandwidth) for bandwidth in bandwidths]
    return math.exp(math.fsum(logarithms) / len(logarithms))


def effective_bandwidth(rings: Iterable[float], randoms: Iterable[float]) -> float:
    """b_eff: rings and random patterns count alike, however many patterns there are of each."""
    return math.sqrt(logarithmic_mean(rings) * logarithmic_mean(randoms))


def first_approach(best: float, worst: float) -> tuple[float, float]:
    """The mean of best and worst grouping: arithmetic, as first proposed, and logarithmic."""
    return (best + worst) / 2, math.sqrt(best * worst)


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
