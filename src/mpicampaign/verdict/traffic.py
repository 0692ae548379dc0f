"""The transport that a run really used: what the MPI library reports, and what the counters counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.mpis import reported_transports
from mpicampaign.verdict.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, finding, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpicampaign.records import Series
    from mpicampaign.verdict.evidence import Evidence

# Traffic that a quiet node has anyway, and the payload from which counters can tell (measured: at
# most 12 kB during a shared-memory run on the test cluster; NFS and monitoring need more room).
NOISE_BYTES = 1_000_000
TELLING_BYTES = 4_000_000
# IMB moves up to 2.1 times what it prints, with warm-up and headers; more than this is not its traffic alone.
MOST_PER_PAYLOAD = 5.0

# Benchmarks of which each active rank sends at least size × repetitions in one direction: those of two
# ranks (0 and 1), and those of all ranks of the table; OSU's by the titles of their outputs. In a gather the
# root receives what the others send. Others may send less, such as Reduce_scatter. Of
# point_to_point only some pairs are active, and placement decides which of them cross: it is not listed.
OF_TWO_RANKS = {"PingPong", "PingPing", "MPI Latency", "MPI Bandwidth", "MPI Bi-Directional Bandwidth"}
OF_ALL_RANKS = {"Sendrecv", "Exchange", "tree_gather", "tree_merge", "MPI_Gather"}


@dataclass(frozen=True, slots=True)
class Payload:
    """Bytes of one direction. ``moved``: as the output's sizes and repetitions add up, over all hosts.

    ``least``: what at least left or reached each host by the claimed transport; 0 where the benchmark
    does not tell. ``close``: whether ``moved`` is near what was moved. ``most``: what it cannot exceed.
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
    """The library's report and the counters: one must support the claim, none contradict it."""
    if evidence.claim.get("transport") in (None, "", "any"):
        return []
    seen = {host: traffic(evidence, host) for host in evidence.hosts}
    findings = [_report(evidence, output), *_counters(evidence, seen, payload(evidence, series))]
    if any(found.outcome != LACKS for found in findings):
        findings = [found for found in findings if found.outcome != LACKS]
    return findings + _missing_counters(seen)


def payload(evidence: Evidence, series: Iterable[Series]) -> Payload:
    """What the benchmark's own output says about the bytes that must have been moved."""
    moved, least, close = 0.0, dict.fromkeys(evidence.hosts, 0.0), True
    tables = tuple(series)
    for table in tables:
        amount = _amount(table)
        moved += amount
        known = table.benchmark in OF_TWO_RANKS | OF_ALL_RANKS
        close = close and known and bool(_counts(table))
        for host in _crossing_hosts(evidence, table) if known else ():
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
    """How often each size was sent: IMB's repetitions, or the samples of a kernel, of a call or more each."""
    return table.columns.get("repetitions") or table.columns.get("samples") or []


def _crossing_hosts(evidence: Evidence, table: Series) -> set[str]:
    """The hosts of the active ranks, where their messages must have left the host (or used loopback)."""
    count = 2 if table.benchmark in OF_TWO_RANKS else (table.ranks or 0)
    hosts = {evidence.host_of(rank) for rank in range(count) if rank in evidence.ranks} - {""}
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
    """Every kernel has these counters, so that a missing one was lost or removed."""
    for host, found in seen.items():
        if found.halves:
            return [Finding("counters", LACKS, f"{found.halves[0]} of {host} was not read at both ends")]
    if seen and not any(found.interfaces for found in seen.values()):
        return [Finding("counters", LACKS, "no interface counters of the hosts of the ranks")]
    return []


def _counters(evidence: Evidence, seen: Mapping[str, Traffic], moved: Payload) -> list[Finding]:
    if moved.moved < TELLING_BYTES:
        words = f"only {moved.moved:.0f} B of payload, too little for counters to tell"
        return [Finding("counters", LACKS, words)]
    judge = _judge_shared_memory if evidence.claim["transport"] == "shm" else _judge_network
    return [judge(evidence, found, host, moved) for host, found in seen.items() if found.interfaces]


def _judge_shared_memory(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """No interface may have carried the payload; less than it can be other people's traffic."""
    for name, count in [*seen.interfaces.items(), *seen.ports.items()]:
        if count < max(NOISE_BYTES, 0.1 * moved.moved):
            continue
        words = f"interface {name} of {host} counted {_mb(count)}, though shm was claimed"
        if moved.close and 0.9 * moved.moved <= count <= moved.most:
            return Finding("counters", CONTRADICTS, words)
        return Finding("counters", LACKS, words + "; that may be other traffic")
    return Finding("counters", SUPPORTS, f"{_mb(moved.moved)} of payload, no interface carried it")


def _judge_network(evidence: Evidence, seen: Traffic, host: str, moved: Payload) -> Finding:
    """The claimed interface or device must have carried the payload, and no other one a share of it."""
    claimed, named = evidence.claim["transport"], evidence.claim.get("interface", "")
    carried = _carried(evidence, seen)
    place = "InfiniBand ports" if claimed == "ibv" else f"interface {named or '(none named)'}"
    least = moved.least.get(host, 0.0)
    other = _other_interface(evidence, seen, max(carried, least, moved.moved))
    if carried < 0.9 * least:
        words = f"{place} of {host} counted {_mb(carried)}, but {_mb(least)} of payload moved"
        words += f"; interface {other} counted {_mb(seen.interfaces[other])}" if other else ""
        return Finding("counters", CONTRADICTS, words)
    if other:
        words = (
            f"interface {other} of {host} counted {_mb(seen.interfaces[other])}, though {claimed} was claimed"
        )
        return Finding("counters", CONTRADICTS, words + (f" over {named}" if named else ""))
    if carried < max(NOISE_BYTES, 0.9 * moved.moved if not least else 0):
        words = f"{place} of {host} counted {_mb(carried)}; this benchmark does not tell how much must move"
        return Finding("counters", LACKS, words)
    return Finding("counters", SUPPORTS, f"{_mb(moved.moved)} of payload, {_mb(carried)} over {place}")


def _carried(evidence: Evidence, seen: Traffic) -> int:
    if evidence.claim["transport"] != "ibv":
        return seen.interfaces.get(evidence.claim.get("interface", ""), 0)
    device = evidence.claim.get("device", "")
    return seen.ports.get(device, 0) if device else sum(seen.ports.values())


def _other_interface(evidence: Evidence, seen: Traffic, carried: float) -> str:
    """An interface that took a telling part of the traffic though the claim names another one."""
    named = evidence.claim.get("interface", "")
    stacked = {pair for upper, lower in seen.below for pair in ((upper, lower), (lower, upper))}
    allowed = {named, *(lower for upper, lower in stacked if upper == named)}
    if evidence.claim["transport"] == "tcp" and (number(evidence.claim.get("ranks_per_node", "")) or 0) > 1:
        allowed.add("lo")  # ranks of one node reach each other's address over it
    limit = max(NOISE_BYTES, 0.3 * carried)
    return next((n for n, count in seen.interfaces.items() if n not in allowed and count >= limit), "")


def _mb(count: float) -> str:
    return f"{count / 1e6:.1f} MB"
