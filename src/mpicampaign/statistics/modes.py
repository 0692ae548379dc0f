"""Modes: repeats that fall into two bands, detected over a whole sweep of message sizes.

There are two steps. At each size, `split` tests by the gap between the values whether they fall into two
bands. Over the sizes, `stretches` tests whether this persists for at least three neighbouring sizes: a run
that takes another path (ranks on one socket or on two) does so for many sizes, and an effect at one size is
an outlier. Repeats may change bands from size to size: a run may switch in mid-sweep.

Persistence guards only against chance at single sizes: a repeat that is equally slow for all sizes is one
observation, not 26. So a lone repeat on one side must be further away than a pair, and the rate of false
alarms of a sweep is that of `split` for repeats that each differ by one factor.

False alarms per sweep of 26 sizes with one mode, in the worst case (``minimum_gap`` 0), with 5 repeats whose
factors are normal, uniform or exponential: 1.7, 3.2, 3.5 % if a repeat's factor holds for the whole sweep,
2.8, 11, 15 % if it changes every 7 sizes, at most 1 % if each size has its own. With the gap of 5 % and
factors that scatter by 3 %: 0.5 %. Measured by ``tests/test_outliers.py``:
``test_false_alarms_of_modes_of_sweeps`` and ``test_false_alarms_with_the_gap`` (marked full).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

from mpicampaign.statistics.medians import median

LOW, HIGH = "low", "high"

MINIMUM_GAP = 0.05  # of the value below the gap
LASTING = 3  # neighbouring sizes that must show bands
FEWEST = 4  # repeats that a split needs

# A gap counts if it exceeds this many pooled standard deviations of the two sides, by the number of values. A
# lone value on one side must be further away, since single stragglers are common.
_THRESHOLDS = {4: 14.0, 5: 9.5, 6: 8.0, 7: 7.0, 8: 6.5}
_THRESHOLD_FROM_9 = 6.0
_LONE_THRESHOLDS = {4: 50.0, 5: 20.0, 6: 17.0, 7: 15.0, 8: 14.0}
_LONE_THRESHOLD_FROM_9 = 12.0


class Band(NamedTuple):
    """Repeats that are together at one size, by their positions or numbers, and their median."""

    members: tuple[int, ...]
    median: float


@dataclass(frozen=True, slots=True)
class Split:
    """Two bands at one size."""

    low: Band
    high: Band

    @property
    def ratio(self) -> float:
        """The upper band's median divided by the lower band's."""
        return self.high.median / self.low.median if self.low.median else math.inf

    @property
    def lone(self) -> int | None:
        """The position of a value that is alone on its side, if there is one."""
        return next((side.members[0] for side in (self.low, self.high) if len(side.members) == 1), None)

    def band(self, position: int) -> str:
        """``low`` or ``high``."""
        return LOW if position in self.low.members else HIGH


class Membership(NamedTuple):
    """Sizes (B) over which a repeat is in one band; an end that is ``None`` is open."""

    band: str
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring message sizes (B) at which the repeats fall into two bands.

    ``before``, ``after``: the nearest size outside at which all repeats are together, and the band that they
    continue (the values of the other band jump there by more than message size explains); ``None`` where the
    band is unknown. ``opens``, ``closes``: the stretch begins with the first size of the sweep, ends with the
    last.
    """

    splits: dict[int, Split]
    before: tuple[int, str] | None = None
    after: tuple[int, str] | None = None
    opens: bool = False
    closes: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes (B) that show bands."""
        return tuple(self.splits)

    @property
    def widest(self) -> int:
        """The size (B) at which the bands are furthest apart."""
        return max(self.splits, key=lambda size: self.splits[size].ratio)

    def memberships(self, position: int) -> tuple[Membership, ...]:
        """The bands of a repeat with their sizes; several if it switched in mid-sweep."""
        bands = [(size, split.band(position)) for size, split in self.splits.items()]
        bands = [*([self.before] if self.before else []), *bands, *([self.after] if self.after else [])]
        runs = [(band, [size for size, _ in run]) for band, run in groupby(bands, key=lambda point: point[1])]
        first_open, last_open = self.opens or bool(self.before), self.closes or bool(self.after)
        return tuple(
            Membership(
                band,
                None if first_open and index == 0 else sizes[0],
                None if last_open and index == len(runs) - 1 else sizes[-1],
            )
            for index, (band, sizes) in enumerate(runs)
        )


def split(
    values: Sequence[float], minimum_gap: float = MINIMUM_GAP, resolution: float = 0.0, lone: bool = True
) -> Split | None:
    """The two bands into which the values fall; ``None`` without evidence for more than one.

    The sorted values are split at the largest gap in pooled standard deviations of the two sides (at least
    that of rounding to ``resolution``). The gap must pass a threshold for the number of values and exceed
    ``minimum_gap`` of the value below it and twice the ``resolution`` (two neighbouring printed values are
    not bands). ``lone``: one value on a side may be a band, with a higher threshold. Fewer than four values
    show no bands.
    """
    n = len(values)
    if n < FEWEST:
        return None
    order = sorted(range(n), key=values.__getitem__)
    ordered = [values[index] for index in order]
    least = 2.001 * resolution
    wide = [
        k
        for k, (low, high) in enumerate(pairwise(ordered), start=1)
        if high - low > least and high - low > minimum_gap * abs(low)
    ]
    scores = {k: _score(ordered, k, resolution) for k in wide if lone or 1 < k < n - 1}
    best = max(scores, key=scores.__getitem__, default=None)
    if best is None or scores[best] <= 1:
        return None
    sides = slice(best), slice(best, n)
    return Split(*(Band(tuple(sorted(order[side])), median(ordered[side])) for side in sides))


def stretches(
    sizes: Sequence[int],
    rows: Sequence[Sequence[float]],
    minimum_gap: float = MINIMUM_GAP,
    resolution: float = 0.0,
) -> tuple[Stretch, ...]:
    """The stretches of a sweep in which the repeats fall into two bands.

    Parameters
    ----------
    sizes : message sizes (B), ascending
    rows : the repeats' values at each size, in the order of the repeats
    minimum_gap, resolution : as in `split`

    A stretch has `LASTING` neighbouring sizes with bands; it may include single sizes without. A sweep of
    fewer sizes must show bands at all of them, with two or more repeats in each.
    """
    long_enough = len(sizes) >= LASTING
    splits = {
        index: bands
        for index, values in enumerate(rows)
        if (bands := split(values, minimum_gap, resolution, lone=long_enough)) is not None
    }
    needed = min(LASTING, len(sizes))
    groups = [group for group in _neighbours(sorted(splits)) if _longest_row(group) >= needed]
    return tuple(
        _stretch(
            sizes, rows, {i: splits[i] for i in group}, first=group is groups[0], last=group is groups[-1]
        )
        for group in groups
    )


def _score(ordered: list[float], k: int, resolution: float) -> float:
    """The gap before the k-th value in pooled standard deviations, over its threshold."""
    n = len(ordered)
    squares = _squared_deviations(ordered[:k]) + _squared_deviations(ordered[k:])
    spread = max(math.sqrt(squares / (n - 2)), resolution / math.sqrt(12))
    if k in (1, n - 1):
        threshold = _LONE_THRESHOLDS.get(n, _LONE_THRESHOLD_FROM_9)
    else:
        threshold = _THRESHOLDS.get(n, _THRESHOLD_FROM_9)
    return (ordered[k] - ordered[k - 1]) / spread / threshold if spread else math.inf


def _squared_deviations(values: list[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _neighbours(indices: Sequence[int]) -> list[list[int]]:
    """Groups of indices with at most one missing in between."""
    groups: list[list[int]] = []
    for index in indices:
        if groups and index - groups[-1][-1] <= 2:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _longest_row(indices: Sequence[int]) -> int:
    longest = length = 1
    for a, b in pairwise(indices):
        length = length + 1 if b == a + 1 else 1
        longest = max(longest, length)
    return longest


def _stretch(
    sizes: Sequence[int],
    rows: Sequence[Sequence[float]],
    by_index: dict[int, Split],
    first: bool,
    last: bool,
) -> Stretch:
    low, high = min(by_index), max(by_index)
    before = (
        _continued(sizes, rows, by_index[low], low, range(low - 1, max(low - 3, -1), -1)) if first else None
    )
    beyond = range(high + 1, min(high + 3, len(sizes)))
    after = _continued(sizes, rows, by_index[high], high, beyond) if last else None
    splits = {sizes[index]: bands for index, bands in by_index.items()}
    return Stretch(splits, before, after, opens=low == 0, closes=high == len(sizes) - 1)


def _continued(
    sizes: Sequence[int], rows: Sequence[Sequence[float]], edge: Split, index: int, outside: range
) -> tuple[int, str] | None:
    """The nearest size at which the repeats are together, and the band that they continue there.

    A message of twice the size takes between the same and twice the time. A band that would have to leave
    these limits by a third of the distance between the bands or more does not continue.
    """
    if edge.low.median <= 0:
        return None
    distance = math.log(edge.high.median) - math.log(edge.low.median)
    for other in outside:
        if min(rows[other]) <= 0 or math.log(max(rows[other])) - math.log(min(rows[other])) > distance / 2:
            continue
        common, room = median(rows[other]), math.log(max(sizes[other], 1) / max(sizes[index], 1))
        jumps = {
            band: _beyond(math.log(common) - math.log(value), room) >= distance / 3
            for band, value in ((LOW, edge.low.median), (HIGH, edge.high.median))
        }
        smooth = [band for band, jump in jumps.items() if not jump]
        return (sizes[other], smooth[0]) if len(smooth) == 1 else None
    return None


def _beyond(step: float, room: float) -> float:
    """How far a step of the logarithm lies outside the range from 0 to ``room`` (of either sign)."""
    low, high = min(0.0, room), max(0.0, room)
    return max(low - step, step - high, 0.0)
