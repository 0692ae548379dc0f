"""Runs that get rows of their own, marked in their names; those of oversubscribed ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import OK, OVERSUBSCRIBED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.base.records import Record


def oversubscribed_apart(records: Sequence[Record]) -> tuple[Record, ...]:
    """The records, with oversubscribed runs in a placement that is marked as such.

    A sound run is judged by itself, disturbed or not. Others follow the sound runs of their case if these are
    all oversubscribed; if there are none, what the campaign declares for runs to come. Contradicted runs
    may share cores although their placement does not.
    """
    cases = grouped(records, lambda record: record.case)
    shared = {case for case, runs in cases.items() if _all_shared(runs)}
    return tuple(
        in_own_row(record, "oversubscribed")
        if (_is_shared(record) if record.sound else record.case in shared)
        else record
        for record in records
    )


def _is_shared(record: Record) -> bool:
    return OVERSUBSCRIBED in record.metadata


def _all_shared(runs: Sequence[Record]) -> bool:
    decisive = [run for run in runs if run.sound] or [run for run in runs if run.status != OK]
    return bool(decisive) and all(map(_is_shared, decisive))


def in_own_row(record: Record, why: str) -> Record:
    """The record, in a placement that says what sets it apart."""
    placement = f"{record.case.placement} ({why})"
    return replace(record, case=replace(record.case, placement=placement))
