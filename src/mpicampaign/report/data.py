"""Tables as data: typed columns for CSV, JSON and Parquet alike, in SI units unless others are asked for.

What is missing is ``None``, never 0. A column's name holds its unit; ``[unit]`` means the unit that the
column ``unit`` names, since metrics of several dimensions are in one table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base import records
from mpicampaign.base.dimension import BANDWIDTH
from mpicampaign.base.text import visible
from mpicampaign.collect.observed import PROGRAM
from mpicampaign.questions.machine.say_tables import members_grid
from mpicampaign.show.cells import MetricCell, change_verdict, metric_cell
from mpicampaign.show.document import Grid
from mpicampaign.show.sentences import absence, note_text
from mpicampaign.show.tables import chosen_matrices
from mpicampaign.show.view import DEFAULT, MATRIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.compare.matrix import Matrix
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.states import States
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.questions.two_sides.find_changes import Changes
    from mpicampaign.show.document import Kind, Value
    from mpicampaign.show.view import View


class Column(NamedTuple):
    """A name with its unit, the type of its values, and the function that gets the value of a line."""

    name: str
    kind: Kind
    value: Callable[[MetricCell], Value]


def plain_name(column: str) -> str:
    """The column's name without its unit."""
    return column.split(" [")[0]


def data_grid(comparison: Comparison, view: View, changes: Changes | None = None) -> Grid:
    """All tables as one, in the layout of the view."""
    if comparison.machines and not comparison.tables:
        return members_grid(comparison.machines)
    if view.layout == MATRIX:
        found = [one for table in comparison.tables for one in chosen_matrices(comparison, table, view)]
        return matrix_data(found, view, changes)
    return long_data(comparison, view, changes)


# Long layout: a line for each row and metric


def _text(name: str, value: Callable[[MetricCell], str]) -> Column:
    return Column(name, str, lambda line: visible(value(line)))


def _of_cell(name: str, value: Callable[[Cell], Value], kind: Kind) -> Column:
    return Column(name, kind, lambda line: None if line.cell is None else value(line.cell))


def _measured(name: str, path: str) -> Column:
    """A value of the metric's dimension; ``path``: its attributes from the line."""

    def value(line: MetricCell) -> Value:
        found = _follow(line, path)
        if line.cell is None or not isinstance(found, (int, float)):
            return None
        return line.view.value(found, line.cell.metric.dimension)

    return Column(name, float, value)


def _follow(found: object, path: str) -> object:
    for attribute in path.split("."):
        found = getattr(found, attribute, None)
    return found


def _runs(name: str, verdict: str) -> Column:
    return Column(name, int, lambda line: line.row.verdicts.get(verdict, 0))


def _condition(name: str, condition: str) -> Column:
    return Column(name, int, lambda line: line.row.conditions.get(condition, 0))


def _coverage(cell: Cell) -> float | None:
    return cell.summary.interval.coverage if cell.summary and cell.summary.interval else None


def _rate(cell: Cell | None, view: View) -> float | None:
    """The bound of a fraction."""
    return None if cell is None or cell.bound is None else view.value(cell.bound, BANDWIDTH)


def _notes(line: MetricCell) -> str:
    return "; ".join(note_text(note, line.view) for note in line.row.notes)


def _busy_machine(row: Row) -> str:
    """What becomes of disturbed runs, as in the campaign file."""
    return records.RANKED if any(run.ranks_busy for run in row.records) else records.UNRANKED


# Which metric of which row it is: a line needs these.
_NAMES = (
    _text("system", lambda line: line.row.case.system),
    _text("host_group", lambda line: line.row.case.host_group),
    _text("placement", lambda line: line.row.case.placement),
    _text("benchmark", lambda line: line.row.case.benchmark),
    _text("series", lambda line: line.row.label),
    Column("ranks", int, lambda line: line.row.ranks),
    _of_cell("metric", lambda cell: cell.metric.name, str),
    _of_cell("size [B]", lambda cell: cell.metric.size, int),
    Column("unit", str, lambda line: line.view.data_unit(line.cell.metric.dimension) if line.cell else None),
)
COLUMNS = (
    *_NAMES,
    Column("runs_planned", int, lambda line: line.row.planned),
    Column("runs_counted", int, lambda line: line.row.counted),
    Column("n", int, lambda line: line.cell.n if line.cell else 0),
    _measured("median [unit]", "cell.summary.median"),
    _measured("interval_low [unit]", "cell.summary.interval.low"),
    _measured("interval_high [unit]", "cell.summary.interval.high"),
    _of_cell("interval_coverage [1]", _coverage, float),
    _measured("mean [unit]", "cell.summary.mean"),
    _measured("minimum [unit]", "cell.summary.minimum"),
    _measured("maximum [unit]", "cell.summary.maximum"),
    Column("line_rate_bound [B/s]", float, lambda line: _rate(line.cell, line.view)),
    _runs("runs_verified", records.VERIFIED),
    _runs("runs_verified_against_declared_topology", records.DECLARED),
    _runs("runs_unverified", records.UNVERIFIED),
    _runs("runs_contradicted", records.CONTRADICTED),
    _condition("runs_quiet", records.QUIET),
    _condition("runs_disturbed", records.DISTURBED),
    _condition("runs_not_judged", records.NOT_JUDGED),
    Column("disturbed", bool, lambda line: line.row.disturbed),
    Column("ranked", bool, lambda line: line.row.ranked),
    _text("busy_machine", lambda line: _busy_machine(line.row)),
    _text("missing_because", lambda line: line.absence),
    _text("notes", _notes),
)


