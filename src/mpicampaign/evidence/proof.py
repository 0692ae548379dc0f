"""What the evidence of any command shows: whether a placement's label is true, and what one should doubt.

The claim is the placement's; ranks and nodes are those that ran. The checks are those of runs, as far as they
need no campaign's job script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from mpicampaign.base.records import CONTRADICTED, VERIFIED, Series
from mpicampaign.evidence.condition import ranks_by_host
from mpicampaign.evidence.connections import Exchanged, exchanged_over_tcp
from mpicampaign.evidence.counters import NOISE_BYTES, OFI, payload, traffic, volume
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, conclude, number
from mpicampaign.evidence.judge import PLACEMENT_CHECKS, declared_topology
from mpicampaign.evidence.launched import doubts_of_launch, output_findings
from mpicampaign.evidence.traffic import ANY, LAUNCHER_BYTES, SHM, SOCKETS, transport_findings
from mpicampaign.mpis import MPIS, library_called
from mpicampaign.suites import OutputError, detect_suite, parse

PROVED, NOT_PROVED = "proved", "not proved"  # or contradicted
CORES = "cores"  # ranks on each node: one on each core
NO_MPI = "none"  # in start.mpi
# What no library is loaded into, as the shell found it, and what to do.
_UNABLE = {
    "static": "{} is linked statically; link it dynamically",
    "setuid": "{} is setuid or setgid, which ignores LD_PRELOAD; run a copy that is not",
    "architecture": "{} is for another architecture; make the library there, by prove --install",
    "loader": "the program has another C library ({}); make the library with it, by prove --install",
}
_SEEN = (
    "a container or host may not see this folder and that of prove (use one that all see), a launcher may "
    "drop LD_PRELOAD (pass it on), or it was no MPI program and ended by _exit(), as some shells do"
)


class Command(NamedTuple):
    """A command that ran: its evidence with the claim, what it printed, and the tables in that.

    ``exchanged``: what its ranks sent each other over TCP. ``foreign``: why its output is of another run, so
    that the tables tell nothing of this one.
    """

    evidence: Evidence
    printed: str
    tables: tuple[Series, ...]
    exchanged: Exchanged | None
    foreign: str = ""

    @property
    def uses_mpi(self) -> bool:
        """Whether a rank called MPI_Init."""
        return any(seen.get("start.mpi") != NO_MPI for seen in self.evidence.ranks.values())

    @property
    def programs(self) -> int:
        """How many MPI programs ran, one after the other or at once."""
        return number(self.evidence.job.get("programs", "")) or 1

    @property
    def payload(self) -> float:
        """What the output accounts for (B); 0 where that is not known."""
        return payload(self.evidence, self.tables).moved


def command_of(evidence: Evidence, placement: Mapping[str, str], out: str = "", err: str = "") -> Command:
    """The command of this evidence.

    ``placement``: what the label claims; empty without one. ``out``, ``err``: what the command printed, empty
    where that is not known.
    """
    printed = f"{out}\n{err}"
    suite, tables = _read(out)
    says = next(filter(None, (seen.get("start.library_version") for seen in evidence.ranks.values())), "")
    claim = {"evidence": "on", "transport": ANY, "mpi": library_called(says, printed), "suite": suite}
    claim |= {"launch": evidence.job.get("launch", ""), **placement, **_counts(evidence, placement)}
    claim["full"] = "yes" if placement.get("ranks_per_node") == CORES else "no"
    evidence = replace(evidence, claim=claim)
    for finding in output_findings(evidence, printed, tables):
        if finding.outcome == CONTRADICTS:
            return Command(evidence, "", (), exchanged_over_tcp(evidence), str(finding))
    return Command(evidence, printed, tables, exchanged_over_tcp(evidence))


def _read(out: str) -> tuple[str, tuple[Series, ...]]:
    """The suite whose program printed this, and its tables; empty where it is of none, or not whole."""
    try:
        suite = detect_suite(out) or ""
        return suite, parse(suite, out).series if suite else ()
    except OutputError:
        return "", ()


def _counts(evidence: Evidence, placement: Mapping[str, str]) -> dict[str, str]:
    """Ranks and nodes: those that ran, but no fewer than the label is about; one node stays one."""
    most = max((len(ranks) for ranks in ranks_by_host(evidence).values()), default=0)
    per_node = placement.get("ranks_per_node", "")
    per_node = _cores(evidence) if per_node == CORES else str(max(number(per_node) or 0, most))
    nodes = number(placement.get("nodes", "")) or 1
    nodes = max(nodes, len(evidence.hosts)) if nodes > 1 else 1
    return {"ranks": str(world(evidence)), "ranks_per_node": per_node or str(most), "nodes": str(nodes)}


def _cores(evidence: Evidence) -> str:
    """The number of cores of the first host that recorded it; else empty."""
    cores = (evidence.nodes.get(host, {}).get("cores", "") for host in evidence.hosts)
    return next(filter(None, cores), "")


def world(evidence: Evidence) -> int:
    """How many ranks there were, by what they say, else by their numbers."""
    return max([*_numbers(evidence, "start.ranks"), *(rank + 1 for rank in evidence.ranks)], default=0)


def parted(evidence: Evidence) -> str:
    """That ranks were started together but do not know each other, as with another library's launcher."""
    size = min(_numbers(evidence, "start.world"), default=0)
    if not 0 < size < world(evidence):
        return ""
    return f"the launcher started {world(evidence)}, but MPI_COMM_WORLD has {size}"


