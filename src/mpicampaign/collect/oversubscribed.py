"""Whether ranks shared cores: another experiment than one with a core for each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.grouping import grouped
from mpicampaign.verdict.evidence import cpu_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.verdict.evidence import Evidence

_Rank = dict[str, str]


def oversubscription(evidence: Evidence, metadata: Mapping[str, str]) -> str:
    """Which host had fewer CPUs or cores than ranks, as the evidence shows; empty where none had.

    ``metadata``: of the output; a bundled kernel prints there whether ranks shared processors.
    """
    placed = [rank for rank in evidence.ranks.values() if rank.get("start.host")]
    for host, ranks in grouped(placed, lambda rank: rank["start.host"]).items():
        if found := _on(host, ranks, evidence.nodes.get(host, {}).get("cores", "")):
            return found
    return "more ranks than processors" if metadata.get("oversubscribed") == "yes" else ""


def _on(host: str, ranks: Sequence[_Rank], cores: str) -> str:
    """``4 ranks on 2 CPUs of node1``."""
    cpus = _allowed(ranks)
    if cpus and len(ranks) > cpus:
        return f"{len(ranks)} ranks on {cpus} CPUs of {host}"
    # The node's facts may come from a step with fewer cores than the ranks had: they must have met on a core.
    if cores.isdecimal() and len(ranks) > int(cores) > 0 and len(_seen_on(ranks)) < len(ranks):
        return f"{len(ranks)} ranks on {int(cores)} cores of {host}"
    return ""


def _allowed(ranks: Sequence[_Rank]) -> int:
    """How many CPUs the ranks of a host may use together; 0 where that is not known of all."""
    try:
        return len(set().union(*(cpu_list(rank["start.allowed"]) for rank in ranks)))
    except (KeyError, ValueError):
        return 0


def _seen_on(ranks: Sequence[_Rank]) -> set[tuple[str, str]]:
    """The cores on which the ranks started."""
    return {(rank.get("start.socket", ""), rank.get("start.core", "")) for rank in ranks}
