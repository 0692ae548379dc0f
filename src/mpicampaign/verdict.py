"""Whether a run is what its label says: judged from recorded files alone.

Each check holds one kind of evidence against the claim. A run is contradicted when one check
contradicts, verified when all checks have what they need and agree, unverified otherwise.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from mpicampaign.evidence import cpu_list, unquoted
from mpicampaign.records import CONTRADICTED, UNVERIFIED, VERIFIED
from mpicampaign.transport_reports import reported_transports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mpicampaign.evidence import Evidence
    from mpicampaign.records import Series

SUPPORTS, CONTRADICTS, LACKS = "supports", "contradicts", "lacks"
MOMENTS = ("start", "end")

# Traffic that a quiet node has anyway, and the payload from which counters can tell (measured: at
# most 12 kB during a shared-memory run on the test cluster; NFS and monitoring need more room).
NOISE_BYTES = 1_000_000
TELLING_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """What one kind of evidence says about the claim, in words."""

    kind: str
    outcome: str
    words: str


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a host's interfaces and InfiniBand ports counted during the run."""

    interfaces: dict[str, int]
    ports: dict[str, int]
    below: set[tuple[str, str]]


def judge(evidence: Evidence, output: str, series: Iterable[Series]) -> tuple[str, tuple[str, ...]]:
    """The verdict and its reasons in words.

    Parameters
    ----------
    evidence : the run's evidence file
    output : standard output and error of the benchmark, for what the MPI library reported
    series : the parsed output, for the payload that must have moved
    """
    findings = [finding for check in CHECKS for finding in check(evidence)]
    findings += _transport(evidence, output, payload(series))
    for outcome, verdict in ((CONTRADICTS, CONTRADICTED), (LACKS, UNVERIFIED)):
        words = tuple(f"{found.kind}: {found.words}" for found in findings if found.outcome == outcome)
        if words:
            return verdict, words
    words = tuple(f"{found.kind}: {found.words}" for found in findings)
    declared = {node["declared_topology"] for node in evidence.nodes.values() if "declared_topology" in node}
    if declared:
        words = (f"topology: verified against the declared topology {', '.join(sorted(declared))}", *words)
    return VERIFIED, words


def payload(series: Iterable[Series]) -> float:
    """A lower bound of the bytes that one direction moved: sizes times repetitions where printed."""
    total = 0.0
    for table in series:
        sizes = table.columns.get("size", [])
        counts = table.columns.get("repetitions") or table.columns.get("samples") or [1.0] * len(sizes)
        total += sum((size or 0.0) * (count or 1.0) for size, count in zip(sizes, counts, strict=True))
    return total


def _finding(kind: str, holds: bool, good: str, bad: str) -> Finding:
    return Finding(kind, SUPPORTS if holds else CONTRADICTS, good if holds else bad)


def _end(evidence: Evidence) -> list[Finding]:
    if not evidence.complete:
        return [Finding("evidence", LACKS, "the evidence file has no end line")]
    status = evidence.job.get("exit_status", "missing")
    return [_finding("exit status", status == "0", "0", f"{status}, but only 0 is success")]


def _script(evidence: Evidence) -> list[Finding]:
    claimed, found = evidence.claim.get("script_hash", ""), evidence.job.get("script_hash", "")
    if not found:
        return [Finding("job script", LACKS, "the script could not read itself to check its hash")]
    bad = f"the script that ran has hash {found}, not {claimed}: it was changed after it was rendered"
    return [_finding("job script", found == claimed, f"hash {found}", bad)]


def _program(evidence: Evidence) -> list[Finding]:
    claimed, found = evidence.claim.get("program_sha256", ""), evidence.job.get("program_sha256", "")
    if not claimed:
        return []
    bad = f"checksum {found[:12] or 'missing'}, not {claimed[:12]}: another program ran"
    return [_finding("program", found == claimed, f"checksum {found[:12]}", bad)]