def _of_blocks(name: str, kind: Kind, path: str) -> Column:
    """What a row's block design says of it: against the reference, or of its blocks."""
    return Column(name, kind, lambda line: _plain_value(_follow(line, path)))


def _plain_value(found: object) -> Value:
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found if isinstance(found, (str, int, float)) else None


def _better_than(line: MetricCell) -> Value:
    return "; ".join(line.blocks.better_than(line.row)) if line.blocks else None


BLOCK_COLUMNS = (
    _of_blocks("block_design", str, "blocks.design"),
    _of_blocks("reference", str, "blocks.reference"),
    Column("blocks_complete", int, lambda line: len(line.blocks.blocks) if line.blocks else None),
    _of_blocks("blocks_disturbed", bool, "blocks.disturbed"),
    _of_blocks("ratio_in_blocks [1]", float, "in_blocks.ratio.median"),
    _of_blocks("ratio_low [1]", float, "in_blocks.ratio.interval.low"),
    _of_blocks("ratio_high [1]", float, "in_blocks.ratio.interval.high"),
    _of_blocks("blocks_p [1]", float, "in_blocks.pair.p"),
    _of_blocks("blocks_verdict", str, "in_blocks.word"),
    Column("blocks_better_than", str, _better_than),
)

# Where a system has several.
_LIBRARY = _text("mpi_library", lambda line: line.row.case.library)


def _observed(name: str, key: str) -> Column:
    """What the runs that count recorded; they agree, since others are not averaged."""

    def value(line: MetricCell) -> Value:
        return (
            ", ".join(sorted({run.metadata[key] for run, _ in line.row.curves if key in run.metadata}))
            or None
        )

    return Column(name, str, value)


_IDENTITY = (
    Column("identity", str, lambda line: next((run.identity for run in line.row.records), None) or None),
    _observed("program_checksum", PROGRAM),
    _observed("mpi_library_checksum", records.MPI_LIBRARY),
    Column(
        "newest_run", str, lambda line: max((run.ended for run, _ in line.row.curves), default="") or None
    ),
)


def _change(name: str, kind: Kind, path: str) -> Column:
    def value(line: MetricCell) -> Value:
        found = _follow(line.change, path)
        return found if isinstance(found, (str, int, float)) else None

    return Column(name, kind, value)


CHANGE_COLUMNS = (
    _change("earlier_n", int, "before.n"),
    _measured("earlier_median [unit]", "change.before.summary.median"),
    _change("ratio_to_earlier_median [1]", float, "ratio"),
    _change("change_p [1]", float, "pair.p"),
    _change("change_significant", bool, "pair.shown"),
    Column("change_verdict", str, lambda line: change_verdict(line.change) if line.change else None),
)


def long_data(
    comparison: Comparison,
    view: View = DEFAULT,
    changes: Changes | None = None,
    *,
    with_identity: bool = False,
) -> Grid:
    """One line for each row and metric.

    Parameters
    ----------
    view : its columns are names without units, in the order in which they are shown behind those that say
        which row and metric it is; all where empty
    changes : adds how the values differ from those of an earlier series
    with_identity : adds what tells whether values that were written at two times are of one measurement
    """
    named = {plain_name(column.name): column for column in (*COLUMNS, *CHANGE_COLUMNS, *BLOCK_COLUMNS)}
    every = (*COLUMNS, *CHANGE_COLUMNS) if changes is not None else COLUMNS
    if comparison.blocks:
        every = (*every, *BLOCK_COLUMNS)
    if any(row.case.library for table in comparison.tables for row in table.rows):
        every = (*every, _LIBRARY)
    if with_identity:
        every = (*every, *_IDENTITY)
    if comparison.states.names:
        every = (*every, _text("machine_state", lambda line: _states_of(line.row, comparison.states)))
    if view.by:
        every = (*every, _text(view.by, lambda line: line.row.attributes.get(view.by, "")))
    asked = dict.fromkeys([*_NAMES, *(named[name] for name in view.columns)])
    chosen = tuple(asked) if view.columns else every
    lines = _lines(comparison, changes, view)
    values = tuple(tuple(column.value(line) for column in chosen) for line in lines)
    header = tuple(_head(column.name, view) for column in chosen)
    return Grid("", len(_NAMES), header, values, kinds=tuple(column.kind for column in chosen))


