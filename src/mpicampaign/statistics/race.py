"""A race of settings: what is worse leaves, and what wins must beat the default on fresh blocks.

As in F-race (Birattari 2002) and irace, candidates run side by side in blocks, and at each of `LOOKS` those
that are worse than the best one leave. A cell is what one line of the result decides, such as a message size
of a collective; each has a race of its own in the same runs. The scores are those of
`mpicampaign.statistics.blocks`; a lead counts against the largest lead of any two after exchanges. The error
of all looks and cells together is `LEVEL`, shared out over the looks by `SPENT`. Several races, whose results
are used together, have equal parts of it, so that what one decides does not depend on how far the others are.

A race chooses by looking, so its own blocks prove nothing about the winner. It beats the default only in a
test of fresh blocks, one-sided, by the steps of Holm over all cells that have a winner.

How often the default is wrongly replaced, and what is found, was simulated: ``bench/race.py``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpicampaign.expectation import LOOKS
from mpicampaign.statistics.blocks import aligned_ranks, exchanged_sums, one_sided, ratio
from mpicampaign.statistics.comparisons import LEVEL, holm
from mpicampaign.statistics.median_along import median_along

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

SPENT = (0.01, 0.015, 0.025)  # after each of LOOKS
TOLERANCE = 0.02
DEFAULT = 0  # the first candidate: what the library does by itself; it never leaves
_ROUNDING = 1e-9


class Cell(NamedTuple):
    """The candidates that are left in a cell; ``best`` of them by the medians within blocks."""

    left: frozenset[int]
    best: int


class Race(NamedTuple):
    """A race so far. ``due``: candidates of which there should be ``blocks`` blocks; none at its end."""

    cells: tuple[Cell, ...]
    due: frozenset[int]
    blocks: int


def race(costs: Array, tolerance: float = TOLERANCE, races: int = 1) -> Race:
    """A race by the blocks that it has.

    Parameters
    ----------
    costs : blocks x candidates x cells, logarithms of times; of candidates that had left NaN
    tolerance : smaller differences do not matter
    races : how many share the error
    """
    k, count = costs.shape[1:]
    cells = [Cell(frozenset(range(k)), DEFAULT)] * count
    for look, spent in zip(LOOKS, SPENT, strict=True):
        due = frozenset[int]().union(*(each.left for each in cells if len(each.left) > 2))
        if not due or len(costs) < look:
            break
        level = 1 - (1 - spent) ** (1 / (count * races))
        for place, each in enumerate(cells):
            if len(each.left) > 2:  # the others are decided: those that left there may run no more
                seen = costs[:look, :, place]
                left = _left(seen, each.left, level, tolerance)
                cells[place] = Cell(left, _best(seen, left))
    else:
        due = frozenset()
    return Race(tuple(cells), due, look)


def _left(costs: Array, running: frozenset[int], level: float, tolerance: float) -> frozenset[int]:
    """Without those that are worse than the best; the best alone, where none differs by the tolerance."""
    while len(running) > 2:
        members = sorted(running)
        sums = exchanged_sums(aligned_ranks(costs[:, members]))
        largest, behind = np.ptp(sums, axis=0), sums[:, 0] - sums[:, 0].min()
        p = [float(np.mean(largest >= each * (1 - _ROUNDING))) for each in behind]
        worse = {each for each, chance in zip(members, p, strict=True) if chance <= level} - {DEFAULT}
        if not worse:
            break
        running -= worse
    best = _best(costs, running)
    others = running - {best, DEFAULT}
    if all(_are_alike(costs[:, [best, each]], tolerance) for each in others):
        running -= others
    return running


def _best(costs: Array, running: frozenset[int]) -> int:
    """That of the lowest median within blocks."""
    members = sorted(running)
    with np.errstate(invalid="ignore"):
        lead = costs[:, members] - np.min(costs[:, members], axis=1, keepdims=True)
    return members[int(np.argmin(median_along(np.nan_to_num(lead, nan=0.0, posinf=math.inf))))]


def _are_alike(costs: Array, tolerance: float) -> bool:
    """Whether neither is worse than the other by the tolerance: two one-sided tests."""
    nearer = np.array([math.log1p(tolerance), 0.0])
    both = costs - nearer, costs[:, ::-1] - nearer
    return all(one_sided(aligned_ranks(each)) <= LEVEL / 2 for each in both)


def winners(race: Race, costs: Array, tolerance: float = TOLERANCE) -> dict[int, int]:
    """The candidate that may replace the default, by cell; only those that lead by the tolerance."""
    best = {place: cell.best for place, cell in enumerate(race.cells) if cell.best != DEFAULT}
    return {
        cell: each for cell, each in best.items() if _lead(costs[:, [each, DEFAULT], cell]) >= 1 + tolerance
    }


def _lead(costs: Array) -> float:
    """How many times as long the default takes, in the blocks that have both."""
    return ratio(costs[~np.isnan(costs).any(axis=1)]).median


def fresh_blocks(cells: int, races: int = 1) -> int:
    """How many blocks can show that so many winners beat the default."""
    return max(LOOKS[0], math.ceil(math.log2(max(cells, 1) * races / LEVEL)))


def confirmed(costs: Array, winners: Mapping[int, int], races: int = 1) -> dict[int, float]:
    """The probability of each winner, one-sided and by Holm's steps; at most `LEVEL`: it beats the default.

    Parameters
    ----------
    costs : fresh blocks x candidates x cells
    """
    alone = {
        cell: one_sided(aligned_ranks(costs[:, [each, DEFAULT], cell])) for cell, each in winners.items()
    }
    return {cell: min(1.0, races * p) for cell, p in holm(alone).items()}
