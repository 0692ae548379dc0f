"""Two sets of results compared case by case: two dates, series, sites or folders.

Two that ran one after the other also differ by all that changed meanwhile: they have a ratio and the range of
each, and no test. Each metric of which the runs of both stand in rows is tested (`mpicampaign.verdicts`), by
Holm's steps over all of them. A maximum over message sizes is that over the sizes which both printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import MISSING, NOT_AVAILABLE, OK, ROUND_TRIP, STATE, Record, observed
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.compare.same_sizes import over_sizes_of_both
from mpicampaign.compare.states import (
    NO_STATES,
    States,
    find_states,
    nanoseconds,
    states_apart,
    states_of_both,
)
from mpicampaign.compare.timed_runs import timed_runs
from mpicampaign.evidence.machine_state import GAP
from mpicampaign.statistics.comparisons import FEWEST, LEVEL, holm
from mpicampaign.verdicts.compare import PairVerdict
from mpicampaign.verdicts.compare import compare as verdict_on
from mpicampaign.verdicts.smallest import Sight, smallest_seen

_Key = tuple[object, ...]


class Side(NamedTuple):
    """Results with a name, such as ``2026-11-20`` or ``results/mine``."""

    name: str
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class Both:
    """A metric of a case that both sides have. ``p``: of all that are tested; ``None`` where it is not.

    ``sight``: how small a difference its runs could have shown, where it is tested. ``sizes``: how many
    message sizes of both sides a maximum is over, where either printed others; else 0.
    """

    row: Row
    metric: Metric
    before: Cell
    after: Cell
    pair: PairVerdict
    p: float | None = None
    sight: Sight | None = None
    sizes: int = 0

    @property
    def ratio(self) -> float | None:
        """Median after / before; ``None`` where that is 0."""
        before, after = self.before.summary, self.after.summary
        return after.median / before.median if before and after and before.median else None

    @property
    def few(self) -> bool:
        """Whether the repeats are too few to tell anything: two of each lie apart by chance once in three."""
        return min(self.before.n, self.after.n) < FEWEST

    @property
    def apart(self) -> bool:
        """Whether all repeats of one side lie on one side of the other's, with medians 1 % apart or more."""
        low, high = sorted((self.before.values, self.after.values), key=max)
        return max(low) < min(high) and not (self.few or self.pair.small)

    @property
    def real(self) -> bool:
        """Whether a test shows a difference of 1 % or more."""
        return self.p is not None and self.p <= LEVEL and not self.pair.small


