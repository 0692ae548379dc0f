"""Ranks that share cores: recognised at collecting, named in their row, compared with no other."""

from __future__ import annotations

from dataclasses import replace

import build_records as make
import pytest

from mpicampaign.base.records import DISTURBED, OVERSUBSCRIBED, Record
from mpicampaign.collect.runs import oversubscription
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import Evidence

SHARED = {OVERSUBSCRIBED: "4 ranks on 2 CPUs of n1"}


def evidence(allowed: list[str], cores: str = "", seen: list[str] | None = None) -> Evidence:
    """Ranks of one host with their CPUs, and the cores on which they started."""
    ranks = {
        number: {"start.host": "n1", "start.allowed": cpus, "start.socket": "0", "start.core": core}
        for number, (cpus, core) in enumerate(zip(allowed, seen or allowed, strict=True))
    }
    return Evidence(nodes={"n1": {"cores": cores}}, ranks=ranks)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (evidence(["0-1"] * 4), "4 ranks on 2 CPUs of n1"),
        (evidence(["0", "0"]), "2 ranks on 1 CPU of n1"),
        (evidence(["0-3"] * 4, "2", ["0", "1", "0", "1"]), "4 ranks on 2 cores of n1"),  # hyper-threads
        (evidence(["0", "1"], "2"), ""),
        (evidence(["0", "1", "2", "3"], "1"), ""),  # the node's facts come from a step with one core
        (evidence(["0-1", ""]), ""),
        (evidence(["0-1"] * 2, "9" * 5000, ["0", "0"]), ""),
        (Evidence(), ""),
    ],
)
def test_evidence_of_ranks_that_share(found: Evidence, expected: str) -> None:
    assert oversubscription(found, {}) == expected


def runs(placement: str, latency: float, **metadata: str) -> list[Record]:
    return make.case_runs(placement, latency, metadata=metadata)


def test_disturbed_runs_that_share_cores_are_named_so() -> None:
    busy = [replace(run, metadata=SHARED, condition=DISTURBED) for run in runs("SHM", 9e-6)]
    (table,) = compare([*runs("A", 1e-6), *busy]).tables
    assert [row.case.placement for row in table.rows] == ["A", "SHM (oversubscribed)"]
