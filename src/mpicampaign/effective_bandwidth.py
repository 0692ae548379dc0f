"""The effective bandwidth b_eff: how one figure is made of many rates; derivation in docs/method.md.

After the b_eff page of HLRS (Koniges, Rabenseifner, Solchenbach). Bandwidths are B/s.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def rate(length: int, messages: int, loops: int, seconds: float) -> float:
    """What all processes together sent in one measurement, divided by its time."""
    return length * messages * loops / seconds


def pattern_bandwidth(best: Mapping[int, float]) -> float:
    """One pattern: the mean over message lengths of the best rate at each."""
    return fmean(best.values())


def logarithmic_mean(bandwidths: Iterable[float]) -> float:
    """The mean on a logarithmic scale: the geometric mean. No value may be 0."""
    return math.exp(fmean(math.log(bandwidth) for bandwidth in bandwidths))


def effective_bandwidth(rings: Iterable[float], randoms: Iterable[float]) -> float:
    """b_eff: rings and random patterns count alike, however many patterns there are of each."""
    return math.sqrt(logarithmic_mean(rings) * logarithmic_mean(randoms))


def first_approach(best: float, worst: float) -> tuple[float, float]:
    """The mean of best and worst grouping: arithmetic, as first proposed, and logarithmic."""
    return (best + worst) / 2, math.sqrt(best * worst)


def not_monotonic(bandwidths: Mapping[int, float], rings: Mapping[int, float]) -> dict[int, int]:
    """Numbers of processes whose bandwidth is lower than that of fewer processes can be.

    Parameters
    ----------
    bandwidths : b_eff, or another figure, by the number of processes
    rings : that of the ring patterns, by the number of processes

    Returns
    -------
    each flagged number with the smaller one that did best. Flagged is a bandwidth that lies below a former
    one by more than the ring patterns' bandwidth of one process.
    """
    flagged: dict[int, int] = {}
    best: int | None = None
    for processes in sorted(bandwidths):
        bandwidth = bandwidths[processes]
        if best is None or bandwidth >= bandwidths[best]:
            best = processes
        elif bandwidths[best] - bandwidth > rings[processes] / processes:
            flagged[processes] = best
    return flagged
