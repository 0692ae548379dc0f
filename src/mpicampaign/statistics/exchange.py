"""Permutation test of two kinds of items, such as host groups: are the kinds exchangeable within strata?

In a stratum all but the kind is alike. A pair in each stratum makes it the paired test by signs of
differences; one stratum makes it the test of two samples.
"""

from __future__ import annotations

import math
import random
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Stratum = tuple["Sequence[float]", "Sequence[float]"]
_MOST = 4096  # exchanges; of more as many at random, always the same ones
_EQUAL = 1e-9


class Exchange(NamedTuple):
    """``mean``: of a - b over the strata. ``p``: two-sided; ``least``: the smallest p that was possible."""

    mean: float
    p: float
    least: float


def exchange(strata: Sequence[Stratum]) -> Exchange:
    """Test of the mean difference of a and b, each stratum weighted alike."""
    options = [_differences(a, b) for a, b in strata]
    observed = math.fsum(own[0] for own in options)
    sums = [abs(math.fsum(chosen)) for chosen in _exchanges(options)]
    scale = _EQUAL * max(sums)

    def share(least: float) -> float:
        return sum(each >= least - scale for each in sums) / len(sums)

    return Exchange(observed / len(strata), share(abs(observed)), share(max(sums)))


def _differences(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Of the means, for the ways to share the values out; the first way is as observed."""
    every, total = [*a, *b], math.fsum([*a, *b])
    parts = map(math.fsum, _ways(every, len(a)))
    return [part / len(a) - (total - part) / len(b) for part in parts]


def _ways(values: Sequence[float], count: int) -> Iterator[Sequence[float]]:
    if math.comb(len(values), count) <= _MOST:
        return combinations(values, count)
    source = random.Random(len(values))
    drawn = (source.sample(values, count) for _ in range(_MOST - 1))
    return chain([values[:count]], drawn)


def _exchanges(options: Sequence[Sequence[float]]) -> Iterator[tuple[float, ...]]:
    if math.prod(map(len, options)) <= _MOST:
        return product(*options)
    source = random.Random(len(options))
    drawn = (tuple(source.choice(own) for own in options) for _ in range(_MOST - 1))
    return chain([tuple(own[0] for own in options)], drawn)
