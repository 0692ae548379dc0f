"""One metric of one case over time: a point for each tick, and the changes found in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class CurveKey:
    """What a curve shows.

    ``declared``: the identity without its repeat. ``transport``: the claimed one, such as tcp; empty where
    none is claimed. ``size``: in B. ``dimension``: its name. ``unit``: SI.
    """

    declared: str
    system: str
    host_group: str
    placement: str
    transport: str
    benchmark: str
    label: str
    ranks: int | None
    metric: str
    size: int | None
    dimension: str
    unit: str
    lower_is_better: bool


@dataclass(frozen=True, slots=True)
class Point:
    """A tick: the median of its ``n`` runs that count, in SI units.

    ``time``: the start of its first run (UTC, ISO 8601). ``observed``: what the runs recorded of the machine,
    such as ``kernel`` and ``MPI``; several values of one name are joined by a comma.
    """

    tick: str
    time: str
    value: float
    n: int
    observed: Mapping[str, str]


class Cause(NamedTuple):
    """An observation that changed; ``name``: as people call it."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change point. ``index``: of the first point after it; ``reported``: of the point that proved it.

    ``before``, ``after``: medians of the two sides when it was reported. ``causes``: what else changed in the
    observations from the last point before to the first after.
    """

    index: int
    reported: int
    before: float
    after: float
    p: float
    causes: tuple[Cause, ...] = ()

    @property
    def ratio(self) -> float:
        """After / before."""
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class Curve:
    """Points in the order of time, and what was found in them.

    ``not_judged``: why no change could be looked for, such as a series that is too short; else empty.
    """

    key: CurveKey
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...] = ()
    not_judged: str = ""
