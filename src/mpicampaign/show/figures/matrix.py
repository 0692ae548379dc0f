"""Heat maps: one metric as host groups × placements, every figure printed in its field."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpicampaign.comparison.matrix import matrix, ranks_of
from mpicampaign.show.figures.page import KEY, WIDTH, Page, Place, fitting, widest
from mpicampaign.show.figures.scene import Drawn, kind_of, left_out, repeats_of
from mpicampaign.show.figures.style import GREY, shade, words_on
from mpicampaign.wording import number, quantity, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpicampaign.comparison.comparison import Table
    from mpicampaign.comparison.matrix import Entry, Matrix
    from mpicampaign.comparison.metrics import Metric
    from mpicampaign.comparison.rows import Row
    from mpicampaign.show.figures.scene import Scene

_ROW = 0.27
_WIDEST_COLUMN = 1.25
_LARGE_FACTOR = 5.0  # from here on colours go by the logarithm
# What stands behind a figure or instead of one.
UNVERIFIED_MARK, CONTRADICTED_MARK, MODES_MARK = "u", "c", "m"
_MEANINGS = {
    UNVERIFIED_MARK: "some runs are unverified",
    CONTRADICTED_MARK: "contradicted runs are left out",
    MODES_MARK: "the repeats have several modes",
}


def heat_maps(scene: Scene, table: Table) -> Iterator[Drawn]:
    """One for each headline metric and number of ranks with several host groups and placements."""
    for metric in (metric for metric in table.metrics if metric.headline):
        for ranks in ranks_of(table.rows):
            found = matrix(scene.comparison, table, metric, ranks)
            cells = [entry.cell for _, _, entry in found.entries if entry.cell is not None]
            if len(found.host_groups) > 1 and len(found.placements) > 1 and cells:
                yield _heat_map(scene, found)


def _heat_map(scene: Scene, found: Matrix) -> Drawn:
    unit = unit_of(found.metric.dimension, scene.unit)
    title = f"{found.title}: host groups and placements"
    left = 0.25 + widest(found.host_groups, 1.8, 8)
    column = min(_WIDEST_COLUMN, (WIDTH - left - 0.1) / len(found.placements))
    reasons = _reasons(found)
    key = [f"[{i}]  {reason}" if len(reasons) > 1 else reason for i, reason in enumerate(reasons, start=1)]
    height = 0.4 + len(found.host_groups) * _ROW + 0.15 + 0.16 * len(key) + KEY
    page = Page(height, title)
    colour = _colours(found)
    page.words(left - 0.1, height - 0.22, unit, 8, GREY, align="right")
    for index, placement in enumerate(found.placements):
        middle = left + (index + 0.5) * column
        words = fitting(placement, column - 0.08, 8, bold=True)
        page.words(middle, height - 0.22, words, 8, align="center", bold=True)
    for down, host_group in enumerate(found.host_groups):
        bottom = height - 0.38 - (down + 1) * _ROW
        page.words(left - 0.1, bottom + _ROW / 2, fitting(host_group, 1.8, 8), 8, align="right")
        for index, placement in enumerate(found.placements):
            place = Place(left + index * column, bottom, column, _ROW)
            _field(page, place, scene, found.entry(host_group, placement), reasons, colour)
    for index, words in enumerate(key):
        y = KEY + 0.12 + 0.16 * (len(key) - 1 - index)
        page.words(left, y, fitting(words, WIDTH - left - 0.1, 7), 7, GREY)
    rows = [entry.row for _, _, entry in found.entries if entry.row is not None]
    page.key("; ".join(["medians, the lighter the better", *_marks_said(rows, found.metric)]))
    caption = _caption(found, rows) + left_out(scene, rows)
    return Drawn(page, title, caption, f"{title}. {_words(scene, found)}")


def _field(
    page: Page,
    place: Place,
    scene: Scene,
    entry: Entry,
    reasons: dict[str, str],
    colour: Callable[[float], str],
) -> None:
    middle = (place.left + place.width / 2, place.bottom + place.height / 2)
    if entry.cell is None or entry.cell.summary is None:
        page.box(place, "#f2f2f2")
        page.words(*middle, reasons[entry.reason], 7.5, GREY, align="center")
        return
    value = entry.cell.summary.median
    fill = colour(value)
    page.box(place, fill)
    words = number(value, entry.cell.metric.dimension, scene.unit)
    marks = marks_of(entry.row, entry.cell.metric)
    page.words(*middle, f"{words} {marks}".rstrip(), 8, words_on(fill), align="center")


def marks_of(row: Row | None, metric: Metric) -> str:
    """What is to be known of a figure: unverified runs, contradicted ones left out, several modes."""
    if row is None:
        return ""
    verdicts = row.verdicts
    found = ((UNVERIFIED_MARK, "unverified" in verdicts), (CONTRADICTED_MARK, "contradicted" in verdicts))
    return "".join(mark for mark, is_so in (*found, (MODES_MARK, row.has_modes_in(metric))) if is_so)


def _reasons(found: Matrix) -> dict[str, str]:
    """Every reason why a field has no figure, with the mark that stands there: ``n/a [1]``."""
    reasons = dict.fromkeys(entry.reason for _, _, entry in found.entries if entry.reason)
    return {
        reason: f"{kind_of(reason)} [{position}]" if len(reasons) > 1 else kind_of(reason)
        for position, reason in enumerate(reasons, start=1)
    }


def _colours(found: Matrix) -> Callable[[float], str]:
    """From a figure to its colour, the best lightest; by the logarithm where the figures differ much."""
    summaries = (entry.cell.summary for _, _, entry in found.entries if entry.cell is not None)
    values = [summary.median for summary in summaries if summary is not None]
    low, high = min(values), max(values)
    logarithmic = _is_logarithmic(found)

    def fraction(value: float) -> float:
        if high <= low:
            return 1.0
        if not logarithmic:
            return (value - low) / (high - low)
        return math.log(value / low) / math.log(high / low)

    if found.metric.lower_is_better:
        return lambda value: shade(1.0 - fraction(value) if high > low else 1.0)
    return lambda value: shade(fraction(value))


def _is_logarithmic(found: Matrix) -> bool:
    summaries = (entry.cell.summary for _, _, entry in found.entries if entry.cell is not None)
    values = [summary.median for summary in summaries if summary is not None]
    return min(values) > 0 and max(values) >= _LARGE_FACTOR * min(values)


def _caption(found: Matrix, rows: list[Row]) -> str:
    words = f"Medians over {repeats_of(rows)}. Lighter is better"
    words += ", by the logarithm" if _is_logarithmic(found) else ""
    return f"{'; '.join([words, *_marks_said(rows, found.metric)])}."


def _marks_said(rows: list[Row], metric: Metric) -> list[str]:
    """What the marks mean that stand in the fields."""
    marks = "".join(marks_of(row, metric) for row in rows if row.counted)
    return [f"{mark}: {meaning}" for mark, meaning in _MEANINGS.items() if mark in marks]


def _words(scene: Scene, found: Matrix) -> str:
    parts = []
    for host_group, placement, entry in found.entries:
        summary = entry.cell.summary if entry.cell is not None else None
        dimension = found.metric.dimension
        said = quantity(summary.median, dimension, scene.unit) if summary else entry.reason
        parts.append(f"{host_group} {placement} {said}")
    return "; ".join(parts)
