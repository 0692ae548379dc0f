"""Over which fabric a run sent and how far apart its ranks were, in words of the table of public systems.

A fabric is known by what the nodes recorded of their ports, or
by what a user says of a host group or placement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mpicampaign.base.network_devices import CN5000, INFINIBAND, OMNI_PATH, ROCE, SLINGSHOT
from mpicampaign.base.records import CHOSEN_TRANSPORT, CLAIMED_TRANSPORT, Record
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import number
from mpicampaign.evidence.node_facts import device_of, recorded_network

SAME_SOCKET, SOCKETS, SAME_NODE, NODES = "same socket", "sockets", "same node", "nodes"
PACKED = "nodes with several ranks"  # of which any two may share one
SHM = "shm"
SCOPE = "scope"  # in the metadata: one of these
FABRIC = "fabric"  # in the metadata of imported runs, and as an attribute of host groups: named by the user
ADAPTERS = "adapters"  # the attribute of host groups that counts those of a node
BUFFERS = "buffers"  # in the metadata of outputs of GPU versions: "H H" is that of host buffers
GIGABIT = 1e9 / 8  # B/s

# Signalling rates (Gb/s) of an adapter; the other names end in theirs.
_RATES = {
    **{"infiniband-ddr": 20, "infiniband-qdr": 40, "infiniband-fdr": 56, "infiniband-edr": 100},
    **{"infiniband-hdr100": 100, "infiniband-hdr": 200, "infiniband-ndr200": 200, "infiniband-ndr": 400},
    **{"omni-path": 100, "slingshot-11": 200},
}
_RATE = re.compile(r"([0-9]{1,5})(?:\.[0-9]+)? Gb/sec(?: \((?:[0-9]+X )?([A-Z0-9]+)\))?")
_ATTRIBUTE = re.compile(r"([0-9]+) ?(?:GbE|Gb/s|Gbit/s)?", re.ASCII)
_VIRTUAL = {"virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "vif", "ena", "gve"}
_TITLES = {
    **{"infiniband": "InfiniBand", "roce": "RoCE", "efa": "EFA", "ethernet": "Ethernet", "aries": "Aries"},
    **{"omni-path": "Omni-Path", "slingshot-11": "Slingshot 11", "slingshot": "Slingshot"},
}


class Fabric(NamedTuple):
    """``gbps``: of an adapter (Gb/s, one direction), of which a node has ``rails``; None if unknown."""

    name: str
    gbps: float | None
    rails: int | None

    @property
    def rate(self) -> float | None:
        """The rate of a node in one direction (B/s); ``None`` if its adapters or their rate are unknown."""
        return self.gbps * self.rails * GIGABIT if self.gbps and self.rails else None


def rate_of(name: str) -> float | None:
    """The rate (Gb/s) of an adapter of the fabric of this name."""
    kind, _, rate = name.partition("-")
    in_name = number(rate) if kind in ("roce", "efa", "ethernet", "infiniband") else None
    return _RATES.get(name) or (float(in_name) if in_name else None)


def fabric_title(name: str) -> str:
    """``InfiniBand HDR`` for ``infiniband-hdr``, ``Ethernet 10 Gb/s`` for ``ethernet-10``."""
    kind, _, rest = name.partition("-")
    if name in _TITLES or kind not in _TITLES:
        return _TITLES.get(name, name)
    return f"{_TITLES[kind]} {rest} Gb/s" if rest.isdecimal() else f"{_TITLES[kind]} {rest.upper()}".rstrip()


def fabric_of(record: Record) -> Fabric | None:
    """The fabric of a run between nodes; None where nothing tells."""
    transport = record.metadata.get(CLAIMED_TRANSPORT) or record.metadata.get(CHOSEN_TRANSPORT, "")
    words = tuple(transport.partition(" (")[0].replace(",", "").split())
    of_hosts = [_recorded(facts, words) for facts in record.nodes.values()]
    if of_hosts and len(set(of_hosts)) == 1 and of_hosts[0]:
        return of_hosts[0]
    named = record.metadata.get(FABRIC) or named_fabric(record.attributes, words[0] if words else "")
    named = named or _by_rate(words, record.line_rate)
    adapters = number(record.attributes.get(ADAPTERS, "")) or None
    return Fabric(named, rate_of(named), adapters) if named else None


def named_fabric(attributes: Mapping[str, str], transport: str) -> str:
    """By attributes of a host group: ``fabric: slingshot-11``, ``infiniband: FDR``, ``ethernet: 10 GbE``.

    TCP goes over Ethernet, all else over another fabric; without a ``transport`` there must be one alone.
    """
    known = {name for name in _in_attributes(attributes) if name}
    if transport:
        known = {name for name in known if name.startswith("ethernet") == (transport == "tcp")}
    return known.pop() if len(known) == 1 else ""


def _by_rate(words: tuple[str, ...], line_rate: float | None) -> str:
    """The fabric with the link and rate that a campaign file gives."""
    kind = "ethernet" if words[:1] == ("tcp",) else next((word for word in words if word == ROCE), "")
    return f"{kind}-{line_rate / GIGABIT:g}" if kind and line_rate else ""


def _in_attributes(attributes: Mapping[str, str]) -> Iterator[str]:
    yield attributes.get(FABRIC, "").strip().lower()
    for kind in ("infiniband", "ethernet", "roce", "efa"):
        value = attributes.get(kind, "").strip()
        rate = _ATTRIBUTE.fullmatch(value)
        yield f"{kind}-{rate[1] if rate else value.lower()}" if value else ""


def _recorded(facts: Mapping[str, str], words: tuple[str, ...]) -> Fabric | None:
    """By the interface or device among the words; else by all active ports of a node, if they are alike."""
    if "tcp" in words:
        speeds = {name: number(facts.get(f"speed.{name}", "")) for name in words if _is_physical(facts, name)}
        rates = [speed / 1000 for name, speed in speeds.items() if speed and not name.startswith("ib")]
        return Fabric(f"ethernet-{rates[0]:g}", rates[0], 1) if len(rates) == 1 else None
    ports = [device_of(key)[1] for key in facts if key.startswith("rate.")]
    active = [port for port in ports if "ACTIVE" in facts.get(f"state.{port}", "ACTIVE")]
    chosen = [port for port in active if port.partition("/")[0] in words] or active
    seen = [_port(facts, port) for port in chosen]
    if not words or words[0] == SHM or not seen or len(set(seen)) > 1 or seen[0] is None:
        return None
    name, rate = seen[0]
    return Fabric(name, rate, len(chosen))


def _is_physical(facts: Mapping[str, str], interface: str) -> bool:
    """The speed of other interfaces is a name: veth, without a driver, has 10 Gb/s and carries more."""
    driver = facts.get(f"driver.{interface}", "").partition(" ")[0]
    return bool(driver) and driver not in _VIRTUAL


def _port(facts: Mapping[str, str], port: str) -> tuple[str, float] | None:
    network, rate = recorded_network(facts, port.partition("/")[0]), _RATE.match(facts[f"rate.{port}"])
    if not network or not rate:
        return None
    gbps, generation = int(rate[1]), (rate[2] or "").lower()
    if network == INFINIBAND:
        narrow = {("hdr", 100): "hdr100", ("ndr", 200): "ndr200"}.get((generation, gbps), generation)
        return f"infiniband-{narrow or gbps}", gbps
    if network in (OMNI_PATH, CN5000):
        return "omni-path" if gbps == _RATES["omni-path"] else f"omni-path-{gbps}", gbps
    if network == SLINGSHOT:
        return "slingshot-11" if gbps == _RATES["slingshot-11"] else f"slingshot-{gbps}", gbps
    return f"{network.lower()}-{gbps}", gbps


def scope_of(evidence: Evidence) -> str:
    """How far apart the ranks of a run were; empty where that was not recorded."""
    hosts, ranks = evidence.hosts, evidence.ranks.values()
    if len(hosts) != 1:
        return (NODES if len(hosts) == len(ranks) else PACKED) if hosts else ""
    of_ranks = [(seen.get("start.socket", ""), seen.get("end.socket", "")) for seen in ranks]
    sockets = {start for start, end in of_ranks if start == end and start}
    stayed = evidence.claim.get("binding") == "core" and all(start == end != "" for start, end in of_ranks)
    if stayed and len(sockets) == 1:
        return SAME_SOCKET
    return SOCKETS if stayed and len(sockets) == len(of_ranks) else SAME_NODE
