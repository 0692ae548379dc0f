"""A test that may be read after each row: for repeats that were added after a report.

Each row bets on the sign of its difference, the more the larger it is among those so far. If two candidates
are alike no strategy of betting gains: the product of all bets reaches 20 with a chance of at most 1 in 20,
whenever one looks and for whatever reason one stops (Ville 1939; Ramdas 2023). The order within rows must be
even.
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_STAKE = 0.8


def probability_at_any_time(differences: Sequence[float]) -> float:
    """The largest chance that of two alike candidates either one gains as much as the better one here did.

    Parameters
    ----------
    differences : within each row, in the order of time; those of two infinite costs are 0
    """
    middle = median(differences)
    towards = differences if middle > 0 else [-difference for difference in differences]
    return min(1.0, 2 / max(gains(towards))) if middle else 1.0


def gains(differences: Sequence[float]) -> list[float]:
    """After each row what a stake of 1 became that bets on differences above 0."""
    stakes = (1 + _STAKE * _signed_share(differences[: place + 1]) for place in range(len(differences)))
    return list(accumulate(stakes, mul))


def _signed_share(differences: Sequence[float]) -> float:
    """The share of rows whose difference is not larger than that of the last one, with its sign."""
    last = differences[-1]
    share = sum(abs(difference) <= abs(last) for difference in differences) / len(differences)
    return share * ((last > 0) - (last < 0))
