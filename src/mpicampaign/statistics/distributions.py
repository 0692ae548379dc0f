"""Tails of the distributions that the tests need."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_SMALL = 1e-300
_STEPS = 300


def chi_squared_tail(x: Array, freedom: int) -> Array:
    """Probability of more than each ``x``, by the finite sums for whole degrees of freedom."""
    half = np.maximum(x, 0) / 2
    if freedom % 2:
        total = np.array([math.erfc(root) for root in np.sqrt(half).tolist()])
        term, first = np.exp(-half) * np.sqrt(half) / math.gamma(1.5), 1.5
    else:
        total = np.zeros_like(half)
        term, first = np.exp(-half), 1.0
    for k in range(freedom // 2):
        total = total + term
        term = term * half / (first + k)
    return np.asarray(np.minimum(total, 1.0))


def t_two_sided(t: float, freedom: float) -> float:
    """Probability of a Student's t as far from 0 as this one, on either side."""
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@cache
def t_quantile(p: float, freedom: float) -> float:
    """The t of which `t_two_sided` is ``p``, by bisection."""
    low, high = 0.0, 1.0
    while t_two_sided(high, freedom) > p:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if t_two_sided(middle, freedom) > p else (low, middle)
    return high


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(scale) / a / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 1 + d1 / (1 + d2 / (1 + …)), by Lentz's method."""
    value, above, below = 1.0, 1.0, 0.0
    for step in range(1, _STEPS):
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 / (1 + d * below or _SMALL)
        above = 1 + d / above or _SMALL
        change = above * below
        value *= change
        if abs(change - 1) < 1e-14:
            break
    return value


@cache
def rank_sum_tail(n: int, k: int, most: float) -> tuple[float, ...]:
    """The exact distribution of Mann and Whitney's U for n and k values, from 0 on, up to ``most``."""
    length = 64
    while True:
        total, summed, probabilities = math.comb(n + k, k), 0, list[float]()
        for ways in rank_sum_ways(n, k, length):
            summed += ways
            probabilities.append(summed / total)
            if probabilities[-1] > most:
                return tuple(probabilities[:-1])
        length *= 2


def rank_sum_ways(n: int, k: int, length: int) -> list[int]:
    """The number of orders of n and k values for which U is 0, 1, and so on.

    These are coefficients of the Gaussian binomial, whose power series is cut off after ``length`` of them.
    """
    ways = [1] + [0] * (length - 1)
    for factor in range(1, k + 1):
        for u in range(length - 1, n + factor - 1, -1):  # times 1 - q^(n + factor)
            ways[u] -= ways[u - n - factor]
        for u in range(factor, length):  # divided by 1 - q^factor
            ways[u] += ways[u - factor]
    return ways