@dataclass(frozen=True, slots=True)
class TwoSides:
    """``only``: cases that one side alone has. ``recorded``: name and both values of what was recorded.

    ``states``: of the machine that both are of. ``unlike``: maxima of which no message size is of both.
    """

    before: Side
    after: Side
    both: tuple[Both, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    recorded: tuple[tuple[str, str, str], ...]
    states: States = NO_STATES
    unlike: tuple[tuple[Row, Metric], ...] = ()


def two_sides(
    before: Side, after: Side, sizes: Sequence[int], columns: Mapping[str, str], names: Mapping[str, str]
) -> TwoSides:
    """Compare each metric of each case that both have.

    Parameters
    ----------
    sizes : message sizes (B) at which bandwidth or time is compared
    columns, names : what runs observe, by column: its key in a record's metadata, and what people call it
    """
    systems = [{record.case.system for record in side.records} for side in (before, after)]
    one_each = all(len(names) == 1 for names in systems)
    two_machines = one_each and systems[0] != systems[1]
    states = NO_STATES if two_machines else states_of_both(before.records, after.records)
    # those of each state in placements of their own
    together = states_apart([*before.records, *after.records], states, ranked=states.names)
    of_sides = together[: len(before.records)], together[len(before.records) :]
    cells = [_cells(records, sizes, states, named=not one_each) for records in of_sides]
    pairs = [(cells[0][key], cells[1][key]) for key in cells[0] if key in cells[1]]
    alike = [_over_sizes_of_both(*pair) for pair in pairs]
    both = [one for one in alike if one]
    unlike = [(row, cell.metric) for (_, (row, cell)), one in zip(pairs, alike, strict=True) if not one]
    ps = holm({number: one.pair.p for number, one in enumerate(both) if one.pair.p is not None})
    corrected = tuple(
        replace(one, p=ps.get(number), sight=one.sight and one.sight._replace(steps=len(ps)))
        for number, one in enumerate(both)
    )
    only = _lacking(cells[0], cells[1], after), _lacking(cells[1], cells[0], before)
    recorded = [*_recorded(before.records, after.records, columns, names)]
    if two_machines:
        one, other = (find_states(side.records).headline or "one" for side in (before, after))
        recorded += [(STATE, one, other)] if one != other else []
    one_side, other_side = ([run for row, _ in of.values() for run, _ in row.curves] for of in cells)
    recorded += _unlike_states(one_side, other_side, names["round_trip"])
    return TwoSides(before, after, corrected, only, tuple(recorded), states, tuple(unlike))


def _lacking(own: Mapping[_Key, tuple[Row, Cell]], other: Iterable[_Key], side: Side) -> tuple[str, ...]:
    """The cases that count on this side alone, with how many runs of the other do not count."""
    theirs = {key[:4] for key in other}
    cases = dict.fromkeys(row.case for key, (row, _) in own.items() if key[:4] not in theirs)
    ran = Counter(str(run.case) for run in side.records if run.status not in (MISSING, NOT_AVAILABLE))
    none_counts = {
        name: f" (the other side's {f'{runs} runs do' if runs > 1 else 'run does'} not count)"
        for name, runs in ran.items()
    }
    return tuple(f"{case}{none_counts.get(str(case), '')}" for case in cases)


def _cells(
    records: Sequence[Record], sizes: Sequence[int], states: States, named: bool
) -> dict[_Key, tuple[Row, Cell]]:
    """Each value of a row that counts.

    ``states``: by which the records stand apart; without, each side is in the one that its answers are of.
    ``named``: cases are told apart by their systems, too.
    """
    comparison = compare(records, sizes, states=NO_STATES if states.names else None)
    rows = (row for table in comparison.tables for row in table.rows if row.ranked)
    return {_key(row, cell.metric, named): (row, cell) for row in rows for cell in row.cells if cell.values}


def _key(row: Row, metric: Metric, named: bool) -> _Key:
    case = row.case
    place = (case.system if named else "", case.host_group, case.placement, case.benchmark)
    return (*place, row.label, row.ranks, metric.column, metric.size, metric.baseline, metric.bound)


def _over_sizes_of_both(before: tuple[Row, Cell], after: tuple[Row, Cell]) -> Both | None:
    """The two; a maximum over other sizes on each side is taken over those of both. ``None`` without any."""
    one, other, sizes = over_sizes_of_both(before, after)
    if not (one.values and other.values):
        return None
    return replace(both_sides((before[0], one), (after[0], other)), sizes=sizes)


def both_sides(before: tuple[Row, Cell], after: tuple[Row, Cell]) -> Both:
    """A metric of a case in two rows, tested alone."""
    sides = before, after
    logarithms = all(value > 0 for _, cell in sides for value in cell.values)
    # the two share no allocation
    runs = [[run._replace(allocation="") for run in timed_runs(*side, logarithms)] for side in sides]
    verdict = verdict_on(runs, logarithms=logarithms)
    sight = smallest_seen(verdict) if logarithms else None
    return Both(after[0], after[1].metric, before[1], after[1], verdict.pairs[0, 1], sight=sight)


def _recorded(
    before: Sequence[Record], after: Sequence[Record], columns: Mapping[str, str], names: Mapping[str, str]
) -> Iterable[tuple[str, str, str]]:
    """What the runs of the two recorded otherwise."""
    sides = [[record for record in side if record.status == OK] for side in (before, after)]
    if not all(sides):
        return
    hosts = [", ".join(sorted({host for record in side for host in record.hosts})) for side in sides]
    if hosts[0] != hosts[1]:
        yield names["host"], hosts[0], hosts[1]
    for column, key in columns.items():
        seen = (set().union(*(observed(record, key) for record in side)) for side in sides)
        one, other = (", ".join(sorted(values)) or "not recorded" for values in seen)
        if one != other:
            yield names[column], one, other


def _unlike_states(
    before: Iterable[Record], after: Iterable[Record], name: str
) -> Iterable[tuple[str, str, str]]:
    """Where the compared runs of the two were in other states of the machine."""
    one, other = map(_round_trips, (before, after))
    for place in (place for place in one if place in other):
        (low, high), (lower, higher) = one[place], other[place]
        if low >= GAP * higher or lower >= GAP * high:
            yield f"{name}, {place}", nanoseconds((low, high)), nanoseconds((lower, higher))


def _round_trips(records: Iterable[Record]) -> dict[str, tuple[float, float]]:
    """The least and the largest (s) at each place."""
    probes = [(place, values) for run in records for place, values in run.probes.get(ROUND_TRIP, {}).items()]
    return {
        place: (min(min(values) for _, values in of), max(max(values) for _, values in of))
        for place, of in grouped(probes, lambda probe: probe[0]).items()
    }
