"""Heat maps: one metric as host groups × placements, every median printed in its field."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpicampaign.compare.matrix import matrix, ranks_of
from mpicampaign.show.charts.model import Field, HeatMap
from mpicampaign.show.charts.scene import kind_of, left_out, repeats_of
from mpicampaign.show.numbers import quantity
from mpicampaign.show.runs import MARK, MEANING, mark_of
from mpicampaign.show.sentences import absence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpicampaign.compare.matrix import Entry, Matrix
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Table
    from mpicampaign.show.charts.scene import Scene

_LARGE_FACTOR = 5.0  # from here on colours go by the logarithm
# What stands behind a median.
UNVERIFIED_MARK, CONTRADICTED_MARK, MODES_MARK = "u", "c", "m"
_MEANINGS = {
    UNVERIFIED_MARK: "some runs are unverified",
    CONTRADICTED_MARK: "contradicted runs are left out",
    MODES_MARK: "the repeats have several modes",
    MARK: MEANING,
}


def heat_maps(scene: Scene, table: Table) -> Iterator[HeatMap]:
    """One for each headline metric and number of ranks with several host groups and placements."""
    for metric in (metric for metric in table.metrics if metric.headline):
        for ranks in ranks_of(table.rows):
            found = matrix(scene.comparison, table, metric, ranks)
            if len(found.host_groups) > 1 and len(found.placements) > 1 and _medians(found):
                yield _heat_map(scene, found)


def _heat_map(scene: Scene, found: Matrix) -> HeatMap:
    marked = _reasons(found)
    fraction = _fractions(found)
    rows = tuple(
        (place, tuple(_field(scene, found.entry(place, name), marked, fraction) for name in found.placements))
        for place in found.host_groups
    )
    reasons = [f"[{i}]  {reason}" if len(marked) > 1 else reason for i, reason in enumerate(marked, start=1)]
    title = f"{found.title}: host groups and placements"
    drawn = [entry.row for _, _, entry in found.entries if entry.row is not None]
    return HeatMap(
        title,
        _caption(found, drawn) + left_out(scene, drawn),
        f"{title}. {_text(scene, found)}",
        found.metric.dimension.unit(scene.unit).name,
        found.placements,
        rows,
        tuple(reasons),
        "; ".join(["medians, the lighter the better", *_mark_meanings(drawn, found.metric)]),
    )


def _field(scene: Scene, entry: Entry, marked: dict[str, str], fraction: Callable[[float], float]) -> Field:
    if entry.cell is None or entry.cell.summary is None:
        return Field(marked[absence(entry.absence)])
    value = entry.cell.summary.median
    text = entry.cell.metric.dimension.number(value, scene.unit)
    return Field(f"{text} {marks_of(entry.row, entry.cell.metric)}".rstrip(), value, fraction(value))


def marks_of(row: Row | None, metric: Metric) -> str:
    """The marks of a median: unverified runs, contradicted ones left out, several modes, disturbed runs."""
    if row is None:
        return ""
    verdicts = row.verdicts
    found = (
        (UNVERIFIED_MARK, "unverified" in verdicts),
        (CONTRADICTED_MARK, "contradicted" in verdicts),
        (MODES_MARK, row.has_modes_in(metric)),
        (MARK, row.disturbed),
    )
    return "".join(mark for mark, is_so in found if is_so)


def _reasons(found: Matrix) -> dict[str, str]:
    """Every reason why a field has no median, with the mark that stands there: ``n/a [1]``."""
    kinds = {absence(e.absence): kind_of(e.absence) for _, _, e in found.entries if e.absence}
    return {
        reason: f"{kind} [{position}]" if len(kinds) > 1 else kind
        for position, (reason, kind) in enumerate(kinds.items(), start=1)
    }


def _fractions(found: Matrix) -> Callable[[float], float]:
    """How good a median is, up to 1 for the best; logarithmic where medians differ much."""
    medians = _medians(found)
    low, high = min(medians), max(medians)
    logarithmic = _is_logarithmic(medians)

    def fraction(value: float) -> float:
        if high <= low:
            return 1.0
        share = math.log(value / low) / math.log(high / low) if logarithmic else (value - low) / (high - low)
        return 1.0 - share if found.metric.lower_is_better else share

    return fraction


def _medians(found: Matrix) -> list[float]:
    summaries = (entry.cell.summary for _, _, entry in found.entries if entry.cell is not None)
    return [summary.median for summary in summaries if summary is not None]


def _is_logarithmic(medians: Sequence[float]) -> bool:
    return min(medians) > 0 and max(medians) >= _LARGE_FACTOR * min(medians)


def _caption(found: Matrix, rows: list[Row]) -> str:
    text = f"Medians over {repeats_of(rows)}. Lighter is better"
    text += ", by the logarithm" if _is_logarithmic(_medians(found)) else ""
    meanings = [each for each in _mark_meanings(rows, found.metric) if not each.startswith(MARK)]
    return f"{'; '.join([text, *meanings])}."


def _mark_meanings(rows: list[Row], metric: Metric) -> list[str]:
    """The meanings of the marks in the fields."""
    marks = "".join(marks_of(row, metric) for row in rows if row.counted)
    return [f"{mark}: {meaning}" for mark, meaning in _MEANINGS.items() if mark in marks]


def _text(scene: Scene, found: Matrix) -> str:
    parts = []
    for host_group, placement, entry in found.entries:
        summary = entry.cell.summary if entry.cell is not None else None
        dimension = found.metric.dimension
        said = quantity(summary.median, dimension, scene.unit) if summary else absence(entry.absence)
        mark = mark_of(entry.row) if entry.row else ""
        parts.append(f"{host_group} {placement}{mark} {said}")
    return "; ".join(parts)
