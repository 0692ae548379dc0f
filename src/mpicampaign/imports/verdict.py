"""Whether an imported run matches its label, judged by its output, report and job script.

An imported run records less than a run of a campaign. Its label is verified only if the output proves all
claims of the placement in the map. The options on a command line prove nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, conclude, finding
from mpicampaign.imports.labels import unlisted_hosts
from mpicampaign.imports.ledger import Label
from mpicampaign.imports.map_file import Claim, ImportMap
from mpicampaign.mpis import is_reported
from mpicampaign.schedulers import batch_scheduler


def judge_import(
    facts: Mapping[str, str], label: Label, chosen: ImportMap, changed: bool, doubt: str = ""
) -> tuple[str, tuple[str, ...]]:
    """The verdict and its reasons.

    ``changed``: the raw file differs from the imported one; ``doubt``: why its table may be incomplete.
    """
    if changed:
        reason = "the file was changed after its import: its checksum differs"
        return conclude([Finding("result", CONTRADICTS, reason)])
    claim = chosen.placements.get(label.placement)
    # first, since it alone concerns the values
    findings = [Finding("output", LACKS, doubt)] if doubt else []
    if document := facts.get("quoted"):
        findings.append(Finding("source", LACKS, f"quoted in {document}: what was changed is unknown"))
    findings += [*_exit(facts), *_host_group(facts, label, chosen)]
    if claim is None:
        unknown = f"the map does not say what {label.placement} claims"
        return conclude([*findings, Finding("placement", LACKS, unknown)])
    return conclude([*findings, *_nodes(facts, claim), *_transport(facts, claim), *_binding(label, claim)])


def _exit(facts: Mapping[str, str]) -> list[Finding]:
    scheduler = batch_scheduler(facts.get("scheduler", ""))
    if scheduler is None or not facts.get("state") or facts["state"] != scheduler.report_done:
        trouble = f"the scheduler reports: {facts['trouble']}" if "trouble" in facts else "not recorded"
        return [Finding("exit status", LACKS, trouble)]
    return [Finding("exit status", SUPPORTS, f"the scheduler reports {facts['state']}")]


def _host_group(facts: Mapping[str, str], label: Label, chosen: ImportMap) -> list[Finding]:
    group = label.host_group
    if "hosts" not in facts:
        return [Finding("hosts", LACKS, f"not recorded; {group} is known only from the map's rules")]
    if strangers := unlisted_hosts(facts, chosen):
        reason = f"{', '.join(strangers)}: in no host group of the map"
        reason += "" if label.actual else f"; {group} is known only from the map's rules"
        return [Finding("host group", LACKS, reason)]
    return [Finding("host group", SUPPORTS, f"members of {group}")]


def _nodes(facts: Mapping[str, str], claim: Claim) -> list[Finding]:
    """The numbers of hosts of the job and in the MPI library's report, compared with the claim."""
    if claim.nodes is None:
        return []
    counts = {"the job": facts.get("nodes"), "the MPI library": facts.get("mpi_hosts")}
    known = {source: int(count) for source, count in counts.items() if count}
    if not known:
        return [Finding("nodes", LACKS, f"not recorded; claimed: {claim.nodes}")]
    reported = ", ".join(f"{count} by {source}" for source, count in known.items())
    holds = set(known.values()) == {claim.nodes}
    return [finding("nodes", holds, reported, f"{reported}; claimed: {claim.nodes}")]


def _transport(facts: Mapping[str, str], claim: Claim) -> list[Finding]:
    if not claim.transport:
        return []
    over_ofi = claim.transport == "ofi"
    kind, used = "MPI library's report", facts.get("provider" if over_ofi else "transport", "")
    claimed = f"{claim.transport} {claim.provider}".rstrip()
    if not used:
        return [Finding(kind, LACKS, f"there is none; claimed: {claimed}")]
    asked = claim.provider if over_ofi else claim.transport
    holds = not asked or is_reported(asked, used.split())
    return [finding(kind, holds, f"it used {used}", f"it used {used}, claimed: {claimed}")]


def _binding(label: Label, claim: Claim) -> list[Finding]:
    """A requested binding proves nothing: no imported output records where its ranks ran."""
    if not claim.binding:
        return []
    origin = f"requested by {label.asked!r}" if label.asked else "claimed by the label"
    return [Finding("binding", LACKS, f"{claim.binding}: {origin}; the cores of the ranks were not recorded")]
