"""Whether a run used the transport of its label: the kind and the network, each proved by itself.

The ranks' own account of their sockets decides where there is one, with the report of the MPI library. The
counters of the nodes decide about RDMA devices, and about runs without such an account. That libfabric was
used, and which provider, only the library's report shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mpicampaign.base.records import Series
from mpicampaign.evidence.connections import LOOPBACK, Exchanged, exchanged_over_tcp
from mpicampaign.evidence.counters import (
    OFI,
    Payload,
    Traffic,
    counter_findings,
    missing_counters,
    over_tcp,
    payload,
    ports_may_have_carried,
    traffic,
    volume,
)
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, finding, number
from mpicampaign.evidence.node_facts import recorded_network
from mpicampaign.mpis import is_reported, reported_providers, reported_transports
from mpicampaign.mpis.libfabric import WITHOUT_SOCKETS

SHM, ANY = "shm", "any"
SOCKETS, REPORT = "ranks' sockets", "MPI library's report"
# Nearly all or nearly none of the payload. Measured over TCP: the ranks' sockets carry the payload and 13 to
# 24 B per message, of which IMB sends twice what it prints; in shared memory they carry nothing.
NEARLY_ALL, NEARLY_NONE = 0.9, 0.1
HEADER_BYTES = 8
# Open MPI's ranks send their launcher 4.9 kB.
LAUNCHER_BYTES = 10_000


def transport_findings(evidence: Evidence, output: str, series: Iterable[Series]) -> list[Finding]:
    """Each part of the claim needs evidence that supports it, and none may contradict it."""
    if evidence.claim.get("transport") in (None, "", ANY):
        return []
    tables = tuple(series)
    report = _provider(evidence, output) if _over_libfabric(evidence) else _report(evidence, output)
    exchanged = exchanged_over_tcp(evidence)
    seen = {host: traffic(evidence, host) for host in evidence.hosts}
    counters = counter_findings(evidence, seen, payload(evidence, tables))
    if exchanged is None:
        return _without_accounts(evidence, report, counters) + missing_counters(seen)
    due = payload(evidence, tables, HEADER_BYTES)
    if over_tcp(evidence):
        within = _tcp_within(exchanged, due) if _shm_within(evidence) else []
        exchanged = exchanged.between_hosts if _shm_within(evidence) else exchanged
        kind = [report, *within, _tcp(evidence, exchanged, due)]
        return _parts(evidence, kind, [_interface(evidence, exchanged)])
    kind = [report, _not_tcp(evidence, exchanged, due, seen)]
    if evidence.claim["transport"] == "shm":
        return _parts(evidence, kind, [])
    return _parts(evidence, kind + _unless_reported(report, counters), counters)


def _without_accounts(evidence: Evidence, report: Finding, counters: list[Finding]) -> list[Finding]:
    """By report and counters. In evidence of earlier releases either of them proves the whole claim."""
    earlier = not any("end.clock_ns" in seen for seen in evidence.ranks.values())
    if earlier and not _over_libfabric(evidence):
        return _proved("transport", [report, *counters])
    return _parts(evidence, [report, *_unless_reported(report, counters)], counters)


def _unless_reported(report: Finding, counters: list[Finding]) -> list[Finding]:
    """The library knows better than the counters of a node which kind it used."""
    return [] if report.outcome == SUPPORTS else counters


def _parts(evidence: Evidence, kind: list[Finding], network: list[Finding]) -> list[Finding]:
    """Kind and network of the claim; shared memory, and a claim that names no network, have the kind only."""
    claim = evidence.claim
    named = "interface" if over_tcp(evidence) else "device"
    if _over_libfabric(evidence):
        refuted = SOCKETS, CONTRADICTS
        kind = [
            finding
            for finding in kind
            if finding.kind == REPORT or (finding.kind, finding.outcome) == refuted
        ]
    proofs = _proved(f"transport {_claimed(evidence)}", kind)
    if (name := claim.get(named, "")) and claim["transport"] != SHM:
        proofs += _proved(f"{named} {name}", network)
    if claim.get("link"):
        proofs.append(_link(evidence))
    return list(dict.fromkeys(proofs))


def _over_libfabric(evidence: Evidence) -> bool:
    return evidence.claim["transport"] == OFI


def _claimed(evidence: Evidence) -> str:
    """``tcp``, or ``ofi efa``."""
    return " ".join(filter(None, (evidence.claim["transport"], evidence.claim.get("provider"))))


def _link(evidence: Evidence) -> Finding:
    """The claimed device must have the claimed link wherever that was recorded."""
    device, claimed = evidence.claim.get("device", ""), evidence.claim["link"]
    seen = {host: recorded_network(evidence.nodes.get(host, {}), device) for host in evidence.hosts}
    known = {host: network for host, network in seen.items() if network}
    if not known:
        return Finding("link", LACKS, f"that of {device} was not recorded")
    wrong = next((host for host in known if known[host] != claimed), "")
    bad = f"{device} of {wrong} is {known.get(wrong)}, claimed: {claimed}"
    return finding("link", not wrong, claimed, bad)


def _proved(part: str, findings: list[Finding]) -> list[Finding]:
    """What proves or contradicts a part; what is missing only where nothing does."""
    present = [finding for finding in findings if finding.outcome != LACKS]
    return present or [Finding(part, LACKS, f"no evidence: {'; '.join(map(str, findings))}")]


def _report(evidence: Evidence, output: str) -> Finding:
    mpi, claimed = evidence.claim.get("mpi", ""), evidence.claim["transport"]
    reported = reported_transports(mpi, output)
    if reported is None:
        return Finding(REPORT, LACKS, f"{mpi} reported no transport")
    names = ", ".join(sorted(reported))
    bad = f"it used {names}, claimed: {claimed}"
    if _shm_within(evidence):
        if reported == {SHM}:  # which reaches no other node
            return Finding(REPORT, LACKS, f"{SHM} alone, nothing between nodes")
        reported, bad = reported - {SHM}, f"{bad}, and {SHM} within a node"
    return finding(REPORT, is_reported(claimed, reported), names, bad)


def _provider(evidence: Evidence, output: str) -> Finding:
    """The provider that libfabric opened must be the claimed one; any where a label names none."""
    mpi, claimed = evidence.claim.get("mpi", ""), evidence.claim.get("provider", "")
    reported = reported_providers(mpi, output)
    if reported is None:
        return Finding(REPORT, LACKS, f"{mpi} reported no provider of libfabric")
    names = ", ".join(sorted(reported))
    bad = f"its provider of libfabric is {names}, claimed: {claimed}"
    return finding(REPORT, not claimed or reported == {claimed}, f"ofi {names}", bad)


def _shm_within(evidence: Evidence) -> bool:
    """Whether the claim is shared memory within a node, and the transport between nodes."""
    return evidence.claim.get("within_node") == SHM


def _tcp_within(exchanged: Exchanged, due: Payload) -> list[Finding]:
    """TCP must not have carried the messages of ranks of one host, for which shared memory is claimed."""
    inside = exchanged.within_hosts.total
    if inside <= max(LAUNCHER_BYTES, NEARLY_NONE * max(exchanged.total, due.moved)):
        return []
    bad = f"ranks of one node sent each other {volume(inside)} over TCP, claimed: {SHM} within a node"
    return [Finding(SOCKETS, CONTRADICTS, bad)]


def _tcp(evidence: Evidence, exchanged: Exchanged, due: Payload) -> Finding:
    """TCP must have carried the messages; between hosts, traffic within a host does not count."""
    total, moved = exchanged.total, due.moved
    surely = max(due.least.values(), default=0.0) if _shm_within(evidence) else moved
    shares = [("the ranks", total, NEARLY_NONE * surely, surely)]
    within = "" if evidence.claim.get("interface") == LOOPBACK else LOOPBACK
    for host, least in due.least.items():
        carried = exchanged.carried(evidence.ranks_on(host), without=within)
        shares.append((f"the ranks of {host}", carried, NEARLY_ALL * least, least))
    for who, carried, wanted, least in shares:
        if carried < wanted:
            bad = f"{who} moved {volume(carried)} over TCP of at least {volume(least)}"
            bad += f", claimed: {_claimed(evidence)}"
            unknown = _unpaired(exchanged, least)
            return Finding(SOCKETS, LACKS if unknown else CONTRADICTS, unknown or bad)
    volumes_text = _sent_over_tcp(total, moved)
    if not moved or total < NEARLY_ALL * moved:
        return Finding(SOCKETS, LACKS, f"{volumes_text}; the traffic of this benchmark is not known")
    return Finding(SOCKETS, SUPPORTS, f"tcp: {volumes_text}")


def _not_tcp(evidence: Evidence, exchanged: Exchanged, due: Payload, seen: Mapping[str, Traffic]) -> Finding:
    """TCP must not have carried the messages; within a host without RDMA that leaves shared memory."""
    claimed, total, moved = _claimed(evidence), exchanged.total, due.moved
    volumes_text = _sent_over_tcp(total, moved)
    may = _over_libfabric(evidence) and evidence.claim.get("provider") not in WITHOUT_SOCKETS
    if total > NEARLY_NONE * moved and not may:
        if not moved:
            return Finding(SOCKETS, LACKS, f"{volumes_text}; the traffic of this benchmark is not known")
        names = ", ".join(sorted(exchanged.interfaces))
        return Finding(SOCKETS, CONTRADICTS, f"{volumes_text}, over interface {names}, claimed: {claimed}")
    if unknown := _unpaired(exchanged, moved):
        return Finding(SOCKETS, LACKS, unknown)
    if claimed != "shm":
        return Finding(SOCKETS, LACKS, f"{volumes_text}, which does not show {claimed}")
    if other := ports_may_have_carried(seen, due):
        return Finding(SOCKETS, LACKS, f"{volumes_text}, but {other}")
    return Finding(SOCKETS, SUPPORTS, f"shm: {volumes_text}")


def _sent_over_tcp(total: int, moved: float) -> str:
    least = f", of at least {volume(moved)}" if moved else ""
    return f"the ranks sent each other {volume(total)} over TCP{least}"


def _unpaired(exchanged: Exchanged, least: float) -> str:
    """Why the payload may have gone over connections whose other end is not known; else empty."""
    if exchanged.unpaired < max(LAUNCHER_BYTES, NEARLY_ALL * least):
        return ""
    return f"{volume(exchanged.unpaired)} went over connections whose other end no rank reported"


def _interface(evidence: Evidence, exchanged: Exchanged) -> Finding:
    """The claimed interface must have carried what the ranks sent each other."""
    named = evidence.claim.get("interface", "")
    moved = exchanged.interfaces
    allowed = {named}
    if (number(evidence.claim.get("ranks_per_node", "")) or 0) > 1:
        allowed.add(LOOPBACK)  # ranks of one node reach each other over it
    others = {name: count for name, count in moved.items() if name not in allowed}
    reason = f"{volume(moved[named])} of {volume(moved.total())} over interface {named}"
    if sum(others.values()) > NEARLY_NONE * moved.total():
        reason += "".join(f", {volume(count)} over {name}" for name, count in sorted(others.items()))
        return Finding(SOCKETS, LACKS if "?" in others else CONTRADICTS, f"{reason}, claimed: {named}")
    return Finding(SOCKETS, SUPPORTS if moved[named] else LACKS, reason)
