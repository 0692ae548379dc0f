"""Results as data: tables of values, medians and answers, in SI units, with the columns of `report.columns`.

What is missing is ``None``, never 0. All texts are of one printable line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from mpicampaign.base import records
from mpicampaign.base.records import OK, UNVERIFIED, Case, Record, Series
from mpicampaign.base.text import in_ranks, visible
from mpicampaign.collect.observed_software import PROGRAM
from mpicampaign.compare.compare import startup_series
from mpicampaign.compare.metrics import Metric, units_printed
from mpicampaign.compare.rows import Row
from mpicampaign.compare.states import States
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.answer import Answer, CandidateRow
from mpicampaign.questions.machine.say import machine_lines
from mpicampaign.questions.machine.say_tables import members_grid
from mpicampaign.questions.over_groups.say import lines_of_few
from mpicampaign.questions.ranking.answer import candidate_of
from mpicampaign.questions.ranking.find import Contestant, Ranking
from mpicampaign.questions.ranking.say import NOT_TESTED, best_placement, verdict
from mpicampaign.report.columns import ANSWERS, COLUMNS, MEDIANS, VALUES
from mpicampaign.report.questions import answers
from mpicampaign.show.cells import MetricCell
from mpicampaign.show.document import Grid, Value
from mpicampaign.show.sentences import note_text
from mpicampaign.show.view import DEFAULT, View

_Line = dict[str, object]
_STATES = {
    "runs_verified": records.VERIFIED,
    "runs_verified_against_declared_topology": records.DECLARED,
    "runs_unverified": UNVERIFIED,
    "runs_contradicted": records.CONTRADICTED,
    "runs_quiet": records.QUIET,
    "runs_disturbed": records.DISTURBED,
    "runs_not_judged": records.NOT_JUDGED,
}
MAY_BE_BEST, WORSE, REFERENCE = "may be best", "worse", "reference"
RANKS = "ranks"  # the question of a scaling


def data_grid(comparison: Comparison, table: str, view: View = DEFAULT) -> Grid:
    """One of the tables of results; in place of the medians of a machine alone, those of its members."""
    if table == MEDIANS and comparison.machines and not comparison.tables:
        return members_grid(comparison.machines)
    return lines_of(comparison, table, view)


def lines_of(comparison: Comparison, table: str, view: View = DEFAULT) -> Grid:
    """One of the tables of results, with its columns in any case."""
    lines = {VALUES: _values, MEDIANS: _medians, ANSWERS: _answers}[table](comparison, view)
    columns = COLUMNS[table]
    return Grid(
        table,
        0,
        tuple(column.name for column in columns),
        tuple(tuple(_plain(line.get(column.name)) for column in columns) for line in lines),
        kinds=tuple(column.kind for column in columns),
    )


def _plain(value: object) -> Value:
    """``None`` for what is empty, or no number."""
    if isinstance(value, str):
        return visible(value) or None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) else None


def _place(case: Case) -> _Line:
    system, host_group = case.machine
    place: _Line = {"system": system, "host_group": host_group, "library": case.library}
    return place | {"placement": case.placement, "benchmark": case.benchmark}


# A line for each run, series, size and metric


def _values(comparison: Comparison, view: View) -> Iterator[_Line]:
    """Of the chosen metrics what they are taken from; without names of metrics all that was printed."""
    for table in comparison.with_startup.tables:
        made_of = {(metric.column, metric.size) for metric in table.metrics} if view.only.metrics else set()
        printed = any(_of_row(table, row, run) for row in table.rows for run in row.records)
        for row in table.rows:
            counted = {run.repeat for run, _ in row.curves}
            for run in row.records:
                of_run = _run(run, comparison.states) | {"series": row.label, "counts": run.repeat in counted}
                if series := _of_row(table, row, run):
                    for line in _printed(run.suite, series):
                        metric, size = line["metric"], line["size"]
                        if not made_of or (metric, size) in made_of or (metric, None) in made_of:
                            yield of_run | line
                elif not run.series and (printed or not row.curves):
                    yield of_run | {"ranks": row.ranks}
    machines = (run for machine in comparison.machines for runs in machine.runs.values() for run in runs)
    for run in {id(run): run for run in machines}.values():  # a pair has two nodes
        of_run = _run(run, comparison.states) | {"counts": run.sound}
        lines = [line | {"series": one.label} for one in run.series for line in _printed(run.suite, one)]
        yield from (of_run | line for line in lines or [{}])


def runs_lines(comparison: Comparison, runs: Sequence[Record]) -> tuple[list[str], Iterator[list[Value]]]:
    """The names of columns, and a line for each run, with its values of the metrics that are ranked."""
    of_case: dict[Case, dict[str, Mapping[int, float]]] = {}
    for table in comparison.tables:
        for row in table.rows:
            ranks = f", {in_ranks(row.ranks)}" if table.several_ranks and row.ranks is not None else ""
            named = {
                f"{row.label}{ranks}: {cell.metric.name} ({cell.metric.dimension.si_unit})": cell
                for cell in row.cells
                if cell.metric.headline
            }
            of_case.setdefault(row.case, {}).update({name: cell.by_repeat for name, cell in named.items()})
    names = list(dict.fromkeys(name for values in of_case.values() for name in values))

    def line_of(run: Record) -> list[Value]:
        values = of_case.get(run.case, {})
        of_run = (values.get(name, {}).get(run.repeat) for name in names)
        return [*map(_plain, (*_run(run, comparison.states).values(), *of_run))]

    return [*_run(runs[0], comparison.states), *names], map(line_of, runs)


def _of_row(table: Table, row: Row, run: Record) -> Series | None:
    printed = run.series if table.suite else startup_series(run)
    return next((one for one in printed if (one.label, one.ranks) == (row.label, row.ranks)), None)


def _run(run: Record, states: States) -> _Line:
    return _place(run.case) | {
        "repeat": run.repeat,
        "status": run.status,
        "reason": run.reason or run.earlier,
        "verdict": (run.verdict or UNVERIFIED) if run.status == OK else None,
        "condition": run.condition if run.status == OK else None,
        "state": states.name_of(run) if states.names and run.status == OK else None,
        "date": run.started,
        "hosts": " ".join(run.hosts),
        "job": run.job_id,
        "identity": run.identity,
        "output": run.files.get("output"),
    }


def _printed(suite: str, series: Series) -> Iterator[_Line]:
    """What a series holds: a value that is missing has no line."""
    sizes = series.columns.get("size")
    for name, unit in units_printed(suite, series).items():
        values = series.columns[name]
        for size, value in zip(sizes or [None] * len(values), values, strict=True):
            if value is not None:
                line: _Line = {
                    "ranks": series.ranks,
                    "metric": name,
                    "size": None if size is None else int(size),
                }
                yield line | {"value": float(value), "unit": unit}


# A line for each row and metric


def _medians(comparison: Comparison, view: View) -> Iterator[_Line]:
    for row in (row for table in comparison.with_startup.tables for row in table.rows):
        of_row = _row(row, comparison.states, view)
        metrics = [cell.metric for cell in row.cells if row.shows(cell.metric)]
        yield from (of_row | _median(row, metric, view) for metric in metrics)
        if not metrics:
            shown = MetricCell(row, None, view)
            yield of_row | {"n": 0, "missing_because": shown.absence}


def _row(row: Row, states: States, view: View) -> _Line:
    named = (states.name_of(run) for run, _ in row.curves) if states.names else ()
    ranked = any(run.ranks_busy for run in row.records)
    return {
        **_place(row.case),
        **{"series": row.label, "ranks": row.ranks},
        **{"runs_planned": row.planned, "runs_counted": row.counted},
        **{column: (row.verdicts | row.conditions).get(state, 0) for column, state in _STATES.items()},
        "disturbed": row.disturbed,
        "ranked": row.ranked,
        "busy_machine": records.RANKED if ranked else records.UNRANKED,
        "state": ", ".join(dict.fromkeys(named)),
        "group": row.attributes.get(view.by),
        "notes": "; ".join(note_text(note, view) for note in row.notes),
        "identity": next((run.identity for run in row.records), None),
        "program_checksum": _observed(row, PROGRAM),
        "mpi_library_checksum": _observed(row, records.MPI_LIBRARY),
        "newest_run": max((run.ended for run, _ in row.curves), default=None),
    }


def _observed(row: Row, key: str) -> str:
    """What the runs that count recorded; they agree, since others are not averaged."""
    return ", ".join(sorted({run.metadata[key] for run, _ in row.curves if key in run.metadata}))


def _median(row: Row, metric: Metric, view: View) -> _Line:
    cell = row.cell(metric)
    line: _Line = {"metric": metric.name, "made_of": metric.column, "size": metric.size, "n": cell.n}
    line |= {"unit": metric.dimension.si_unit, "line_rate_bound": cell.bound}
    line |= {"missing_because": MetricCell(row, cell, view).absence}
    if (summary := cell.summary) is None:
        return line
    line |= {name: getattr(summary, name) for name in ("median", "mean", "minimum", "maximum")}
    if interval := summary.interval:
        line |= {f"interval_{name}": getattr(interval, name) for name in ("low", "high", "coverage")}
    return line


# A line for each candidate of each question


def _answers(comparison: Comparison, view: View) -> Iterator[_Line]:
    """Those of the report's first screen, in its order; an answer without candidates has one line."""
    for answer in answers(comparison, view):
        of_table = {"benchmark": answer.table.benchmark, "series": answer.table.label}
        for ranking in answer.rankings:
            yield from (of_table | line for line in _ranking(ranking, view))
        if not answer.rankings:
            yield from (of_table | line for line in _other(answer))
    for question, said in (
        ("machine", machine_lines(comparison.machines)),
        ("few repeats", lines_of_few(comparison)),
    ):
        for text in said:
            yield {"question": question, "sentence": text}


