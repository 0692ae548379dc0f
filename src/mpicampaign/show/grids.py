"""Tables as grids of text with footnotes, which stand alone: those of the command ``tables``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mpicampaign.compare.matrix import absence_of, matrix, ranks_of
from mpicampaign.dimension import BANDWIDTH
from mpicampaign.records import NOT_AVAILABLE
from mpicampaign.show.disturbed import explained, marks_of
from mpicampaign.show.document import Box, Grid
from mpicampaign.show.names import placement_name
from mpicampaign.show.notes import footnote_texts, row_texts
from mpicampaign.show.numbers import size_range
from mpicampaign.show.rankings import change_ratio
from mpicampaign.show.sentences import absence, brief

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpicampaign.compare.changes import Change, Changes
    from mpicampaign.compare.findings import Absence
    from mpicampaign.compare.matrix import Matrix
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.view import View

NO_VALUE = "–"
NO_EARLIER = "no earlier value"


@dataclass(slots=True)
class Footnotes:
    """Marks a, b, c… of footnotes, one for each text."""

    _texts: list[str] = field(default_factory=list)

    def mark(self, text: str) -> str:
        """The mark of this text."""
        if text not in self._texts:
            self._texts.append(text)
        return _letters(self._texts.index(text))

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Every mark with its text, in order."""
        return tuple((_letters(index), text) for index, text in enumerate(self._texts))


def _letters(index: int) -> str:
    """a to z, then aa, ab…"""
    first, second = divmod(index, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + second)


def _absent(reasons: Absence, text: str, footnotes: Footnotes) -> Box:
    """What is shown instead of a value; ``text``: the reasons as the footnote says them."""
    return Box("n/a" if reasons[0].kind == NOT_AVAILABLE else NO_VALUE, (footnotes.mark(text),))


# Matrix layout


def matrix_grid(found: Matrix, view: View) -> Grid:
    """Host groups × placements: the chosen statistic of each."""
    footnotes = Footnotes()
    texts = footnote_texts((note for row in _shown_rows(found) for note in row.notes), view)

    def box(host_group: str, placement: str) -> Box:
        entry = found.entry(host_group, placement)
        if entry.row is None or entry.cell is None or entry.cell.summary is None:
            return _absent(entry.absence, absence(entry.absence), footnotes)
        text = view.number(view.chosen(entry.cell.summary), found.metric.dimension)
        marks = (
            [footnotes.mark(f"of {view.quantity(entry.cell.bound, BANDWIDTH)}")] if entry.cell.bound else []
        )
        marks += [footnotes.mark(texts[note]) for note in entry.row.notes]
        marks = [*marks_of(entry.row), *marks]
        return Box(text, tuple(dict.fromkeys(marks)))

    title = f"{found.title}: {view.statistic} ({view.unit_of(found.metric.dimension)})"
    grid = _matrix_grid(title, found, box, footnotes)
    return replace(grid, footnotes=(*explained(_shown_rows(found)), *grid.footnotes))


def _shown_rows(found: Matrix) -> list[Row]:
    """The rows whose values the matrix shows."""
    entries = (entry for _, _, entry in found.entries)
    return [entry.row for entry in entries if entry.row is not None and entry.cell is not None]


def change_grid(found: Matrix, changes: Changes) -> Grid:
    """Host groups × placements: the ratio of the medians to those of an earlier series."""
    footnotes = Footnotes()

    def box(host_group: str, placement: str) -> Box:
        row = found.row(host_group, placement)
        return _change_box(changes.of(row, found.metric) if row else None, footnotes)

    title = f"{found.title}: median, times that of {changes.since or 'the earlier series'}"
    return _matrix_grid(title, found, box, footnotes)


def _change_box(change: Change | None, footnotes: Footnotes) -> Box:
    """The ratio to the earlier median; whether it is more than chance is a footnote."""
    if change is None:
        return Box(NO_VALUE, (footnotes.mark(NO_EARLIER),))
    found = change.difference
    text = "significant at 5 %, tested alone" if found.significant else "not significant"
    text = found.reason if found.p is None else text
    return Box(change_ratio(change) or NO_VALUE, (footnotes.mark(f"change: {text}"),))


def _matrix_grid(title: str, found: Matrix, box: Callable[[str, str], Box], footnotes: Footnotes) -> Grid:
    groups = found.host_groups
    lines = tuple(
        (Box(group), *(box(group, placement) for placement in found.placements)) for group in groups
    )
    return Grid(title, 1, ("host group", *found.placements), lines, footnotes.lines)


def matrix_grids(found: Sequence[Matrix], view: View, changes: Changes | None) -> list[Grid]:
    """The grids of several matrices; behind each that of its changes where an earlier series is known."""
    grids = []
    for one in found:
        grids.append(matrix_grid(one, view))
        if changes is not None:
            grids.append(change_grid(one, changes))
    return grids


