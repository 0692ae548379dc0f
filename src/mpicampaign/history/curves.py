"""One metric of one case over time: a point for each tick, the median of its runs that count."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mpicampaign import dimension
from mpicampaign.compare.states import SERIES, lasting_text, states_in_time
from mpicampaign.history.rows import OBSERVED, round_trips_of
from mpicampaign.records import OK, Case, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


# ---- from the rows of a history

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
    import pyarrow.compute as compute

    table = table.filter(compute.and_(compute.is_valid(table["value"]), table["counts"]))
    if not table.num_rows:
        return []
    table = _in_states(table)
    columns = {name: _Column(table[name]) for name in (*_KEY, *_OBSERVED, _ROUND_TRIP, "series", "tick")}
    key = _combined([columns[name].codes for name in _KEY if name != "lower_is_better"])
    tick = columns["tick"].codes
    repeat = table["repeat"].to_numpy()
    # Later series have later names; within a series that grows, later ticks have higher repeats.
    order = np.lexsort((repeat, columns["series"].ranks, key))
    bounds = _bounds(key[order])
    rows = _Rows(columns, table["value"].to_numpy(), table["started"].to_numpy(), tick)
    return [Curve(rows.key(order[b - 1]), tuple(rows.points(order[a:b]))) for a, b in bounds]


_RUN = ("system", "host_group", "placement", "benchmark", "series", "repeat", "round_trips")


def _in_states(table: pyarrow.Table) -> pyarrow.Table:
    """The rows; where the machine alternates between states, each state is a placement of its own.

    Where its state changed for good, the round trip is an observation, and so the cause of a change.
    """
    import pyarrow as arrow

    if not any(table["round_trips"].unique().to_pylist()):
        return table.append_column(_ROUND_TRIP, arrow.nulls(table.num_rows, arrow.string()))
    columns = [_Column(table[name]) for name in _RUN]
    _, firsts, run_of = np.unique(
        _combined([column.codes for column in columns]), return_index=True, return_inverse=True
    )
    started = table["started"].to_numpy()
    runs = [_run([column.at(row) for column in columns], started[row]) for row in firsts]
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
        self.codes = np.asarray(codes, dtype=np.int64)

    @property
    def ranks(self) -> np.ndarray[Any, Any]:
        order = sorted(range(len(self.values)), key=lambda number: self.values[number] or "")
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks[self.codes]

    def at(self, row: int) -> Any:
        return self.values[self.codes[row]]


def _combined(codes: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """One number for each combination, in the order of their first appearance in none of them."""
    combined = codes[0]
    for each in codes[1:]:
        _, combined = np.unique(combined * (each.max() + 1) + each, return_inverse=True)
    return combined


def _bounds(values: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """The slices of equal neighbours."""
    cuts = np.flatnonzero(np.diff(values)) + 1
    edges = [0, *cuts.tolist(), len(values)]
    return list(pairwise(edges))


class _Rows:
    """The rows of a table, by number."""

    def __init__(
        self,
        columns: dict[str, _Column],
        values: np.ndarray[Any, Any],
        started: np.ndarray[Any, Any],
        tick: np.ndarray[Any, Any],
    ) -> None:
        self.columns, self.values, self.started, self.tick = columns, values, started, tick
        self.observed = _combined([columns[name].codes for name in (*_OBSERVED, _ROUND_TRIP)])
        self._known: dict[int, dict[str, str]] = {}

    def key(self, row: int) -> CurveKey:
        return CurveKey(*(self.columns[name].at(row) for name in _KEY))

    def points(self, rows: np.ndarray[Any, Any]) -> Iterator[Point]:
        for a, b in _bounds(self.tick[rows]):
            chosen = rows[a:b]
            value = float(np.median(self.values[chosen])) if b - a > 1 else float(self.values[chosen[0]])
            first = self.started[chosen].min()
            time = "" if np.isnat(first) else f"{np.datetime_as_string(first, unit='s')}Z"
            yield Point(self.columns["tick"].at(chosen[0]), time, value, b - a, self._seen(chosen))

    def _seen(self, rows: np.ndarray[Any, Any]) -> dict[str, str]:
        """What the runs of a point observed; the same object for the same observations."""
        facts = [self._of(int(row)) for row in rows]
        if all(each is facts[0] for each in facts):
            return facts[0]
        names = dict.fromkeys(name for each in facts for name in each)
        return {name: ", ".join(sorted({each[name] for each in facts if name in each})) for name in names}

    def _of(self, row: int) -> dict[str, str]:
        code = int(self.observed[row])
        if code not in self._known:
            seen = {name: self.columns[name].at(row) for name in (*_OBSERVED, _ROUND_TRIP)}
            self._known[code] = {name: value for name, value in seen.items() if value}
        return self._known[code]
