"""What the probes of the machine name as causes beside a run's values: a slow clock, slow memory.

Nothing is corrected by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CLOCK_RATE, COPY
from mpicampaign.evidence.machine_state import FEWEST, site_of
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.base.records import Record

SLOW_CLOCK, SLOW_MEMORY = "slow clock", "slow memory"  # keys of the metadata
THROTTLED = 0.9  # of the clock rate at the begin of the run, or of the node's other runs
OCCUPIED = 0.7  # of the copy in the node's other runs


def with_causes(records: Sequence[Record]) -> list[Record]:
    """The records, with what was slow in a run as its metadata."""
    usual = {
        site: {kind: _usual(runs, kind) for kind in (CLOCK_RATE, COPY)}
        for site, runs in grouped(records, site_of).items()
    }
    return [_with_causes(record, usual[site_of(record)]) for record in records]


def _usual(records: Sequence[Record], kind: str) -> dict[str, float]:
    """The median over the runs of each host, of what they began with."""
    first: dict[str, list[float]] = {}
    for record in records:
        for host, values in record.probes.get(kind, {}).items():
            first.setdefault(host, []).append(values[0])
    return {host: median(values) for host, values in first.items() if len(values) >= FEWEST}


def _with_causes(record: Record, usual: Mapping[str, Mapping[str, float]]) -> Record:
    clocks, copies = (record.probes.get(kind, {}) for kind in (CLOCK_RATE, COPY))
    slow = [text for host, values in clocks.items() if (text := _slow(host, values, usual[CLOCK_RATE]))]
    occupied = [
        f"a copy of memory reached {max(values) / 1e9:.1f} GB/s on {host}, "
        f"{usual[COPY][host] / 1e9:.1f} GB/s in other runs: others may have used the memory"
        for host, values in copies.items()
        if host in usual[COPY] and max(values) < OCCUPIED * usual[COPY][host]
    ]
    causes = {SLOW_CLOCK: slow, SLOW_MEMORY: occupied}
    facts = {key: "; ".join(texts) for key, texts in causes.items() if texts}
    return replace(record, metadata={**record.metadata, **facts}) if facts else record


def _slow(host: str, values: Sequence[float], usual: Mapping[str, float]) -> str:
    """That the lowest clock rate is below that at the begin, or of the host's other runs; or empty."""
    before = ((values[0], "at its begin"), (usual.get(host, 0.0), "in other runs"))
    least = min(values)
    texts = (
        f"{least / 1e9:.2f} GHz on {host}, {rate / 1e9:.2f} GHz {when}"
        for rate, when in before
        if least < THROTTLED * rate
    )
    return next(texts, "")
