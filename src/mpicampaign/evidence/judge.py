"""Whether a run matches its label, judged from recorded files alone.

Each check compares one kind of evidence with the claim. A run is contradicted if one check contradicts,
verified if all checks have what they need and agree, and unverified otherwise. If a folder replaced the
node's /sys, the topology is a declared one, and the verdict says so.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from mpicampaign.base.grouping import grouped
from mpicampaign.base.host_lists import is_member
from mpicampaign.base.identity import identity_of, run_path
from mpicampaign.base.records import DECLARED, VERIFIED, Case, Series
from mpicampaign.base.text import counted, in_ranks, listed
from mpicampaign.evidence.evidence import Evidence, Rank, cpu_list
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, conclude, finding, number
from mpicampaign.evidence.gpus import gpu_findings
from mpicampaign.evidence.launched import launch_findings, output_findings
from mpicampaign.evidence.passed_output import passed_findings
from mpicampaign.evidence.request import request_findings
from mpicampaign.evidence.software import software_findings
from mpicampaign.evidence.traffic import transport_findings

_EDITED = "it was edited (to repeat the run with the rendered script, remove its result.txt)"
MOMENTS = ("start", "end")
HOST_KEYS = ("launch.host", "start.host", "end.host")  # the first is written by job scripts

# What a placement may claim of its ranks' places: as a rank records it, and its title.
LEVELS = {
    "sockets": ("socket", "socket"),
    "numa_domains": ("numa", "NUMA domain"),
    "l3_caches": ("l3", "L3 cache"),
}

# Each of these lines is needed to compare the evidence with. A value may be empty.
CLAIMS = (
    *("system", "host_group", "placement", "benchmark", "repeat", "identity", "declared", "scripts"),
    *("nodes", "ranks", "ranks_per_node", "sockets", "binding", "transport", "interface", "device", "mpi"),
    *("members", "evidence", "program_sha256", "launch", "arguments", "settings"),
)


def judge(
    evidence: Evidence,
    output: str,
    series: Iterable[Series],
    expected: Mapping[str, str] | None = None,
    raw: Mapping[str, bytes] | None = None,
) -> tuple[str, tuple[str, ...]]:
    """The verdict and its reasons.

    Parameters
    ----------
    evidence : claim and evidence of the run
    output : standard output and error of the benchmark, with the report of the MPI library
    series : the parsed output, for the payload that must have moved
    expected : claims that the run must have made to be the run of its folder
    raw : the raw outputs by file name; the run recorded their checksums
    """
    findings = _claim(evidence, expected or {}) + _files(evidence, raw or {})
    if not findings:
        findings = [finding for check in CHECKS for finding in check(evidence)]
        tables = tuple(series)
        findings += transport_findings(evidence, output, tables) + output_findings(evidence, output, tables)
        findings += passed_findings(evidence, (raw or {}).get("output.txt", b""), tables)
    verdict, reasons = conclude(findings)
    declared = declared_topology(evidence)
    return (DECLARED, (declared, *reasons)) if declared and verdict == VERIFIED else (verdict, reasons)


def declared_topology(evidence: Evidence) -> str:
    """That a folder replaced the /sys of a node; empty where none did."""
    recorded = [node.get("declared_topology") for node in evidence.nodes.values()]
    recorded += [seen.get("start.declared_topology") for seen in evidence.ranks.values()]
    names = ", ".join(sorted({*filter(None, recorded)}))
    return f"topology: declared by {names}, not the node's own" if names else ""


def _claim(evidence: Evidence, expected: Mapping[str, str]) -> list[Finding]:
    """The claim must be complete, and that of the run in this folder."""
    claim = evidence.claim
    others = [
        f"{key} {claim[key]}, not {wanted}"
        for key, wanted in expected.items()
        if claim.get(key, wanted) != wanted
    ]
    if others:
        return [Finding("result", CONTRADICTS, f"it belongs to another run: {'; '.join(others)}")]
    missing = [key for key in CLAIMS if key not in claim]
    if missing:
        return [Finding("claim", LACKS, f"it has no {', '.join(missing[:3])}")]
    if "run" not in evidence.job:
        return [Finding("evidence", LACKS, "it does not name its run")]
    case = Case(*(claim[key] for key in ("system", "host_group", "placement", "benchmark")))
    wanted = run_path(case, number(claim["repeat"]) or 0, claim["identity"]).removeprefix("runs/")
    if (ran := evidence.job["run"]) != wanted:
        return [Finding("result", CONTRADICTS, f"it belongs to another run: {ran}, not {wanted}")]
    if identity_of(claim["declared"]) != claim["identity"]:
        return [Finding("claim", CONTRADICTS, "its identity was not made from its declaration")]
    if claim["settings"] != str(len(evidence.settings)):
        return [Finding("claim", LACKS, f"it lacks some of its {claim['settings']} settings")]
    return []


def _files(evidence: Evidence, raw: Mapping[str, bytes]) -> list[Finding]:
    """The raw outputs must be unchanged since the run."""
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in raw.items()}
    recorded = {name: evidence.job.get(f"sha256.{name}") for name in checksums}
    if changed := [name for name, checksum in checksums.items() if recorded[name] not in (None, checksum)]:
        return [
            Finding("result", CONTRADICTS, f"{changed[0]} was changed after the run: its checksum differs")
        ]
    if missing := [name for name, checksum in recorded.items() if checksum is None]:
        return [Finding("result", LACKS, f"the checksum of {missing[0]} was not recorded")]
    return []


def _end(evidence: Evidence) -> list[Finding]:
    if not evidence.complete:
        return [Finding("evidence", LACKS, "the evidence file has no end line")]
    status = evidence.job.get("exit_status", "missing")
    return [finding("exit status", evidence.ended_well, "0", f"{status}, but only 0 is success")]


def _script(evidence: Evidence) -> list[Finding]:
    """The command line and the script itself must be as rendered."""
    claim, job = evidence.claim, evidence.job
    for key in ("launch", "arguments"):
        if key not in job:
            return [Finding("job script", LACKS, f"it recorded no {key}")]
        if job[key] != claim[key]:
            return [Finding("job script", CONTRADICTS, f"{key} {job[key]!r}, not {claim[key]!r}; {_EDITED}")]
    recorded = job.get("script_sha256", "")
    if not recorded:
        return [Finding("job script", LACKS, "the script could not compute its own checksum")]
    bad = f"checksum {recorded[:12]} belongs to no script rendered for this run; {_EDITED}"
    return [finding("job script", recorded in claim["scripts"].split(), f"checksum {recorded[:12]}", bad)]


def _program(evidence: Evidence) -> list[Finding]:
    claimed, recorded = evidence.claim.get("program_sha256", ""), evidence.job.get("program_sha256", "")
    if not claimed:
        return []
    if not recorded:
        return [Finding("program", LACKS, "its checksum was not recorded")]
    bad = f"checksum {recorded[:12]}, not {claimed[:12]}: another program ran"
    return [finding("program", recorded == claimed, f"checksum {recorded[:12]}", bad)]


def _settings(evidence: Evidence) -> list[Finding]:
    wanted = evidence.settings
    set_to = {name: evidence.job.get(f"env.{name}") for name in wanted}
    if missing := [name for name, value in set_to.items() if value is None]:
        return [Finding("settings", LACKS, f"{missing[0]} was not recorded")]
    differ = [name for name in wanted if _plain(set_to[name]) != _plain(wanted[name])]
    wrong = [f"{name} was {set_to[name]}, not {wanted[name]}" for name in differ]
    return [finding("settings", not wrong, "as rendered", "; ".join(wrong))] if wanted else []


def _plain(value: str | None) -> str:
    """The value for a comparison: characters that would break a line were recorded as spaces."""
    return re.sub(r"[\x00-\x20\x7f\x85\u2028\u2029]+", " ", value or "")


def _ranks(evidence: Evidence) -> list[Finding]:
    claimed = number(evidence.claim.get("ranks", ""))
    if evidence.repeated:
        twice = ", ".join(evidence.repeated[:3])
        reason = f"recorded more than once: {twice}; several programs had the same rank"
        return [Finding("ranks", CONTRADICTS, reason)]
    if evidence.claim["evidence"] == "off":
        return [Finding("ranks", LACKS, "evidence is off in the campaign file: no rank recorded anything")]
    reported = [rank for rank, seen in evidence.ranks.items() if all(f"{m}.cpu" in seen for m in MOMENTS)]
    if not reported:
        return [Finding("ranks", LACKS, "no rank left evidence: the evidence library was not loaded")]
    missing = sorted(set(range(claimed or 0)) - set(reported))
    if missing and set(evidence.ranks) <= set(range(claimed or 0)):
        return [Finding("ranks", LACKS, f"rank {missing[0]} recorded no evidence at start and end")]
    bad = f"{len(evidence.ranks)} ranks, not {claimed}"
    return [finding("ranks", len(evidence.ranks) == claimed, f"{claimed} ranks", bad)]


def _hosts(evidence: Evidence) -> list[Finding]:
    if not evidence.hosts:
        return [Finding("hosts", LACKS, "no rank recorded its host")]
    for rank, seen in evidence.ranks.items():
        names = {seen.get(key) for key in HOST_KEYS} - {None}
        if len(names) > 1:
            reason = f"rank {rank} names different hosts at launch, start and end"
            return [Finding("hosts", CONTRADICTS, reason)]
    needed = set(HOST_KEYS if "declared" in evidence.claim else HOST_KEYS[1:])
    unnamed = [rank for rank, seen in evidence.ranks.items() if not needed <= seen.keys()]
    if unnamed:
        return [Finding("hosts", LACKS, f"rank {unnamed[0]} did not name its host each time")]
    counts = Counter(evidence.host_of(rank) for rank in evidence.ranks)
    nodes, per_node = (number(evidence.claim.get(key, "")) for key in ("nodes", "ranks_per_node"))
    used = ", ".join(f"{host} ({in_ranks(count)})" for host, count in counts.items())
    holds = len(counts) == nodes and set(counts.values()) == {per_node}
    claimed = f"{'unknown nodes' if nodes is None else counted(nodes, 'node')} of {in_ranks(per_node)}"
    findings = [finding("hosts", holds, used, f"{used}; claimed {claimed}")]
    return [*findings, *_members(evidence), *_machines(evidence)]


def _machines(evidence: Evidence) -> Iterator[Finding]:
    """Names of hosts, against the boots of their kernels, which no namespace hides."""
    pairs = {(host, node["boot_id"]) for host, node in evidence.nodes.items() if "boot_id" in node}
    recorded = product(evidence.ranks.values(), MOMENTS)
    pairs |= {(seen[f"{m}.host"], seen[f"{m}.boot_id"]) for seen, m in recorded if f"{m}.boot_id" in seen}
    for host, boots in grouped(sorted(pairs), lambda pair: pair[0]).items():
        if len(boots) > 1:
            why = f"{host} is the name of {len(boots)} machines, by the boots of their kernels"
            yield Finding("hosts", CONTRADICTS, why)
    for same in grouped(sorted(pairs), lambda pair: pair[1]).values():
        if len(same) > 1:
            names = listed([host for host, _ in same])
            why = f"{names} are one machine, by the boot of its kernel: containers, or a false name"
            yield Finding("hosts", LACKS, why)


def _members(evidence: Evidence) -> list[Finding]:
    patterns = evidence.claim.get("members", "").split()
    if not patterns:
        return []
    strangers = [host for host in evidence.hosts if not any(is_member(host, p) for p in patterns)]
    group = evidence.claim.get("host_group", "")
    bad = f"not in host group {group} ({' '.join(patterns)}): {', '.join(strangers)}"
    return [finding("host group", not strangers, f"members of {group}", bad)]


def _binding(evidence: Evidence) -> list[Finding]:
    binding = evidence.claim.get("binding", "")
    if binding == "library" or not evidence.ranks:
        return []
    for rank in sorted(evidence.ranks):
        for moment in MOMENTS:
            if wrong := _rank_binding(evidence, rank, moment, binding):
                return [wrong]
    if binding == "core" and (wrong_place := _moved(evidence) or shared_core(evidence)):
        return [Finding("binding", CONTRADICTS, wrong_place)]
    tools = f", by {' and '.join(evidence.bound_by)}" if evidence.bound_by else ""
    threads = _threads(evidence)
    cores = f"{threads} cores" if threads > 1 else "one core"
    right = f"{cores} per rank{tools}" if binding == "core" else "no rank is bound"
    return [Finding("binding", SUPPORTS, right)]


def _threads(evidence: Evidence) -> int:
    """The threads of each rank by the claim, at least 1."""
    return number(evidence.claim.get("threads", "")) or 1


def _rank_binding(evidence: Evidence, rank: int, moment: str, binding: str) -> Finding | None:
    """The finding about a wrong binding of one rank at one moment; None where it is right."""
    seen = evidence.ranks[rank]
    try:
        allowed, cpu = cpu_list(seen[f"{moment}.allowed"]), int(seen[f"{moment}.cpu"])
        core = cpu_list(seen.get(f"{moment}.siblings", str(cpu)))
    except (KeyError, ValueError):
        return Finding("binding", LACKS, f"rank {rank} recorded no CPU or allowed set at {moment}")
    if cpu not in allowed:
        reason = f"rank {rank} was on CPU {cpu} at {moment}, outside its allowed set"
        return Finding("binding", CONTRADICTS, reason)
    cores = number(evidence.nodes.get(evidence.host_of(rank), {}).get("cores", ""))
    threads = _threads(evidence)
    if binding == "core" and len(allowed) != threads and not (threads == 1 and allowed <= core):
        wanted = f"{threads}, one for each thread" if threads > 1 else "one"
        reason = f"rank {rank} may use {len(allowed)} CPUs at {moment}, not {wanted}"
        return Finding("binding", CONTRADICTS, reason)
    if binding == "none" and allowed <= core and cores != 1:
        return Finding("binding", CONTRADICTS, f"rank {rank} is bound to CPU {cpu} at {moment}, not unbound")
    return None


def _moved(evidence: Evidence) -> str:
    """How a bound rank left its CPU; a rank that was moved and came back shows in the kernel's count only."""
    for rank, seen in sorted(evidence.ranks.items()):
        start, end = seen["start.allowed"], seen["end.allowed"]
        if cpu_list(start) != cpu_list(end):
            return f"rank {rank} was moved from CPU {start} to CPU {end}"
        before, after = (number(seen.get(f"{moment}.migrations", "")) for moment in MOMENTS)
        # threads may change places among the CPUs of their rank
        if len(cpu_list(start)) == 1 and before is not None and after is not None and after > before:
            return f"rank {rank} changed its CPU {after - before} times between start and end"
    return ""


