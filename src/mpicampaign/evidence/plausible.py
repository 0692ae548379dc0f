"""What a link between nodes can carry, and whether a run's values can be those of the fabric that it claims.

None of the public systems has less than 0.78 µs between nodes. A study of packed jobs measured 0.3 to 0.8 µs
"between nodes": ranks 0 and 1 shared one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mpicampaign.base.records import CONTRADICTED, OK, UNVERIFIED, Record, Series
from mpicampaign.evidence.fabrics import GIGABIT, NODES, PACKED, SCOPE, fabric_of
from mpicampaign.suites import sends
from mpicampaign.suites.suite import Active

LEAST_LATENCY = 0.6e-6  # s, one way between nodes
BOUND_SIZE = 1 << 20  # B; below it, not the line rate decides, but latency and buffers
ROOM = 1.05  # above the line rate: for what a shaped link lets through at once


def link_bound(run: Record, series: Series, *, shared: bool = False) -> float | None:
    """What the link of a node can carry of that which the bandwidth counts (B/s).

    None where no rate is known, or the bandwidth is not that of one link with a rank of its own at each end.
    ``shared``: also of pairs on two nodes that may share a link, as it carries no more of all of them.
    """
    sent, hosts, scope = sends(run.suite, series.benchmark), len(run.hosts), run.metadata.get(SCOPE, NODES)
    if sent is None or scope not in (NODES, PACKED):
        return None
    if not sent.of_pairs:
        of_link = scope == NODES and 1 < hosts == series.ranks
    elif sent.active is Active.FIRST_TWO and run.metadata.get(SCOPE) == NODES:
        of_link = True
    else:
        of_link = hosts == 2 and (shared or (scope == NODES and series.ranks in (2, None)))
    rate = run.line_rate or ((fabric := fabric_of(run)) and fabric.rate) if of_link else None
    return sent.directions * rate if rate else None


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
    bound = link_bound(record, series, shared=True)
    rates = zip(series.columns.get("size", ()), series.columns.get("bandwidth", ()), strict=False)
    largest = max((value for size, value in rates if value and size and size >= BOUND_SIZE), default=0.0)
    if bound and largest > ROOM * bound:
        ways = "" if sent.directions == 1 else ", both ways"
        link = f"{bound / sent.directions / GIGABIT:g} Gb/s carries{ways}"
        yield f"bandwidth: {largest / 1e9:.1f} GB/s is more than {link}: another rate, more links, or memory"
