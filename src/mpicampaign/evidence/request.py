"""What the scheduler gave a job: the partition or queue, account and hosts that the claim asks for, or not.

Claims of earlier releases do not ask, and their runs are judged as before. What a scheduler does not tell its
jobs has no finding.
"""

from __future__ import annotations

import re

from mpicampaign.base.host_lists import fold, short
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import Finding, finding
from mpicampaign.schedulers import BatchScheduler, batch_scheduler

_LISTS = ("partition", "queue", "reservation")  # of which a job gets one


def request_findings(evidence: Evidence) -> list[Finding]:
    """The findings about each key that was asked for, and about the hosts."""
    scheduler = batch_scheduler(evidence.claim.get("scheduler", ""))
    if scheduler is None:
        return []
    asked = {key: evidence.claim.get(f"request.{key}", "") for key in scheduler.granted}
    given = {key: evidence.job.get(f"env.{name}", "") for key, name in scheduler.granted.items()}
    findings = [
        _match(key, asked[key], given[key]) for key in asked if key != "hosts" and asked[key] and given[key]
    ]
    return findings + _hosts(evidence, scheduler, asked.get("hosts", "").split())


def _match(key: str, asked: str, given: str) -> Finding:
    """Slurm writes accounts in lower case."""
    choices = re.split(r"[,\s]+", asked) if key in _LISTS else [asked]
    holds = given.casefold() in [choice.casefold() for choice in choices]
    return finding(key, holds, given, f"the job ran in {given}, not in {asked}")


def _hosts(evidence: Evidence, scheduler: BatchScheduler, asked: list[str]) -> list[Finding]:
    """The ranks' hosts are of those that the job got, and these are the ones that were asked for by name.

    A scheduler may have names of its own for hosts: then its list does not hold that of the job script.
    """
    given = scheduler.read_hosts(evidence.job.get(f"env.{scheduler.granted_hosts}", ""))
    if short(evidence.job.get("host", "")) not in given:
        return []
    others = [host for host in evidence.hosts if short(host) not in given]
    bad = f"ranks ran on {', '.join(others)}, but the job got {fold(given)}"
    if not others and asked and not (set(asked) <= set(given) or set(given) <= set(asked)):
        others, bad = asked, f"the job got {fold(given)}, not {fold(asked)}"
    return [finding("hosts of the job", not others, fold(given), bad)]
