"""Records side by side: one row for each host group, placement and series, never fewer.

A row's values come from the runs that count (complete, not contradicted, not disturbed); where too few of
them were quiet, from all complete runs, but the row is not ranked. Every other run becomes a note on the row
with its reason, so that readers see what is missing where they look for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from mpicampaign.base.grouping import grouped
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import OK, Record, Series
from mpicampaign.collect.startup import RANKS, START_UP
from mpicampaign.compare.beside_originals import beside_tables
from mpicampaign.compare.metrics import (
    STARTUP_METRICS,
    Metric,
    choose_metrics,
    fraction_of_line_rate,
    readings,
)
from mpicampaign.compare.monotony import with_monotony
from mpicampaign.compare.rows import Cell, Row, with_values
from mpicampaign.compare.run_notes import run_notes, value_notes
from mpicampaign.compare.settings_notes import with_settings_notes
from mpicampaign.compare.states import States, find_states, oversubscribed_apart, states_apart
from mpicampaign.compare.sweep_notes import find
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.evidence.plausible import link_bound
from mpicampaign.questions.balance.find import balance_table
from mpicampaign.questions.blocks.find import in_blocks
from mpicampaign.questions.configurations.find import configurations
from mpicampaign.questions.decided.find import decided
from mpicampaign.questions.guidelines.find import with_guidelines
from mpicampaign.questions.machine.find import machines
from mpicampaign.questions.machine.find_causes import with_causes
from mpicampaign.questions.machine.find_searches import is_of_machine
from mpicampaign.questions.races.find import races
from mpicampaign.questions.ranking.find import rank
from mpicampaign.suites import is_baseline

Printed = tuple[Record, Series]


def compare(
    records: Sequence[Record],
    table_sizes: Sequence[int] = TABLE_SIZES,
    by: str = "",
    states: States | None = None,
) -> Comparison:
    """Put the records side by side.

    Parameters
    ----------
    records : one for each planned run, those that did not happen included
    table_sizes : message sizes (B) at which tables show bandwidth or time
    by : an attribute of host groups; rows with the same value of it follow each other
    states : of the machine, where these records alone do not tell
    """
    all_records, records = records, [record for record in records if not is_of_machine(record)]
    states = find_states(records) if states is None else states
    blocks, raced, by_looks = in_blocks(records, table_sizes), races(records), decided(records)
    unlike = configurations(all_records)
    records = with_causes(oversubscribed_apart(states_apart(records, states)))
    records = _by_attribute(records, by)
    tables = []
    for benchmark, runs in grouped(records, lambda record: record.case.benchmark).items():
        tables += _tables(benchmark, runs, table_sizes)
    tables = [
        replace(table, rankings=rank(table.rows, table.metrics, by_looks))
        for table in with_guidelines(tables)
    ]
    balance = balance_table(tables)
    tables += [*beside_tables(tables), *([balance] if balance else [])]
    systems = tuple(dict.fromkeys(record.case.system for record in records))
    startup = tuple(_startup_tables(records))
    shown = tuple(tables), tuple(records), tuple(table_sizes)
    comparison = Comparison(*shown, systems, states, by=by, startup=startup, configurations=unlike)
    return replace(comparison, blocks=blocks, races=raced, decided=by_looks, machines=machines(all_records))


def _by_attribute(records: Sequence[Record], by: str) -> Sequence[Record]:
    """The records, those with one value of the attribute together; those without it last."""
    if not by:
        return records
    levels = grouped(records, lambda record: record.attributes.get(by))
    without = levels.pop(None, [])
    return [*chain.from_iterable(levels.values()), *without]


def _tables(benchmark: str, runs: Sequence[Record], sizes: Sequence[int]) -> list[Table]:
    """A table for each label of a series that any run printed, baselines last; an empty table if none did."""
    printed = _by_label(runs) or {benchmark: []}
    labels = sorted(printed, key=lambda label: is_baseline(runs[0].suite, label))
    return [_table(benchmark, label, runs, printed[label], sizes) for label in labels]


def _by_label(runs: Iterable[Record]) -> dict[str, list[Printed]]:
    """What complete runs printed."""
    pairs = ((run, series) for run in runs if run.status == OK for series in run.series)
    return grouped(pairs, lambda pair: pair[1].label)


def _table(
    benchmark: str, label: str, runs: Sequence[Record], printed: Sequence[Printed], sizes: Sequence[int]
) -> Table:
    suite = runs[0].suite
    sound = [(run, series) for run, series in printed if run.sound]
    metrics = choose_metrics(suite, [series for _, series in sound], sizes) if sound else ()
    bounded = (pair for pair in sound if pair[0].line_rate and pair[1].columns.get("bandwidth"))
    if any(link_bound(*pair) for pair in bounded):
        metrics = (*metrics, fraction_of_line_rate(suite, sound[0][1].benchmark))
    rows = with_settings_notes(with_monotony(_rows(label, runs, printed, metrics), suite))
    return Table(benchmark, label, suite, metrics, tuple(rows), ())


def _startup_tables(records: Sequence[Record]) -> Iterator[Table]:
    """A table for each benchmark with runs that recorded how long their ranks took to start.

    No ranking, answer or test of other metrics takes part in it. Runs that count and did not record it are
    left out.
    """
    for benchmark, runs in grouped(records, lambda record: record.case.benchmark).items():
        if any(run.startup for run in runs):
            alone = [run for run in runs if run.startup or not run.sound]
            printed = [(run, series) for run in alone if run.status == OK for series in startup_series(run)]
            rows = _rows(START_UP, alone, printed, STARTUP_METRICS)
            yield Table(benchmark, START_UP, "", STARTUP_METRICS, tuple(map(_without_values, rows)), ())


def startup_series(run: Record) -> tuple[Series, ...]:
    """The start-up as if the benchmark had printed it."""
    columns: dict[str, list[float | None]] = {name: [value] for name, value in run.startup.items()}
    ranks = columns.pop(RANKS, [None])[0]
    return (Series(START_UP, int(ranks), columns),) if ranks else ()


def _without_values(row: Row) -> Row:
    """The row of start-up; its cells and the runs have the values."""
    series = Series(row.label, row.ranks, {})
    return replace(row, curves=tuple((run, series) for run, _ in row.curves))


def _rows(
    label: str, runs: Sequence[Record], printed: Iterable[Printed], metrics: Sequence[Metric]
) -> list[Row]:
    """``printed``: the series of this label, with their runs."""
    rows = []
    of_cases = grouped(printed, lambda pair: pair[0].case)
    for case, of_case in grouped(runs, lambda record: record.case).items():
        of_case = sorted(of_case, key=lambda record: record.repeat)
        of_ranks = grouped(of_cases.get(case, ()), lambda pair: pair[1].ranks) or {None: []}
        for ranks in sorted(of_ranks, key=lambda ranks: ranks or 0):
            rows.append(_row(label, ranks, of_case, of_ranks[ranks], metrics))
    return rows


def _row(
    label: str,
    ranks: int | None,
    runs: Sequence[Record],
    printed: Iterable[Printed],
    metrics: Sequence[Metric],
) -> Row:
    series_of = {id(run): series for run, series in reversed([*printed])}  # the first of a run counts
    sound = tuple((run, series_of[id(run)]) for run in runs if run.sound and id(run) in series_of)
    shown = {id(run) for run in with_values(runs)}
    curves = tuple(pair for pair in sound if id(pair[0]) in shown) or sound
    cells = tuple(_cell(metric, curves) for metric in metrics)
    stretches, found_in_values = find(metrics, curves)
    doubts = value_notes(runs, curves)
    notes = (*run_notes(runs, sound), *found_in_values, *doubts)
    return Row(runs[0].case, label, ranks, tuple(runs), curves, cells, notes, stretches)


def _cell(metric: Metric, curves: Sequence[tuple[Record, Series]]) -> Cell:
    by_repeat = readings(metric, curves)
    sizes = tuple(r.size for r in by_repeat.values() if r.size is not None) if metric.size is None else ()
    bounds = [link_bound(run, series) for run, series in curves] if metric.bound else []
    bound = next((bound for bound in bounds if bound), None)
    return Cell.of(metric, {repeat: reading.value for repeat, reading in by_repeat.items()}, sizes, bound)
