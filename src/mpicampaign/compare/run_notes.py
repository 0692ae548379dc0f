"""Notes on a row's runs and values: why some are left out, and what is doubtful."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    CHOSEN_TRANSPORT,
    CONTRADICTED,
    DECLARED,
    DISTURBED,
    OK,
    OVERSUBSCRIBED,
    REQUESTED_GROUP,
    STATE,
    UNREAD,
    UNVERIFIED,
    VERIFIED,
    WITHOUT_LOCK,
)
from mpicampaign.compare import findings
from mpicampaign.compare.cut_repeats import cut_notes
from mpicampaign.compare.findings import (
    AboveBound,
    Elsewhere,
    Note,
    Recorded,
    Tail,
    Unsettled,
    end_of,
)
from mpicampaign.compare.inconsistent_repeats import inconsistency_notes
from mpicampaign.questions.machine import find_causes as machine_causes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.base.records import Record, Series
    from mpicampaign.compare.rows import Cell

_REPORTED = (
    (findings.SHORTENED, findings.SHORTENED),
    (findings.CHOSEN, CHOSEN_TRANSPORT),
    (findings.SHARING, OVERSUBSCRIBED),
    (findings.OTHER_STATE, STATE),
    (findings.WITHOUT_LOCK, WITHOUT_LOCK),
    (findings.SLOW_CLOCK, machine_causes.SLOW_CLOCK),
    (findings.SLOW_MEMORY, machine_causes.SLOW_MEMORY),
)
_NO_SERIES = Recorded(kind=findings.NOT_PRINTED, reason="the output has no such series")
NOTHING = "nothing"  # a budget that allowed all
WIDE = 0.1  # a tail of samples that is worth a note
ABOVE_BOUND = 1.05  # some room for what a shaped link lets through at once


def run_notes(runs: Sequence[Record], curves: Sequence[tuple[Record, Series]]) -> tuple[Note, ...]:
    """Why runs are left out or not verified, each reason once with its repeats, and which had not settled."""
    with_values = {id(run) for run, _ in curves}
    repeats: dict[Note, list[int]] = {}
    for run in runs:
        for doubt in _doubts(run, id(run) in with_values):
            repeats.setdefault(doubt, []).append(run.repeat)
    notes = [replace(doubt, repeats=tuple(of_doubt)) for doubt, of_doubt in repeats.items()]
    notes += _disturbed_notes(runs)
    return (*sorted(notes, key=lambda note: findings.KINDS.index(note.kind)), *_convergence_notes(curves))


def value_notes(
    runs: Iterable[Record], curves: Sequence[tuple[Record, Series]], cells: Iterable[Cell]
) -> tuple[Note, ...]:
    """What is doubtful in a row's values."""
    of_curves = (*inconsistency_notes(curves), *cut_notes(curves), *_reported_notes(curves))
    return (*of_curves, *_elsewhere_notes(runs), *_above_notes(cells))


def _doubts(run: Record, has_values: bool) -> list[Note]:
    """Why a run is left out, or not verified."""
    if run.status != OK:
        return [Recorded(kind=end_of(run), reason=run.reason.removeprefix(UNREAD))]
    reasons = "; ".join(run.verdict_reasons)
    if run.verdict == CONTRADICTED:
        return [Recorded(kind=CONTRADICTED, reason=reasons)]
    if run.earlier:
        return [Recorded(kind=findings.EARLIER, reason=run.earlier)]
    found: list[Note] = [] if has_values else [_NO_SERIES]
    if run.verdict == DECLARED:
        return [*found, Recorded(kind=DECLARED, reason=run.verdict_reasons[0])]
    return found if run.verdict == VERIFIED else [*found, Recorded(kind=UNVERIFIED, reason=reasons)]


def _disturbed_notes(runs: Iterable[Record]) -> list[Note]:
    """One note for all disturbed runs: the reasons differ in their numbers, and each run has its own."""
    disturbed = [run for run in runs if run.sound and run.disturbed]
    reasons = list(dict.fromkeys(run.condition_reason for run in disturbed))
    if not disturbed:
        return []
    more = f"; and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    repeats = tuple(run.repeat for run in disturbed)
    return [Recorded(kind=DISTURBED, reason=reasons[0] + more, repeats=repeats)]


def _convergence_notes(curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """Repeats whose samples had not settled when the time for some size was spent, and how wide they are."""
    unsettled = [(run, series) for run, series in curves if 0 in series.columns.get("converged", [])]
    repeats = tuple(run.repeat for run, _ in unsettled)
    notes: list[Note] = []
    if unsettled:
        widest = max((point for _, series in unsettled for point in _widths(series)), default=None)
        known = widest and Unsettled(width=widest[0], size=widest[1], repeats=repeats)
        notes.append(known or Note(kind=findings.NOT_CONVERGED, repeats=repeats))
    tails = [(run.repeat, point) for run, series in curves for point in _tails(series) if point[0] > WIDE]
    if tails:
        longest = max(point for _, point in tails)
        repeats = tuple(dict.fromkeys(repeat for repeat, _ in tails))
        notes.append(Tail(above=longest[0], size=longest[1], repeats=repeats))
    return notes


def _widths(series: Series) -> list[tuple[float, int]]:
    """Width and size (B) wherever the samples had not settled; runs of older versions have no widths."""
    columns = (series.columns.get(name, []) for name in ("converged", "width", "size"))
    return [
        (width, int(size))
        for converged, width, size in zip(*columns, strict=False)
        if converged == 0 and width is not None and size is not None
    ]


def _tails(series: Series) -> list[tuple[float, int]]:
    """By how much the 99th percentile of the samples exceeds their median, and the size (B)."""
    columns = (series.columns.get(name, []) for name in ("time_p50", "time_p99", "size"))
    return [
        (high / middle - 1, int(size))
        for middle, high, size in zip(*columns, strict=False)
        if middle and high is not None and size is not None
    ]


def _reported_notes(curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """What the time did not allow, how many ranks shared how many cores, and what the machine was like."""
    said = [(kind, run.metadata.get(key), run.repeat) for kind, key in _REPORTED for run, _ in curves]
    return [
        Recorded(kind=kind, reason=what, repeats=tuple(repeat for *_, repeat in same))
        for (kind, what), same in grouped(said, lambda one: one[:2]).items()
        if what and (kind, what) != (findings.SHORTENED, NOTHING)
    ]


def _elsewhere_notes(runs: Iterable[Record]) -> list[Note]:
    """Imported repeats whose job asked for another host group than that of the hosts it ran on."""
    by_group = grouped(runs, lambda run: run.metadata.get(REQUESTED_GROUP, ""))
    return [
        Elsewhere(requested=group, repeats=tuple(run.repeat for run in of_group))
        for group, of_group in by_group.items()
        if group
    ]


def _above_notes(cells: Iterable[Cell]) -> Iterable[Note]:
    """Values above the line rate: the rate in the campaign is wrong, or another link was used."""
    for cell in cells:
        above = [n for n, value in zip(cell.repeats, cell.values, strict=True) if value > ABOVE_BOUND]
        if cell.metric.bound and cell.bound and above:
            yield AboveBound(bound=cell.bound, times=max(cell.values), repeats=tuple(above))
