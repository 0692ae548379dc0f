"""Permutation test of two kinds of items, such as host groups: are the kinds exchangeable within strata?

In a stratum all but the kind is alike. A pair in each stratum makes it the paired test by signs of
differences; one stratum makes it the test of two samples.
"""

from __future__ import annotations

import math
import random
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

Stratum = tuple["Sequence[float]", "Sequence[float]"]
_MOST = 8192  # exchanges; of more as many at random, always the same ones
_EQUAL = 1e-9


class Exchange(NamedTuple):
    """``mean``: of a - b over the strata. ``p``: two-sided; ``least``: the smallest p that was possible."""

    mean: float
    p: float
    least: float


def exchange(strata: Sequence[Stratum]) -> Exchange:
    """Test of the mean difference of a and b, each stratum weighted alike."""
    options = [_differences(a, b) for a, b in strata]
    sums = np.abs(_sums(options))
    scale = _EQUAL * sums.max()
    p, least = (float(np.mean(sums >= each - scale)) for each in (sums[0], sums.max()))
    return Exchange(sum(float(own[0]) for own in options) / len(strata), p, least)


def _differences(a: Sequence[float], b: Sequence[float]) -> npt.NDArray[np.float64]:
    """Of the means, for the ways to share the values out; the first way is as observed."""
    every = [*a, *b]
    parts = np.array([sum(way) for way in _ways(every, len(a))])
    return parts / len(a) - (sum(every) - parts) / len(b)


def _ways(values: Sequence[float], count: int) -> Iterable[Sequence[float]]:
    if math.comb(len(values), count) <= _MOST:
        return combinations(values, count)
    source = random.Random(len(values))
    drawn = (source.sample(values, count) for _ in range(_MOST - 1))
    return chain([values[:count]], drawn)


def _sums(options: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Over the strata, for each exchange; the first one is as observed."""
    sums = np.zeros(1)
    if math.prod(map(len, options)) <= _MOST:
        for own in options:
            sums = np.add.outer(sums, own).ravel()
        return sums
    source = np.random.default_rng(len(options))
    drawn = sum(source.choice(own, _MOST - 1) for own in options)
    return np.append(sum(own[0] for own in options), drawn)
