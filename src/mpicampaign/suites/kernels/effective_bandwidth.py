"""The effective bandwidth b_eff: how many rates become one value; derivation in docs/measurement.md.

After the b_eff page of HLRS (Koniges, Rabenseifner, Solchenbach). Bandwidths are B/s.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
