"""Limits from a history: proposed for each curve, and judged by the ticks after it.

A value is a tick's: the runs of one tick share the minutes in which they ran. Runs that no tick made, such as
imported ones, are each a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.expectation import Alarm, Limit, limit_value
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.records import (
    OK,
    RECORDS,
    REFRAME_TEST,
    REPEATS,
    SESSION,
    Case,
    OwnMetric,
    Record,
    read_records,
)
from mpicampaign.base.text import visible
from mpicampaign.collect.campaign import plan_of
from mpicampaign.compare.metrics import Metric
from mpicampaign.history.changes import analyse_curves, key_id
from mpicampaign.history.curves import Curve, Point, curves_of, dimension_of
from mpicampaign.history.metrics import add, connect
from mpicampaign.history.overview import overview
from mpicampaign.history.rows import rows_of
from mpicampaign.history.series import NO_SERIES
from mpicampaign.questions.limits.find import (
    FAILED,
    NO_HISTORY,
    NOTHING_NEW,
    PASSED,
    UNDECIDED,
    Bound,
    Judged,
)
from mpicampaign.statistics.change_points import ALTERNATING, NOT_POSITIVE
from mpicampaign.statistics.limits import (
    LEVEL,
    RETESTED,
    PastLimit,
    dependence,
    fewest,
    is_beyond,
    is_met,
    past_limit,
    retests,
)
from mpicampaign.statistics.medians import median

# Why a curve gives no limit, beside those of `mpicampaign.statistics.change_points`
FEW, NO_TIMES, TREND, NEIGHBOURS = "too few", "no times", "trend", "neighbours"
NOT_OWN, SEVERAL_RUNS, NO_DIRECTION = "not own", "several runs", "no direction"
SEVERAL_TESTS = "several tests"


@dataclass(frozen=True, slots=True)
class Proposal:
    """The limit that a curve gives, or why it gives none.

    ``points``: that count, those since the last change. ``needed``: how many it takes. ``gap``: the median
    time between two of them (s). ``own``: a curve of the campaign's own ticks, not of other runs.
    ``tests``, ``metric``: of runs of ReFrame, its names of the test and the unit of its variable.
    """

    curve: Curve
    points: tuple[Point, ...]
    needed: int
    gap: float
    own: bool = True
    tests: tuple[str, ...] = ()
    metric: Mapping[str, str] = field(default_factory=dict)
    limit: PastLimit | None = None
    why: str = ""

    @property
    def median(self) -> float:
        """The median of the ticks that the limit is drawn from."""
        return median([point.value for point in self.points])


def proposals(campaign_folder: Path, wish: float, *, of_tests: bool) -> list[Proposal]:
    """A proposal for each curve, those of imported and merged runs last.

    ``of_tests``: for tests elsewhere, which make one run; else for the campaign's ticks.

    Raises
    ------
    UserError
        when there is no history yet.
    """
    plan = plan_of(campaign_folder)
    declared = {entry.identity(0) for entry in plan.cases}
    curves = [curve for curve in overview(campaign_folder).curves if curve.key.declared in declared]
    proposed = [propose(curve, wish) for curve in curves]
    proposed += [
        replace(propose(curve, wish), own=False, tests=tests, metric=metric)
        for curve, tests, metric in _other_curves(campaign_folder, plan)
    ]
    return [fitting(proposal, of_tests=of_tests) for proposal in proposed]


def fitting(proposal: Proposal, *, of_tests: bool) -> Proposal:
    """The proposal; without its limit where those who would use it have other values."""
    if of_tests and len(proposal.tests) > 1:
        return replace(proposal, limit=None, why=SEVERAL_TESTS)
    if of_tests and any(point.n > 1 for point in proposal.points):
        return replace(proposal, limit=None, why=SEVERAL_RUNS)
    return proposal if of_tests or proposal.own else replace(proposal, limit=None, why=NOT_OWN)


def _other_curves(
    campaign_folder: Path, plan: PlanFile
) -> Iterator[tuple[Curve, tuple[str, ...], OwnMetric]]:
    """The curves of runs that are not the plan's: a point for each run, in the order in which they began.

    Each with ReFrame's names of the test and the variable. Of a session's runs of a test the first with
    values counts: it retries those that are slow.
    """
    if not (campaign_folder / RECORDS).is_file():  # as after a tick that packed a series
        return
    header, records = read_records(campaign_folder / RECORDS)
    planned = {entry.case for entry in plan.cases}
    by_case = {
        case: _first_of_sessions(of_case)
        for case, of_case in grouped(records, lambda record: record.case).items()
        if case not in planned
    }
    runs = [record for of_case in by_case.values() for record in of_case]
    with closing(connect()) as base:
        add(base, rows_of(runs, PlanFile(plan.campaign), replace(NO_SERIES, kind=REPEATS), header))
        curves = curves_of(base)
    for curve in analyse_curves(curves, campaign_folder / "no log", write=False).curves:
        key = curve.key
        of_case = by_case[Case(key.system, key.host_group, key.placement, key.benchmark)]
        tests = dict.fromkeys(run.metadata[REFRAME_TEST] for run in of_case if REFRAME_TEST in run.metadata)
        metrics = (series.metrics.get(key.metric, {}) for series in of_case[-1].series)
        yield curve, tuple(tests), next(metrics, {})


def _first_of_sessions(runs: Iterable[Record]) -> list[Record]:
    """The first complete run of each session, by start, numbered from 1."""
    latest_first = sorted((run for run in runs if run.status == OK), key=_start, reverse=True)
    first = {run.metadata.get(SESSION) or f"alone {number}": run for number, run in enumerate(latest_first)}
    return [replace(run, repeat=number) for number, run in enumerate(sorted(first.values(), key=_start), 1)]


def _start(run: Record) -> str:
    return run.started


def propose(curve: Curve, wish: float) -> Proposal:
    """The limit of a curve with at most ``wish`` false alarms for each tick."""
    start = curve.changes[-1].index if curve.changes else 0
    points = curve.points[start:]
    proposal = Proposal(curve, points, fewest(RETESTED, wish), _gap(points))
    if curve.not_judged in (NOT_POSITIVE, ALTERNATING):
        return replace(proposal, why=curve.not_judged)
    if len(points) < proposal.needed:
        return replace(proposal, why=FEW)
    if not all(point.time for point in points):
        return replace(proposal, why=NO_TIMES)
    if curve.key.lower_is_better is None:
        return replace(proposal, why=NO_DIRECTION)
    values = [point.value for point in points]
    p = dependence(values)
    if min(p) < LEVEL:
        return replace(proposal, why=TREND if p.trend < LEVEL else NEIGHBOURS)
    return replace(proposal, limit=past_limit(values, lower_is_better=curve.key.lower_is_better, wish=wish))


def _gap(points: Sequence[Point]) -> float:
    """The median time between two points (s); 0 where it is not known."""
    times = [_seconds(point.time) for point in points if point.time]
    return median([after - before for before, after in pairwise(times)]) if len(times) > 1 else 0.0


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


# ---- judging


def judge_alarms(limits: Sequence[Limit], campaign_folder: Path, file: str) -> list[Judged]:
    """Each limit that has an alarm, by the newest ticks of its curve; ``file``: for messages.

    Raises
    ------
    UserError
        for each limit of another metric or unit than its curve.
    """
    curves = {key_id(curve.key): curve for curve in overview(campaign_folder).curves}
    judged: list[Judged] = []
    problems: list[Problem] = []
    for number, limit in enumerate(limits):
        if limit.alarm:
            try:
                judged.append(judge_alarm(limit, limit.alarm, curves.get(limit.alarm.curve)))
            except ValueError as error:
                hint = "judge --propose writes each limit with its curve"
                problems.append(Problem(str(error), file, key=f"expect[{number}]", hint=hint))
    if problems:
        raise UserError(problems)
    return judged


def judge_alarm(limit: Limit, alarm: Alarm, curve: Curve | None) -> Judged:
    """A limit by the newest ticks of a curve; ``None``: the history has no such curve.

    Raises
    ------
    ValueError
        when the limit is of another metric or unit.
    """
    if curve is None:
        place = [(names or ("",))[0] for names in (limit.host_groups, limit.placements)]
        return Judged(
            limit, Case("", place[0], place[1], limit.benchmark), limit.benchmark, UNDECIDED, why=NO_HISTORY
        )
    key, lower = curve.key, bool(limit.at_most)
    if key.metric != limit.metric:
        raise ValueError(f"its curve is of another metric: {visible(key.metric)}")
    case = Case(key.system, key.host_group, key.placement, key.benchmark)
    judged = Judged(limit, case, key.label, UNDECIDED, Metric(key.metric, "", dimension_of(key)))
    bound = Bound(limit_value(limit.at_most or limit.at_least, key.unit), lower, ratio=False)
    newest = _spaced(curve.points, alarm)[-alarm.rule.of :]
    if not newest:
        return replace(judged, bound=bound, why=NOTHING_NEW)
    beyond = [is_beyond(value, bound.value, lower_is_better=lower) for value in newest]
    outcome = FAILED if is_met(alarm.rule, beyond) else UNDECIDED if beyond[-1] else PASSED
    return replace(
        judged,
        outcome=outcome,
        median=newest[-1],
        bound=bound,
        n=len(newest),
        retests=retests(alarm.rule, beyond),
    )


def _spaced(points: Iterable[Point], alarm: Alarm) -> list[float]:
    """The values of the ticks after the past; of those too close to the one before, none."""
    values, last = [], _seconds(alarm.after)
    for point in points:
        if point.time and _seconds(point.time) >= last + alarm.apart:
            values.append(point.value)
            last = _seconds(point.time)
    return values
