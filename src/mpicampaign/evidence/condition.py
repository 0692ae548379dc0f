"""Whether a run was disturbed by others: judged from the time that its ranks waited for a CPU.

Between MPI_Init and MPI_Finalize each rank records its CPU time, the time that its threads were ready to
run and had no CPU (schedstat), and the wall time. Ranks that may use the same CPUs also wait for each other:
of their waits no more counts than the CPU time that other processes used. The thresholds were measured:
``bench/condition.py`` prints both error rates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import DISTURBED, NOT_JUDGED, QUIET
from mpicampaign.base.text import counted
from mpicampaign.evidence.evidence import Evidence, Rank, below, cpu_list
from mpicampaign.evidence.findings import number

SHORTEST = 0.1  # s; in less time a share means nothing
WAITING = 0.10  # of the time that a rank ran or waited
LEAST_WAIT = 0.004  # s; about one time slice of the kernel
LEAST_OF_OTHERS = 0.3  # CPUs; the operating system's own processes use less
MOMENTS = ("before", "after")  # of a job's ranks
# A progress thread waits, too, but its process keeps this share of a CPU.
FULLY_RUNNING = 0.95
_STOPS = re.compile(r" end\.(continued=0*[1-9]|cpu_quota\.)")
_WAITS = re.compile(r" end\.wait_ns=([0-9]{1,18})$", re.MULTILINE)
# By the rank with local number 0; anybody may choose the name of a process.
_BUSY_PROCESS = re.compile(r"([ -~]{1,15} \(pid [0-9]{1,9}, uid [0-9]{1,10}\)) ([0-9]{1,4}\.[0-9])")
_OTHERS_AT_THE_END = re.compile(r"([0-9]{1,6}\.[0-9]) of ([0-9]{1,6})")
_TIME_LIMIT_MET = "124"  # exit status
# CPUs, periods, and those in which the group had used up its part
_QUOTA = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ([0-9]{1,18}) ([0-9]{1,18})")
QUOTA = "a CPU quota of"
TICKS = 100  # per second, in /proc/stat of every Linux on processors in use
TICK_ERROR = 0.03  # s; of a host's CPU time over a window, by its ticks


class Usage(NamedTuple):
    """What one rank recorded between MPI_Init and MPI_Finalize, in s."""

    wall: float
    cpu: float
    wait: float
    by_others: float  # of the wait, at most what processes other than ranks may have caused

    @property
    def waiting(self) -> float:
        """The share of its time that the rank waited for a CPU."""
        return self.wait / (self.cpu + self.wait) if self.wait else 0.0

    @property
    def disturbed(self) -> bool:
        """Whether others made the rank wait so long that its results cannot be trusted."""
        running = self.cpu < FULLY_RUNNING * self.wall
        return running and self.by_others > max(WAITING * (self.cpu + self.wait), LEAST_WAIT)


def condition(evidence: Evidence) -> tuple[str, str]:
    """The condition of a run and the reason for it; of a quiet run the largest share of waiting."""
    if stopped := _stopped(evidence) or _throttled(evidence):
        return DISTURBED, stopped
    usages = {rank: usage(seen) for rank, seen in sorted(evidence.ranks.items())}
    known = {rank: usage for rank, usage in usages.items() if usage is not None}
    if not known or len(known) < len(usages):
        return NOT_JUDGED, "no time of waiting for a CPU was recorded"
    if shared := shared_cpus(evidence):
        return NOT_JUDGED, shared
    if (shortest := min(usage.wall for usage in known.values())) < SHORTEST:
        return NOT_JUDGED, f"{shortest:.3f} s between MPI_Init and MPI_Finalize, less than {SHORTEST:g} s"
    others = {host: cpu_of_others(evidence, host) for host in evidence.hosts if may_share(evidence, host)}
    for host in others:
        if others[host] is None:
            return NOT_JUDGED, f"ranks may use the same CPUs of {host}, whose CPU time was not recorded"
    for rank, used in known.items():  # ranks may also wait for each other
        if (by_others := others.get(evidence.host_of(rank))) is not None:
            known[rank] = used._replace(by_others=min(used.wait, max(by_others - TICK_ERROR, 0)))
    worst = max(known, key=lambda rank: (known[rank].disturbed, known[rank].waiting))
    waiting_most = known[worst]
    waited = f"rank {worst} waited {waiting_most.waiting:.0%} of its time for a CPU"
    if waiting_most.disturbed:
        others_text = _others_text(evidence, evidence.host_of(worst))
        process = f"; {named}" if (named := busy_process(evidence)) else ""
        return DISTURBED, f"{waited}{others_text}{process}"
    claimed = evidence.claim.get("ranks", "")
    if claimed.isdecimal() and len(known) < int(claimed):
        return NOT_JUDGED, f"{len(known)} of {claimed} ranks recorded their time of waiting for a CPU"
    if waiting_most.waiting <= WAITING:
        return QUIET, waited
    if others.get(evidence.host_of(worst)) is not None:
        return QUIET, f"{waited}, in which other ranks used it"
    return QUIET, f"{waited}: {1e3 * waiting_most.wait:.1f} ms; it ran {1e3 * waiting_most.cpu:.1f} ms"


def _stopped(evidence: Evidence) -> str:
    """Which rank was stopped and continued, and for how long: the time in which it neither ran nor waited."""
    for rank, seen in sorted(evidence.ranks.items()):
        if number(seen.get("end.continued", "")):
            used = usage(seen)
            lost = used.wall - used.cpu - used.wait if used else 0.0
            return f"rank {rank} was stopped{f' for {lost:.1f} s' if lost > 0 else ''}"
    return ""


def _throttled(evidence: Evidence) -> str:
    """``rank 0 was throttled in 91 of 93 periods by a CPU quota of 1.5 CPUs``; or empty.

    The most of all ranks and their control groups, by more than a tenth of the periods.
    """
    most, text = WAITING, ""
    for rank, seen in sorted(evidence.ranks.items()):
        for group, counts in below(seen, "end.cpu_quota.").items():
            before = _QUOTA.fullmatch(seen.get(f"start.cpu_quota.{group}", "0 0 0"))  # 0: no quota then
            if not before or not (after := _QUOTA.fullmatch(counts)):
                continue
            periods, hit = (int(after[part]) - int(before[part]) for part in (2, 3))
            if periods > 0 and hit > most * periods:
                most, cpus = hit / periods, float(after[1]) or float(before[1])
                hits = f"{hit} of {counted(periods, 'period')}"
                text = f"rank {rank} was throttled in {hits} by {QUOTA} {cpus:g} CPU{'s' * (cpus != 1)}"
    return text


def busy_process(evidence: Evidence) -> str:
    """``python3 (pid 123, uid 0) used 1.0 CPUs``: what took the most CPU time beside the ranks; or empty."""
    named = (_BUSY_PROCESS.fullmatch(seen.get("end.busy_process", "")) for seen in evidence.ranks.values())
    processes = [match for match in named if match]
    worst = max(processes, key=lambda match: float(match[2]), default=None)
    return f"{worst[1]} used {worst[2]} CPUs" if worst else ""


def stopped_by_others(evidence: Evidence) -> str:
    """What others used when a run was stopped at its time limit, where that left too little for its ranks.

    Empty for any other run. Others have the rest of the CPUs to themselves: more is taken from the ranks.
    """
    at_the_end = _OTHERS_AT_THE_END.fullmatch(evidence.job.get("others_used_cpus", ""))
    ranks = evidence.claim.get("ranks_per_node", "")
    if evidence.job.get("exit_status") != _TIME_LIMIT_MET or not at_the_end or not ranks.isdecimal():
        return ""
    others, cpus = float(at_the_end[1]), int(at_the_end[2])
    if others <= max(cpus - int(ranks), 0) + LEAST_OF_OTHERS:
        return ""
    return f"other processes used {at_the_end[0]} CPUs"


def may_be_disturbed(evidence: str) -> bool:
    """Whether a full reading of the evidence is worth its time: some rank waited long, or was stopped."""
    waits = _WAITS.findall(evidence)
    return any(int(wait) > LEAST_WAIT * 1e9 for wait in waits) or bool(_STOPS.search(evidence))


def usage(seen: Mapping[str, str]) -> Usage | None:
    """A rank's use of its time; None where a part of it was not recorded."""
    try:
        wall, cpu, wait = (
            int(seen[f"end.{key}"]) - int(seen[f"start.{key}"]) for key in ("clock_ns", "cpu_ns", "wait_ns")
        )
    except (KeyError, ValueError):
        return None
    if wall < 0 or cpu < 0:
        return None
    waited = max(wait, 0) / 1e9  # threads that ended took their waits with them
    return Usage(wall / 1e9, cpu / 1e9, waited, by_others=waited)


