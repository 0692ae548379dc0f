"""What every form of the tables shares: names of rows, notes, and the legend."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mpicampaign.compare.findings import OF_ONE_SERIES
from mpicampaign.records import DISTURBED, IMPORTED_FROM, NOT_JUDGED, OK, QUIET, RANKED
from mpicampaign.show.not_available import is_offered, not_available
from mpicampaign.show.numbers import percent
from mpicampaign.show.sentences import said
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.records import Record
    from mpicampaign.show.view import View

_REASONS = 3  # that are named


def placement_name(table: Table, row: Row) -> str:
    """The placement; with the ranks where the table has several numbers, and the BLAS library."""
    several = len({other.ranks for other in table.rows if other.ranks is not None}) > 1
    ranks = f", {row.ranks} ranks" if several and row.ranks is not None else ""
    blas = f", {visible(row.blas)}" if row.blas else ""
    detail = f", {visible(row.detail)}" if row.detail else ""
    at_most = ", at most" if row.at_most else ""
    return f"{visible(row.case.placement)}{ranks}{detail}{blas}{at_most}"


def row_name(comparison: Comparison, table: Table, row: Row) -> str:
    """Host group and placement."""
    return f"{comparison.place(row)} {placement_name(table, row)}"


def name_among(comparison: Comparison, table: Table, row: Row, rows: Sequence[Row]) -> str:
    """What tells the row from the others: the placement, the host group, or both."""
    if len({comparison.place(other) for other in rows}) == 1:
        return placement_name(table, row)
    if len({placement_name(table, other) for other in rows}) == 1:
        return comparison.place(row)
    return row_name(comparison, table, row)


def note_lines(comparison: Comparison, view: View) -> list[str]:
    """What is left out or doubtful, with the case that it concerns; the series where only one is meant."""
    found = list(map(str, not_available(comparison)))
    for table, row, note in comparison.notes():
        if not is_offered(row):
            continue
        series = table.title if note.kind in OF_ONE_SERIES else visible(table.benchmark)
        found.append(f"{comparison.place(row)} {visible(row.case.placement)} {series}: {said(note, view)}")
    return found


def runs_are(records: Sequence[Record]) -> str:
    """What the runs are: ``planned`` by the campaign, ``imported`` from outputs of others, or both."""
    imported = sum(IMPORTED_FROM in record.metadata for record in records)
    if imported == 0:
        return "planned"
    return "imported" if imported == len(records) else "planned or imported"


def condition_text(records: Iterable[Record]) -> str:
    """How many complete runs were quiet, disturbed and not judged, and why; which of them are ranked."""
    runs = [run for run in records if run.status == OK]
    counted = Counter(run.condition for run in runs)
    states = [f"{counted[state]} {state}" for state in (QUIET, DISTURBED, NOT_JUDGED) if counted[state]]
    if not states:
        return ""
    reasons = Counter(
        run.condition_reason or "no waiting time was recorded" for run in runs if run.condition == NOT_JUDGED
    )
    most = [f"{visible(reason)} ({count})" for reason, count in reasons.most_common(_REASONS)]
    more = [f"{len(reasons) - _REASONS} more reasons"] if len(reasons) > _REASONS else []
    text = f"Condition of the runs: {', '.join(states)}"
    text += f"; not judged: {'; '.join([*most, *more])}. " if most else ". "
    if any(run.ranks_busy for run in runs):
        return text + f"busy_machine: {RANKED}: disturbed runs are averaged and ranked like quiet ones."
    return text + ("Disturbed runs are not tested, nor averaged with others." if counted[DISTURBED] else "")


def condition_note(table: Table) -> str:
    """The condition of a table's runs; empty where all were quiet and the campaign ranks no others."""
    runs = {id(run): run for row in table.rows for run in row.records if run.status == OK}.values()
    is_said = any(run.ranks_busy or run.condition != QUIET for run in runs)
    return condition_text(runs) if is_said else ""


def long_legend(comparison: Comparison, view: View) -> str:
    """What the columns of the long layout are."""
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    scale = "10^6" if view.unit == "MB/s" else "2^20"
    text = f"n: repeats with a value / {runs_are(comparison.records)}. median: over repeats. "
    text += "[interval]: order-statistic interval "
    text += f"of the median; coverage {coverages}. " if coverages else "of the median. "
    text += f"{view.unit} = {scale} B/s. Contradicted and failed runs are left out. "
    return (text + condition_text(comparison.records)).rstrip()
