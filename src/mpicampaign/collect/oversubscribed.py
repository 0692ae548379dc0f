"""Whether ranks shared cores: another experiment than one with a core for each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.verdict.condition import ranks_by_host, shared_cpus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.verdict.evidence import Evidence


def oversubscription(evidence: Evidence, metadata: Mapping[str, str]) -> str:
    """Which host had fewer CPUs or cores than ranks, as the evidence shows; empty where none had.

    ``metadata``: of the output; a bundled kernel prints there whether ranks shared processors.
    """
    printed = "more ranks than processors" if metadata.get("oversubscribed") == "yes" else ""
    return shared_cpus(evidence) or _shared_cores(evidence) or printed


def _shared_cores(evidence: Evidence) -> str:
    """``4 ranks on 2 cores of node1``.

    The node's facts may come from a step with fewer cores than the ranks had: two must have met on a core.
    """
    for host, ranks in ranks_by_host(evidence).items():
        cores = evidence.nodes.get(host, {}).get("cores", "")
        seen = {(rank.get("start.socket", ""), rank.get("start.core", "")) for rank in ranks}
        known = cores.isdecimal() and len(cores) < 10
        if known and len(ranks) > int(cores) > 0 and len(seen) < len(ranks):
            return f"{len(ranks)} ranks on {int(cores)} core{'s' * (int(cores) > 1)} of {host}"
    return ""
