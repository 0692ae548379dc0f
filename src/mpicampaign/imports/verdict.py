"""Whether an imported run is what its label says, by what its output, report and job script tell.

Less is known of such a run than of one of ours: a label is verified only where the output itself proves all
that the map says of the placement. What was asked for on a command line proves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.imports.labels import unlisted_hosts
from mpicampaign.schedulers import batch_scheduler
from mpicampaign.verdict.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, conclude, finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.imports.labels import Label
    from mpicampaign.imports.map_file import Claim, ImportMap


def judge_import(
    facts: Mapping[str, str], label: Label, chosen: ImportMap, changed: bool, doubt: str = ""
) -> tuple[str, tuple[str, ...]]:
    """The verdict and its reasons in words.

    ``changed``: the raw file is not what was imported; ``doubt``: why its table may not be whole.
    """
    if changed:
        return conclude(
            [Finding("result", CONTRADICTS, "the file is not what was imported: its checksum differs")]
        )
    claim = chosen.placements.get(label.placement)
    # first, since it alone concerns the figures
    findings = [Finding("output", LACKS, doubt)] if doubt else []
    findings += [*_exit(facts), *_host_group(facts, label, chosen)]
    if claim is None:
        words = f"the map does not say what {label.placement} claims"
        return conclude([*findings, Finding("placement", LACKS, words)])
    return conclude([*findings, *_nodes(facts, claim), *_transport(facts, claim), *_binding(label, claim)])


def _exit(facts: Mapping[str, str]) -> list[Finding]:
    scheduler = batch_scheduler(facts.get("scheduler", ""))
    if scheduler is None or not facts.get("state") or facts["state"] != scheduler.report_done:
        return [Finding("exit status", LACKS, "not recorded")]
    return [Finding("exit status", SUPPORTS, f"the scheduler says {facts['state']}")]


def _host_group(facts: Mapping[str, str], label: Label, chosen: ImportMap) -> list[Finding]:
    group = label.host_group
    if "hosts" not in facts:
        return [Finding("hosts", LACKS, f"not recorded; {group} is by the rules of the map alone")]
    strangers = unlisted_hosts(facts, chosen)
    if strangers:
        words = (
            f"{', '.join(strangers)}: in no host group of the map; {group} is by the rules of the map alone"
        )
        words = words if not label.actual else f"{', '.join(strangers)}: in no host group of the map"
        return [Finding("host group", LACKS, words)]
    return [Finding("host group", SUPPORTS, f"members of {group}")]


def _nodes(facts: Mapping[str, str], claim: Claim) -> list[Finding]:
    """The hosts of the job, and those that the MPI library counted, against the claim."""
    if claim.nodes is None:
        return []
    counts = {"the job": facts.get("nodes"), "the MPI library": facts.get("mpi_hosts")}
    told = {who: int(count) for who, count in counts.items() if count}
    if not told:
        return [Finding("nodes", LACKS, f"not recorded; claimed: {claim.nodes}")]
    found = ", ".join(f"{count} by {who}" for who, count in told.items())
    holds = set(told.values()) == {claim.nodes}
    return [finding("nodes", holds, found, f"{found}; claimed: {claim.nodes}")]


def _transport(facts: Mapping[str, str], claim: Claim) -> list[Finding]:
    if not claim.transport:
        return []
    kind, told = "MPI library's report", facts.get("transport")
    if told is None:
        return [Finding(kind, LACKS, f"there is none; claimed: {claim.transport}")]
    bad = f"it used {told}, claimed: {claim.transport}"
    return [finding(kind, told == claim.transport, f"it used {told}", bad)]


def _binding(label: Label, claim: Claim) -> list[Finding]:
    """Asked for is not done: none of these outputs records where its ranks ran."""
    if not claim.binding:
        return []
    asked = f"asked for by {label.asked!r}" if label.asked else "claimed by the label"
    words = f"{claim.binding}: {asked}; on which cores the ranks ran was not recorded"
    return [Finding("binding", LACKS, words)]
