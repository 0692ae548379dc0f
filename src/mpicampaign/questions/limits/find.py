"""The acceptance contract: each limit for each case is passed, failed or undecided, by an interval.

Never by one number: passed where the whole interval is on the right side of the limit, failed where it is on
the wrong side, else undecided. A case without enough runs that count is undecided, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.expectation import BEFORE, Limit, limit_value
from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.records import DISTURBED, WITH, Case, defined_name
from mpicampaign.base.reference import reference_names
from mpicampaign.compare.findings import WITHOUT_VALUE, Absence
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.same_sizes import over_sizes_of_both
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.compare.timed_runs import why_untested
from mpicampaign.questions.published.find import published_for
from mpicampaign.statistics.distributions import rank_sum_tail
from mpicampaign.statistics.medians import COVERAGE, Interval, median, order_statistic_interval

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"

# Why a case is undecided, if its interval does not decide it
NO_VALUE = "no value"  # of a run that counts
FEW = "too few repeats"
NO_OTHER = "nothing to compare with"
NO_SIZES = "no message size of both"
OF_MACHINE = "members"  # of a host group that is measured as a machine
NO_HISTORY, NOTHING_NEW = "no such history", "nothing new"  # of a limit from the history


class Bound(NamedTuple):
    """What the interval is compared with; ``lower``: whether less is right. ``ratio``: of two groups."""

    value: float
    lower: bool
    ratio: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A limit for one row.

    ``interval``: of the median, or of the ratio to what it is compared with; ``n``: repeats, ``others``: of
    the other group. ``metric`` and ``bound`` are ``None`` if nothing was measured. ``why`` it is undecided,
    if not by an interval; ``absence``: why runs have no value that counts. ``busy_ranked``: disturbed runs
    count. With an alarm, ``n`` counts the newest ticks, ``median`` is the last one's, and ``retests`` says
    how many more ticks beyond the limit would fail it.
    """

    limit: Limit
    case: Case
    label: str
    outcome: str
    metric: Metric | None = None
    median: float | None = None
    interval: Interval | None = None
    bound: Bound | None = None
    n: int = 0
    others: int = 0
    why: str = ""
    absence: Absence = ()
    busy_ranked: bool = False
    retests: int = 0
    sizes: int = 0  # that both have, where a maximum is over these alone


class _Other(NamedTuple):
    """What a metric is compared with: repeats, or one published value; ``untested``: why it can't be.

    ``limited``: in place of the row's values, where a maximum is over so many ``sizes`` that both have.
    """

    values: tuple[float, ...] = ()
    published: float | None = None
    untested: str = ""
    limited: tuple[float, ...] = ()
    sizes: int = 0


def judge(
    limits: Sequence[Limit],
    comparison: Comparison,
    cases: Sequence[Case],
    before: Comparison | None,
    file: str,
    of_machine: Collection[Case] = (),
) -> list[Judged]:
    """Each limit for each of its cases; those with an alarm are judged by the history.

    Parameters
    ----------
    comparison : of the open series and of merged bundles
    cases : all of the campaign; those that have not been run are undecided
    before : the last finished series, if there is one
    file : the campaign file, for messages
    of_machine : host groups whose members are compared with each other, by no limit

    Raises
    ------
    UserError
        for each metric that no run printed, each limit in another unit, and each unknown source.
    """
    found: list[Judged] = []
    problems: list[Problem] = []
    for number, limit in enumerate(limits):
        if limit.alarm:
            continue
        try:
            found += _judge_limit(limit, comparison, cases, before)
            meant = [case for case in of_machine if _is_meant(limit, case)]
            found += [Judged(limit, case, case.benchmark, UNDECIDED, why=OF_MACHINE) for case in meant]
        except ValueError as error:
            hint = did_you_mean(*error.args[1:]) if error.args[1:] else ""
            problems.append(Problem(str(error.args[0]), file, key=f"expect[{number}]", hint=hint))
    if problems:
        raise UserError(problems)
    return found


def _judge_limit(
    limit: Limit, comparison: Comparison, cases: Sequence[Case], before: Comparison | None
) -> Iterator[Judged]:
    wanted = [case for case in cases if _is_meant(limit, case)]
    tables = [table for table in comparison.tables if _is_named(table.benchmark, [limit.benchmark])]
    pairs = [(table, metric) for table in tables for metric in table.metrics if metric.name == limit.metric]
    if not pairs and any(table.metrics for table in tables):
        message = f"no run of {limit.benchmark} has the metric {limit.metric!r}"
        names = sorted({metric.name for table in tables for metric in table.metrics})
        raise ValueError(message, limit.metric, names)
    systems = dict.fromkeys(
        system for name in comparison.systems for system in (name, name.partition(WITH)[0])
    )
    sources = (BEFORE, *reference_names(), *systems)
    if limit.against and limit.against.source not in sources:
        message = f"{limit.against.source!r} is neither a publication nor a system of the results"
        raise ValueError(message, limit.against.source, sources)
    for case in wanted:
        rows = [(t, m, row) for t, m in pairs for row in t.rows if row.case == case]
        if not rows:
            bare = (row.absence for table in tables for row in table.rows if row.case == case)
            yield Judged(limit, case, limit.benchmark, UNDECIDED, why=NO_VALUE, absence=next(bare, ()))
        for table, metric, row in rows:
            yield _judge_row(limit, table, metric, row, _other(limit, table, metric, row, comparison, before))


