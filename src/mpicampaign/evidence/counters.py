"""The transport by what the nodes' counters of interfaces and of RDMA devices moved by.

They count the traffic of everybody on a node. So they decide about RDMA devices, for which ranks have no
account, and about evidence without the ranks' own account of their sockets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mpicampaign.base.records import Series
from mpicampaign.evidence.evidence import Evidence, below
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, number
from mpicampaign.suites import sends
from mpicampaign.suites.suite import Active, Sends

# Traffic of a quiet node, and the payload from which counters are conclusive (measured: at most 12 kB during
# a shared-memory run on the test cluster; NFS and monitoring need more room).
NOISE_BYTES = 1_000_000
TELLING_BYTES = 4_000_000
OFI = "ofi"


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a host's interfaces and RDMA devices counted during the run.

    ``interfaces``: the larger of both directions. ``ports``: each direction. ``halves``: counters read once
    only.
    """

    interfaces: dict[str, int]
    ports: dict[str, tuple[int, ...]]
    below: set[tuple[str, str]]
    halves: tuple[str, ...] = ()

    @property
    def half_port(self) -> str:
        """A counter of a port that was read once only; empty where there is none."""
        return next((name for name in self.halves if not name.startswith("net.")), "")

    @property
    def old_port(self) -> str:
        """A port of Slingshot, whose telemetry may be old: its silence shows nothing."""
        return next((port for port in self.ports if port.startswith("cxi")), "")

    def through(self, port: str, both: bool) -> int:
        """What passed a port; ``both``: in each direction, for other people's traffic may have only one."""
        counts = self.ports.get(port, ())
        return (min if both else max)(counts, default=0)


def traffic(evidence: Evidence, host: str) -> Traffic:
    """The bytes that a host's counters moved by."""
    node = evidence.nodes.get(host, {})
    moved: dict[tuple[str, str], list[int]] = {}
    halves = []
    first, last = below(node, "before."), below(node, "after.")
    for rest in {**first, **last}:
        kind, _, counter = rest.partition(".")
        if kind not in ("net", "rdma", "ib"):
            continue
        before, after = (number(read.get(rest, "")) for read in (first, last))
        if before is None or after is None:
            halves.append(rest)
        else:
            moved.setdefault((kind, counter.rpartition(".")[0]), []).append(max(after - before, 0))
    interfaces = {name: max(counts) for (kind, name), counts in moved.items() if kind == "net"}
    ports = {name: tuple(counts) for (kind, name), counts in moved.items() if kind == "rdma"}
    for (kind, name), counts in moved.items():
        if kind == "ib":
            # in units of 4 B; Omni-Path counts its flits of 8 B (C_DC_XMIT_FLITS of hfi1 and hfi2)
            unit = 8 if node.get(f"driver.{name}", "").startswith(("hfi1", "hfi2")) else 4
            ports[name] = tuple(unit * count for count in counts)
    pairs = [pair.partition("/") for pair in below(node, "below.")]
    return Traffic(interfaces, ports, {(upper, lower) for upper, _, lower in pairs}, tuple(halves))


def missing_counters(seen: Mapping[str, Traffic]) -> list[Finding]:
    """Every Linux kernel has these counters, so a missing one was lost or removed."""
    for host, counted in seen.items():
        if counted.halves:
            half = f"{counted.halves[0]} of {host} was not read before and after the run"
            return [Finding("counters", LACKS, half)]
    if seen and not any(counted.interfaces for counted in seen.values()):
        return [Finding("counters", LACKS, "no interface counters of the hosts of the ranks")]
    return []


def counter_findings(evidence: Evidence, seen: Mapping[str, Traffic], moved: Payload) -> list[Finding]:
    """What the counters of each host say about the claimed transport."""
    if moved.moved < TELLING_BYTES:
        reason = f"only {moved.moved:.0f} B of payload, too little for counters"
        return [Finding("counters", LACKS, reason)]
    judges = {"shm": _judge_shared_memory, "ibv": _judge_device, OFI: _judge_device}
    claimed = "tcp" if over_tcp(evidence) else evidence.claim["transport"]
    judge = judges.get(claimed, _judge_network)
    return [judge(evidence, counted, host, moved) for host, counted in seen.items() if counted.interfaces]


def ports_may_have_carried(seen: Mapping[str, Traffic], moved: Payload) -> str:
    """Why an RDMA device may have carried the messages, not shared memory; empty where none did."""
    for host, counted in seen.items():
        if counted.half_port:
            return f"{counted.half_port} of {host} was not read before and after the run"
        if counted.ports and moved.moved < TELLING_BYTES:
            few = f"{volume(moved.moved)} of payload are too little for counters"
            return f"{host} has RDMA devices ({', '.join(sorted(counted.ports))}), and {few}"
        for port in counted.ports:
            if (count := counted.through(port, moved.both)) >= max(NOISE_BYTES, 0.1 * moved.moved):
                return f"{port} of {host} counted {volume(count)}"
        if counted.old_port:
            return f"the telemetry of {counted.old_port} of {host} may be old"
    return ""


