"""What is to be said of a row's runs and figures: why some are left out, and what is doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.comparison.cut_repeats import cut_notes
from mpicampaign.comparison.rows import (
    ABOVE,
    BETWEEN,
    EARLIER,
    ELSEWHERE,
    KIND_WORDS,
    NOT_CONVERGED,
    NOT_PRINTED,
    SHORTENED,
    Cell,
    Note,
)
from mpicampaign.comparison.unlike import unlike_notes
from mpicampaign.dimension import BANDWIDTH
from mpicampaign.grouping import grouped
from mpicampaign.records import CONTRADICTED, DECLARED, OK, REQUESTED_GROUP, UNVERIFIED, VERIFIED
from mpicampaign.statistics.medians import middle_gap
from mpicampaign.wording import quantity, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.records import Record, Series

ABOVE_BOUND = 1.05  # some room for what a shaped link lets through at once


def run_notes(runs: Sequence[Record], curves: Sequence[tuple[Record, Series]]) -> tuple[Note, ...]:
    """Why runs are left out or not verified, each reason once with its repeats, and which had not settled."""
    with_figures = {id(run) for run, _ in curves}
    repeats: dict[tuple[str, str], list[int]] = {}
    for run in runs:
        for kind, reason in _doubts(run, id(run) in with_figures):
            repeats.setdefault((kind, visible(reason)), []).append(run.repeat)
    notes = [Note(kind, reason, tuple(of_reason)) for (kind, reason), of_reason in repeats.items()]
    order = list(KIND_WORDS)
    return (*sorted(notes, key=lambda note: order.index(note.kind)), *_convergence_notes(curves))


def figure_notes(
    runs: Iterable[Record], curves: Sequence[tuple[Record, Series]], cells: Sequence[Cell], has_modes: bool
) -> tuple[Note, ...]:
    """What is doubtful of a row's figures; where modes were found, they say what is between the repeats."""
    of_runs = (*unlike_notes(curves), *cut_notes(curves), *_shortened_notes(curves), *_elsewhere_notes(runs))
    notes = (*of_runs, *_above_notes(cells))
    return notes if has_modes else (*notes, *_between_notes(cells))


def _doubts(run: Record, has_figures: bool) -> list[tuple[str, str]]:
    """What is to be said of a run: why it is left out, or why it is not verified."""
    if run.status != OK:
        return [(run.status, run.reason)]
    reasons = "; ".join(run.verdict_reasons)
    if run.verdict == CONTRADICTED:
        return [(CONTRADICTED, reasons)]
    if run.earlier:
        return [(EARLIER, run.earlier)]
    found = [] if has_figures else [(NOT_PRINTED, "the output has no such series")]
    if run.verdict == DECLARED:
        return [*found, (DECLARED, run.verdict_reasons[0])]
    return found + ([(UNVERIFIED, reasons)] if run.verdict != VERIFIED else [])


def _convergence_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """Repeats whose samples had not settled when the time for some size was spent."""
    unsettled = [run.repeat for run, series in curves if 0 in series.columns.get("converged", [])]
    reason = "at some sizes the samples had not settled in their time"
    return [Note(NOT_CONVERGED, reason, tuple(unsettled))] if unsettled else []


def _shortened_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """Repeats of which the benchmark itself says what its time did not allow."""
    by_words = grouped((run for run, _ in curves), lambda run: run.metadata.get(SHORTENED, "nothing"))
    return [
        Note(SHORTENED, visible(what), tuple(run.repeat for run in runs))
        for what, runs in by_words.items()
        if what != "nothing"
    ]


def _elsewhere_notes(runs: Iterable[Record]) -> list[Note]:
    """Imported repeats whose job asked for another host group than that of the hosts it ran on."""
    by_group = grouped(runs, lambda run: run.metadata.get(REQUESTED_GROUP, ""))
    return [
        Note(ELSEWHERE, visible(f"{group} was asked for"), tuple(run.repeat for run in of_group))
        for group, of_group in by_group.items()
        if group
    ]


def _between_notes(cells: Iterable[Cell]) -> Iterable[Note]:
    """Headline medians that no repeat is near: the mean of two middle values further apart than 25 %."""
    for cell in cells:
        middle = middle_gap(cell.values) if cell.metric.headline and cell.values else None
        if middle and middle[1] - middle[0] > 0.25 * abs(middle[0]):
            low, high = (quantity(value, cell.metric.dimension) for value in middle)
            yield Note(BETWEEN, f"{cell.metric.name}: no repeat is between {low} and {high}", ())


def _above_notes(cells: Iterable[Cell]) -> Iterable[Note]:
    """Figures that the link cannot have carried: its rate in the campaign is wrong, or another was used."""
    for cell in cells:
        above = [n for n, value in zip(cell.repeats, cell.values, strict=True) if value > ABOVE_BOUND]
        if cell.metric.bound and cell.bound and above:
            said = quantity(cell.bound, BANDWIDTH)
            reason = f"the fabric's rate allows {said}, {max(cell.values):.2f} times that was measured"
            yield Note(ABOVE, f"{reason}: is the rate of the campaign file right?", tuple(above))
