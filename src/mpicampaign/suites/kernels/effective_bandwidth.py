"""The effective bandwidth b_eff: how one figure is made of many rates; derivation in docs/method.md.

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


def better_with_fewer(
    processes: int, bandwidth: float, rings: float, formers: Mapping[int, float]
) -> int | None:
    """The number of fewer processes that did best, where that is no matter of the last process or two.

    Parameters
    ----------
    processes, bandwidth, rings : how many, their bandwidth, and that of their ring patterns
    formers : bandwidths by the number of processes; larger numbers than ``processes`` are not looked at

    Returns
    -------
    None unless that bandwidth is larger by more than what the ring patterns give to one process.
    """
    fewer = {count: value for count, value in formers.items() if count < processes}
    best = max(fewer, key=fewer.__getitem__, default=None)
    return best if best is not None and fewer[best] - bandwidth > rings / processes else None


def not_monotonic(bandwidths: Mapping[int, float], rings: Mapping[int, float]) -> dict[int, int]:
    """Numbers of processes whose bandwidth is flagged, each with the smaller number that did best.

    Parameters
    ----------
    bandwidths : b_eff, or another figure, by the number of processes
    rings : that of the ring patterns, by the number of processes
    """
    found = {
        processes: better_with_fewer(processes, bandwidth, rings[processes], bandwidths)
        for processes, bandwidth in sorted(bandwidths.items())
    }
    return {processes: best for processes, best in found.items() if best is not None}