def chosen_matrices(comparison: Comparison, table: Table, view: View) -> tuple[Matrix, ...]:
    """One for each number of ranks and metric.

    Unless metrics are named, those that are ranked, at a table size, or fractions of a bound.
    """
    every = bool(view.only.metrics)
    metrics = [m for m in table.metrics if every or m.headline or m.bound or m.size is not None]
    counts = ranks_of(table.rows)
    return tuple(matrix(comparison, table, metric, ranks) for metric in metrics for ranks in counts)


# Long layout

LONG_COLUMNS = ("n", "median", "interval", "mean", "minimum", "maximum", "at", "bound", "changed")
_OPTIONAL = ("at", "bound", "changed")  # shown only where some row has them, unless asked for


def long_grid(
    comparison: Comparison, table: Table, metric: Metric, view: View, changes: Changes | None
) -> Grid:
    """A line for each row that shows the metric; of `LONG_COLUMNS` those asked for, else all in use."""
    footnotes = Footnotes()
    chosen = view.columns or LONG_COLUMNS
    rows = [(row, absence_of(row, metric)) for row in table.rows if row.shows(metric)]
    texts = row_texts((row.case, text) for row, reasons in rows for text in _said(row, reasons, view))
    lines = []
    for row, reasons in rows:
        found = [texts[row.case, text] for text in _said(row, reasons, view)]
        marks = () if reasons else tuple(dict.fromkeys(map(footnotes.mark, found)))
        names = (Box(comparison.place(row)), Box(placement_name(table, row), marks))
        boxes = _absent_line(row, reasons, found[0], chosen, footnotes) if reasons else ()
        lines.append((*names, *(boxes or _line(row, row.cell(metric), chosen, view, changes, footnotes))))
    kept = [
        i for i, name in enumerate(chosen, 2) if view.columns or _in_use(name, [line[i] for line in lines])
    ]
    title = f"{table.title}, {metric.name} ({view.unit_of(metric.dimension)})"
    header = ("host group", "placement", *(chosen[i - 2] for i in kept))
    short = tuple((line[0], line[1], *(line[i] for i in kept)) for line in lines)
    return Grid(title, 2, header, short, (*explained(row for row, _ in rows), *footnotes.lines))


def _said(row: Row, reasons: Absence, view: View) -> list[str]:
    """What is said of a row: why it has no value, else its notes."""
    return [absence(reasons)] if reasons else [brief(note, view) for note in row.notes]


def absent_grid(comparison: Comparison, table: Table) -> Grid:
    """The rows of a table without any value, with the reasons."""
    footnotes = Footnotes()
    texts = row_texts((row.case, absence(row.absence)) for row in table.rows)
    lines = tuple(
        (
            Box(comparison.place(row)),
            Box(placement_name(table, row)),
            Box(f"{row.counted}/{row.planned}"),
            _absent(row.absence, texts[row.case, absence(row.absence)], footnotes),
        )
        for row in table.rows
    )
    return Grid(table.title, 2, ("host group", "placement", "n", "values"), lines, footnotes.lines)


def _in_use(name: str, boxes: Sequence[Box]) -> bool:
    return name not in _OPTIONAL or any(box.text for box in boxes)


def _absent_line(
    row: Row, reasons: Absence, text: str, columns: Sequence[str], footnotes: Footnotes
) -> tuple[Box, ...]:
    """The number of repeats, and the reason in the place of the first value."""
    absent = _absent(reasons, text, footnotes)
    first = next((name for name in columns if name != "n"), "")
    texts = {"n": Box(f"{row.counted}/{row.planned}"), first: absent}
    return tuple(texts.get(name, Box("")) for name in columns)


def _line(
    row: Row, cell: Cell, columns: Sequence[str], view: View, changes: Changes | None, footnotes: Footnotes
) -> tuple[Box, ...]:
    summary, dimension = cell.summary, cell.metric.dimension
    if summary is None:
        return tuple(Box("") for _ in columns)
    boxes = {name: Box(view.number(getattr(summary, name), dimension), marks_of(row)) for name in _SUMMARISED}
    texts = {
        "interval": view.bounds(summary.interval, dimension),
        "n": f"{cell.n}/{row.planned}",
        "at": size_range(cell.sizes),
        "bound": view.quantity(cell.bound, BANDWIDTH) if cell.bound is not None else "",
    }
    boxes |= {name: Box(text) for name, text in texts.items()}
    boxes["changed"] = _change_box(changes.of(row, cell.metric), footnotes) if changes else Box("")
    return tuple(boxes[name] for name in columns)


_SUMMARISED = ("median", "mean", "minimum", "maximum")
