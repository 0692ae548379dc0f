"""The tables of a comparison for readers: each kind is an arrangement of the same cells.

Long: a line for each row, a table for each metric. Brief: a line for each row and metric, as a terminal shows
them. Full: a column for each metric, for reading on. The report's are in `mpicampaign.report.tables`, those
of data in `mpicampaign.report.data`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from mpicampaign.base.records import Case
from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.show import cells
from mpicampaign.show.document import Box, Grid, Line
from mpicampaign.show.runs import condition_note, explained, mark_of, offered
from mpicampaign.show.sentences import absence, brief
from mpicampaign.show.view import View

LONG_COLUMNS = ("n", "median", "interval", "mean", "minimum", "maximum", "at", "bound")
_MOST_LINES = 12  # of published values of a metric in the terminal
_OPTIONAL = ("at", "bound")  # shown only where some row has them


def grids(comparison: Comparison, view: View, *, notes_once: bool = True) -> list[Grid]:
    """The tables that stand alone, a line for each row.

    ``notes_once``: the tables of a benchmark's metrics have their footnotes together, below the last one; if
    not, each also has the condition of its runs.
    """
    found: list[Grid] = []
    for table in comparison.tables:
        marks: dict[str, str] = {}
        of_table = [_long_grid(comparison, table, metric, view, marks) for metric in table.metrics]
        of_table = of_table or [_absent_grid(comparison, table)]
        if notes_once:
            found += _below_the_last(of_table)
            continue
        runs = {id(run): run for row in table.rows for run in row.records}
        notes = [("*", note)] if (note := condition_note(runs.values())) else []
        found += [replace(grid, footnotes=(*grid.footnotes, *notes)) for grid in of_table]
    return found


def _below_the_last(of_table: Sequence[Grid]) -> list[Grid]:
    """The grids, with the footnotes of all below the last: signs such as †, then letters."""
    lines = dict.fromkeys(line for grid in of_table for line in grid.footnotes)
    ordered = sorted(lines, key=lambda line: (line[0].isalpha(), len(line[0]), line[0]))
    bare = [replace(grid, footnotes=()) for grid in of_table]
    return [*bare[:-1], *(replace(grid, footnotes=tuple(ordered)) for grid in bare[-1:])]


# Long


def _long_grid(
    comparison: Comparison, table: Table, metric: Metric, view: View, shared: dict[str, str]
) -> Grid:
    """A line for each row that shows the metric; of `LONG_COLUMNS` all in use."""
    footnotes = Footnotes(shared)
    shown = [cells.MetricCell(row, row.cell(metric), view) for row in table.rows if row.shows(metric)]
    texts = row_texts((one.row.case, text) for one in shown for text in _said(one))
    lines: list[tuple[Line, dict[str, Box]]] = []
    for one in shown:
        said = [texts[one.row.case, text] for text in _said(one)]
        marks = tuple(dict.fromkeys(map(footnotes.mark, said)))
        name = Box(cells.placement_name(table, one.row), () if one.reasons else marks)
        boxes = _cells(one, marks[0] if one.reasons else "")
        lines.append(((comparison.place(one.row), name), boxes))
    used = {name for _, boxes in lines for name, box in boxes.items() if box.text}
    columns = [name for name in LONG_COLUMNS if name not in _OPTIONAL or name in used]
    return Grid(
        f"{table.title}, {metric.name} ({view.unit_of(metric.dimension)})",
        2,
        ("host group", "placement", *columns),
        tuple((*names, *(boxes.get(name, "") for name in columns)) for names, boxes in lines),
        (*explained(one.row for one in shown), *footnotes.lines),
    )


def _said(shown: cells.MetricCell) -> list[str]:
    """What is said of a row: why it has no value, else its notes."""
    return [shown.absence] if shown.reasons else [brief(note, shown.view) for note in shown.row.notes]


def _cells(shown: cells.MetricCell, why: str) -> dict[str, Box]:
    """The cells of a line by their columns; ``why``: the mark of the reason, in place of the first value."""
    if shown.reasons:
        planned = f"{shown.row.counted}/{shown.row.planned}"
        return {"n": Box(planned), "median": cells.absent_box(shown.reasons, why)}
    texts = {"n": shown.n, "interval": shown.interval, "at": shown.at, "bound": shown.bound}
    boxes = {name: Box(text) for name, text in texts.items()}
    return boxes | {name: shown.box(name) for name in cells.STATISTICS}


def _absent_grid(comparison: Comparison, table: Table) -> Grid:
    """The rows of a table without any value, with the reasons."""
    footnotes = Footnotes({})
    texts = row_texts((row.case, absence(row.absence)) for row in table.rows)
    lines = tuple(
        (
            comparison.place(row),
            cells.placement_name(table, row),
            f"{row.counted}/{row.planned}",
            cells.absent_box(row.absence, footnotes.mark(texts[row.case, absence(row.absence)])),
        )
        for row in table.rows
    )
    return Grid(table.title, 2, ("host group", "placement", "n", "values"), lines, footnotes.lines)


# Full


def full_grid(
    comparison: Comparison, table: Table, view: View, write: Callable[[cells.MetricCell], str]
) -> Grid:
    """A line for each row, a column for each metric; ``write``: what stands in a cell."""
    heads = [f"{metric.name} ({view.unit_of(metric.dimension)})" for metric in table.metrics] or ["values"]
    lines = tuple(
        (
            cells.row_name(comparison, table, row),
            f"{row.counted}/{row.planned}",
            *([absence(row.absence)] if row.absence else _full_boxes(row, view, write) or [""]),
        )
        for row in offered(table)
    )
    return Grid("", 1, ("host group, placement", "n", *heads), lines)


def _full_boxes(row: Row, view: View, write: Callable[[cells.MetricCell], str]) -> list[Box | str]:
    found = [cells.MetricCell(row, cell, view) for cell in row.cells]
    return [shown.absence if shown.reasons else Box(write(shown), tuple(mark_of(row))) for shown in found]


def median_text(shown: cells.MetricCell) -> str:
    """``0.25 [0.24, 0.27]``; of a fraction with its bound."""
    bound = f" of {shown.bound}" if shown.bound else ""
    return f"{shown.box('median').text} {shown.interval}".rstrip() + bound


def range_text(shown: cells.MetricCell) -> str:
    """``0.25 (0.24 to 0.27)``: mean and range."""
    mean, low, high = (shown.box(name).text for name in cells.STATISTICS[1:])
    return f"{mean} ({low} to {high})"


# Brief


def brief_grid(comparison: Comparison, table: Table, metrics: Sequence[Metric], view: View) -> Grid:
    """One line for each row and metric of what is shown together, then the published values."""
    lines: list[Sequence[str | Box]] = []
    for row in (row for row in offered(table) if row.shows(metrics[0])):
        names = [comparison.place(row), cells.placement_name(table, row)]
        for metric in metrics if row.counted else metrics[:1]:
            part = metric.part if row.counted and not metric.bound else ""
            lines.append((*names, part, *_brief_boxes(cells.MetricCell(row, row.cell(metric), view))))
            names = ["", ""]
    lines += [line for metric in metrics for line in _published_lines(table, metric, view)]
    header = ("host group", "placement", "", "n", "median", "[interval]", "mean", "min", "max")
    at = "at" if metrics[0].size is None else ""
    return Grid("", 3, (*header, at), tuple(map(tuple, lines)), remarks=1)


def _brief_boxes(shown: cells.MetricCell) -> list[str | Box]:
    """The values, the sizes of a maximum and the bound of a fraction; or why there are none."""
    if shown.reasons:
        return [shown.n, shown.absence]
    bound = f" of {shown.bound}" if shown.bound else ""
    median, *others = map(shown.box, cells.STATISTICS)
    return [shown.n, median, shown.interval, *(str(box.text) for box in others), shown.at + bound]


# Published values


def _published_lines(table: Table, metric: Metric, view: View) -> list[tuple[str, ...]]:
    """In the terminal's table, in the column of the mean; of many the range alone: the report has each."""
    rows = [row for row in table.published if metric in row.values]
    if len(rows) > _MOST_LINES:
        values = [row.values[metric] for row in rows]
        low, high = (view.number(value, metric.dimension) for value in (min(values), max(values)))
        marks = ", ".join(dict.fromkeys(visible(cells.published_mark(row)) for row in rows))
        return [(f"{len(rows)} systems", "", metric.part, "", "", "", "", low, high, marks)]
    return [
        (
            *(visible(row.host_group), visible(row.placement), metric.part, str(row.n), "", ""),
            view.number(row.values[metric], metric.dimension),
            *("", "", visible(cells.published_mark(row))),
        )
        for row in rows
    ]