def _ranking(ranking: Ranking, view: View) -> Iterator[_Line]:
    best, sight = ranking.best, ranking.sight
    sentence = " ".join(best_placement([ranking], (), view)) or verdict(ranking)
    pairs = {
        other.name: pair
        for pair in ranking.pairs
        for one, other in ((pair.better, pair.worse), (pair.worse, pair.better))
        if one is best
    }
    for one in ranking.contestants:
        pair = pairs.get(one.name)
        yield {
            **_candidate(candidate_of(one, best.median, view)),
            **{"question": ranking.kind, "scope": ranking.place, "ranks": ranking.ranks},
            "sentence": sentence,
            "against": best.name if pair else None,
            "p": pair.verdict.p if pair else None,
            "smallest_difference": sight.difference if sight else None,
            "verdict": _word(ranking, one),
        }


def _word(ranking: Ranking, one: Contestant) -> str:
    if not (ranking.judged and one.judged and ranking.pairs):
        return f"{NOT_TESTED}: {one.why or ranking.why_not_judged}" if ranking.pairs else NOT_TESTED
    return MAY_BE_BEST if one.name in ranking.leaders else WORSE


def _other(answer: Answer) -> Iterator[_Line]:
    """In blocks, over the ranks, of disturbed runs, or of one question whose answer is a sentence.

    Over the ranks the fewest come first, of disturbed runs the best.
    """
    about: _Line = {"sentence": " ".join(answer.said), "scope": answer.title}
    blocks = answer.blocks
    if not answer.candidates:
        yield about | {"question": RANKS if answer.scaling else "race", "verdict": answer.real}
    for one in answer.candidates:
        line = about | _candidate(one)
        line |= {"question": RANKS if answer.scaling else "disturbed runs", "verdict": answer.real}
        first = answer.candidates[0]
        line |= {"against": first.name if one is not first and one.ratio is not None else None}
        if blocks:
            place = blocks.names.index(one.name)
            own = next((each for each in blocks.verdicts if (each.other, each.candidate) == (0, place)), None)
            line |= {"question": "blocks", "scope": blocks.design, "n": len(blocks.blocks)}
            line |= {"verdict": own.word if own else REFERENCE if place == 0 else answer.real}
            line |= {"verdict": MAY_BE_BEST} if blocks.best and one.leads else {}
            line |= {"against": blocks.reference if place else None, "p": own.pair.p if own else None}
            line |= {"smallest_difference": blocks.sight.difference if blocks.sight else None}
        yield line


def _candidate(one: CandidateRow) -> _Line:
    cell = one.shown.cell
    line = _place(one.row.case) | {"candidate": one.name, "n": one.repeats, "ranks": one.row.ranks}
    line |= {"ratio": one.ratio, "ratio_low": one.low, "ratio_high": one.high}
    if cell:
        line |= {"metric": cell.metric.name, "unit": cell.metric.dimension.si_unit}
        line |= {"median": cell.summary.median if cell.summary else None}
    return line