def _is_meant(limit: Limit, case: Case) -> bool:
    return (
        _is_named(case.benchmark, [limit.benchmark])
        and _is_named(case.host_group, limit.host_groups or [case.host_group])
        and _is_named(case.placement, limit.placements or [case.placement])
    )


def _is_named(name: str, wanted: Sequence[str]) -> bool:
    """Whether it is among the names, or a variant of one: by the values of lists, or an MPI library."""
    return name in wanted or defined_name(name) in wanted


def _judge_row(limit: Limit, table: Table, metric: Metric, row: Row, other: _Other) -> Judged:
    values = (other.limited or row.cell(metric).values) if row.ranked else ()
    named = Judged(limit, row.case, row.label, UNDECIDED, metric, n=len(values), sizes=other.sizes)
    busy_ranked = any(run.ranks_busy for run in row.records)
    named = replace(named, median=median(values) if values else None, busy_ranked=busy_ranked)
    if not values:
        return replace(named, why=NO_VALUE, absence=row.unranked or row.absence)
    if other.untested:
        return replace(named, why=other.untested)
    if limit.against and not other.values and other.published is None:
        return replace(named, why=NO_OTHER)
    bound = _bound(limit, metric, other)
    interval = ratio_interval(other.values, values) if bound.ratio else order_statistic_interval(values)
    if interval is None or interval.coverage < COVERAGE:
        lost = tuple(note for note in row.notes if note.kind in (*WITHOUT_VALUE, DISTURBED))
        return replace(named, bound=bound, others=len(other.values), why=FEW, absence=lost)
    return replace(named, bound=bound, interval=interval, outcome=_outcome(interval, bound))


def ratio_interval(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """The factors by which ``before`` may be multiplied so that the exact rank test sees no difference.

    It holds the true factor with at least `COVERAGE` if the two groups differ by a factor alone (Hodges and
    Lehmann). ``None`` where the repeats are too few, or a value is not positive.
    """
    if min(*before, *after) <= 0:
        return None
    tail = rank_sum_tail(len(before), len(after), (1 - COVERAGE) / 2)
    if not tail:
        return None
    ratios = sorted(b / a for a in before for b in after)
    cut = len(tail) - 1
    return Interval(ratios[cut], ratios[-1 - cut], 1 - 2 * tail[-1]) if math.isfinite(ratios[-1]) else None


def _bound(limit: Limit, metric: Metric, other: _Other) -> Bound:
    """The limit itself, or how much worse than the other value it may be."""
    if limit.against is None:
        text, lower = (limit.at_most, True) if limit.at_most else (limit.at_least, False)
        return Bound(limit_value(text, metric.dimension.si_unit), lower, ratio=False)
    if metric.lower_is_better is None:
        raise ValueError(f"of {metric.name} nothing says which values are better: give at_least or at_most")
    lower = metric.lower_is_better
    factor = 1 + limit.tolerance if lower else 1 - limit.tolerance
    if other.published is not None:
        return Bound(other.published * factor, lower, ratio=False)
    return Bound(factor, lower, ratio=True)


def _outcome(interval: Interval, bound: Bound) -> str:
    if bound.lower:
        right, wrong = interval.high <= bound.value, interval.low > bound.value
    else:
        right, wrong = interval.low >= bound.value, interval.high < bound.value
    return PASSED if right else FAILED if wrong else UNDECIDED


def _other(
    limit: Limit, table: Table, metric: Metric, row: Row, comparison: Comparison, before: Comparison | None
) -> _Other:
    """What the row is compared with; empty if there is nothing of the kind."""
    against = limit.against
    if against is None:
        return _Other()
    group = against.host_group or row.case.host_group
    placement = against.placement or row.case.placement
    if against.source == BEFORE:
        tables = before.tables if before else ()
        place = (row.case.system, _with(row.case.library, group), placement)
        earlier = _of_rows(tables, table, metric, row, place)
        if earlier.values:
            return earlier._replace(untested="")  # what changed meanwhile is the question
        return earlier
    if against.source in reference_names():
        choice = ReferenceChoice(against.source, (group,), (placement,))
        published = [
            row_of.values[metric] for row_of in published_for(table, [choice]) if metric in row_of.values
        ]
        return _Other(published=published[0]) if len(published) == 1 else _Other()
    place = (_with(row.case.library, against.source), _with(row.case.library, group), placement)
    return _of_rows(comparison.tables, table, metric, row, place)


def _with(library: str, name: str) -> str:
    """The name with the row's MPI library, unless it has one."""
    return f"{name}{WITH}{library}" if library and WITH not in name else name


def _of_rows(
    tables: Sequence[Table], table: Table, metric: Metric, row: Row, place: tuple[str, str, str]
) -> _Other:
    kind = table.benchmark, table.label
    for other in (other for of in tables if (of.benchmark, of.label) == kind for other in of.rows):
        cells = [cell for cell in other.cells if cell.metric.name == metric.name]
        named = (other.case.system, other.case.host_group, other.case.placement)
        if named == place and other.ranks == row.ranks and other.ranked and cells:
            own_cell, cell, sizes = over_sizes_of_both((row, row.cell(metric)), (other, cells[0]))
            lacking = cells[0].values and not (own_cell.values and cell.values)
            untested = NO_SIZES if lacking else why_untested([(row, other)])
            return _Other(cell.values, None, untested, own_cell.values, sizes)
    return _Other()
