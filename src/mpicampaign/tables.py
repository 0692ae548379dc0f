"""The comparison as text: for the terminal, as CSV for programs, as Markdown for documents."""

from __future__ import annotations

import csv
import html
import io
import re
from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.metrics import BASELINE
from mpicampaign.records import CONTRADICTED, DECLARED, UNVERIFIED, VERIFIED
from mpicampaign.rows import OF_ONE_SERIES
from mpicampaign.wording import (
    BANDWIDTH,
    SI_UNITS,
    bounds,
    clip,
    display_width,
    number,
    pad,
    percent,
    quantity,
    size_range,
    unit_of,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.comparison import Comparison, Table
    from mpicampaign.metrics import Metric
    from mpicampaign.ranking import Ranking
    from mpicampaign.rows import Cell, Row

WIDTH = 100
_HEADER = ("host group", "placement", "", "n", "median", "[interval]", "mean", "min", "max")
_NAMES = 3  # columns at the left of a terminal table that hold names
_NAME_WIDTH = 10  # what a name keeps of its width when the table is too wide
NO_LARGE_SIZE = "no size from 1 MiB on"

CSV_COLUMNS = (
    "system",
    "host_group",
    "placement",
    "benchmark",
    "series",
    "ranks",
    "metric",
    "size [B]",
    "unit",
    "runs_planned",
    "runs_counted",
    "n",
    "median [unit]",
    "interval_low [unit]",
    "interval_high [unit]",
    "interval_coverage [1]",
    "mean [unit]",
    "minimum [unit]",
    "maximum [unit]",
    "line_rate_bound [B/s]",
    "runs_verified",
    "runs_verified_against_declared_topology",
    "runs_unverified",
    "runs_contradicted",
    "notes",
)


# Terminal


def to_terminal(comparison: Comparison, width: int = WIDTH, unit: str = "MB/s") -> str:
    """The comparison as aligned text of at most ``width`` columns.

    Parameters
    ----------
    unit : of bandwidths, MB/s (10^6 B/s) or MiB/s
    """
    parts = [_terminal_table(comparison, table, width, unit) for table in comparison.tables]
    parts.append("\n".join(_wrap(_legend(comparison, unit), width)))
    notes = [line for words in _notes(comparison) for line in _wrap(words, width, "  ")]
    parts += ["\n".join([*_heading("Left out and in doubt"), *notes])] if notes else []
    rankings = [found for found in comparison.rankings if found[0].label != BASELINE]
    answers = [line for found in rankings for line in _ranking_lines(*found, width, unit)]
    parts += ["\n".join([*_heading("Which is best, by how much"), *answers])] if answers else []
    return "\n\n".join(parts) + "\n"


def _heading(words: str) -> list[str]:
    return [words, "─" * display_width(words)]


def _terminal_table(comparison: Comparison, table: Table, width: int, unit: str) -> str:
    lines = _heading(clip(table.title, width))
    if not table.metrics:
        lines += [clip(f"  {_name(comparison, table, row)}  {row.absence}", width) for row in table.rows]
    for group, metrics in groupby(table.metrics, key=lambda metric: metric.group):
        lines += _block(comparison, table, list(metrics), group, width, unit)
    return "\n".join(lines)


def _block(
    comparison: Comparison, table: Table, metrics: Sequence[Metric], group: str, width: int, unit: str
) -> list[str]:
    """One line for each row and metric of what is shown together; figures in the same columns."""
    units = dict.fromkeys(unit_of(metric.dimension, unit) for metric in metrics)
    heading = f"  {group or metrics[0].name} ({', '.join(units)})"
    header = [*_HEADER, "at" if metrics[0].size is None else ""]
    lines: list[tuple[list[str], str]] = [(header, "")]
    for row in (row for row in table.rows if row.shows(metrics[0])):
        names = [comparison.place(row), _placement(table, row)]
        for metric in metrics if row.counted else metrics[:1]:
            cells = [*names, metric.part if row.counted and not metric.bound else ""]
            lines.append(_block_line(cells, row, row.cell(metric), unit))
            names = ["", ""]
    return ["", clip(heading, width), *_align(lines, width)]


def _block_line(names: list[str], row: Row, cell: Cell, unit: str) -> tuple[list[str], str]:
    """The cells of a line and, where the row has no figure, the words that stand in their place."""
    counts = f"{cell.n}/{row.planned}"
    summary, dimension = cell.summary, cell.metric.dimension
    if summary is None:
        words = NO_LARGE_SIZE if cell.metric.bound else "not printed at this size"
        return [*names, counts], row.absence or words
    figures = (summary.mean, summary.minimum, summary.maximum)
    texts = [number(value, dimension, unit) for value in figures]
    interval = bounds(summary.interval, dimension, unit)
    median = number(summary.median, dimension, unit)
    return [*names, counts, median, interval, *texts, _place_words(cell, unit)], ""


def _place_words(cell: Cell, unit: str) -> str:
    """At which size a maximum was reached, and of what bound a fraction."""
    of = f" of {quantity(cell.bound, BANDWIDTH, unit)}" if cell.bound is not None else ""
    return size_range(cell.sizes) + of


def _align(lines: Sequence[tuple[list[str], str]], width: int) -> list[str]:
    """Pad the cells to columns: names to the left, figures to the right."""
    count = max(len(cells) for cells, _ in lines)
    widths = [max((display_width(c[i]) for c, _ in lines if i < len(c)), default=0) for i in range(count)]
    _narrow(widths, width)
    texts = []
    for cells, words in lines:
        used = zip(cells, widths, strict=False)
        padded = [pad(cell, w, right=_NAMES <= i < count - 1) for i, (cell, w) in enumerate(used) if w]
        line = "  " + "  ".join([*padded, words] if words else padded)
        texts.append(clip(line.rstrip(), width))
    return texts


def _narrow(widths: list[int], width: int) -> None:
    """Where a line is too long, host groups are cut first, then placements; figures never."""
    for column in (0, 1):
        excess = sum(w + 2 for w in widths if w) - width
        if excess > 0:
            widths[column] = max(min(_NAME_WIDTH, widths[column]), widths[column] - excess)


def _placement(table: Table, row: Row) -> str:
    """The placement; with the number of ranks where the table has several."""
    several = len({other.ranks for other in table.rows if other.ranks is not None}) > 1
    ranks = f", {row.ranks} ranks" if several and row.ranks is not None else ""
    return f"{visible(row.case.placement)}{ranks}"


def _name(comparison: Comparison, table: Table, row: Row) -> str:
    return f"{comparison.place(row)} {_placement(table, row)}"


def _ranking_lines(table: Table, ranking: Ranking, width: int, unit: str) -> list[str]:
    """The verdict, then the best against its nearest rivals and the last; the report has all pairs."""
    heading = f"{table.title}, {ranking.metric.name}, {ranking.kind} of {ranking.scope}: "
    pairs = ranking.pairs_of_best
    shown = pairs if len(pairs) <= 3 else (*pairs[:2], pairs[-1])
    lines = [line for pair in shown for line in _wrap(pair.words(unit), width, "    ")]
    return ["", *_wrap(heading + ranking.verdict, width, "  "), *lines]


def _notes(comparison: Comparison) -> list[str]:
    """What is left out or doubtful, with the case that it concerns; the series where only one is meant."""
    found = []
    for table, row, note in comparison.notes():
        series = table.title if note.kind in OF_ONE_SERIES else visible(table.benchmark)
        found.append(f"{comparison.place(row)} {visible(row.case.placement)} {series}: {note}")
    return found


def _wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most ``width`` columns; words longer than a line are cut."""
    lines, line = [], indent
    for word in text.split():
        word = clip(word, width - len(indent) - 2)
        if line.strip() and display_width(line) + 1 + display_width(word) > width:
            lines.append(line)
            line = indent + "  "
        line += word if not line.strip() else " " + word
    return [*lines, line]


def _legend(comparison: Comparison, unit: str) -> str:
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    scale = "10^6" if unit == "MB/s" else "2^20"
    text = "n: repeats with the figure / planned. median: over repeats. [interval]: order-statistic interval "
    text += f"of the median; coverage {coverages}. " if coverages else "of the median. "
    text += f"{unit} = {scale} B/s. Contradicted and failed runs are left out. "
    return text + "Differences: Mann-Whitney test of each pair on its own at 5 %."


# CSV


def to_csv(comparison: Comparison) -> str:
    """One line for each row and metric; figures in SI units, empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for table in comparison.tables:
        for row in table.rows:
            cells: Iterable[Cell | None] = [cell for cell in row.cells if row.shows(cell.metric)] or [None]
            writer.writerows(_csv_line(table, row, cell) for cell in cells)
    return text.getvalue()


def _csv_line(table: Table, row: Row, cell: Cell | None) -> list[str]:
    case = row.case
    names = [case.system, case.host_group, case.placement, case.benchmark, row.label]
    ranks = "" if row.ranks is None else str(row.ranks)
    verdicts = [
        str(row.verdicts.get(verdict, 0)) for verdict in (VERIFIED, DECLARED, UNVERIFIED, CONTRADICTED)
    ]
    notes = "; ".join(str(note) for note in row.notes)
    return [
        *(_csv_text(name) for name in names),
        ranks,
        *_csv_metric(cell),
        str(row.planned),
        str(row.counted),
        *_csv_figures(cell),
        f"{cell.bound:.9g}" if cell is not None and cell.bound is not None else "",
        *verdicts,
        _csv_text(notes),
    ]


def _csv_metric(cell: Cell | None) -> list[str]:
    if cell is None:
        return ["", "", ""]
    size = "" if cell.metric.size is None else str(cell.metric.size)
    return [cell.metric.name, size, SI_UNITS[cell.metric.dimension]]


def _csv_figures(cell: Cell | None) -> list[str]:
    if cell is None or cell.summary is None:
        return ["0", *[""] * 7]
    summary, interval = cell.summary, cell.summary.interval
    limits = (interval.low, interval.high, interval.coverage) if interval else (None, None, None)
    figures = (summary.median, *limits, summary.mean, summary.minimum, summary.maximum)
    return [str(summary.n), *("" if figure is None else f"{figure:.9g}" for figure in figures)]


def _csv_text(text: str) -> str:
    """A spreadsheet takes a cell that begins so for a formula; an apostrophe makes it text."""
    text = visible(text)
    return "'" + text if text.lstrip().startswith(("=", "+", "-", "@")) else text


# Markdown


def to_markdown(comparison: Comparison, unit: str = "MB/s") -> str:
    """Tables with median and interval, then mean and range, then rankings and notes in words."""
    parts = [part for table in comparison.tables for part in _markdown_table(comparison, table, unit)]
    notes = _markdown_list(_notes(comparison))
    parts += ["## Left out and in doubt", *notes] if notes else []
    return "\n\n".join([*parts, _markdown_text(_legend(comparison, unit))]) + "\n"


def _markdown_table(comparison: Comparison, table: Table, unit: str) -> list[str]:
    parts = [f"## {_markdown_text(table.title)}"]
    parts.append(_markdown_grid(comparison, table, unit, "median [interval]", _median_words))
    if table.metrics:
        parts.append(_markdown_grid(comparison, table, unit, "mean (minimum to maximum)", _range_words))
    rankings = [f"{r.metric.name}, {r.kind} of {r.scope}: {r.verdict}" for r in table.rankings]
    sentences = [sentence for ranking in table.rankings for sentence in ranking.sentences(unit)]
    return [*parts, *_markdown_list([*rankings, *sentences])]


def _markdown_list(items: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {_markdown_text(item)}" for item in items)] if items else []


def _markdown_grid(
    comparison: Comparison, table: Table, unit: str, what: str, words: Callable[[Cell, str], str]
) -> str:
    """One row for each row of the table, one column for each metric."""
    heads = [f"{metric.name} ({unit_of(metric.dimension, unit)})" for metric in table.metrics]
    lines = [["host group, placement", "n", *(heads or ["figures"])]]
    for row in table.rows:
        cells = [words(cell, unit) or _no_figure(row, cell) for cell in row.cells] or [""]
        if row.absence:
            cells = [row.absence] + [""] * (len(heads) - 1)
        lines.append([_name(comparison, table, row), f"{row.counted}/{row.planned}", *cells])
    texts = ["| " + " | ".join(_markdown_text(cell) for cell in line) + " |" for line in lines]
    rule = "|---|" + "---:|" * (max(1, len(heads)) + 1)
    return "\n".join([f"{what}:", "", texts[0], rule, *texts[1:]])


def _no_figure(row: Row, cell: Cell) -> str:
    if not cell.metric.bound:
        return "not printed"
    return NO_LARGE_SIZE if row.shows(cell.metric) else "no bound known"


def _median_words(cell: Cell, unit: str) -> str:
    if cell.summary is None:
        return ""
    dimension = cell.metric.dimension
    interval = bounds(cell.summary.interval, dimension, unit)
    of = f" of {quantity(cell.bound, BANDWIDTH, unit)}" if cell.bound is not None else ""
    return f"{number(cell.summary.median, dimension, unit)} {interval}".rstrip() + of


def _range_words(cell: Cell, unit: str) -> str:
    if cell.summary is None:
        return ""
    summary = cell.summary
    figures = (summary.mean, summary.minimum, summary.maximum)
    mean, low, high = (number(figure, cell.metric.dimension, unit) for figure in figures)
    return f"{mean} ({low} to {high})"


def _markdown_text(text: str) -> str:
    """The text so that no renderer takes a part of it for markup, HTML or a cell's end."""
    text = html.escape(visible(text), quote=False)
    return re.sub(r"([\\`*_|~#$\[\]])", r"\\\1", text)
