"""The recorded facts that distinguish two systems of one name: hosts, processors, MPI, cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.bundle.archive import SystemFacts
from mpicampaign.records import FAILED, OK
from mpicampaign.schedulers import batch_schedulers
from mpicampaign.verdict.evidence import read_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.records import Record

_CPU_MODEL = ": cpu_model"


def system_facts(records: Iterable[Record]) -> dict[str, SystemFacts]:
    """The facts of each system that has finished runs."""
    of_systems: dict[str, list[Record]] = {}
    for record in records:
        if record.status in (OK, FAILED):
            of_systems.setdefault(record.case.system, []).append(record)
    return {name: _facts(runs) for name, runs in sorted(of_systems.items())}


def _facts(runs: list[Record]) -> SystemFacts:
    hosts = {host for run in runs for host in run.hosts}
    models = {value for run in runs for key, value in run.metadata.items() if key.endswith(_CPU_MODEL)}
    mpi, clusters = set(), set()
    variables = [name for scheduler in batch_schedulers() for name in scheduler.cluster_variables]
    for run in runs:
        evidence = read_evidence(_text_of(run, "evidence"), _text_of(run, "claim"))
        mpi.add(evidence.claim.get("mpi", ""))
        clusters |= {evidence.job.get(f"env.{name}", "") for name in variables}
    lists = [tuple(sorted(values - {""})) for values in (hosts, models, mpi, clusters)]
    return SystemFacts(lists[0], lists[1], lists[2], lists[3], len(runs))


def _text_of(run: Record, name: str) -> str:
    path = run.files.get(name)
    return Path(path).read_bytes().decode("utf-8", errors="replace") if path else ""


def difference(one: SystemFacts, other: SystemFacts) -> str:
    """Why two systems of one name may be different ones; empty where they are the same."""
    if not one.hosts or not other.hosts:
        return "one of them has no recorded host"
    if not set(one.hosts) & set(other.hosts):
        return "they have no host in common"
    pairs = (
        ("clusters", one.clusters, other.clusters),
        ("CPU models", one.cpu_models, other.cpu_models),
        ("MPI libraries", one.mpi, other.mpi),
    )
    for kind, mine, theirs in pairs:
        if mine and theirs and not set(mine) & set(theirs):
            return f"the {kind} differ"
    return ""