def published_grid(table: Table, view: View) -> Grid:
    """The published values alone."""
    metrics = [metric for metric in table.metrics if any(metric in row.values for row in table.published)]
    heads = [f"{metric.name} ({view.unit_of(metric.dimension)})" for metric in metrics]
    lines = []
    for row in table.published:
        values = [(row.values.get(metric), metric.dimension) for metric in metrics]
        texts = ["" if value is None else view.number(value, what) for value, what in values]
        name = f"{row.system}/{row.host_group} {row.placement}"
        statistic = row.statistic if row.n == 1 else f"{row.statistic} of {row.n}"
        lines.append((name, f"{cells.published_mark(row)}: {statistic}", *texts))
    return Grid("", 2, ("host group, placement", "statistic", *heads), tuple(lines))


# Footnotes: their marks, and in short what the notes of rows have in common


class Footnotes:
    """Marks a, b, c… of a table's footnotes, one for each text. ``marks``: all, of tables that share them."""

    def __init__(self, marks: dict[str, str]) -> None:
        self._marks, self._here = marks, set[str]()

    def mark(self, text: str) -> str:
        """The mark of this text."""
        self._here.add(text)
        return self._marks.setdefault(text, _letters(len(self._marks)))

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """The marks of this table with their texts, in order."""
        return tuple((mark, text) for text, mark in self._marks.items() if text in self._here)


def _letters(index: int) -> str:
    """a to z, then aa, ab…"""
    first, second = divmod(index, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + second)


def row_texts(said: Iterable[tuple[Case, str]]) -> Mapping[tuple[Case, str], str]:
    """A text for what is said of each case, with all that it says.

    Those that differ only in the names of their own host group and placement, which the row shows, share
    one.
    """
    general = {(case, text): _without_names(text, case) for case, text in said}
    texts: dict[str, set[str]] = {}
    for (_, text), common in general.items():
        texts.setdefault(common, set()).add(text)
    return {key: common if len(texts[common]) > 1 else key[1] for key, common in general.items()}


def _without_names(text: str, case: Case) -> str:
    for name, general in ((case.host_group, "the host group"), (case.placement, "the placement")):
        # not within a longer name or a path
        text = re.sub(rf"(?<![\w./-]){re.escape(visible(name))}(?![\w/-])", general, text)
    return text
