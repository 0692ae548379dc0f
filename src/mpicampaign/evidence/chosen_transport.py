"""Which transport an MPI library chose by itself, where the label claims none, and what shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mpicampaign.base.grouping import grouped
from mpicampaign.base.network_devices import CN5000, EFA, OMNI_PATH, SLINGSHOT
from mpicampaign.base.records import Series
from mpicampaign.evidence.connections import exchanged_over_tcp
from mpicampaign.evidence.counters import NOISE_BYTES, payload, traffic
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.node_facts import recorded_network
from mpicampaign.evidence.traffic import ANY, HEADER_BYTES, LAUNCHER_BYTES, NEARLY_NONE, SHM
from mpicampaign.mpis import reported_transports

_Shown = tuple[str, str, str]
_KINDS = {EFA: "efa", SLINGSHOT: "cxi", OMNI_PATH: "opx or psm2", CN5000: "opx"}  # others: ibv


def chosen_transport(evidence: Evidence, output: str, series: Iterable[Series]) -> str:
    """``tcp over eth0 (by the ranks' sockets)``; empty where the label claims one, or nothing shows it."""
    if evidence.claim.get("transport") != ANY:
        return ""
    kinds = grouped(_seen(evidence, output, tuple(series)), lambda shown: shown[0])
    return ", ".join(_kind_text(kind, of_kind) for kind, of_kind in kinds.items())


def _kind_text(kind: str, shown: list[_Shown]) -> str:
    networks = ", ".join(network for _, network, _ in shown if network)
    return f"{kind}{networks and f' over {networks}'} (by {' and '.join(source for *_, source in shown)})"


def _seen(evidence: Evidence, output: str, tables: tuple[Series, ...]) -> Iterator[_Shown]:
    """Kinds of transports, each with its networks where they are known, and what shows it."""
    for kind in sorted(reported_transports(evidence.claim.get("mpi", ""), output) or ()):
        yield kind, "", "its report"
    least = NEARLY_NONE * payload(evidence, tables, HEADER_BYTES).moved
    exchanged = exchanged_over_tcp(evidence)
    if exchanged and exchanged.total > max(LAUNCHER_BYTES, least):
        carried = exchanged.interfaces
        names = sorted(name for name in carried if carried[name] > NEARLY_NONE * carried.total())
        yield "tcp", ", ".join(names), "the ranks' sockets"
        return  # the ports may have carried this
    seen = [traffic(evidence, host) for host in evidence.hosts]
    telling = max(NOISE_BYTES, least)
    ports = {
        port: _KINDS.get(recorded_network(evidence.nodes[host], port), "ibv")
        for host, use in zip(evidence.hosts, seen, strict=True)
        for port in use.ports
        if use.through(port, both=False) >= telling
    }
    for kind, names in grouped(sorted(ports), ports.__getitem__).items():
        yield kind, ", ".join(names), "the counters of its ports"
    if ports:
        return
    if "gpus_per_node" in evidence.claim:
        return  # which send by other ways, too
    if exchanged and exchanged.unpaired <= LAUNCHER_BYTES and len(seen) == 1 and not seen[0].ports:
        yield SHM, "", "the ranks' silent sockets"