def _numbers(evidence: Evidence, key: str) -> list[int]:
    return [value for seen in evidence.ranks.values() if (value := number(seen.get(key, "")))]


# ---- the label


def judge_label(command: Command) -> tuple[str, tuple[str, ...]]:
    """Proved, contradicted or not proved, with the reasons."""
    verdict, reasons = conclude(list(_findings(command)))
    declared = declared_topology(command.evidence)
    if declared and verdict == VERIFIED:
        reasons = (declared, *reasons)
    return {VERIFIED: PROVED, CONTRADICTED: CONTRADICTED}.get(verdict, NOT_PROVED), reasons


def _findings(command: Command) -> Iterator[Finding]:
    evidence = command.evidence
    if (status := evidence.job.get("exit_status", "missing")) != "0":
        yield Finding("exit status", LACKS, f"{status}: only a command that ends with 0 proves a label")
    if not evidence.ranks:
        yield Finding("evidence", LACKS, not_recorded(command))
    elif not command.uses_mpi:
        yield Finding("MPI", LACKS, "the program never called MPI_Init, so it sends no messages")
    elif command.programs > 1:
        yield Finding("programs", LACKS, f"{command.programs} MPI programs ran; give prove one at a time")
    else:
        for check in PLACEMENT_CHECKS:
            yield from check(evidence)
        if evidence.claim["full"] == "yes" and not _cores(evidence):
            yield Finding("hosts", LACKS, "how many cores they have was not recorded")
        yield from _transport(command)
        yield from _untrusted(evidence)


def _transport(command: Command) -> Iterator[Finding]:
    """The findings that runs have; an unknown payload leaves fewer of them."""
    evidence = command.evidence
    findings = transport_findings(evidence, command.printed, command.tables)
    if findings and not command.payload:
        findings = _without_payload(command, findings)
    yield from findings
    if command.foreign:
        yield Finding("output", LACKS, command.foreign.removeprefix("output: "))
    silent = any((finding.kind, finding.outcome) == (SOCKETS, SUPPORTS) for finding in findings)
    if silent and evidence.claim["transport"] == SHM and (unknown := without_counters(evidence)):
        reason = f"those of {', '.join(unknown)} were not read: RDMA may have carried messages"
        yield Finding("counters", LACKS, reason)


