"""Tables as data: typed columns for CSV, JSON and Parquet alike, in SI units.

What is missing is ``None``, never 0. A column's name holds its unit; ``[unit]`` means the unit that the
column ``unit`` names, since metrics of several dimensions are in one table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mpicampaign.base import records
from mpicampaign.base.text import visible
from mpicampaign.collect.observed_software import PROGRAM
from mpicampaign.compare.rows import Row
from mpicampaign.compare.states import States
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.machine.say_tables import members_grid
from mpicampaign.show.cells import MetricCell, metric_cell
from mpicampaign.show.document import Grid, Kind, Value
from mpicampaign.show.sentences import note_text
from mpicampaign.show.view import DEFAULT, View


class Column(NamedTuple):
    """A name with its unit, the type of its values, and the function that gets the value of a line."""

    name: str
    kind: Kind
    value: Callable[[MetricCell], Value]


def plain_name(column: str) -> str:
    """The column's name without its unit."""
    return column.split(" [")[0]


def data_grid(comparison: Comparison, view: View) -> Grid:
    """All tables as one: a line for each row and metric, or for each member of a machine."""
    if comparison.machines and not comparison.tables:
        return members_grid(comparison.machines)
    return long_data(comparison, view)


# A line for each row and metric


def _at(name: str, kind: Kind, path: str) -> Column:
    """What is at these attributes of a line; ``None`` where one of them is missing, or no number."""

    def value(line: MetricCell) -> Value:
        found = _follow(line, path)
        if isinstance(found, float) and not math.isfinite(found):
            return None
        return (
            visible(found) if isinstance(found, str) else found if isinstance(found, (int, float)) else None
        )

    return Column(name, kind, value)


def _measured(name: str, path: str) -> Column:
    """A value of the metric's dimension; ``path``: its attributes from the line."""

    def value(line: MetricCell) -> Value:
        found = _follow(line, path)
        if line.cell is None or not isinstance(found, (int, float)):
            return None
        return found

    return Column(name, float, value)


def _follow(found: object, path: str) -> object:
    for attribute in path.split("."):
        found = getattr(found, attribute, None)
    return found


def _runs(name: str, counted: str, of: str) -> Column:
    """How many runs of a row are in a state; ``of``: its verdicts or its conditions."""
    return Column(name, int, lambda line: getattr(line.row, of).get(counted, 0))


def _observed(name: str, key: str) -> Column:
    """What the runs that count recorded; they agree, since others are not averaged."""

    def value(line: MetricCell) -> Value:
        known = {run.metadata[key] for run, _ in line.row.curves if key in run.metadata}
        return ", ".join(sorted(known)) or None

    return Column(name, str, value)


def _rate(line: MetricCell) -> float | None:
    """The bound of a fraction."""
    return line.cell.bound if line.cell else None


def _notes(line: MetricCell) -> str:
    return visible("; ".join(note_text(note, line.view) for note in line.row.notes))


def _busy_machine(row: Row) -> str:
    """What becomes of disturbed runs, as in the campaign file."""
    return records.RANKED if any(run.ranks_busy for run in row.records) else records.UNRANKED


