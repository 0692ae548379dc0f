"""Dot plots: a line for each host group and placement, a point for each repeat, range, median and mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.metrics import printed_sizes
from mpicampaign.dimension import TIME
from mpicampaign.records import VERIFIED
from mpicampaign.show.charts.beside import lines_of, published_text
from mpicampaign.show.charts.curves import column_of
from mpicampaign.show.charts.looks import COLOURS
from mpicampaign.show.charts.model import Axis, Dot, DotCell, DotChart, DotColumn
from mpicampaign.show.charts.scales import scale_for
from mpicampaign.show.charts.scene import LONGEST, kind_of, left_out, repeats_of
from mpicampaign.show.sentences import absence
from mpicampaign.show.view import quantity
from mpicampaign.text import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Table
    from mpicampaign.show.charts.beside import DotLine
    from mpicampaign.show.charts.scene import Scene

_COLUMNS = 4  # at most so many side by side
_MOST_GROUPS = len(COLOURS)  # host groups of a list; a drawing of more has them side by side
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
    lines = lines_of(scene, table, metrics)
    axis = _axis(scene, lines, metrics, "", logarithmic=True)
    if axis is None:
        return None
    columns = tuple(
        _column(lines, metric, axis, metric.name.removeprefix(f"{name} ").removesuffix(f" {name}"))
        for metric in metrics
    )
    maximum = " and maximum" if metrics[-1].size is None else ""
    title = f"{table.title}: {name} at the table sizes{maximum}"
    caption = f"{repeats_of(table.rows).capitalize()}; logarithmic axis, the same in all columns."
    return _chart(scene, table, lines, metrics, columns, (title, caption, f"{title}. "))


def _one(scene: Scene, table: Table, metric: Metric, logarithmic: bool | None) -> DotChart | None:
    lines = lines_of(scene, table, [metric])
    axis = _axis(scene, lines, [metric], metric.name, logarithmic)
    if axis is None:
        return None
    column = _column(lines, metric, axis, "")
    kind = "Logarithmic axis" if axis.scale.logarithmic else "The axis begins at 0"
    caption = f"n: repeats with a value of those planned. {kind}."
    said = (f"{table.title}: {metric.name} by placement", caption, f"{metric.name}: ")
    return _chart(scene, table, lines, [metric], (column,), said)


def _chart(
    scene: Scene,
    table: Table,
    lines: Sequence[DotLine],
    metrics: Sequence[Metric],
    columns: tuple[DotColumn, ...],
    said: tuple[str, str, str],
) -> DotChart:
    """``said``: the title, and the starts of the caption and of the alternative text."""
    title, caption, alt = said
    rows = tuple(line.shown for line in lines)
    caption += _without_place(lines, columns) + left_out(scene, table.rows) + published_text(lines)
    alt += "; ".join(_line_text(scene, line, metrics) for line in lines)
    upright = len({row.place for row in rows}) > _MOST_GROUPS
    return DotChart(title, caption, alt, rows, columns, upright)


def _has_sizes(table: Table) -> bool:
    return bool(printed_sizes(series for row in table.rows for _, series in row.curves))


def _axis(
    scene: Scene, lines: Sequence[DotLine], metrics: Sequence[Metric], name: str, logarithmic: bool | None
) -> Axis | None:
    """One axis for all metrics, of one dimension; without a name, its label is the unit."""
    dimension = metrics[0].dimension
    unit = scene.unit_of(dimension)
    cells = [line.row.cell(metric) for metric in metrics for line in lines if line.row]
    values = [value for cell in cells for value in cell.values]
    values += [value for metric in metrics for line in lines for value in line.values(metric)]
    # With zeros among the values, median and mean can be smaller than all that a logarithmic axis shows.
    values += [value for cell in cells if (s := cell.summary) for value in (s.median, s.mean)]
    scale = scale_for([value / unit.size for value in values], logarithmic)
    return Axis(name, dimension, unit, scale) if scale else None


def _column(lines: Sequence[DotLine], metric: Metric, axis: Axis, title: str) -> DotColumn:
    return DotColumn(title, axis, tuple(_cell(line, metric, axis) for line in lines))


def _cell(line: DotLine, metric: Metric, axis: Axis) -> DotCell:
    published = line.values(metric)
    if line.row is None:
        shown = "; ".join(axis.text(value) for value in published)
        alone = f"{shown}  (published)" if shown else NOT_PRINTED
        return DotCell((), None, alone if axis.name else "", published)
    cell = line.row.cell(metric)
    plain = {run.repeat for run, _ in line.row.curves if run.verdict == VERIFIED and not run.disturbed}
    pairs = zip(cell.values, cell.repeats, strict=True)
    dots = tuple(Dot(value, repeat not in plain) for value, repeat in pairs)
    beside: Callable[..., str] = _beside if axis.name else _instead
    return DotCell(dots, cell.summary, beside(line.row, metric, axis), published)


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


def _without_place(lines: Sequence[DotLine], columns: Sequence[DotColumn]) -> str:
    """Which rows have zeros that the axis cannot show; empty where there are none."""
    names = [
        _name(line)
        for index, line in enumerate(lines)
        if not all(column.across.shows(dot.value) for column in columns for dot in column.cells[index].dots)
    ]
    return f" Zero, which a logarithmic axis cannot show: {', '.join(names)}." if names else ""


def _line_text(scene: Scene, line: DotLine, metrics: Sequence[Metric]) -> str:
    """Medians and published values."""
    summaries = [line.row.cell(metric).summary for metric in metrics] if line.row else []
    own = [
        quantity(summary.median, metric.dimension, scene.unit) if summary else "no value"
        for summary, metric in zip(summaries, metrics, strict=bool(line.row))
    ]
    published = [
        quantity(value, metric.dimension, scene.unit) for metric in metrics for value in line.values(metric)
    ]
    said = [", ".join(own)] if any(summaries) else [] if published else ["has no value"]
    return " ".join([_name(line), *said, *([f"(published: {', '.join(published)})"] if published else [])])


def _name(line: DotLine) -> str:
    return f"{clip(line.shown.place, LONGEST)} {clip(line.shown.label, LONGEST)}"