def shared_core(evidence: Evidence) -> str:
    """``ranks 0 and 1 share core 0 of socket 0 of node1``, of bound ranks; or empty."""
    owners: dict[tuple[str, str], int] = {}
    for rank, seen in sorted(evidence.ranks.items()):
        host, cores = evidence.host_of(rank), [f"CPU {seen['start.allowed']}"]
        if _threads(evidence) > 1:
            cores = [f"CPU {cpu}" for cpu in cpu_list(seen["start.allowed"])]
        elif {"start.core", "start.socket"} <= seen.keys():
            cores = [f"core {seen['start.core']} of socket {seen['start.socket']}"]
        for core in cores:
            other = owners.setdefault((host, core), rank)
            if other != rank:
                return f"ranks {other} and {rank} share {core} of {host}"
    return ""


def _spread(evidence: Evidence) -> list[Finding]:
    """Over how many sockets, NUMA domains and L3 caches of each node the ranks are spread."""
    claimed = {key: number(evidence.claim.get(key, "")) for key in LEVELS}
    return [_on_level(evidence, key, count) for key, count in claimed.items() if count and evidence.ranks]


def _on_level(evidence: Evidence, key: str, claimed: int) -> Finding:
    recorded, title = LEVELS[key]
    in_all = counted(claimed, title)
    for moment in MOMENTS:
        used: dict[str, set[str]] = {}
        for rank, seen in evidence.ranks.items():
            if f"{moment}.{recorded}" not in seen:
                return Finding(key, LACKS, f"rank {rank} recorded no {title} at {moment}")
            used.setdefault(evidence.host_of(rank), set()).add(seen[f"{moment}.{recorded}"])
        for host, places in used.items():
            if len(places) != claimed:
                names = ", ".join(sorted(places))
                reason = f"ranks of {host} ran on {title}s {names} at {moment}, claimed: {in_all}"
                return Finding(key, CONTRADICTS, reason)
    return Finding(key, SUPPORTS, in_all)


