"""Which transport an MPI library chose by itself, where the label claims none, and what shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.mpis import reported_transports
from mpicampaign.verdict.connections import exchanged_over_tcp
from mpicampaign.verdict.counters import NOISE_BYTES, payload, traffic
from mpicampaign.verdict.traffic import ANY, HEADER_BYTES, LAUNCHER_BYTES, NEARLY_NONE, SHM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpicampaign.records import Series
    from mpicampaign.verdict.evidence import Evidence


def chosen_transport(evidence: Evidence, output: str, series: Iterable[Series]) -> str:
    """``tcp over eth0 (by the ranks' sockets)``; empty where the label claims one, or nothing shows it."""
    if evidence.claim.get("transport") != ANY:
        return ""
    sources: dict[str, list[str]] = {}
    for transport, source in _seen(evidence, output, tuple(series)):
        sources.setdefault(transport, []).append(source)
    return ", ".join(f"{name} (by {' and '.join(by)})" for name, by in sources.items())


def _seen(evidence: Evidence, output: str, tables: tuple[Series, ...]) -> Iterator[tuple[str, str]]:
    """Transports, each with what shows it."""
    if reported := reported_transports(evidence.claim.get("mpi", ""), output):
        yield " and ".join(sorted(reported)), "its report"
    least = NEARLY_NONE * payload(evidence, tables, HEADER_BYTES).moved
    exchanged = exchanged_over_tcp(evidence)
    if exchanged and exchanged.total > max(LAUNCHER_BYTES, least):
        carried = exchanged.interfaces
        names = sorted(name for name in carried if carried[name] > NEARLY_NONE * carried.total())
        yield f"tcp over {', '.join(names)}", "the ranks' sockets"
        return  # the ports may have carried this
    seen = [traffic(evidence, host) for host in evidence.hosts]
    telling = max(NOISE_BYTES, least)
    ports = {port for each in seen for port in each.ports if each.through(port, both=False) >= telling}
    if ports:
        yield f"ibv over {', '.join(sorted(ports))}", "the counters of its ports"
    elif exchanged and exchanged.unpaired <= LAUNCHER_BYTES and len(seen) == 1 and not seen[0].ports:
        yield SHM, "the ranks' silent sockets"
