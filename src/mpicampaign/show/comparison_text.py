"""The comparison as aligned text for a terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.compare.matrix import absence_of
from mpicampaign.compare.metrics import BASELINE
from mpicampaign.dimension import BANDWIDTH
from mpicampaign.show.fits import fit_heads, fit_lines
from mpicampaign.show.names import legend, note_lines, placement_words, row_name
from mpicampaign.show.numbers import bounds, number, quantity, size_range, unit_of
from mpicampaign.show.published import against, published_cells, published_sources
from mpicampaign.show.rankings import pair_words, stated_words, verdict
from mpicampaign.show.sentences import absence
from mpicampaign.text import clip, display_width, pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Ranking
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Comparison, Table

WIDTH = 100
_HEADER = ("host group", "placement", "", "n", "median", "[interval]", "mean", "min", "max")
_FITS = 20  # lines of Hockney's model below a table
_NAMES = 3  # columns at the left of a terminal table that hold names
_NAME_WIDTH = 10  # what a name keeps of its width when the table is too wide


def to_terminal(comparison: Comparison, width: int = WIDTH, unit: str = "MB/s") -> str:
    """The comparison as aligned text of at most ``width`` columns.

    Parameters
    ----------
    unit : of bandwidths, MB/s (10^6 B/s) or MiB/s
    """
    parts = [_terminal_table(comparison, table, width, unit) for table in comparison.tables]
    parts.append("\n".join(wrap(legend(comparison, unit), width)))
    notes = [line for words in note_lines(comparison, unit) for line in wrap(words, width, "  ")]
    parts += ["\n".join([*heading_lines("Left out and in doubt"), *notes])] if notes else []
    stated = [line for table in comparison.tables for line in _stated_lines(table, width)]
    parts += ["\n".join([*heading_lines("What holds over all host groups"), *stated])] if stated else []
    rankings = [found for found in comparison.rankings if found[0].label != BASELINE]
    answers = [line for found in rankings for line in _ranking_lines(*found, width, unit)]
    parts += ["\n".join([*heading_lines("Which is best, by how much"), *answers])] if answers else []
    return "\n\n".join(parts) + "\n"


def heading_lines(words: str) -> list[str]:
    return [words, "─" * display_width(words)]


def _terminal_table(comparison: Comparison, table: Table, width: int, unit: str) -> str:
    lines = heading_lines(clip(table.title, width))
    if not table.metrics:
        lines += [
            clip(f"  {row_name(comparison, table, row)}  {absence(row.absence)}", width) for row in table.rows
        ]
    for group, metrics in groupby(table.metrics, key=lambda metric: metric.group):
        lines += _block(comparison, table, list(metrics), group, width, unit)
    lines += _published_lines(comparison, table, width, unit)
    lines += _fit_block(comparison, table, width, unit)
    return "\n".join(lines)


def _published_lines(comparison: Comparison, table: Table, width: int, unit: str) -> list[str]:
    """Below a table: own means against published ones, and where these are from."""
    words = [*against(comparison, table, unit), *published_sources(table)]
    lines = [line for each in words for line in wrap(each, width, "  ")]
    return ["", *lines] if lines else []


def _fit_block(comparison: Comparison, table: Table, width: int, unit: str) -> list[str]:
    """Below a table: Hockney's model of its rows; where that is long, only where to find it."""
    lines = fit_lines(comparison, table, unit)
    if not lines:
        return []
    if len(lines) > _FITS:
        words = f"Hockney's model (latency, asymptotic bandwidth): {len(lines)} lines, see the report"
        return ["", *wrap(words, width, "  ")]
    heads = fit_heads(unit)
    cells = [["", "host group, placement", "", *heads]]
    cells += [["", line.name if line.first else "", "", *line.figures, line.doubt] for line in lines]
    heading = "  Hockney's model: time = latency + size / bandwidth"
    return ["", clip(heading, width), *align([(each, "") for each in cells], width)]


def _stated_lines(table: Table, width: int) -> list[str]:
    """The rankings of the placements over several host groups."""
    if table.label == BASELINE:
        return []
    lines = []
    for stated in (stated for stated in table.stated_rankings if len(stated.scopes) > 1):
        statement, *others = stated_words(stated)
        lines += ["", *wrap(f"{table.title}, {statement}", width, "  ")]
        lines += [line for words in others for line in wrap(words, width, "    ")]
    return lines


def _block(
    comparison: Comparison, table: Table, metrics: Sequence[Metric], group: str, width: int, unit: str
) -> list[str]:
    """One line for each row and metric of what is shown together; figures in the same columns."""
    units = dict.fromkeys(unit_of(metric.dimension, unit) for metric in metrics)
    heading = f"  {group or metrics[0].name} ({', '.join(units)})"
    header = [*_HEADER, "at" if metrics[0].size is None else ""]
    lines: list[tuple[list[str], str]] = [(header, "")]
    for row in (row for row in table.rows if row.shows(metrics[0])):
        names = [comparison.place(row), placement_words(table, row)]
        for metric in metrics if row.counted else metrics[:1]:
            cells = [*names, metric.part if row.counted and not metric.bound else ""]
            lines.append(_block_line(cells, row, row.cell(metric), unit))
            names = ["", ""]
    lines += [(cells, "") for cells in published_cells(table, metrics, unit)]
    return ["", clip(heading, width), *align(lines, width)]


def _block_line(names: list[str], row: Row, cell: Cell, unit: str) -> tuple[list[str], str]:
    """The cells of a line and, where the row has no figure, the words that stand in their place."""
    counts = f"{cell.n}/{row.planned}"
    summary, dimension = cell.summary, cell.metric.dimension
    if summary is None:
        return [*names, counts], absence(absence_of(row, cell.metric))
    figures = (summary.mean, summary.minimum, summary.maximum)
    texts = [number(value, dimension, unit) for value in figures]
    interval = bounds(summary.interval, dimension, unit)
    median = number(summary.median, dimension, unit)
    return [*names, counts, median, interval, *texts, _place_words(cell, unit)], ""


def _place_words(cell: Cell, unit: str) -> str:
    """At which size a maximum was reached, and of what bound a fraction."""
    of = f" of {quantity(cell.bound, BANDWIDTH, unit)}" if cell.bound is not None else ""
    return size_range(cell.sizes) + of


def align(lines: Sequence[tuple[list[str], str]], width: int) -> list[str]:
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


def _ranking_lines(table: Table, ranking: Ranking, width: int, unit: str) -> list[str]:
    """The verdict, then the best against its nearest rivals and the last; the report has all pairs."""
    heading = f"{table.title}, {ranking.metric.name}, {ranking.kind} of {ranking.scope}: "
    pairs = ranking.pairs_of_best
    shown = pairs if len(pairs) <= 3 else (*pairs[:2], pairs[-1])
    lines = [line for pair in shown for line in wrap(pair_words(pair, unit), width, "    ")]
    return ["", *wrap(heading + verdict(ranking), width, "  "), *lines]


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most ``width`` columns; words longer than a line are cut."""
    lines, line = [], indent
    for word in text.split():
        word = clip(word, width - len(indent) - 2)
        if line.strip() and display_width(line) + 1 + display_width(word) > width:
            lines.append(line)
            line = indent + "  "
        line += word if not line.strip() else " " + word
    return [*lines, line]
