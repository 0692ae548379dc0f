"""One metric of one case over time: a point for each tick, the median of its runs that count."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mpicampaign import dimension
from mpicampaign.compare.states import SERIES, lasting_text, states_in_time
from mpicampaign.history.rows import OBSERVED, round_trips_of
from mpicampaign.records import OK, Case, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow


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


_DIMENSIONS = {each.name: each for each in vars(dimension).values() if isinstance(each, dimension.Dimension)}


def dimension_of(key: CurveKey) -> dimension.Dimension:
    """The dimension by its name; that of a metric of one's own by its unit."""
    found = _DIMENSIONS.get(key.dimension)
    return found or dimension.own_dimension(key.unit, "lower" if key.lower_is_better else "higher")


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


# ---- from the rows of a history

_Array: TypeAlias = "np.ndarray[Any, Any]"

# The columns that say which curve a row belongs to, in the order of `CurveKey`; but the last row says
# whether lower is better.
_KEY = (
    *("declared", "system", "host_group", "placement", "transport", "benchmark", "label", "ranks", "metric"),
    *("size", "dimension", "unit", "lower_is_better"),
)
_OBSERVED = ("host", *OBSERVED)
_ROUND_TRIP = "round_trip"  # an observation, where it changed for good
NEEDED = (*_KEY, *_OBSERVED, *("series", "tick", "repeat", "started", "value", "counts", "round_trips"))