def _without_payload(command: Command, findings: list[Finding]) -> list[Finding]:
    if any(finding.outcome == CONTRADICTS for finding in findings):
        return findings
    if sure := _surely_over_tcp(command) or _tcp_by_exclusion(command):
        return [sure]
    lacks = f"; {_to_prove(command)}"
    return [
        replace(finding, reason=finding.reason + lacks * (finding.outcome == LACKS)) for finding in findings
    ]


def without_counters(evidence: Evidence) -> list[str]:
    """The hosts whose ports nobody read, so that RDMA may have carried messages there."""
    return [host for host in evidence.hosts if not traffic(evidence, host).interfaces]


def _surely_over_tcp(command: Command) -> Finding | None:
    """Connections of MPI libraries that carry no messages carry less than this, whatever the payload is."""
    exchanged, claimed = command.exchanged, command.evidence.claim["transport"]
    if exchanged is None or claimed in ("tcp", OFI, ANY):
        return None
    [(rank, carried)] = exchanged.of_ranks.most_common(1) or [(0, 0)]
    if carried < NOISE_BYTES:
        return None
    names = ", ".join(sorted(exchanged.interfaces))
    bad = f"rank {rank} moved {volume(carried)} over TCP, over interface {names}, claimed: {claimed}"
    return Finding(SOCKETS, CONTRADICTS, bad)


def _tcp_by_exclusion(command: Command) -> Finding | None:
    """Ranks that are alone on their hosts have no shared memory; RDMA devices must have been silent."""
    evidence, exchanged, hosts = command.evidence, command.exchanged, command.evidence.hosts
    alone = len(hosts) == len(evidence.ranks) > 1 and evidence.claim["transport"] == "tcp"
    if not alone or exchanged is None or exchanged.unpaired > LAUNCHER_BYTES:
        return None
    moved = exchanged.of_ranks
    if min(moved[rank] for rank in evidence.ranks) <= LAUNCHER_BYTES:
        return None
    if len(without_counters(evidence)) > 1:  # of messages between two hosts, the ports of either one tell
        return None
    seen = {host: traffic(evidence, host) for host in hosts}
    if any(use.half_port or use.old_port for use in seen.values()):
        return None
    if any(use.through(port, both=False) for use in seen.values() for port in use.ports):
        return None
    reason = f"{volume(exchanged.total)} between ranks that are alone on their hosts, and no RDMA"
    return Finding(SOCKETS, SUPPORTS, f"tcp: {reason}")


def _untrusted(evidence: Evidence) -> Iterator[Finding]:
    """Evidence that a preloaded library or a clock at another speed may have made up proves nothing."""
    for finding in doubts_of_launch(evidence):
        if finding.outcome == CONTRADICTS:
            yield replace(finding, outcome=LACKS)
    if alone := parted(evidence):
        yield Finding("ranks", LACKS, alone)


def _to_prove(command: Command) -> str:
    """What would show the transport."""
    if command.evidence.claim["transport"] == OFI:
        return "only the library's report of its provider proves ofi (docs/evidence.md)"
    library = MPIS.get(command.evidence.claim["mpi"])
    settings = library.settings.get("environment", {}) if library and library.report else {}
    report = " ".join(f"{name}={value}" for name, value in settings.items())
    suites = "prove it with a benchmark whose messages are known (IMB, OSU, a bundled kernel)"
    return f"{suites}{report and f', or with {report}, by the report of the library'}"


# ---- nothing recorded


def not_recorded(command: Command) -> str:
    """Why there is no evidence of any rank, and what to do."""
    job = command.evidence.job
    known = [text.format(job[key]) for key, text in _UNABLE.items() if key in job]
    if not known and job.get("exit_status") != "0":
        return "no rank recorded anything; the command failed, perhaps before it started one"
    return f"no rank recorded anything: {'; '.join(known) or _SEEN}"
