"""The transport that a run used, by the report of the MPI library and by the counters of the network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.mpis import reported_transports
from mpicampaign.suites import sends
from mpicampaign.suites.suite import Active
from mpicampaign.verdict.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, finding, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.records import Series
    from mpicampaign.suites.suite import Sends
    from mpicampaign.verdict.evidence import Evidence

# Traffic of a quiet node, and the payload from which counters are conclusive (measured: at most 12 kB during
# a shared-memory run on the test cluster; NFS and monitoring need more room).
NOISE_BYTES = 1_000_000
TELLING_BYTES = 4_000_000
# IMB moves up to 2.1 times what it prints, with warm-up and headers; more than this includes other traffic.
MOST_PER_PAYLOAD = 5.0


@dataclass(frozen=True, slots=True)
class Payload:
    """Bytes in one direction. ``moved``: the sum of sizes times repetitions in the output, over all hosts.

    ``least``: lower bound of what left or reached each host by the claimed transport; 0 where unknown.
    ``close``: whether ``moved`` is near the true amount. ``most``: the upper bound.
    """

    moved: float
    least: dict[str, float]
    close: bool
    most: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a host's interfaces and InfiniBand ports counted during the run."""

    interfaces: dict[str, int]
    ports: dict[str, int]
    below: set[tuple[str, str]]
    halves: tuple[str, ...] = ()  # counters read once only


def transport_findings(evidence: Evidence, output: str, series: Iterable[Series]) -> list[Finding]:
    """The library's report and the counters: one must support the claim, and none may contradict it."""
    if evidence.claim.get("transport") in (None, "", "any"):
        return []
    seen = {host: traffic(evidence, host) for host in evidence.hosts}
    findings = [_report(evidence, output), *_counters(evidence, seen, payload(evidence, series))]
    if any(found.outcome != LACKS for found in findings):
        findings = [found for found in findings if found.outcome != LACKS]
    return findings + _missing_counters(seen)


def payload(evidence: Evidence, series: Iterable[Series]) -> Payload:
    """The bytes that must have moved, according to the output of the benchmark."""
    moved, least, close = 0.0, dict.fromkeys(evidence.hosts, 0.0), True
    tables = tuple(series)
    for table in tables:
        amount = _amount(table)
        moved += amount
        sent = sends(evidence.claim.get("suite", ""), table.benchmark)
        close = close and sent is not None and sent.least and not sent.windows and bool(_counts(table))
        for host in _crossing_hosts(evidence, table, sent) if sent and sent.least else ():
            least[host] += amount
    exact = close and all(table.columns.get("repetitions") for table in tables)
    return Payload(moved, least, close, MOST_PER_PAYLOAD * moved if exact else math.inf)


def _amount(table: Series) -> float:
    """Sizes times repetitions; where those are not printed (OSU) each size was sent at least once."""
    sizes = table.columns.get("size", [])
    if not sizes:
        return 0.0  # a barrier, say
    counts = _counts(table) or [1.0] * len(sizes)
    return sum((size or 0.0) * (count or 1.0) for size, count in zip(sizes, counts, strict=True))


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


def _report(evidence: Evidence, output: str) -> Finding:
    mpi, claimed = evidence.claim.get("mpi", ""), evidence.claim["transport"]
    reported = reported_transports(mpi, output)
    if reported is None:
        return Finding("MPI library's report", LACKS, f"{mpi} reported no transport")
    names = ", ".join(sorted(reported))
    bad = f"it used {names}, claimed: {claimed}"
    return finding("MPI library's report", reported == {claimed}, names, bad)


def traffic(evidence: Evidence, host: str) -> Traffic:
    """The bytes that a host's counters moved by, the larger of both directions."""
    node = evidence.nodes.get(host, {})
    moved: dict[tuple[str, str], int] = {}
    halves = []
    for key, value in node.items():
        moment, _, rest = key.partition(".")
        kind, _, counter = rest.partition(".")
        if moment not in ("before", "after") or kind not in ("net", "ib"):
            continue
        before, after = number(value), number(node.get(f"after.{rest}", ""))
        if before is None or after is None or f"before.{rest}" not in node:
            halves.append(rest)
        elif moment == "before":
            name = counter.rpartition(".")[0]
            moved[kind, name] = max(moved.get((kind, name), 0), after - before)
    interfaces = {name: count for (kind, name), count in moved.items() if kind == "net"}
    ports = {name: 4 * count for (kind, name), count in moved.items() if kind == "ib"}  # counted in 4 B
    pairs = [key.removeprefix("below.").partition("/") for key in node if key.startswith("below.")]
    return Traffic(interfaces, ports, {(upper, lower) for upper, _, lower in pairs}, tuple(halves))