def cpu_of_others(evidence: Evidence, host: str) -> float | None:
    """CPU time (s) of a host's processes other than the ranks, between MPI_Init and MPI_Finalize; or None."""
    ranks = evidence.ranks_on(host).values()
    try:
        busy = max(int(seen["end.busy_ticks"]) - int(seen["start.busy_ticks"]) for seen in ranks) / TICKS
        of_ranks = sum(int(seen["end.cpu_ns"]) - int(seen["start.cpu_ns"]) for seen in ranks) / 1e9
    except (KeyError, ValueError):
        return None
    return max(busy - of_ranks, 0.0)


def _others_text(evidence: Evidence, host: str) -> str:
    """What the kernel counted of other users of the host's CPUs."""
    others = cpu_of_others(evidence, host)
    used = "" if others is None else f"; other processes of {host} used {others:.1f} s of CPU time"
    return used + _steal_text(evidence.nodes.get(host, {}))


def _steal_text(node: Mapping[str, str]) -> str:
    """The share of the node's CPUs that the hypervisor took between the begin and the end of the job."""
    try:
        before, after = ([int(ticks) for ticks in node[f"{moment}.ticks"].split()] for moment in MOMENTS)
        _, steal, total = (last - first for first, last in zip(before, after, strict=True))
    except (KeyError, ValueError):
        return ""
    return f"; the hypervisor took {steal / total:.0%} of its CPUs" if total and steal > 0.05 * total else ""


