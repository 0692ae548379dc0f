"""Dot plots: a row for each host group and placement, a point for each repeat, range, median and mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.dimension import TIME
from mpicampaign.base.records import DISTURBED, VERIFIED
from mpicampaign.base.text import clip
from mpicampaign.compare.metrics import Metric, printed_sizes
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.charts.curves import column_of
from mpicampaign.show.charts.model import Axis, Dot, DotCell, DotChart, DotColumn, DotRow
from mpicampaign.show.charts.scene import LONGEST, Scene, kind_of, left_out, repeats_of
from mpicampaign.show.runs import offered
from mpicampaign.show.sentences import absence

_COLUMNS = 4  # at most so many side by side
NOT_PRINTED = "not printed"


def latency(scene: Scene, table: Table) -> DotChart | None:
    """The first time that the table shows, on a logarithmic axis, with its value as text."""
    metric = next((metric for metric in table.metrics if metric.dimension == TIME), None)
    if metric is None or not _has_sizes(table):
        return None
    return _one(scene, table, metric, logarithmic=True)


def single_metrics(scene: Scene, table: Table) -> Iterator[DotChart]:
    """One chart for each headline metric of a benchmark without sizes, such as HPL."""
    if _has_sizes(table):
        return
    for metric in table.metrics:
        chart = _one(scene, table, metric, None) if metric.headline else None
        if chart is not None:
            yield chart


def at_sizes(scene: Scene, table: Table) -> DotChart | None:
    """Bandwidth at the table sizes and its maximum side by side, or time where no bandwidth is printed."""
    name = column_of(table)
    metrics = [m for m in table.metrics if m.column == name and not (m.bound or m.baseline)]
    if not _has_sizes(table) or len(metrics) < 2:
        return None
    metrics = [*metrics[: _COLUMNS - 1], metrics[-1]]  # the maximum comes last
    rows = _rows_of(scene, table)
    axis = _axis(scene, rows, metrics, "", logarithmic=True)
    if axis is None:
        return None
    columns = tuple(
        _column(rows, metric, axis, metric.name.removeprefix(f"{name} ").removesuffix(f" {name}"))
        for metric in metrics
    )
    maximum = " and maximum" if metrics[-1].size is None else ""
    title = f"{table.title}: {name} at the table sizes{maximum}"
    caption = f"{repeats_of(table.rows).capitalize()}; logarithmic axis, the same in all columns."
    return _chart(scene, table, rows, metrics, columns, (title, caption, f"{title}. "))


def _one(scene: Scene, table: Table, metric: Metric, logarithmic: bool | None) -> DotChart | None:
    rows = _rows_of(scene, table)
    axis = _axis(scene, rows, [metric], metric.name, logarithmic)
    if axis is None:
        return None
    column = _column(rows, metric, axis, "")
    kind = "Logarithmic axis" if axis.scale.logarithmic else "The axis begins at 0"
    caption = f"n: repeats with a value of those planned. {kind}."
    said = (f"{table.title}: {metric.name} by placement", caption, f"{metric.name}: ")
    return _chart(scene, table, rows, [metric], (column,), said)


def _chart(
    scene: Scene,
    table: Table,
    rows: Sequence[DotRow],
    metrics: Sequence[Metric],
    columns: tuple[DotColumn, ...],
    said: tuple[str, str, str],
) -> DotChart:
    """``said``: the title, and the starts of the caption and of the alternative text."""
    title, caption, alt = said
    caption += _without_place(rows, columns) + left_out(scene, table.rows)
    alt += "; ".join(_row_text(scene, row, metrics) for row in rows)
    return DotChart(title, caption, alt, tuple(rows), columns, folded=True)


def _has_sizes(table: Table) -> bool:
    return bool(printed_sizes(series for row in table.rows for _, series in row.curves))


def _axis(
    scene: Scene, rows: Sequence[DotRow], metrics: Sequence[Metric], name: str, logarithmic: bool | None
) -> Axis | None:
    """One axis for all metrics, of one dimension; without a name, its label is the unit."""
    cells = [row.row.cell(metric) for metric in metrics for row in rows]
    values = [value for cell in cells for value in cell.values]
    # With zeros among the values, median and mean can be smaller than all that a logarithmic axis shows.
    values += [value for cell in cells if (s := cell.summary) for value in (s.median, s.mean)]
    return scene.axis(name, metrics[0].dimension, values, logarithmic)


def _column(rows: Sequence[DotRow], metric: Metric, axis: Axis, title: str) -> DotColumn:
    cells = []
    for row in rows:
        cell, curves = row.row.cell(metric), row.row.curves
        plain = {run.repeat for run, _ in curves if run.verdict == VERIFIED and run.condition != DISTURBED}
        pairs = zip(cell.values, cell.repeats, strict=True)
        dots = tuple(Dot(value, repeat not in plain) for value, repeat in pairs)
        text = (_beside if axis.name else _instead)(row.row, metric, axis)
        cells.append(DotCell(dots, cell.summary, text))
    return DotColumn(title, axis, tuple(cells))


def _beside(row: Row, metric: Metric, axis: Axis) -> str:
    """The median beside its bar, or why there is none."""
    cell = row.cell(metric)
    if cell.summary is None:
        return absence(row.absence) or NOT_PRINTED
    modes = ", several modes" if row.has_modes_in(metric) else ""
    return f"{axis.text(cell.summary.median)}  (n {cell.n}/{row.planned}{modes})"


def _instead(row: Row, metric: Metric, axis: Axis) -> str:
    """The text where nothing can be drawn: the kind of absence, or the median off the axis."""
    summary = row.cell(metric).summary
    if summary is None:
        return kind_of(row.absence)
    return "" if axis.shows(summary.median) else axis.text(summary.median)


def _without_place(rows: Sequence[DotRow], columns: Sequence[DotColumn]) -> str:
    """Which rows have zeros that the axis cannot show; empty where there are none."""
    names = [
        _name(row)
        for index, row in enumerate(rows)
        if not all(column.across.shows(dot.value) for column in columns for dot in column.cells[index].dots)
    ]
    return f" Zero, which a logarithmic axis cannot show: {', '.join(names)}." if names else ""


def _row_text(scene: Scene, row: DotRow, metrics: Sequence[Metric]) -> str:
    """The medians."""
    summaries = [row.row.cell(metric).summary for metric in metrics]
    own = [
        scene.view.quantity(summary.median, metric.dimension) if summary else "no value"
        for summary, metric in zip(summaries, metrics, strict=True)
    ]
    return f"{_name(row)} {', '.join(own) if any(summaries) else 'has no value'}"


def _name(row: DotRow) -> str:
    return f"{clip(row.place, LONGEST)} {clip(row.label, LONGEST)}"


def _rows_of(scene: Scene, table: Table) -> list[DotRow]:
    """The table's rows but those not available."""
    return [
        DotRow(
            scene.place(row), scene.label(table, row), scene.look(table, row) if row.counted else None, row
        )
        for row in offered(table)
    ]