def _judge_shared_memory(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """No interface may have carried the payload; less than that may be other traffic."""
    ports = {port: seen.through(port, both=False) for port in seen.ports}
    for name, count in [*seen.interfaces.items(), *ports.items()]:
        if count < max(NOISE_BYTES, 0.1 * moved.moved):
            continue
        reason = f"interface {name} of {host} counted {volume(count)}, though shm was claimed"
        if moved.close and 0.9 * moved.moved <= count <= moved.most:
            return Finding("counters", CONTRADICTS, reason)
        return Finding("counters", LACKS, reason + "; that may be other traffic")
    return Finding("counters", SUPPORTS, f"{volume(moved.moved)} of payload, no interface carried it")


def over_tcp(evidence: Evidence) -> bool:
    """Whether the claim is that TCP carries the messages, by the MPI library itself or by libfabric."""
    return "tcp" in (evidence.claim["transport"], evidence.claim.get("provider"))


def _judge_device(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """The claimed device must have carried the payload in each direction that the benchmark uses."""
    device, least = evidence.claim.get("device", ""), moved.least.get(host, 0.0)
    place = f"device {device}" if device else "RDMA devices"
    if seen.half_port:
        return Finding("counters", LACKS, f"{seen.half_port} of {host} was not read before and after the run")
    if not seen.ports:
        return Finding("counters", LACKS, f"{host} has no counters of {place}")
    counts = {port: seen.through(port, moved.both) for port in seen.ports}
    carried = counts.get(device, 0) if device else sum(counts.values())
    counted = f"{place} of {host} counted {volume(carried)}"
    if carried < 0.9 * least:
        # the driver of Slingshot refreshes its telemetry from time to time
        outcome = LACKS if device.startswith("cxi") else CONTRADICTS
        return Finding("counters", outcome, f"{counted}, but {volume(least)} of payload moved")
    if carried < max(NOISE_BYTES, 0 if least else 0.9 * moved.moved):
        return Finding("counters", LACKS, f"{counted}; the traffic of this benchmark is not known")
    others = [port for port, count in counts.items() if device not in ("", port) and count >= 0.3 * carried]
    if others:
        return Finding("counters", LACKS, f"{counted}, {others[0]} {volume(counts[others[0]])}")
    return Finding("counters", SUPPORTS, f"{volume(moved.moved)} of payload; {counted}")


def _judge_network(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """The claimed interface must have carried the payload, and no other a share of it."""
    claimed, named = evidence.claim["transport"], evidence.claim.get("interface", "")
    carried = seen.interfaces.get(named, 0)
    place = f"interface {named or '(none named)'}"
    least = moved.least.get(host, 0.0)
    other = _other_interface(evidence, seen, max(carried, least, moved.moved))
    if carried < 0.9 * least:
        reason = f"{place} of {host} counted {volume(carried)}, but {volume(least)} of payload moved"
        reason += f"; interface {other} counted {volume(seen.interfaces[other])}" if other else ""
        return Finding("counters", CONTRADICTS, reason)
    if other:
        counted = f"interface {other} of {host} counted {volume(seen.interfaces[other])}"
        reason = f"{counted}, though {claimed} was claimed" + (f" over {named}" if named else "")
        return Finding("counters", CONTRADICTS, reason)
    if carried < max(NOISE_BYTES, 0.9 * moved.moved if not least else 0):
        reason = f"{place} of {host} counted {volume(carried)}; the traffic of this benchmark is not known"
        return Finding("counters", LACKS, reason)
    return Finding("counters", SUPPORTS, f"{volume(moved.moved)} of payload, {volume(carried)} over {place}")


def _other_interface(evidence: Evidence, seen: Traffic, carried: float) -> str:
    """An interface that carried much of the traffic though the claim names another one; empty if none."""
    named = evidence.claim.get("interface", "")
    stacked = {pair for upper, lower in seen.below for pair in ((upper, lower), (lower, upper))}
    allowed = {named, *(lower for upper, lower in stacked if upper == named)}
    if (number(evidence.claim.get("ranks_per_node", "")) or 0) > 1:
        allowed.add("lo")  # ranks of one node reach each other over it
    limit = max(NOISE_BYTES, 0.3 * carried)
    return next((n for n, count in seen.interfaces.items() if n not in allowed and count >= limit), "")


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
        partners = _partners(table, sent) if sent and sent.least else []
        for host in {host for ranks in partners for host in _crossed(evidence, ranks)}:
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


def _partners(table: Series, sent: Sends) -> list[Sequence[int]]:
    """The active ranks, in groups that surely send among themselves."""
    count = table.ranks or 0
    if sent.active is Active.FIRST_TWO:
        return [(0, 1)]
    if sent.active is Active.HALVES:  # of an odd number one rank has no partner, an unknown one
        return [(rank, rank + count // 2) for rank in range(count // 2)] if count % 2 == 0 else []
    return [range(count)]


def _crossed(evidence: Evidence, ranks: Iterable[int]) -> set[str]:
    """The hosts of these ranks, if messages among them must have left a host (or used loopback)."""
    hosts = {evidence.host_of(rank) for rank in ranks if rank in evidence.ranks} - {""}
    crosses = len(hosts) > 1 or evidence.claim.get("interface") == "lo"
    return hosts if crosses else set()
