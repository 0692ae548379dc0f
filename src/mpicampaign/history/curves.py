"""One metric of one case over time: a point for each tick, the median of its runs that count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from mpicampaign.base import dimension
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import OK, Case, Record, plain_fields
from mpicampaign.compare.states import NOT_PROBED, SERIES, States, lasting_text, named_states, states_in_time
from mpicampaign.history.metrics import Value, rows_in, values_in
from mpicampaign.history.rows import CURVE, OBSERVATION, SEEN, round_trips_of
from mpicampaign.statistics.medians import median


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
    lower_is_better: bool | None


_DIMENSIONS = {
    constant.name: constant
    for constant in vars(dimension).values()
    if isinstance(constant, dimension.Dimension)
}


def dimension_of(key: CurveKey) -> dimension.Dimension:
    """The dimension by its name; that of a metric of one's own by its unit."""
    known = _DIMENSIONS.get(key.dimension)
    return known or dimension.own_dimension(key.unit, "lower" if key.lower_is_better else "higher")


class Point(NamedTuple):
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
    causes: tuple[Cause, ...] = ()

    @property
    def ratio(self) -> float:
        """After / before."""
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class Curve:
    """Points in the order of time, and what was found in them.

    ``not_judged``: why no change could be looked for, such as a series that is too short; else empty.
    ``smallest``: a change by this fraction would most often be found (`smallest_change`).
    """

    key: CurveKey
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...] = ()
    not_judged: str = ""
    smallest: float | None = None


# ---- from the metrics of a history

_ROUND_TRIP = "round_trip"  # an observation, where it changed for good
_PROBED = """
SELECT round_trips, series, repeat, min(started), system, host_group, placement, benchmark
FROM measured JOIN observations USING (observation_id)
JOIN curves USING (curve_id) JOIN ticks USING (tick_id) JOIN series USING (series_id)
WHERE round_trips <> '' AND counts AND value IS NOT NULL GROUP BY 1, 2, 3, 5, 6, 7, 8 ORDER BY series, repeat
"""


_Names = dict[str, str]  # of states, by the round trips that showed them


class _Observation(NamedTuple):
    """What runs observed."""

    round_trips: str
    lower_is_better: bool | None
    seen: dict[str, str]


def curves_of(base: sqlite3.Connection) -> list[Curve]:
    """The curves of all series in a database of metrics, their points in the order of ticks.

    Where the machine alternates between states, each state is a placement of its own, and so are runs in none
    of its states. Where its state changed for good, the round trip is an observation, and so the cause of a
    change.
    """
    began = {number: name for number, name, *_ in rows_in(base, "series")}  # names are in the order of time
    in_time = sorted(rows_in(base, "ticks"), key=lambda tick: (began[tick[1]], tick[0]))
    ticks = {number: name for number, _, name in in_time}
    places = {number: place for place, number in enumerate(ticks)}
    observations, names = _observations(base)
    curves = []
    of_curves = ((number, dict(zip(CURVE, key, strict=True))) for number, *key in rows_in(base, "curves"))
    for renamed in grouped(of_curves, lambda curve: _as_declared(curve[1])).values():
        found = (value for number, _ in renamed for value in values_in(base, number))
        values = sorted(found, key=lambda value: places[value[0]])
        columns, cases = renamed[-1][1], [_case(columns) for _, columns in renamed]
        case, of_cases = cases[-1], {k: name for case in cases for k, name in names.get(case, {}).items()}
        for state, of_state in _by_state(values, observations, of_cases).items():
            columns["placement"] = case.placement + state
            lower = observations[of_state[-1][3]].lower_is_better  # as the campaign file has it at last
            points = tuple(_points(of_state, ticks, observations))
            curves.append(Curve(CurveKey(**columns, lower_is_better=lower), points))
    return sorted(curves, key=_order)


def _as_declared(columns: Mapping[str, Any]) -> tuple[Any, ...]:
    """What makes a curve; a placement that has another name now, but is declared as before, is the same."""
    named = {**columns, "placement": "" if columns["declared"] else columns["placement"]}
    return tuple(named.values())


def _case(columns: Mapping[str, Any]) -> Case:
    return Case(*(columns[name] for name in ("system", "host_group", "placement", "benchmark")))


def _order(curve: Curve) -> list[tuple[bool, Any]]:
    return [(value is not None, value) for value in plain_fields(curve.key).values()]


def _observations(base: sqlite3.Connection) -> tuple[dict[int, _Observation], dict[Case, _Names]]:
    """All of them, and the names of the states of cases that were seen in several, or in none."""
    rows = {
        number: dict(zip(OBSERVATION, row, strict=True)) for number, *row in rows_in(base, "observations")
    }
    runs = base.execute(_PROBED).fetchall() if any(row["round_trips"] for row in rows.values()) else []
    probed = [_probed(*run) for run in runs]
    states = states_in_time(probed)
    names: dict[Case, _Names] = {}
    for run, (round_trips, *_), name in zip(probed, runs, named_states(probed, states), strict=True):
        if name:
            names.setdefault(run.case, {"": NOT_PROBED} if states.names else {})[round_trips] = name
    return {number: _observation(states, **row) for number, row in rows.items()}, names


def _observation(states: States, *, round_trips: str, lower_is_better: Any, **texts: str) -> _Observation:
    lasting = lasting_text(_probed(round_trips), states)
    seen = {**{name: texts[name] for name in SEEN}, _ROUND_TRIP: lasting}
    lower = None if lower_is_better is None else bool(lower_is_better)
    return _Observation(round_trips, lower, {name: text for name, text in seen.items() if text})


def _probed(round_trips: str, series: str = "", repeat: int = 0, started: str = "", *case: str) -> Record:
    of, probes = Case(*(case or ("", "", "", ""))), round_trips_of(round_trips)
    return Record(of, "", repeat, OK, started=started or "", metadata={SERIES: series}, probes=probes)


def _by_state(
    values: list[Value], observations: Mapping[int, _Observation], names: _Names
) -> dict[str, list[Value]]:
    """The runs by the suffix of the placement's name: the state in brackets."""

    def state(value: Value) -> str:
        name = names.get(observations[value[3]].round_trips)
        return f" ({name})" if name else ""

    return grouped(values, state) if names else {"": values} if values else {}


def _points(
    values: Sequence[Value], ticks: Mapping[int, str], observations: Mapping[int, _Observation]
) -> Iterable[Point]:
    """A point for each tick."""
    numbers, times, medians, observed, *_ = zip(*values, strict=True)
    seen = [observations[number].seen for number in observed]
    if len(set(numbers)) == len(numbers):  # in steps of C, since the largest histories have a value a tick
        return map(Point, map(ticks.__getitem__, numbers), times, medians, repeat(1), seen)
    by_tick = groupby(zip(numbers, times, medians, seen, strict=True), itemgetter(0))
    return [_point(ticks[tick], *list(zip(*runs, strict=True))[1:]) for tick, runs in by_tick]


def _point(tick: str, times: Iterable[str], values: Sequence[float], seen: Sequence[dict[str, str]]) -> Point:
    facts = seen[0] if all(facts == seen[0] for facts in seen) else _together(seen)
    return Point(tick, min(filter(None, times), default=""), median(values), len(values), facts)


def _together(facts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    names = dict.fromkeys(name for place_facts in facts for name in place_facts)
    return {
        name: ", ".join(sorted({place_facts[name] for place_facts in facts if name in place_facts}))
        for name in names
    }