def _states_of(row: Row, states: States) -> str:
    """Those of its machine, while its runs with values ran."""
    return ", ".join(dict.fromkeys(states.name_of(run) for run, _ in row.curves))


def _head(name: str, view: View) -> str:
    """The name of a column, its bandwidths in the view's unit."""
    return name.replace(f"[{BANDWIDTH.si_unit}]", f"[{view.data_unit(BANDWIDTH)}]")


def _lines(comparison: Comparison, changes: Changes | None, view: View) -> Iterable[MetricCell]:
    for row in (row for table in comparison.with_startup.tables for row in table.rows):
        metrics = [cell.metric for cell in row.cells if row.shows(cell.metric)]
        for metric in metrics:
            in_blocks = (one for one in comparison.blocks if one.metric == metric)
            own = next((one for one in in_blocks if one.place_of(row) is not None), None)
            yield metric_cell(row, metric, view, changes)._replace(blocks=own)
        if not metrics:
            yield MetricCell(row, None, view)


# Matrix layout: a line for each metric and host group, some columns for each placement

_MATRIX_NAMES: dict[str, Kind] = {
    **{"benchmark": str, "series": str, "ranks": int, "metric": str, "size [B]": int, "statistic": str},
    **{"unit": str, "system": str, "host_group": str},
}


def _chosen(line: MetricCell) -> Value:
    """The statistic that is asked for."""
    if line.cell is None or line.cell.summary is None:
        return None
    return line.view.value(line.view.chosen(line.cell.summary), line.cell.metric.dimension)


def _conditions(row: Row) -> str:
    """``5 quiet, 1 disturbed``; with the key that ranks disturbed runs."""
    counts = ", ".join(f"{count} {state}" for state, count in row.conditions.items())
    return f"{counts}; busy_machine: {records.RANKED}" if _busy_machine(row) == records.RANKED else counts


_OF_PLACEMENT = (
    Column("[unit]", float, _chosen),
    Column("n", int, lambda line: line.cell.n if line.cell else 0),
    Column("bound [B/s]", float, lambda line: None if line.reasons else _rate(line.cell, line.view)),
    Column("disturbed", bool, lambda line: line.row.disturbed),
    Column("ranked", bool, lambda line: line.row.ranked),
    Column("condition", str, lambda line: _conditions(line.row)),
    Column("notes", str, lambda line: _notes(line) or line.absence),
)
_SINCE = tuple(each for each in CHANGE_COLUMNS if each.name.startswith(("ratio", "change_verdict")))


def matrix_data(found: Sequence[Matrix], view: View, changes: Changes | None = None) -> Grid:
    """Host groups × placements: of each placement statistic, repeats, bound, condition, notes, change."""
    placements = tuple(dict.fromkeys(placement for one in found for placement in one.placements))
    columns = (*_OF_PLACEMENT, *(_SINCE if changes is not None else ()))
    header = (f"{placement} {_head(column.name, view)}" for placement in placements for column in columns)
    kinds = [column.kind for column in columns] * len(placements)
    lines = tuple(
        (*_matrix_names(one, group, view), *_matrix_values(one, group, placements, columns, view, changes))
        for one in found
        for group in one.host_groups
    )
    names = tuple(_MATRIX_NAMES)
    return Grid("", len(names), (*names, *header), lines, kinds=(*_MATRIX_NAMES.values(), *kinds))


def _matrix_names(one: Matrix, host_group: str, view: View) -> tuple[Value, ...]:
    table, metric = one.table, one.metric
    case = next(row.case for row in (one.row(host_group, p) for p in one.placements) if row is not None)
    names = (visible(table.benchmark), visible(table.label), one.ranks, metric.name, metric.size)
    unit = view.data_unit(metric.dimension)
    return (*names, view.statistic, unit, visible(case.system), visible(case.host_group))


def _matrix_values(
    one: Matrix,
    host_group: str,
    placements: Iterable[str],
    columns: Sequence[Column],
    view: View,
    changes: Changes | None,
) -> Iterable[Value]:
    for placement in placements:
        row = one.row(host_group, placement)
        if row is not None:
            line = metric_cell(row, one.metric, view, changes)
            yield from (column.value(line) for column in columns)
        else:  # the campaign has no such case
            absent = (None, None, None, False, False, "", absence(one.absence(host_group, placement)))
            yield from (*absent, *[None] * (len(columns) - len(absent)))
