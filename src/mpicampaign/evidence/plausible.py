"""Whether a run's values can be those of the fabric between nodes that its label claims.

None of the public systems has less than 0.78 µs between nodes. A study of packed jobs measured 0.3 to 0.8 µs
"between nodes": ranks 0 and 1 shared one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mpicampaign.base.records import CONTRADICTED, OK, UNVERIFIED, Record, Series
from mpicampaign.evidence.fabrics import GIGABIT, NODES, PACKED, SCOPE, fabric_of
from mpicampaign.suites import sends

LEAST_LATENCY = 0.6e-6  # s, one way between nodes
BOUND_SIZE = 1 << 20  # B; below it, not the line rate decides, but latency and buffers
ROOM = 1.05  # above the line rate: for what a shaped link lets through at once


def with_doubts(record: Record) -> Record:
    """The record, not verified where its values are not those of a fabric between nodes."""
    if (
        record.status != OK
        or record.verdict == CONTRADICTED
        or record.metadata.get(SCOPE) not in (NODES, PACKED)
    ):
        return record
    reasons = tuple(dict.fromkeys(reason for series in record.series for reason in _doubts(record, series)))
    before = record.verdict_reasons if record.verdict == UNVERIFIED else ()
    return replace(record, verdict=UNVERIFIED, verdict_reasons=(*reasons, *before)) if reasons else record


def _doubts(record: Record, series: Series) -> Iterator[str]:
    sent = sends(record.suite, series.benchmark)
    if sent is None:
        return
    times = [time for time in series.columns.get("time", ()) if time]
    if sent.one_way and times and min(times) < LEAST_LATENCY:
        least = f"{LEAST_LATENCY * 1e6:g} µs"
        yield f"latency: {min(times) * 1e6:.2f} µs is below {least}: not between nodes: ranks may share one"
    fabric = fabric_of(record)
    rate = record.line_rate or (fabric.rate if fabric else None)
    rates = zip(series.columns.get("size", ()), series.columns.get("bandwidth", ()), strict=False)
    largest = max((value for size, value in rates if value and size and size >= BOUND_SIZE), default=0.0)
    # the ranks of a node share its link: what a pair or the only rank of a node sends passes it alone
    alone = len(record.hosts) in (0, 2) if sent.of_pairs else series.ranks == len(record.hosts)
    if rate and alone and largest > ROOM * sent.directions * rate:
        ways = "" if sent.directions == 1 else ", both ways"
        bound = f"{rate / GIGABIT:g} Gb/s carries{ways}"
        yield f"bandwidth: {largest / 1e9:.1f} GB/s is more than {bound}: another rate, more links, or memory"
