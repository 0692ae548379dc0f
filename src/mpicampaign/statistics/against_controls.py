"""Suspects against controls that were measured beside them: probability, estimate, lower bound, dependence.

Each stretch of time gives a suspect the score of its rank among the controls after a slow-down was taken from
its cost. If it is slower by no more than that, large sums of scores are rare. These are van der Waerden's: of
rank i among n controls the normal quantile of (i + 1) / (n + 2), in whole units of 1 / `UNIT`, so that the
distribution of a sum over rounds is a convolution of counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.distributions import Array

Places = npt.NDArray[np.int64]
_STEPS = 30  # of the search for a lower bound
_FEWEST = 4  # rounds of whose order anything is known
_ORDERS = 999
UNIT = 64
_ROUNDING = 1e-13  # of the convolution: smaller probabilities are not known


class Round(NamedTuple):
    """One stretch of time in which members were measured side by side; several may share a number.

    ``costs``: by member, the logarithm of what should be low; infinite where it failed or met its time limit.
    """

    number: int
    costs: Mapping[str, float]


class Drawn(NamedTuple):
    """Who is compared in a round; a suspect may be a control of others."""

    suspects: Collection[str]
    controls: Collection[str]


class _Stretch(NamedTuple):
    """Ascending costs of the controls, and of the suspects at ``places``; ``both``: who is also a control."""

    controls: Array
    places: Places
    costs: Array
    both: npt.NDArray[np.bool_]


class SuspectEvidence:
    """What rounds say of suspects; all in logarithms."""

    def __init__(self, rounds: Sequence[Round], drawn: Mapping[int, Drawn], suspects: Sequence[str]) -> None:
        self.suspects = tuple(suspects)
        self._rounds, self._drawn = rounds, drawn
        due = sorted(
            (measured for measured in rounds if measured.number in drawn),
            key=lambda measured: measured.number,
        )
        made = (_stretch(measured.costs, drawn[measured.number], suspects) for measured in due)
        self._stretches = [stretch for stretch in made if len(stretch.controls) and len(stretch.places)]

    def of(self, suspects: Sequence[str]) -> SuspectEvidence:
        """What the rounds say of some of the suspects alone."""
        return SuspectEvidence(self._rounds, self._drawn, suspects)

    def scores(self, slower: float | Array) -> Array:
        """Stretches x suspects, without each suspect's slow-down; NaN where it was not measured."""
        scores = np.full((len(self._stretches), len(self.suspects)), np.nan)
        shift = np.broadcast_to(slower, len(self.suspects))
        for row, stretch in zip(scores, self._stretches, strict=True):
            costs = stretch.costs - shift[stretch.places]
            below = np.searchsorted(stretch.controls, costs, "left") - (
                stretch.both & (stretch.costs < costs)
            )
            not_above = np.searchsorted(stretch.controls, costs, "right") - (
                stretch.both & (stretch.costs <= costs)
            )
            for is_control in {*stretch.both.tolist()}:
                some = stretch.both == is_control
                count = len(stretch.controls) - is_control
                row[stretch.places[some]] = mean_scores(count, below[some], not_above[some])
        return scores

    def probabilities(self, slower: float) -> dict[str, float]:
        """The p-value of each suspect, if it is slower by no more than this."""
        return dict(zip(self.suspects, self._probabilities(slower), strict=True))

    def _probabilities(self, slower: float | Array) -> list[float]:
        sums = np.nansum(self.scores(slower), axis=0).tolist()
        return [probability(total, controls) for total, controls in zip(sums, self._controls, strict=True)]

    @cached_property
    def _controls(self) -> list[tuple[int, ...]]:
        """How many there are for each suspect in its rounds, without itself."""
        controls: list[list[int]] = [[] for _ in self.suspects]
        for stretch in self._stretches:
            for place, is_control in zip(stretch.places.tolist(), stretch.both.tolist(), strict=True):
                controls[place].append(len(stretch.controls) - is_control)
        return [tuple(sorted(counts)) for counts in controls]

    def slower_in(self) -> dict[str, tuple[int, int]]:
        """How many rounds each suspect has; in how many it was slower than the median of the controls."""
        scores = self.scores(0.0)
        slower, known = (scores > 0).sum(axis=0), (~np.isnan(scores)).sum(axis=0)
        return dict(zip(self.suspects, zip(known.tolist(), slower.tolist(), strict=True), strict=True))

    def above(self, slower: float) -> list[str]:
        """Suspects that seem to be slower by this much or more."""
        sums = np.nansum(self.scores(slower), axis=0)
        return [suspect for suspect, total in zip(self.suspects, sums, strict=True) if total >= 0]

    def rejected(self, level: float) -> dict[str, float]:
        """The largest slow-downs that the test rejects: at level 0.5 an estimate, below it a bound."""
        high = np.full(len(self.suspects), 1 + max(map(_range, self._stretches), default=0.0))
        low, failed = -high, np.array(self._probabilities(high)) <= level
        for _ in range(_STEPS):
            halfway = (low + high) / 2
            rejected = np.array(self._probabilities(halfway)) <= level
            low, high = np.where(rejected, halfway, low), np.where(rejected, high, halfway)
        return dict(zip(self.suspects, np.where(failed, math.inf, low).tolist(), strict=True))

    def rounds_needed(self, slower: float, reach: float) -> dict[str, int | None]:
        """How many would show each suspect to be slower than this, if all were like these.

        Parameters
        ----------
        reach : by how many standard errors a sum has to be away
        """
        needed: dict[str, int | None] = {}
        for suspect, column in zip(self.suspects, self.scores(slower).T, strict=True):
            values = column[~np.isnan(column)] / UNIT
            mean = float(values.mean()) if len(values) else 0.0
            needed[suspect] = math.ceil((reach / mean) ** 2) if mean > 0 else None
        return needed

    def dependent(self) -> list[str]:
        """Suspects whose rounds depend on each other."""
        by_suspect = self._by_suspect()
        return [suspect for suspect in self.suspects if dependence(by_suspect[suspect][:, None]) <= LEVEL / 2]

    def all_depend(self) -> bool:
        """Whether rounds depend on each other, over all suspects that were in most rounds."""
        columns = self._by_suspect().values()
        longest = max(map(len, columns), default=0)
        return dependence(np.transpose([column for column in columns if len(column) == longest])) <= LEVEL / 2

    def _by_suspect(self) -> dict[str, Array]:
        columns = zip(self.suspects, self.scores(0.0).T, strict=True)
        return {suspect: column[~np.isnan(column)] for suspect, column in columns}


