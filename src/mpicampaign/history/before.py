"""What a campaign was before, beside now: by its earlier definitions, and by the changes in its history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import differences
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.records import Case, Record
from mpicampaign.base.selection import variant_names
from mpicampaign.collect.observed_software import software_of
from mpicampaign.collect.undescribed import EarlierRuns, earlier_runs, numbered
from mpicampaign.history.curves import Cause, Curve
from mpicampaign.history.overview import overview
from mpicampaign.history.series import read_series
from mpicampaign.history.store import FOLDER, Store
from mpicampaign.questions.two_sides.find import Both, TwoSides

MOST_SERIES = 100  # whose outputs are looked at, the newest ones


def definitions_of(
    plan: PlanFile, folder: Path, now: Sequence[Record]
) -> tuple[list[EarlierRuns], list[Record]]:
    """The earlier definitions, the newest first; what finished series measured by the definitions of now.

    Runs of one definition in several series are put together: a series may have one of each case.
    """
    on_disk = ((run, changed, True) for run, changed in earlier_runs(plan, folder, now))
    earlier_ones = [*on_disk, *_in_series(plan, folder)]
    known_of = _recorded_by_all([*now, *(run for run, *_ in earlier_ones)])
    software = {run.case: known_of(run) for run in sorted(now, key=lambda run: run.started) if run.sound}
    groups = grouped(earlier_ones, lambda item: (item[0].case, item[1], tuple(known_of(item[0]).items())))
    earlier: list[EarlierRuns] = []
    present: list[Record] = []
    for (case, changed, _), measured in sorted(groups.items(), key=lambda of: -len(of[0][1])):
        runs = numbered(run for run, *_ in measured)
        mine = software.setdefault(case, known_of(runs[-1]))
        if changed or mine != known_of(runs[-1]) or any(is_on_disk for *_, is_on_disk in measured):
            earlier.append(EarlierRuns(case, changed, runs))
        else:
            present += runs
    return sorted(earlier, key=lambda runs: runs.began, reverse=True), present


def _recorded_by_all(runs: Iterable[Record]) -> Callable[[Record], dict[str, str]]:
    """What a run recorded of its software, as far as all of its case did: series keep earlier records."""
    keys: dict[Case, set[str]] = {}
    for run in runs:
        if recorded := {*software_of(run)}:
            keys[run.case] = keys.get(run.case, recorded) & recorded

    return lambda run: {key: value for key, value in software_of(run).items() if key in keys[run.case]}


def _in_series(plan: PlanFile, folder: Path) -> Iterator[tuple[Record, tuple[str, ...], bool]]:
    """The runs of finished series of the cases that there are now, with what differs; not on disk."""
    store, present = Store(folder / FOLDER), {entry.case: entry for entry in plan.cases if not entry.each}
    names = [name for name in store.names() if name != read_series(folder).name]
    for name in names[-MOST_SERIES:]:
        records, plan_then = store.contents(name)
        changed = {
            entry.case: tuple(differences(entry.declared, present[entry.case].declared))
            for entry in plan_then.cases
            if entry.case in present
        }
        runs = (replace(run, earlier="") for run in records if run.case in changed)
        yield from ((run, changed[run.case], False) for run in runs)


def known_changes(
    sides: TwoSides, before: str, after: str, folder: Path
) -> Iterator[tuple[int, str, tuple[Cause, ...]]]:
    """Which values, by number, the history knows to have changed between two series, since when, and why."""
    curves = grouped(overview(folder).curves, _key)
    for number, both in enumerate(sides.both):
        for curve in () if both.sizes else curves.get(_key_of(both), ()):
            changes = [change for change in curve.changes if before < _series(curve, change.index) <= after]
            if changes and _holds(curve, after, both.after.values):
                point = curve.points[changes[-1].index]
                yield number, point.time, changes[-1].causes


def _series(curve: Curve, index: int) -> str:
    return curve.points[index].tick.partition("/")[0]


def _holds(curve: Curve, series: str, values: Sequence[float]) -> bool:
    """Whether the values are of this curve: states of a machine have one each, named by the whole history."""
    points = (point.value for index, point in enumerate(curve.points) if _series(curve, index) == series)
    return any(min(values) <= value <= max(values) for value in points)


def _key(curve: Curve) -> tuple[object, ...]:
    key = curve.key
    place = key.system, key.host_group, variant_names(key.placement)[1], key.benchmark
    return (*place, key.label, key.ranks, key.metric, key.size)


def _key_of(both: Both) -> tuple[object, ...]:
    case = both.row.case
    place = case.system, case.host_group, variant_names(case.placement)[1], case.benchmark
    return (*place, both.row.label, both.row.ranks, both.metric.name, both.metric.size)
