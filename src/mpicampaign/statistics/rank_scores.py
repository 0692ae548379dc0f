"""Van der Waerden scores of ranks among controls, and the exact distribution of their sum over rounds.

The score of rank i among n controls is the normal quantile of (i + 1) / (n + 2), in whole units of 1 /
`UNIT`, so that the distribution of a sum is a convolution of counts.
"""

from __future__ import annotations

from functools import cache, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

UNIT = 64
_ROUNDING = 1e-13  # of the convolution: smaller probabilities are not known


@cache
def scores(controls: int) -> Places:
    """By the number of controls that are below, in units."""
    quantile = NormalDist().inv_cdf
    upper = [
        round(UNIT * quantile((i + 1) / (controls + 2))) for i in range((controls + 1) // 2, controls + 1)
    ]
    lower = [-each for each in reversed(upper)]
    return np.array([*lower[: controls + 1 - len(upper)], *upper])


def mean_scores(controls: int, below: Places, not_above: Places) -> Array:
    """Of values with so many controls below and not above them; ties take the mean of their ranks."""
    sums = _sums(controls)
    return np.asarray((sums[not_above + 1] - sums[below]) / (not_above + 1 - below))


@cache
def _sums(controls: int) -> Places:
    return np.concatenate([[0], np.cumsum(scores(controls))])


def probability(total: float, controls: tuple[int, ...]) -> float:
    """How often a sum over rounds with so many controls each is as large, if every rank is as likely.

    Ties make the true probability smaller.
    """
    tail = _tail(tuple(sorted(controls)))
    return float(tail[int(np.floor(total)) + len(tail) // 2])


@lru_cache(maxsize=4096)
def _tail(controls: tuple[int, ...]) -> Array:
    """Of each sum from the smallest to the largest."""
    top = sum(int(scores(each)[-1]) for each in controls)
    size = 1 << (2 * top + 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=complex)
    for each in set(controls):
        product *= _spectrum(each, size) ** controls.count(each)
    share = np.roll(np.fft.irfft(product, size), top)[: 2 * top + 1]
    return np.asarray(np.clip(np.cumsum(share[::-1])[::-1], _ROUNDING, 1.0))


@lru_cache(maxsize=256)
def _spectrum(controls: int, size: int) -> npt.NDArray[np.complex128]:
    share = np.bincount(scores(controls) % size, minlength=size) / (controls + 1)
    return np.asarray(np.fft.rfft(share))