def _missing_counters(seen: Mapping[str, Traffic]) -> list[Finding]:
    """Every Linux kernel has these counters, so a missing one was lost or removed."""
    for host, found in seen.items():
        if found.halves:
            return [
                Finding(
                    "counters", LACKS, f"{found.halves[0]} of {host} was not read before and after the run"
                )
            ]
    if seen and not any(found.interfaces for found in seen.values()):
        return [Finding("counters", LACKS, "no interface counters of the hosts of the ranks")]
    return []


def _counters(evidence: Evidence, seen: Mapping[str, Traffic], moved: Payload) -> list[Finding]:
    if moved.moved < TELLING_BYTES:
        reason = f"only {moved.moved:.0f} B of payload, too little for counters"
        return [Finding("counters", LACKS, reason)]
    judge = _judge_shared_memory if evidence.claim["transport"] == "shm" else _judge_network
    return [judge(evidence, found, host, moved) for host, found in seen.items() if found.interfaces]


def _judge_shared_memory(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """No interface may have carried the payload; less than that may be other traffic."""
    for name, count in [*seen.interfaces.items(), *seen.ports.items()]:
        if count < max(NOISE_BYTES, 0.1 * moved.moved):
            continue
        reason = f"interface {name} of {host} counted {_mb(count)}, though shm was claimed"
        if moved.close and 0.9 * moved.moved <= count <= moved.most:
            return Finding("counters", CONTRADICTS, reason)
        return Finding("counters", LACKS, reason + "; that may be other traffic")
    return Finding("counters", SUPPORTS, f"{_mb(moved.moved)} of payload, no interface carried it")


def _judge_network(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """The claimed interface or device must have carried the payload, and no other a share of it."""
    claimed, named = evidence.claim["transport"], evidence.claim.get("interface", "")
    carried = _carried(evidence, seen)
    place = "InfiniBand ports" if claimed == "ibv" else f"interface {named or '(none named)'}"
    least = moved.least.get(host, 0.0)
    other = _other_interface(evidence, seen, max(carried, least, moved.moved))
    if carried < 0.9 * least:
        reason = f"{place} of {host} counted {_mb(carried)}, but {_mb(least)} of payload moved"
        reason += f"; interface {other} counted {_mb(seen.interfaces[other])}" if other else ""
        return Finding("counters", CONTRADICTS, reason)
    if other:
        counted = f"interface {other} of {host} counted {_mb(seen.interfaces[other])}"
        reason = f"{counted}, though {claimed} was claimed" + (f" over {named}" if named else "")
        return Finding("counters", CONTRADICTS, reason)
    if carried < max(NOISE_BYTES, 0.9 * moved.moved if not least else 0):
        reason = f"{place} of {host} counted {_mb(carried)}; the traffic of this benchmark is not known"
        return Finding("counters", LACKS, reason)
    return Finding("counters", SUPPORTS, f"{_mb(moved.moved)} of payload, {_mb(carried)} over {place}")


def _carried(evidence: Evidence, seen: Traffic) -> int:
    if evidence.claim["transport"] != "ibv":
        return seen.interfaces.get(evidence.claim.get("interface", ""), 0)
    device = evidence.claim.get("device", "")
    return seen.ports.get(device, 0) if device else sum(seen.ports.values())


def _other_interface(evidence: Evidence, seen: Traffic, carried: float) -> str:
    """An interface that carried much of the traffic though the claim names another one; empty if none."""
    named = evidence.claim.get("interface", "")
    stacked = {pair for upper, lower in seen.below for pair in ((upper, lower), (lower, upper))}
    allowed = {named, *(lower for upper, lower in stacked if upper == named)}
    if evidence.claim["transport"] == "tcp" and (number(evidence.claim.get("ranks_per_node", "")) or 0) > 1:
        allowed.add("lo")  # ranks of one node reach each other over it
    limit = max(NOISE_BYTES, 0.3 * carried)
    return next((n for n, count in seen.interfaces.items() if n not in allowed and count >= limit), "")


def _mb(count: float) -> str:
    return f"{count / 1e6:.1f} MB"
