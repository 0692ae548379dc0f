"""What else changed where a curve changed: from the observations that the runs recorded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.history.curves import Cause
from mpicampaign.history.series import tick_order
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpicampaign.history.curves import ChangePoint, Curve
    from mpicampaign.statistics.change_points import PossibleChange

# Observations by column, as people name them
NAMES = {
    "host": "host",
    "kernel": "kernel",
    "cpu_model": "CPU",
    "microcode": "microcode",
    "governor": "frequency governor",
    "mpi": "MPI library",
    "mpi_library": "build of the MPI library",
    "program": "build of the program",
    "blas": "BLAS",
}


def likely_first(curve: Curve, candidate: PossibleChange) -> int:
    """The first point after a change: where observations changed too, if the values allow it."""
    plausible = range(candidate.earliest, candidate.latest + 1)
    seen = [index for index in plausible if index and causes(curve, index)]
    return min(seen, key=lambda index: abs(index - candidate.first), default=candidate.first)


def causes(curve: Curve, index: int) -> tuple[Cause, ...]:
    """What the runs observed otherwise from the point ``index`` on than at the point before."""
    before, after = curve.points[index - 1].observed, curve.points[index].observed
    return tuple(
        Cause(text, before[name], after[name])
        for name, text in NAMES.items()
        if name in before and name in after and before[name] != after[name]
    )


class Share(NamedTuple):
    """How many of the curves with one transport changed; ``where``: the transport, or else the placement."""

    where: str
    changed: int
    of: int


class Event(NamedTuple):
    """Changes that began at one tick, or at those next to it, with the same causes.

    ``tick``: where most of them began. ``since``: when its first run began (UTC). ``worse``, ``better``: how
    many curves changed in which direction; ``ratio``: the median factor by which they changed, 1 or more.
    ``shares``: by transport, of all curves that have a point at these ticks.
    """

    tick: str
    since: str
    causes: tuple[Cause, ...]
    worse: int
    better: int
    ratio: float
    shares: tuple[Share, ...]


def events(curves: Sequence[Curve]) -> list[Event]:
    """The changes of all curves, those that belong together as one; the latest first."""
    changes = [(curve, change) for curve in curves for change in curve.changes]
    order = sorted({point.tick for curve in curves for point in curve.points}, key=tick_order)
    places = {tick: number for number, tick in enumerate(order)}
    made = [
        (tick, _event(order[tick], why, pairs, curves))
        for why, alike in grouped(changes, lambda pair: pair[1].causes).items()
        for tick, pairs in _neighbours(alike, places)
    ]
    return [event for _, event in sorted(made, key=lambda each: each[0], reverse=True)]


_Pair = tuple["Curve", "ChangePoint"]


def _neighbours(pairs: Iterable[_Pair], places: Mapping[str, int]) -> Iterator[tuple[int, list[_Pair]]]:
    """Changes at the tick where most begin, with those next to it; then the same of the others."""
    left = grouped(pairs, lambda pair: places[_tick(*pair)])
    while left:
        most = max(left, key=lambda place: (len(left[place]), -place))
        yield most, [pair for place in (most - 1, most, most + 1) for pair in left.pop(place, ())]


def _tick(curve: Curve, change: ChangePoint) -> str:
    return curve.points[change.index].tick


def _event(tick: str, why: tuple[Cause, ...], pairs: Sequence[_Pair], curves: Iterable[Curve]) -> Event:
    changed, ticks = {curve.key for curve, _ in pairs}, {_tick(*pair) for pair in pairs}
    there = [curve for curve in curves if any(point.tick in ticks for point in curve.points)]
    shares = [
        Share(where, sum(curve.key in changed for curve in of), len(of))
        for where, of in grouped(there, lambda curve: curve.key.transport or curve.key.placement).items()
    ]
    factors = [(change.ratio, curve.key.lower_is_better) for curve, change in pairs]
    worse = sum((ratio > 1) is lower for ratio, lower in factors)
    times = [point.time for curve, _ in pairs for point in curve.points if point.tick == tick and point.time]
    ratio = median([math.exp(abs(math.log(ratio))) for ratio, _ in factors])
    since = min(times, default="")
    return Event(tick, since, why, worse, len(factors) - worse, ratio, tuple(shares))
