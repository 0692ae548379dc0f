"""Outliers: single values of a repeat far from those of all others. They are named, never dropped.

Five repeats at one size do not show the scatter, so neighbouring sizes help. The distance of a value is that
of its logarithm from the median of the repeats. A value is an outlier if its distance exceeds 20 % and ten
times the 70 % quantile of all distances at this size and three on each side, and if no other repeat is nearer
to it than half of its distance.

False alarms per sweep of 26 sizes and 5 repeats with independent values: 0.1 % for a normal scatter of 10 %,
5 % for an exponential scatter (where stragglers are common); measured by
``tests/test_outliers.py::test_false_alarms_of_sweeps`` (marked full).

Runs may also differ as a whole: over the sweep, but at no single size by enough to be an outlier.

The effect of a run is what its values have in common over the sizes: median polish of their logarithms (J. W.
Tukey, Exploratory Data Analysis, 1977). Up to a quarter of the runs may be off. They are off together if each
is further than `FURTHER` from the nearest of the others, the closest set of so many. Heavy tails (Student's
t with 3 degrees of freedom) have such runs by chance, too: runs are judged only if the others' tails, the
fourth root of their fourth moment, are at most `TAILS`; a lone run only if it is `ALONE` times that further
away. How often that errs, and what it finds, was simulated: ``bench/statistics_errors.py``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from mpicampaign.statistics.distributions import Array
from mpicampaign.statistics.medians import median
from mpicampaign.statistics.modes import split

FEWEST = 4  # repeats
FEWEST_WITHOUT_SIZES = 5
_SCATTERS = 10.0
_KEEP = 0.7  # above 0.5, since the median is the value of a repeat; below 0.8, since 1 of 5 may be far off
_FURTHER = math.log(1.2)
_LARGEST = math.log(sys.float_info.max)
_NEIGHBOURS = 3  # sizes on each side that count for the scatter


@dataclass(frozen=True, slots=True)
class Outlier:
    """A repeat (by its position) at neighbouring sizes (B; none for benchmarks without sizes).

    ``ratio``: its value divided by the median of all repeats, at the size where it is furthest.
    """

    position: int
    sizes: tuple[int, ...]
    ratio: float


def outliers(
    sizes: Sequence[int],
    rows: Sequence[Sequence[float]],
    without: Collection[int] = (),
    resolution: float = 0.0,
) -> tuple[Outlier, ...]:
    """The outliers of a sweep, by repeat, then by size.

    Parameters
    ----------
    sizes : message sizes (B), ascending
    rows : the repeats' values at each size, in the order of the repeats
    without : sizes to skip, such as those at which the repeats fall into two modes
    resolution : of the printed values
    """
    if not rows or len(rows[0]) < FEWEST:
        return ()
    distances = [_distances(values) for values in rows]
    far_sizes: dict[int, list[tuple[int, float]]] = {}
    for index, size in enumerate(sizes):
        if size in without or not distances[index]:
            continue
        for position in _far(distances, index, resolution / median(rows[index])):
            far_sizes.setdefault(position, []).append((index, distances[index][position]))
    return tuple(
        _outlier(sizes, position, group)
        for position in sorted(far_sizes)
        for group in _groups(far_sizes[position])
    )


def lone_value(values: Sequence[float]) -> Outlier | None:
    """The repeat whose value is far from all others, by the gap of `mpicampaign.statistics.modes.split`."""
    bands = split(values) if len(values) >= FEWEST_WITHOUT_SIZES else None
    if bands is None or bands.lone is None or median(values) <= 0:
        return None
    return Outlier(bands.lone, (), values[bands.lone] / median(values))


def _distances(values: Sequence[float]) -> list[float]:
    """Logarithms of the values divided by their median; empty if one is not positive."""
    if min(values) <= 0:
        return []
    middle = math.log(median(values))
    return [math.log(value) - middle for value in values]


def _far(distances: Sequence[Sequence[float]], index: int, resolution: float) -> list[int]:
    """The positions of the values at a size that are far from all others."""
    here = distances[index]
    candidates = [position for position, distance in enumerate(here) if abs(distance) > _FURTHER]
    if not candidates:
        return []
    around = distances[max(index - _NEIGHBOURS, 0) : index + _NEIGHBOURS + 1]
    ordered = sorted(abs(distance) for row in around for distance in row)
    scatter = ordered[int(_KEEP * len(ordered))]
    limit = _SCATTERS * math.hypot(scatter, resolution / math.sqrt(12))

    def nearest(position: int) -> float:
        """The distance from the nearest of the others."""
        return min(abs(here[position] - value) for index, value in enumerate(here) if index != position)

    return [p for p in candidates if abs(here[p]) > limit and 2 * nearest(p) > abs(here[p])]


def _groups(far_sizes: Sequence[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """Neighbouring sizes at which a repeat is off on the same side."""
    groups: list[list[tuple[int, float]]] = []
    for index, distance in far_sizes:
        last = groups[-1][-1] if groups else None
        if last is not None and index == last[0] + 1 and distance * last[1] > 0:
            groups[-1].append((index, distance))
        else:
            groups.append([(index, distance)])
    return groups


def _outlier(sizes: Sequence[int], position: int, group: Sequence[tuple[int, float]]) -> Outlier:
    furthest = max((distance for _, distance in group), key=abs)
    ratio = math.exp(furthest) if furthest < _LARGEST else math.inf
    return Outlier(position, tuple(sizes[index] for index, _ in group), ratio)


# Runs that differ as a whole


FEWEST_RUNS = 8  # repeats; with fewer, modes and outliers find what can be found
FURTHER = 0.2  # natural logarithm: a factor of 1.22
TAILS = 0.044  # of the others' effects; of normal ones 1.1 to 1.3 times their standard deviation
ALONE = 1.25  # tails beyond `FURTHER`
_SHOWN = 2  # scatters from the others below which a run is not worth a note
_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Off:
    """Runs that are off, by their positions; ``scatter``: of the others, as a fraction.

    ``judged``: whether the others are near enough to each other to say so.
    """

    positions: tuple[int, ...] = ()
    scatter: float = 0.0
    judged: bool = True


def runs_off(rows: Sequence[Sequence[float]]) -> Off:
    """The runs that are off: the most that are judged to be; where none is, the most that may be.

    Parameters
    ----------
    rows : the repeats' values at each size, in the order of the repeats; sizes with a value of 0 are left out
    """
    known = [row for row in rows if min(row, default=0) > 0]
    return off(effects(np.log(known))) if known and len(known[0]) >= FEWEST_RUNS else Off()


def effects(logarithms: Array) -> Array:
    """What each run (column) adds to the values of all sizes (rows), by median polish."""
    rest = logarithms - _median_along(logarithms, axis=1)[:, None]
    sums = np.zeros(rest.shape[1])
    for _ in range(_ROUNDS):
        of_runs = _median_along(rest)
        sums, rest = sums + of_runs, rest - of_runs
        rest = rest - _median_along(rest, axis=1)[:, None]
    return sums


def _median_along(values: Array, axis: int = 0) -> Array:
    """As `numpy.median` of values without NaN, for which that looks, and loads `numpy.ma`, each time."""
    ordered, count = np.sort(values, axis=axis), values.shape[axis]
    low, high = (ordered.take(place, axis) for place in ((count - 1) // 2, count // 2))
    return np.asarray((low + high) / 2)


def off(of_runs: Array) -> Off:
    """The runs that are off, by the effects of all."""
    candidates = (_far_from_rest(of_runs, count) for count in range(len(of_runs) // 4, 0, -1))
    known = [candidate for candidate in candidates if candidate is not None]
    return next((runs for runs in known if runs.judged), known[0] if known else Off())


def _far_from_rest(of_runs: Array, count: int) -> Off | None:
    """So many runs, if they lie far from the closest set of the others."""
    order = np.argsort(of_runs, kind="stable")
    ordered, others = of_runs[order], len(of_runs) - count
    first = int(np.argmin(ordered[others - 1 :] - ordered[: count + 1]))
    inside = ordered[first : first + others]
    outside = np.concatenate([order[:first], order[first + others :]])
    distance = float(np.maximum(of_runs[outside] - inside[-1], inside[0] - of_runs[outside]).min())
    scatter = float(inside.std(ddof=1))
    if distance <= max(FURTHER, _SHOWN * scatter):
        return None
    tails = float(np.mean((inside - inside.mean()) ** 4)) ** 0.25
    judged = tails <= TAILS and (count > 1 or distance > FURTHER + ALONE * tails)
    return Off(tuple(sorted(map(int, outside))), math.expm1(scatter), judged)
