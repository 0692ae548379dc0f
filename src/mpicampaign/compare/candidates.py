"""Candidates of blocks, races and planned looks: their names and values, and which runs stand together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import COMPARED, MISSING, WITH, Case, Record, Series, defined_name, race_rules
from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric, readings
from mpicampaign.compare.timed_runs import seconds
from mpicampaign.suites import is_baseline
from mpicampaign.verdicts.rows import TimedRun, rows_of


def candidate_names(cases: Sequence[Case]) -> dict[Case, str]:
    """What tells candidates apart: placement, MPI library, and the values of lists of the benchmark."""
    libraries = len({case.library for case in cases}) > 1
    variants = len({case.benchmark for case in cases}) > 1
    places = libraries or len({case.placement for case in cases}) > 1 or not variants

    def name(case: Case) -> str:
        place = WITH.join(filter(None, (case.placement, case.library if libraries else "")))
        if not places:
            return case.benchmark
        return " ".join(filter(None, (place, case.benchmark.partition(" ")[2] if variants else "")))

    return {case: visible(name(case)) for case in cases}


def is_of_race(record: Record) -> bool:
    """Whether a run is one of a race, which looks decide: no test of all its blocks fits."""
    return race_rules(record.metadata.get(COMPARED, "")) is not None


def gave_nothing(runs: Iterable[Record], limits_count: bool = False) -> bool:
    """Whether a candidate was tried without any value; ``limits_count``: a time limit that it met is one."""
    tried = [run for run in runs if run.status != MISSING]
    return bool(tried) and not any(run.sound or (limits_count and run.timed_out) for run in tried)


class MeasuredSeries(NamedTuple):
    """A metric of a series, by its label and ranks; ``values``: of each candidate, by repeat."""

    label: str
    ranks: int | None
    metric: Metric
    values: tuple[dict[int, float], ...]


def series_label(case: Case, label: str) -> str:
    """Of programs of one's own the series of a variant has its name: that of the definition instead."""
    rest = label.removeprefix(case.benchmark)
    return label if rest == label else defined_name(case.benchmark) + rest


def series_of(run: Record, label: str, ranks: int | None) -> Series | None:
    """The series of this label and these ranks; None for a run that does not count."""
    same_series = (
        series
        for series in run.series
        if (series_label(run.case, series.label), series.ranks) == (label, ranks)
    )
    return next(same_series, None) if run.sound else None


def printed_series(runs: Iterable[Record]) -> list[tuple[str, int | None]]:
    """The labels and ranks of what runs that count printed, without baselines."""
    printed = (
        (label, series.ranks)
        for run in runs
        if run.sound
        for series in run.series
        if not is_baseline(run.suite, label := series_label(run.case, series.label))
    )
    return list(dict.fromkeys(printed))


def measured_series(
    candidates: Sequence[Collection[Record]], metrics_of: Callable[[str, list[Series]], Iterable[Metric]]
) -> Iterator[MeasuredSeries]:
    """Each metric of each series; ``metrics_of``: by the suite and all series of one label."""
    runs = [run for of_candidate in candidates for run in of_candidate]
    for label, ranks in printed_series(runs):
        all_series = [series for run in runs if (series := series_of(run, label, ranks))]
        for metric in metrics_of(runs[0].suite, all_series):
            values = tuple(values_of(metric, of_candidate, label, ranks) for of_candidate in candidates)
            yield MeasuredSeries(label, ranks, metric, values)


def values_of(metric: Metric, runs: Iterable[Record], label: str, ranks: int | None) -> dict[int, float]:
    """Positive values by repeat: a logarithm needs them."""
    curves = [(run, series) for run in runs if (series := series_of(run, label, ranks))]
    return {
        repeat: reading.value for repeat, reading in readings(metric, curves).items() if reading.value > 0
    }


def on_same_nodes(runs: Collection[Record]) -> bool:
    """Whether the evidence shows one set of hosts; a run that met its time limit may not show all of them."""
    ended = {frozenset(run.hosts) for run in runs if not run.timed_out}
    if len(ended) != 1:
        return False
    hosts = ended.pop()
    return bool(hosts) and all(hosts.issuperset(run.hosts) for run in runs)


def side_by_side(blocks: Mapping[int, Collection[Record]]) -> set[int]:
    """The blocks whose runs were made in one job, or are neighbours in time: a row.

    A candidate that was edited has runs in blocks whose other runs were made before the edit.
    """
    cases = grouped((run for runs in blocks.values() for run in runs), lambda run: run.case).values()
    runs = [
        [TimedRun(seconds(run.started), 0.0, str(run.repeat), run.repeat) for run in of_case]
        for of_case in cases
    ]
    in_rows = {int(row[0].allocation) for row in rows_of(runs, range(len(runs)))}
    jobs = {number: {run.job_id for run in runs} for number, runs in blocks.items()}
    return in_rows | {number for number, ids in jobs.items() if len(ids) == 1 and all(ids)}
