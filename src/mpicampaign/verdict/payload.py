"""The bytes that must have moved between the ranks, according to the output of the benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.suites import sends
from mpicampaign.suites.suite import Active

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.records import Series
    from mpicampaign.suites.suite import Sends
    from mpicampaign.verdict.evidence import Evidence

# IMB moves up to 2.1 times what it prints, with warm-up and headers; more than this includes other traffic.
MOST_PER_PAYLOAD = 5.0


@dataclass(frozen=True, slots=True)
class Payload:
    """Bytes in one direction. ``moved``: the sum of sizes times repetitions in the output, over all hosts.

    ``least``: lower bound of what left or reached each host by the claimed transport; 0 where unknown.
    ``close``: whether ``moved`` is near the true amount. ``most``: the upper bound. ``both``: whether each
    host sends as much as it receives.
    """

    moved: float
    least: dict[str, float]
    close: bool
    most: float
    both: bool


def payload(evidence: Evidence, series: Iterable[Series], header: int = 0) -> Payload:
    """What the output accounts for; ``header``: bytes that each message takes beside its size."""
    moved, least, close, both = 0.0, dict.fromkeys(evidence.hosts, 0.0), True, True
    tables = tuple(series)
    for table in tables:
        amount = _amount(table, header)
        moved += amount
        sent = sends(evidence.claim.get("suite", ""), table.benchmark)
        close = close and sent is not None and sent.least and not sent.windows and bool(_counts(table))
        both = both and sent is not None and (sent.one_way or sent.directions > 1)
        for host in _crossing_hosts(evidence, table, sent) if sent and sent.least else ():
            least[host] += amount
    exact = close and all(table.columns.get("repetitions") for table in tables)
    return Payload(moved, least, close, MOST_PER_PAYLOAD * moved if exact else math.inf, both)


def volume(count: float) -> str:
    """A number of bytes with its unit: ``1.5 MB``."""
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count:.0f} B"


def _amount(table: Series, header: int) -> float:
    """Sizes times repetitions; where those are not printed (OSU) each size was sent at least once."""
    sizes = table.columns.get("size", [])
    if not sizes:
        return 0.0  # a barrier, say
    counts = _counts(table) or [1.0] * len(sizes)
    return sum(((size or 0.0) + header) * (count or 1.0) for size, count in zip(sizes, counts, strict=True))


def _counts(table: Series) -> list[float | None]:
    """How often each size was sent: IMB's repetitions, or a kernel's samples of one or more calls."""
    return table.columns.get("repetitions") or table.columns.get("samples") or []


def _crossing_hosts(evidence: Evidence, table: Series, sent: Sends) -> set[str]:
    """The hosts of the active ranks whose messages must have left the host (or used loopback)."""
    return {host for ranks in _partners(table, sent) for host in _crossed(evidence, ranks)}


def _partners(table: Series, sent: Sends) -> list[Sequence[int]]:
    """The active ranks, in groups that surely send among themselves."""
    count = table.ranks or 0
    if sent.active is Active.FIRST_TWO:
        return [(0, 1)]
    if sent.active is Active.HALVES:  # of an odd number one rank has no partner, an unknown one
        return [(rank, rank + count // 2) for rank in range(count // 2)] if count % 2 == 0 else []
    return [range(count)]


def _crossed(evidence: Evidence, ranks: Iterable[int]) -> set[str]:
    hosts = {evidence.host_of(rank) for rank in ranks if rank in evidence.ranks} - {""}
    crosses = len(hosts) > 1 or evidence.claim.get("interface") == "lo"
    return hosts if crosses else set()