def _range(stretch: _Stretch) -> float:
    costs = np.concatenate([stretch.controls, stretch.costs])
    known = costs[np.isfinite(costs)]
    return float(np.ptp(known)) if len(known) else 0.0


def _stretch(costs: Mapping[str, float], drawn: Drawn, suspects: Sequence[str]) -> _Stretch:
    controls, due = set(drawn.controls), set(drawn.suspects)
    places = [place for place, suspect in enumerate(suspects) if suspect in costs and suspect in due]
    return _Stretch(
        np.sort([costs[control] for control in controls if control in costs]),
        np.array(places, dtype=np.int64),
        np.array([costs[suspects[place]] for place in places], dtype=float),
        np.array([suspects[place] in controls for place in places], dtype=bool),
    )


@cache
def _orders(rounds: int) -> Places:
    """The order of the rounds, then random orders, the same in each call."""
    source = np.random.default_rng(rounds)
    return np.array([np.arange(rounds), *(source.permutation(rounds) for _ in range(_ORDERS))])


def dependence(values: Array) -> float:
    """How often other orders of the rounds bring neighbours as much alike, over all suspects together.

    Parameters
    ----------
    values : rounds x suspects
    """
    if len(values) < _FEWEST:
        return 1.0
    rest = values - values.mean(axis=0)
    products, orders = rest @ rest.T, _orders(len(values))
    sums = products[orders[:, 1:], orders[:, :-1]].sum(axis=1)  # of neighbours in each order
    return float(np.mean(sums >= sums[0] - 1e-9 * abs(sums[0])))


# Scores of ranks


@cache
def scores(controls: int) -> Places:
    """Scores (in units) by the number of controls below."""
    quantile = NormalDist().inv_cdf
    upper = [
        round(UNIT * quantile((i + 1) / (controls + 2))) for i in range((controls + 1) // 2, controls + 1)
    ]
    lower = [-score for score in reversed(upper)]
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
    """The chance of at least each sum, from the smallest to the largest."""
    top = sum(int(scores(number)[-1]) for number in controls)
    size = 1 << (2 * top + 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=complex)
    for number in set(controls):
        product *= _spectrum(number, size) ** controls.count(number)
    share = np.roll(np.fft.irfft(product, size), top)[: 2 * top + 1]
    return np.asarray(np.clip(np.cumsum(share[::-1])[::-1], _ROUNDING, 1.0))


@lru_cache(maxsize=256)
def _spectrum(controls: int, size: int) -> npt.NDArray[np.complex128]:
    share = np.bincount(scores(controls) % size, minlength=size) / (controls + 1)
    return np.asarray(np.fft.rfft(share))
