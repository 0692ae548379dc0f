"""Ranks that share CPUs: they wait for each other, whoever else uses the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.grouping import grouped
from mpicampaign.verdict.evidence import cpu_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.verdict.evidence import Evidence, Rank


def ranks_by_host(evidence: Evidence) -> Mapping[str, Sequence[Rank]]:
    """What the ranks of each host recorded; those without a host are left out."""
    placed = (rank for rank in evidence.ranks.values() if rank.get("start.host"))
    return grouped(placed, lambda rank: rank["start.host"])


def shared_cpus(evidence: Evidence) -> str:
    """``4 ranks on 2 CPUs of node1``: a host whose ranks outnumber the CPUs that they may use; or empty."""
    for host, ranks in ranks_by_host(evidence).items():
        cpus = _allowed(ranks)
        if cpus and len(ranks) > cpus:
            return f"{len(ranks)} ranks on {cpus} CPU{'s' * (cpus > 1)} of {host}"
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
