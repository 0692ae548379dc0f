"""Runs that differ as a whole: over the sweep, but at no single size by enough to be an outlier.

The effect of a run is what its values have in common over the sizes: median polish of their logarithms (J. W.
Tukey, Exploratory Data Analysis, 1977). Up to a quarter of the runs may be off. They are off together if each
is further than `FURTHER` from the nearest of the others, the closest set of so many. Heavy tails (Student's
t with 3 degrees of freedom) have such runs by chance, too: runs are judged only if the others' tails, the
fourth root of their fourth moment, are at most `TAILS`; a lone run only if it is `ALONE` times that further
away. How often that errs, and what it finds, was simulated: ``bench/statistics_errors.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

FEWEST = 8  # repeats; with fewer, modes and outliers find what can be found
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
    return off(effects(np.log(known))) if known and len(known[0]) >= FEWEST else Off()


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
    """Of the effects of all runs, those that are off."""
    candidates = (_apart(of_runs, count) for count in range(len(of_runs) // 4, 0, -1))
    apart = [candidate for candidate in candidates if candidate is not None]
    return next((runs for runs in apart if runs.judged), apart[0] if apart else Off())


def _apart(of_runs: Array, count: int) -> Off | None:
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