def _settings(evidence: Evidence) -> list[Finding]:
    wanted = {k.removeprefix("setting."): v for k, v in evidence.claim.items() if k.startswith("setting.")}
    wrong = []
    for name, value in wanted.items():
        found = unquoted(evidence.job.get(f"env.{name}", ""))
        if found != value:
            wrong.append(f"{name} was {found or 'not set'}, not {value}")
    return [_finding("settings", not wrong, "as rendered", "; ".join(wrong))] if wanted else []


def _ranks(evidence: Evidence) -> list[Finding]:
    claimed = _number(evidence.claim.get("ranks", ""))
    if evidence.repeated:
        words = (
            f"recorded more than once: {', '.join(evidence.repeated[:3])}; several programs ran as one rank"
        )
        return [Finding("ranks", CONTRADICTS, words)]
    reported = [rank for rank, seen in evidence.ranks.items() if all(f"{m}.cpu" in seen for m in MOMENTS)]
    if not reported:
        return [Finding("ranks", LACKS, "no rank left evidence: the evidence library was not loaded")]
    missing = sorted(set(range(claimed or 0)) - set(reported))
    if missing and set(evidence.ranks) <= set(range(claimed or 0)):
        return [Finding("ranks", LACKS, f"rank {missing[0]} left no evidence at start and end")]
    bad = f"{len(evidence.ranks)} ranks, not {claimed}"
    return [_finding("ranks", len(evidence.ranks) == claimed, f"{claimed} ranks", bad)]


def _hosts(evidence: Evidence) -> list[Finding]:
    if not evidence.hosts:
        return [Finding("hosts", LACKS, "no rank recorded its host")]
    moved = [r for r, seen in evidence.ranks.items() if len({seen.get(k) for k in HOST_KEYS}) > 1]
    if moved:
        return [
            Finding("hosts", CONTRADICTS, f"rank {moved[0]} names different hosts at launch, start and end")
        ]
    counts = Counter(evidence.host_of(rank) for rank in evidence.ranks)
    nodes, per_node = (_number(evidence.claim.get(key, "")) for key in ("nodes", "ranks_per_node"))
    found = ", ".join(f"{host} ({count} ranks)" for host, count in counts.items())
    holds = len(counts) == nodes and set(counts.values()) == {per_node}
    findings = [_finding("hosts", holds, found, f"{found}; claimed {nodes} node(s) of {per_node} rank(s)")]
    return findings + _members(evidence)


HOST_KEYS = ("launch.host", "start.host", "end.host")


def _members(evidence: Evidence) -> list[Finding]:
    patterns = evidence.claim.get("members", "").split()
    strangers = [host for host in evidence.hosts if not any(_is_member(host, p) for p in patterns)]
    if not patterns:
        return []
    group = evidence.claim.get("host_group", "")
    bad = f"{', '.join(strangers)} is no member of {group} ({' '.join(patterns)})"
    return [_finding("host group", not strangers, f"members of {group}", bad)]


def _is_member(host: str, pattern: str) -> bool:
    """A node may call itself n1 or n1.site.org, and so may the pattern."""
    one_is_short = ("." in host) != ("." in pattern)
    return fnmatch(host, pattern) or (one_is_short and fnmatch(_short(host), _short(pattern)))


def _short(name: str) -> str:
    return name.partition(".")[0]


def _binding(evidence: Evidence) -> list[Finding]:
    binding = evidence.claim.get("binding", "")
    if binding == "library" or not evidence.ranks:
        return []
    for rank, seen in sorted(evidence.ranks.items()):
        for moment in MOMENTS:
            finding = _rank_binding(evidence, rank, seen, moment, binding)
            if finding:
                return [finding]
    if binding == "core" and (shared := _shared_core(evidence)):
        return [Finding("binding", CONTRADICTS, shared)]
    return [Finding("binding", SUPPORTS, "one core a rank" if binding == "core" else "no rank is bound")]