def ranks_by_host(evidence: Evidence) -> Mapping[str, Sequence[Rank]]:
    """What the ranks of each host recorded; those without a host are left out."""
    placed = (rank for rank in evidence.ranks.values() if rank.get("start.host"))
    return grouped(placed, lambda rank: rank["start.host"])


def shared_cpus(evidence: Evidence) -> str:
    """``4 ranks on 2 CPUs of node1``: a host whose ranks outnumber the CPUs that they may use; or empty."""
    for host, ranks in ranks_by_host(evidence).items():
        cpus = _allowed(ranks)
        if cpus and len(ranks) > cpus:
            return f"{len(ranks)} ranks on {counted(cpus, 'CPU')} of {host}"
    return ""


def may_share(evidence: Evidence, host: str) -> bool:
    """Whether two ranks of a host may use the same CPU, as unbound ranks may."""
    ranks = ranks_by_host(evidence).get(host, ())
    try:
        allowed = [set(cpu_list(rank["start.allowed"])) for rank in ranks]
    except (KeyError, ValueError):
        return True
    return len(set().union(*allowed)) < sum(map(len, allowed))


def _allowed(ranks: Sequence[Rank]) -> int:
    """How many CPUs the ranks of a host may use together; 0 where that is not known of all."""
    try:
        return len(set().union(*(cpu_list(rank["start.allowed"]) for rank in ranks)))
    except (KeyError, ValueError):
        return 0