# Which metric of which row it is: a line needs these.
_NAMES = (
    _at("system", str, "row.case.system"),
    _at("host_group", str, "row.case.host_group"),
    _at("placement", str, "row.case.placement"),
    _at("benchmark", str, "row.case.benchmark"),
    _at("series", str, "row.label"),
    _at("ranks", int, "row.ranks"),
    _at("metric", str, "cell.metric.name"),
    _at("size [B]", int, "cell.metric.size"),
    Column("unit", str, lambda line: line.cell.metric.dimension.si_unit if line.cell else None),
)
_N = Column("n", int, lambda line: line.cell.n if line.cell else 0)
_IS_RANKED = (_at("disturbed", bool, "row.disturbed"), _at("ranked", bool, "row.ranked"))
COLUMNS = (
    *_NAMES,
    _at("runs_planned", int, "row.planned"),
    _at("runs_counted", int, "row.counted"),
    _N,
    _measured("median [unit]", "cell.summary.median"),
    _measured("interval_low [unit]", "cell.summary.interval.low"),
    _measured("interval_high [unit]", "cell.summary.interval.high"),
    _at("interval_coverage [1]", float, "cell.summary.interval.coverage"),
    _measured("mean [unit]", "cell.summary.mean"),
    _measured("minimum [unit]", "cell.summary.minimum"),
    _measured("maximum [unit]", "cell.summary.maximum"),
    Column("line_rate_bound [B/s]", float, _rate),
    _runs("runs_verified", records.VERIFIED, "verdicts"),
    _runs("runs_verified_against_declared_topology", records.DECLARED, "verdicts"),
    _runs("runs_unverified", records.UNVERIFIED, "verdicts"),
    _runs("runs_contradicted", records.CONTRADICTED, "verdicts"),
    _runs("runs_quiet", records.QUIET, "conditions"),
    _runs("runs_disturbed", records.DISTURBED, "conditions"),
    _runs("runs_not_judged", records.NOT_JUDGED, "conditions"),
    *_IS_RANKED,
    Column("busy_machine", str, lambda line: _busy_machine(line.row)),
    _at("missing_because", str, "absence"),
    Column("notes", str, _notes),
)
# What a row's block design says of it: against the reference, or of its blocks.
BLOCK_COLUMNS = (
    _at("block_design", str, "blocks.design"),
    _at("reference", str, "blocks.reference"),
    Column("blocks_complete", int, lambda line: len(line.blocks.blocks) if line.blocks else None),
    _at("blocks_disturbed", bool, "blocks.disturbed"),
    _at("ratio_in_blocks [1]", float, "in_blocks.ratio.median"),
    _at("ratio_low [1]", float, "in_blocks.ratio.interval.low"),
    _at("ratio_high [1]", float, "in_blocks.ratio.interval.high"),
    _at("blocks_p [1]", float, "in_blocks.pair.p"),
    _at("blocks_verdict", str, "in_blocks.word"),
    Column(
        "blocks_better_than",
        str,
        lambda line: "; ".join(line.blocks.better_than(line.row)) if line.blocks else None,
    ),
)
_IDENTITY = (
    Column("identity", str, lambda line: next((run.identity for run in line.row.records), None) or None),
    _observed("program_checksum", PROGRAM),
    _observed("mpi_library_checksum", records.MPI_LIBRARY),
    Column(
        "newest_run", str, lambda line: max((run.ended for run, _ in line.row.curves), default="") or None
    ),
)


def long_data(
    comparison: Comparison,
    view: View = DEFAULT,
    *,
    with_identity: bool = False,
) -> Grid:
    """One line for each row and metric.

    Parameters
    ----------
    with_identity : adds what tells whether values that were written at two times are of one measurement
    """
    chosen = [*COLUMNS, *(BLOCK_COLUMNS if comparison.blocks else ())]
    several = any(row.case.library for table in comparison.tables for row in table.rows)
    chosen += [_at("mpi_library", str, "row.case.library")] if several else []
    chosen += _IDENTITY if with_identity else ()
    if (states := comparison.states).names:
        chosen.append(Column("machine_state", str, lambda line: _states_of(line.row, states)))
    if view.by:
        chosen.append(Column(view.by, str, lambda line: visible(line.row.attributes.get(view.by, ""))))
    lines = tuple(tuple(column.value(line) for column in chosen) for line in _lines(comparison, view))
    header = tuple(column.name for column in chosen)
    return Grid("", len(_NAMES), header, lines, kinds=tuple(column.kind for column in chosen))


def _states_of(row: Row, states: States) -> str:
    """Those of its machine, while its runs with values ran."""
    return visible(", ".join(dict.fromkeys(states.name_of(run) for run, _ in row.curves)))


def _lines(comparison: Comparison, view: View) -> Iterator[MetricCell]:
    for row in (row for table in comparison.with_startup.tables for row in table.rows):
        metrics = [cell.metric for cell in row.cells if row.shows(cell.metric)]
        for metric in metrics:
            in_blocks = (one for one in comparison.blocks if one.metric == metric)
            own = next((one for one in in_blocks if one.place_of(row) is not None), None)
            yield metric_cell(row, metric, view)._replace(blocks=own)
        if not metrics:
            yield MetricCell(row, None, view)
