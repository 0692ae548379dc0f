"""Rates as fractions of a peak that the campaign file gives: an estimate, since clocks differ under load."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from mpicampaign.records import Record, Series


def with_peak(record: Record, core_peak: float | None) -> Record:
    """The record with the fraction of the peak of a core (flop/s) that each process reached."""
    suite = SUITES.get(record.suite)
    if not (core_peak and suite and suite.peak):
        return record
    rate, fraction = suite.peak
    return replace(record, series=tuple(_of(series, rate, fraction, core_peak) for series in record.series))


def _of(series: Series, rate: str, fraction: str, core_peak: float) -> Series:
    rates = series.columns.get(rate, [])
    if not rates:
        return series
    reached = [value / core_peak if value is not None else None for value in rates]
    return replace(series, columns={**series.columns, fraction: reached})
