"""What one should doubt in what a command showed, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mpicampaign.base.records import DISTURBED
from mpicampaign.base.text import listed
from mpicampaign.evidence.condition import condition, ranks_by_host, shared_cpus
from mpicampaign.evidence.connections import LOOPBACK, Exchanged
from mpicampaign.evidence.counters import traffic, volume
from mpicampaign.evidence.evidence import Evidence, Rank, below, cpu_list
from mpicampaign.evidence.findings import CONTRADICTS, SUPPORTS, number
from mpicampaign.evidence.judge import declared_topology, shared_core
from mpicampaign.evidence.launched import doubts_of_launch, unread_options
from mpicampaign.evidence.machine_state import changed
from mpicampaign.evidence.proof import Command, parted, world
from mpicampaign.evidence.software import checksums_of, library_findings
from mpicampaign.evidence.traffic import LAUNCHER_BYTES
from mpicampaign.mpis import library_of_mpirun, library_title


def doubts(command: Command) -> list[str]:
    """All of them, what makes the evidence itself doubtful first."""
    evidence = command.evidence
    reasons = [
        *_completeness(command),
        *(str(finding) for finding in doubts_of_launch(evidence) if finding.outcome != SUPPORTS),
        *(f"variables: nothing reads {name}, which the command sets" for name in unread_options(evidence)),
        *filter(None, [command.foreign]),
        *_software(evidence),
        *_ranks(evidence),
        *_attributes(evidence),
        *(_networks(evidence, command.exchanged) if command.uses_mpi and len(evidence.ranks) > 1 else ()),
        *_memory(evidence),
        *_machine(evidence),
    ]
    return list(dict.fromkeys(reasons))


def _completeness(command: Command) -> Iterator[str]:
    evidence = command.evidence
    if (status := evidence.job.get("exit_status", "0")) != "0":
        yield f"exit status: the command failed ({status})"
    if command.programs > 1:
        yield f"programs: {command.programs} MPI programs ran; this is of the first"
    if declared := declared_topology(evidence):
        yield declared
    if evidence.repeated:
        yield f"ranks: several programs had the same rank ({evidence.repeated[0]})"
    count = world(evidence)
    if missing := sorted(set(range(count)) - set(evidence.ranks)):
        why = f"the host of rank {missing[0]} may not see this folder and that of prove"
        yield f"ranks: {len(missing)} of {count} recorded nothing; {why}"
    if cut := [rank for rank, seen in sorted(evidence.ranks.items()) if "end.host" not in seen]:
        yield f"ranks: {len(cut)} of {count} recorded no end, such as rank {cut[0]}: killed or aborted"
    if separate := parted(evidence):
        yield f"ranks: {separate}"


def _software(evidence: Evidence) -> Iterator[str]:
    if evidence.library[0]:
        yield from (str(finding) for finding in library_findings(evidence) if finding.outcome == CONTRADICTS)
    title = library_title(evidence.claim["mpi"])
    other = library_title(library_of_mpirun(evidence.job.get("launcher_version", "")))
    if title and other and title != other:
        yield f"launcher: it is that of {other}, but the ranks mapped {title}"
    for rank, seen in sorted(evidence.ranks.items()):
        if seen.get("end.program", "").endswith(" (deleted)"):
            yield f"program: the file of rank {rank} was replaced or removed while it ran"
            break
    if len(set(checksums_of(evidence, "program").values()) - {""}) > 1:
        yield "program: the ranks are not the same program"


def _ranks(evidence: Evidence) -> Iterator[str]:
    """Ranks that share cores, and ranks that are unlike the others."""
    if shared := shared_cpus(evidence) or _shared_core(evidence):
        yield f"binding: {shared}"
    alike = {
        "nice value": {rank: seen.get("start.nice", "") for rank, seen in evidence.ranks.items()},
        "number of CPUs": {rank: _cpus(seen) for rank, seen in evidence.ranks.items()},
    }
    for what, of_ranks in alike.items():
        counts = Counter(filter(None, of_ranks.values()))
        if len(counts) > 1:
            rare = counts.most_common()[-1][0]
            rank = min(rank for rank, value in of_ranks.items() if value == rare)
            yield f"ranks: rank {rank} has {rare} as its {what}, unlike others"


def _attributes(evidence: Evidence) -> Iterator[str]:
    """A rank that is traced, gets what others leave, or has no huge pages."""
    usual = ("tracer=none", "scheduler=other", "huge_pages=1")
    telling = tuple(token.partition("=")[0] for token in usual)
    for rank, seen in sorted(evidence.ranks.items()):
        tokens = f"{seen.get('start.attributes', '')} {seen.get('end.attributes', '')}".split()
        unusual = [token for token in tokens if token.startswith(telling) and token not in usual]
        if unusual:
            yield f"ranks: rank {rank} had {listed([*dict.fromkeys(unusual)])}"
            return


def _shared_core(evidence: Evidence) -> str:
    """Two ranks that are bound to one core each, and to the same one."""
    for seen in evidence.ranks.values():
        if seen.get("start.allowed", "") not in (seen.get("start.cpu"), seen.get("start.siblings")):
            return ""
    return shared_core(evidence)


def _cpus(seen: Rank) -> str:
    try:
        return str(len(cpu_list(seen["start.allowed"])))
    except (KeyError, ValueError):
        return ""


def _networks(evidence: Evidence, exchanged: Exchanged | None) -> Iterator[str]:
    """TCP over a slow interface or beside RDMA devices, and connections that may be the ranks' own."""
    if exchanged is None:
        yield "transport: the ranks have no whole account of their sockets"
        return
    if exchanged.unpaired > LAUNCHER_BYTES:
        yield f"transport: {volume(exchanged.unpaired)} over connections whose other end no rank reported"
    between = exchanged.between_hosts
    if between.total <= LAUNCHER_BYTES:
        return
    for host in evidence.hosts:
        if ports := traffic(evidence, host).ports:
            yield f"transport: TCP between hosts, though {host} has RDMA devices ({', '.join(sorted(ports))})"
            break
    recorded = [speed for node in evidence.nodes.values() for speed in below(node, "speed.").items()]
    speeds = {name: number(value) or 0 for name, value in recorded}
    used = max(between.interfaces, key=lambda name: between.interfaces[name])
    fastest = max(speeds, key=lambda name: speeds[name], default=used)
    if used != LOOPBACK and 0 < speeds.get(used, 0) < speeds.get(fastest, 0):
        slow, fast = f"{used} ({speeds[used]} Mb/s)", f"{fastest} ({speeds[fastest]} Mb/s)"
        yield f"transport: TCP over {slow}, though {fast} is up"


def _machine(evidence: Evidence) -> Iterator[str]:
    if condition(evidence)[0] == DISTURBED:
        yield "condition: disturbed, so the command's times say little"
    if moved := changed(evidence):
        yield f"machine: {listed(moved)} changed while the ranks ran"


def _memory(evidence: Evidence) -> Iterator[str]:
    for host, ranks in ranks_by_host(evidence).items():
        node = evidence.nodes.get(host, {})
        balancing = number(node.get("numa_balancing", "")) or 0
        nodes = {part for rank in ranks for part in rank.get("end.memory", "").split(",") if part}
        if balancing and len({part.partition("=")[0] for part in nodes}) > 1:
            yield f"memory: automatic NUMA balancing of {host} may move it while the ranks run"
            return