def _rank_binding(
    evidence: Evidence, rank: int, seen: dict[str, str], moment: str, binding: str
) -> Finding | None:
    """What is wrong with one rank at one moment; None where nothing is."""
    try:
        allowed, cpu = cpu_list(seen[f"{moment}.allowed"]), int(seen[f"{moment}.cpu"])
    except (KeyError, ValueError):
        return Finding("binding", LACKS, f"rank {rank} recorded no CPU or allowed set at {moment}")
    if cpu not in allowed:
        words = f"rank {rank} was on CPU {cpu} at {moment}, outside its allowed set"
        return Finding("binding", CONTRADICTS, words)
    cores = _number(evidence.nodes.get(evidence.host_of(rank), {}).get("cores", ""))
    if binding == "core" and len(allowed) != 1:
        words = f"rank {rank} may use {len(allowed)} CPUs at {moment}, not one"
        return Finding("binding", CONTRADICTS, words)
    if binding == "none" and len(allowed) == 1 and cores != 1:
        return Finding("binding", CONTRADICTS, f"rank {rank} is bound to CPU {cpu} at {moment}, not unbound")
    return None


def _shared_core(evidence: Evidence) -> str:
    places: dict[tuple[str, str], int] = {}
    for rank, seen in sorted(evidence.ranks.items()):
        core = (
            f"core {seen['start.core']} of socket {seen['start.socket']}"
            if {"start.core", "start.socket"} <= seen.keys()
            else ""
        )
        place = (evidence.host_of(rank), core or f"CPU {seen['start.allowed']}")
        if place in places:
            return f"ranks {places[place]} and {rank} share {place[1]} of {place[0]}"
        places[place] = rank
    return ""


def _sockets(evidence: Evidence) -> list[Finding]:
    claimed = _number(evidence.claim.get("sockets", ""))
    if claimed is None or not evidence.ranks:
        return []
    for moment in MOMENTS:
        used: dict[str, set[str]] = {}
        for rank, seen in evidence.ranks.items():
            if f"{moment}.socket" not in seen:
                return [Finding("sockets", LACKS, f"rank {rank} recorded no socket at {moment}")]
            used.setdefault(evidence.host_of(rank), set()).add(seen[f"{moment}.socket"])
        for host, sockets in used.items():
            if len(sockets) != claimed:
                names = ", ".join(sorted(sockets))
                words = f"ranks of {host} sat on socket(s) {names} at {moment}, claimed: {claimed} socket(s)"
                return [Finding("sockets", CONTRADICTS, words)]
    return [Finding("sockets", SUPPORTS, f"{claimed} socket(s)")]


def _memory(evidence: Evidence) -> list[Finding]:
    """Bound ranks must have most of their memory on their own NUMA node, where the kernel tells."""
    if evidence.claim.get("binding") != "core":
        return []
    shares = {}
    for rank, seen in sorted(evidence.ranks.items()):
        share = _local_share(seen.get("end.memory", ""), seen.get("end.numa", ""))
        if share is not None:
            shares[rank] = share
    for rank, share in shares.items():
        if share < 0.5:
            words = f"rank {rank} has {share:.0%} of its memory on its own NUMA node"
            return [Finding("memory", CONTRADICTS, words)]
    return [Finding("memory", SUPPORTS, f"at least {min(shares.values()):.0%} local")] if shares else []


def _local_share(memory: str, numa: str) -> float | None:
    pages = {}
    for part in filter(None, memory.split(",")):
        node, _, count = part.partition("=")
        pages[node.removeprefix("N")] = _number(count) or 0
    total = sum(pages.values())
    return pages.get(numa, 0) / total if total and numa else None


def _transport(evidence: Evidence, output: str, moved: float) -> list[Finding]:
    """The library's report and the counters together: one must support the claim, none contradict it."""
    if evidence.claim.get("transport") in (None, "", "any"):
        return []
    findings = [*_report(evidence, output), *_counters(evidence, moved)]
    if any(found.outcome != LACKS for found in findings):
        return [found for found in findings if found.outcome != LACKS]
    return findings or [Finding("transport", LACKS, "neither the MPI library nor the counters tell")]