def curves_of(table: pyarrow.Table) -> list[Curve]:
    """The curves of a table with the columns `NEEDED`, their points in the order of ticks."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    counted = compute.and_(compute.is_valid(table["value"]), table["counts"])
    if not compute.all(counted).as_py():
        table = table.filter(counted)
    if not table.num_rows:
        return []
    table = _in_states(table)
    key = _combined(table, [name for name in _KEY if name != "lower_is_better"])
    tick = _Column(table["tick"])
    # Later series have later names; within a series that grows, later ticks have higher repeats.
    order = np.lexsort((table["repeat"].to_numpy(), _Column(table["series"]).ranks, key))
    starts = _starts(key[order], tick.codes[order])
    points = _Points(table, tick, order, starts)
    bounds = _bounds(key[order[starts]])
    ends = [*starts[1:], len(order)]
    keys = _at(table, _KEY, [order[ends[last - 1] - 1] for _, last in bounds])
    del table, key, order, tick  # the points take as much memory
    arrow.default_memory_pool().release_unused()
    return [Curve(CurveKey(*each), points.between(*bound)) for each, bound in zip(keys, bounds, strict=True)]


_RUN = ("system", "host_group", "placement", "benchmark", "series", "repeat", "round_trips")


def _in_states(table: pyarrow.Table) -> pyarrow.Table:
    """The rows; where the machine alternates between states, each state is a placement of its own.

    Where its state changed for good, the round trip is an observation, and so the cause of a change.
    """
    import pyarrow as arrow

    if not any(table["round_trips"].unique().to_pylist()):
        return table.append_column(_ROUND_TRIP, arrow.nulls(table.num_rows, arrow.string()))
    _, firsts, run_of = np.unique(_combined(table, _RUN), return_index=True, return_inverse=True)
    started = table["started"].to_numpy()[firsts]
    runs = list(map(_run, _at(table, _RUN, firsts), started))
    states = states_in_time(runs)
    if states.names:
        placements = arrow.array([f"{run.case.placement} ({states.name_of(run)})" for run in runs])
        number = table.column_names.index("placement")
        table = table.set_column(number, "placement", placements.take(arrow.array(run_of)))
    seen = arrow.array([lasting_text(run, states) for run in runs], arrow.string())
    return table.append_column(_ROUND_TRIP, seen.take(arrow.array(run_of)))


def _run(facts: Sequence[Any], started: np.datetime64) -> Record:
    """``facts``: the values of `_RUN`."""
    *case, series, repeat, text = facts
    began, of = "" if np.isnat(started) else str(started), {SERIES: series}
    return Record(Case(*case), "", repeat, OK, started=began, metadata=of, probes=round_trips_of(text))


class _Column:
    """A column as whole numbers: ``codes`` into ``values``; ``ranks`` are in the order of the values."""

    def __init__(self, column: pyarrow.ChunkedArray) -> None:
        import pyarrow as arrow

        if not arrow.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        encoded = column.unify_dictionaries().combine_chunks()
        self.values: list[Any] = [*encoded.dictionary.to_pylist(), None]
        missing = len(self.values) - 1
        codes = encoded.indices.fill_null(missing).to_numpy(zero_copy_only=False)
        self.codes = np.asarray(codes, dtype=np.int32)

    @property
    def ranks(self) -> _Array:
        order = sorted(range(len(self.values)), key=lambda number: self.values[number] or "")
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks[self.codes]


def _combined(table: pyarrow.Table, names: Sequence[str]) -> _Array:
    """A number from 0 on for each row: that of its combination of values in these columns."""
    import pyarrow as arrow

    combined: _Array = np.zeros(table.num_rows, np.int64)
    for name in names:
        codes = _Column(table[name]).codes
        if np.ptp(codes):
            _, combined = np.unique(combined * (int(codes.max()) + 1) + codes, return_inverse=True)
    arrow.default_memory_pool().release_unused()  # to the system
    return combined


def _starts(*columns: _Array) -> _Array:
    """Where rows begin that differ from the row before in any of the columns."""
    changes = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return np.concatenate(([0], np.flatnonzero(changes) + 1))


def _bounds(values: _Array) -> list[tuple[int, int]]:
    """The slices of equal neighbours."""
    return list(pairwise([*_starts(values).tolist(), len(values)]))


def _at(table: pyarrow.Table, names: Sequence[str], rows: Iterable[int]) -> list[tuple[Any, ...]]:
    """The values of the columns in some rows."""
    columns = (table[name] for name in names)
    return list(zip(*([column[int(row)].as_py() for row in rows] for column in columns), strict=True))


class _Points:
    """The points of all curves: arrays with an element each; ``starts``: of their rows, in an ``order``."""

    def __init__(self, table: pyarrow.Table, tick: _Column, order: _Array, starts: _Array) -> None:
        self.ticks, self.codes = tick.values, tick.codes[order[starts]]
        self.counts = np.diff(starts, append=len(order))
        self.values = _medians(table["value"].to_numpy()[order], starts, self.counts)
        self.times = _texts(np.minimum.reduceat(table["started"].to_numpy()[order], starts))
        self.observed = _observed(table, order, starts)

    def between(self, first: int, end: int) -> tuple[Point, ...]:
        part = slice(first, end)
        ticks = [self.ticks[code] for code in self.codes[part].tolist()]
        values, counts = self.values[part].tolist(), self.counts[part].tolist()
        return tuple(map(Point, ticks, self.times[part], values, counts, self.observed[part]))


def _medians(values: _Array, starts: _Array, counts: _Array) -> _Array:
    """Of the values from each start on, as many as counted."""
    medians: _Array = values[starts]
    for count in np.unique(counts[counts > 1]):
        chosen = np.flatnonzero(counts == count)
        medians[chosen] = np.median(values[starts[chosen, None] + np.arange(count)], axis=1)
    return medians


def _texts(times: _Array) -> _Array:
    """Times as texts, each kept once; empty where unknown."""
    known, number = np.unique(times, return_inverse=True)
    texts = ["" if np.isnat(each) else f"{np.datetime_as_string(each, unit='s')}Z" for each in known]
    return np.array(texts, dtype=object)[number]


def _observed(table: pyarrow.Table, order: _Array, starts: _Array) -> _Array:
    """What the runs of each point observed; the same object for the same observations."""
    names = (*_OBSERVED, _ROUND_TRIP)
    codes = _combined(table, names)
    firsts = np.unique(codes, return_index=True)[1]
    seen = np.empty(len(firsts), dtype=object)
    seen[:] = [
        {name: value for name, value in zip(names, values, strict=True) if value}
        for values in _at(table, names, firsts)
    ]
    codes = codes[order]
    of_points: _Array = seen[codes[starts]]
    several = np.minimum.reduceat(codes, starts) != np.maximum.reduceat(codes, starts)
    ends = np.append(starts[1:], len(codes))
    for point in np.flatnonzero(several):
        of_points[point] = _together(seen[codes[starts[point] : ends[point]]])
    return of_points


def _together(facts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    names = dict.fromkeys(name for each in facts for name in each)
    return {name: ", ".join(sorted({each[name] for each in facts if name in each})) for name in names}
