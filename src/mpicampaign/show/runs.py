"""Runs in the report: their states, the facts that they recorded, and addresses of their cases."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from mpicampaign.compare.findings import STOPPED
from mpicampaign.records import IMPORTED_FROM, OK, UNVERIFIED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.records import Case, Record


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
