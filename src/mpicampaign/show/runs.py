"""Runs as readers see them: states, conditions, what is not available, facts, addresses of their cases."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.findings import STOPPED
from mpicampaign.grouping import grouped
from mpicampaign.records import (
    DISTURBED,
    IMPORTED_FROM,
    NOT_AVAILABLE,
    NOT_JUDGED,
    OK,
    QUIET,
    RANKED,
    UNVERIFIED,
)
from mpicampaign.text import listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.records import Case, Record

# Of values of disturbed runs, which are shown and never tested.
MARK = "†"
MEANING = "of disturbed runs: the row has no others, and no test compares it"
_REASONS = 3  # that are named
_MANY = 3  # host groups above which they are counted


def run_counts(records: Iterable[Record]) -> dict[str, int]:
    """How many runs ended in each state."""
    return dict(Counter(state_of(record) for record in records).most_common())


def state_of(record: Record) -> str:
    """The verdict of a complete run, the status of any other; whether it was stopped on a busy machine."""
    if record.status == OK:
        return record.verdict or UNVERIFIED
    return STOPPED if record.stopped else record.status


def disturbed_counts(records: Iterable[Record]) -> dict[str, int]:
    """How many complete runs of each state were disturbed."""
    return run_counts(record for record in records if record.status == OK and record.disturbed)


def how_many(records: Sequence[Record]) -> str:
    """``60 runs planned, 544 runs imported``; imported runs are not planned."""
    imported = sum(IMPORTED_FROM in record.metadata for record in records)
    planned = len(records) - imported
    parts = [f"{planned} runs planned"] if planned or not imported else []
    return ", ".join([*parts, *([f"{imported} runs imported"] if imported else [])])


def period(records: Iterable[Record]) -> tuple[str, str] | None:
    """When the first run started and the last one ended, as recorded; ISO times sort as text."""
    times = sorted(time for record in records for time in (record.started, record.ended) if time)
    return (times[0], times[-1]) if times else None


def facts(records: Iterable[Record]) -> dict[str, str]:
    """Metadata that runs recorded: each key with its values, the commonest first."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        for key, value in record.metadata.items():
            found.setdefault(key, Counter())[value] += 1
    return {key: _values_text(values) for key, values in sorted(found.items())}


def _values_text(values: Counter[str]) -> str:
    common = values.most_common(4)
    text = "; ".join(f"{value} ({count} runs)" for value, count in common)
    return text + (f"; and {len(values) - 4} other values" if len(values) > 4 else "")


def anchors(records: Iterable[Record]) -> dict[Case, str]:
    """A unique identifier for each case, fit for an address."""
    named: dict[Case, str] = {}
    for case in dict.fromkeys(record.case for record in records):
        base = "case-" + re.sub(r"[^A-Za-z0-9]+", "-", str(case)).strip("-")
        taken = set(named.values())
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        named[case] = name
    return named


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


# Placements that a machine cannot offer: each once, however many benchmarks and repeats ask for it


class NotAvailable(NamedTuple):
    """A placement that host groups cannot offer for one reason; ``runs``: how many were planned."""

    placement: str
    host_groups: tuple[str, ...]
    benchmarks: tuple[str, ...]  # empty where it is none at all
    reason: str
    runs: int

    @property
    def name(self) -> str:
        """The placement with its host groups."""
        benchmarks = f" for {listed(self.benchmarks)}" if self.benchmarks else ""
        return f"{listed(self.host_groups)} {self.placement}{benchmarks}"

    def __str__(self) -> str:
        """``local SHM-2 is not available: needs 2 sockets``."""
        few = len(self.host_groups) <= _MANY
        name = self.name if few else f"{self.placement} of {len(self.host_groups)} host groups"
        return f"{name} is not available: {self.reason}"


def not_available(comparison: Comparison) -> list[NotAvailable]:
    """Every placement that any host group cannot offer; with its benchmarks where it offers it to others."""
    absent = [record for record in comparison.records if record.status == NOT_AVAILABLE]
    offered = {_place(record) for record in comparison.records if record.status != NOT_AVAILABLE}
    found: dict[tuple[str, tuple[str, ...], str], list[tuple[str, int]]] = {}
    for (system, group, placement, reason), runs in grouped(absent, _place_and_reason).items():
        some = (system, group, placement) in offered
        benchmarks = tuple(dict.fromkeys(visible(run.case.benchmark) for run in runs)) if some else ()
        place = visible(f"{system}/{group}" if len(comparison.systems) > 1 else group)
        key = (visible(placement), benchmarks, visible(reason))
        found.setdefault(key, []).append((place, len(runs)))
    return [
        NotAvailable(placement, tuple(place for place, _ in of), benchmarks, reason, sum(n for _, n in of))
        for (placement, benchmarks, reason), of in found.items()
    ]


def _place(record: Record) -> tuple[str, str, str]:
    return record.case.system, record.case.host_group, record.case.placement


def _place_and_reason(record: Record) -> tuple[str, str, str, str]:
    return (*_place(record), record.reason)


def is_offered(row: Row) -> bool:
    """Whether the row has values, or lacks them for another reason."""
    return not row.absence or any(note.kind != NOT_AVAILABLE for note in row.absence)


def offered(table: Table) -> list[Row]:
    """The rows of a table without those of placements that are not available."""
    return [row for row in table.rows if is_offered(row)]


# Values of disturbed runs


def mark_of(row: Row) -> str:
    """The mark of the row's values; empty where they are of other runs."""
    return MARK if row.disturbed else ""


def marks_of(row: Row) -> tuple[str, ...]:
    """The same as the marks of a box."""
    return (MARK,) if row.disturbed else ()


def explained(rows: Iterable[Row]) -> tuple[tuple[str, str], ...]:
    """The footnote of a table with such values."""
    return ((MARK, MEANING),) if any(row.disturbed for row in rows) else ()