def _report(evidence: Evidence, output: str) -> list[Finding]:
    mpi, claimed = evidence.claim.get("mpi", ""), evidence.claim["transport"]
    reported = reported_transports(mpi, output)
    if reported is None:
        return [Finding("MPI library's report", LACKS, f"{mpi} reported no transport")]
    names = ", ".join(sorted(reported))
    bad = f"it used {names}, claimed: {claimed}"
    return [_finding("MPI library's report", reported == {claimed}, names, bad)]


def traffic(evidence: Evidence, host: str) -> Traffic:
    """The bytes that a host's counters moved by, the larger of both directions."""
    node = evidence.nodes.get(host, {})
    moved: dict[tuple[str, str], int] = {}
    for key, value in node.items():
        moment, _, rest = key.partition(".")
        kind, _, rest = rest.partition(".")
        name, _, counter = rest.rpartition(".")
        after = _number(node.get(f"after.{kind}.{name}.{counter}", ""))
        before = _number(value)
        if moment == "before" and kind in ("net", "ib") and before is not None and after is not None:
            moved[kind, name] = max(moved.get((kind, name), 0), after - before)
    interfaces = {name: count for (kind, name), count in moved.items() if kind == "net"}
    ports = {name: 4 * count for (kind, name), count in moved.items() if kind == "ib"}  # counted in 4 B
    pairs = [key.removeprefix("below.").partition("/") for key in node if key.startswith("below.")]
    return Traffic(interfaces, ports, {(upper, lower) for upper, _, lower in pairs})


def _counters(evidence: Evidence, moved: float) -> list[Finding]:
    if moved < TELLING_BYTES:
        return [Finding("counters", LACKS, f"only {moved:.0f} B of payload, too little for counters to tell")]
    findings = []
    for host in evidence.hosts:
        seen = traffic(evidence, host)
        if seen.interfaces:
            findings.append(_host_counters(evidence, seen, host, moved))
    return findings or [Finding("counters", LACKS, "no interface counters of the hosts of the ranks")]


def _host_counters(evidence: Evidence, seen: Traffic, host: str, moved: float) -> Finding:
    claimed, named = evidence.claim["transport"], evidence.claim.get("interface", "")
    device = evidence.claim.get("device", "")
    ports = seen.ports.get(device, 0) if device else sum(seen.ports.values())
    carried = ports if claimed == "ibv" else seen.interfaces.get(named, 0)
    if claimed != "shm" and carried < 0.9 * moved:
        place = "InfiniBand ports" if claimed == "ibv" else f"interface {named or '(none named)'}"
        words = f"{place} of {host} counted {_mb(carried)}, but {_mb(moved)} of payload moved"
        return Finding("counters", CONTRADICTS, words)
    limit = max(NOISE_BYTES, 0.5 * moved if claimed != "tcp" else 0.3 * carried)
    stacked = {pair for upper, lower in seen.below for pair in ((upper, lower), (lower, upper))}
    allowed = {named, *(lower for upper, lower in stacked if upper == named)}
    if claimed == "tcp" and (_number(evidence.claim.get("ranks_per_node", "")) or 0) > 1:
        allowed.add("lo")  # ranks of one node reach each other's address over it
    for name, count in seen.interfaces.items():
        if name not in allowed and count >= limit:
            words = f"interface {name} of {host} counted {_mb(count)}, though {claimed} was claimed"
            words += f" over {named}" if named else ""
            return Finding("counters", CONTRADICTS, words)
    where = f"{_mb(carried)} over {named or 'InfiniBand'}" if claimed != "shm" else "no interface carried it"
    return Finding("counters", SUPPORTS, f"{_mb(moved)} of payload, {where}")


def _mb(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


CHECKS: tuple[Callable[[Evidence], list[Finding]], ...] = (
    _end,
    _script,
    _program,
    _settings,
    _ranks,
    _hosts,
    _binding,
    _sockets,
    _memory,
)
