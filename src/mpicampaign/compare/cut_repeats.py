"""Repeats whose values end at a smaller message than those of others: they give no maximum.

Only suites with ``ends_early`` have such repeats. Imports and outputs without a closing line may be cut; else
the suite printed sizes without values, since time or memory did not allow them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import IN_PART
from mpicampaign.compare.findings import Shorter
from mpicampaign.compare.metrics import end_of, read, read_fraction, stopped_at
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.base.records import Record, Series
    from mpicampaign.compare.findings import Note
    from mpicampaign.compare.metrics import Metric, Reading


def cut_repeats(curves: Iterable[tuple[Record, Series]]) -> dict[int, int]:
    """The repeats that end before the longest one, each with its last size (B)."""
    ends = {run.repeat: end_of(series) for run, series in curves if _ends_early(run)}
    last = max(ends.values(), default=0)
    return {repeat: end for repeat, end in ends.items() if end < last}


def readings(metric: Metric, curves: Sequence[tuple[Record, Series]]) -> dict[int, Reading]:
    """By repeat; a maximum over fewer sizes than in other repeats does not count."""
    cut = cut_repeats(curves) if metric.size is None else {}
    found = (
        (run.repeat, read_fraction(run, series) if metric.bound else read(metric, series, run.series))
        for run, series in curves
        if run.repeat not in cut
    )
    return {repeat: reading for repeat, reading in found if reading is not None}


def cut_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """One finding for each size at which such repeats end or were given up, even in all of them."""
    known = [(run, series) for run, series in curves if _ends_early(run)]
    cut = cut_repeats(known)
    found = {
        run.repeat: _shorter(run, end_of(series))
        for run, series in known
        if run.repeat in cut or stopped_at(series) is not None
    }
    alike = grouped(found, found.__getitem__)
    return [replace(shorter, repeats=tuple(repeats)) for shorter, repeats in alike.items()]


def _shorter(run: Record, end: int) -> Shorter:
    suite, printed = SUITES[run.suite], run.metadata.get("not_measured", "")
    given_up = tuple(reason for reason in suite.given_up if reason in printed)
    return Shorter(end=end, given_up=given_up, may_be_cut=not suite.closing_line or IN_PART in run.metadata)


def _ends_early(run: Record) -> bool:
    suite = SUITES.get(run.suite)
    return suite is not None and suite.ends_early