def _memory(evidence: Evidence) -> list[Finding]:
    """Bound ranks must have most of their memory on their own NUMA node, if the kernel reports it."""
    if evidence.claim.get("binding") != "core" or not evidence.ranks:
        return []
    if {node.get("numa_maps") for node in evidence.nodes.values()} == {"no"}:
        return []
    shares = {rank: local_share(seen) for rank, seen in sorted(evidence.ranks.items())}
    for rank, share in shares.items():
        if share is None:
            return [Finding("memory", LACKS, f"rank {rank} did not record where its memory is")]
        if share < 0.5:
            reason = f"rank {rank} has {share:.0%} of its memory on its own NUMA node"
            return [Finding("memory", CONTRADICTS, reason)]
    least = at_least(min(filter(None, shares.values())))
    return [Finding("memory", SUPPORTS, f"each rank has {least} of it on its own NUMA node")]


def at_least(share: float) -> str:
    """``at least 97%``, or ``all``: rounded down."""
    return "all" if share == 1 else f"at least {int(100 * share)}%"


def local_share(seen: Rank) -> float | None:
    """The share of a rank's memory on its own NUMA node at the end; None where it was not recorded."""
    pages, numa = {}, seen.get("end.numa", "")
    for part in filter(None, seen.get("end.memory", "").split(",")):
        node, _, count = part.partition("=")
        pages[node.removeprefix("N")] = number(count) or 0
    total = sum(pages.values())
    return pages.get(numa, 0) / total if total and numa else None


# Of a placement, whatever started its ranks; and of a run, which a job script started.
PLACEMENT_CHECKS: tuple[Callable[[Evidence], list[Finding]], ...] = (
    _ranks,
    _hosts,
    request_findings,
    _binding,
    _spread,
    _memory,
    gpu_findings,
)
CHECKS: tuple[Callable[[Evidence], list[Finding]], ...] = (
    _end,
    _script,
    _program,
    software_findings,
    _settings,
    launch_findings,
    *PLACEMENT_CHECKS,
)
