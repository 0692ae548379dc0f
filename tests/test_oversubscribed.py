"""Ranks that share cores: recognised at collecting, named in their row, compared with no other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import campaign as made_campaign
from builders import plan
from synthetic import case_runs

from mpicampaign.campaign.model import Placement
from mpicampaign.collect.oversubscribed import oversubscription
from mpicampaign.compare.compare import compare
from mpicampaign.compare.consensus import stated_rankings
from mpicampaign.jobs.plan import plan_file
from mpicampaign.plan_file import plan_from, plan_json
from mpicampaign.records import CONTRADICTED, DISTURBED, MISSING, OVERSUBSCRIBED, Case, Record
from mpicampaign.show.answers import answers
from mpicampaign.show.data import long_data
from mpicampaign.show.sentences import note_text
from mpicampaign.verdict.evidence import Evidence

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


def test_a_kernel_that_prints_it() -> None:
    assert oversubscription(Evidence(), {"oversubscribed": "yes"})
    assert not oversubscription(Evidence(), {"oversubscribed": "no"})


def test_a_placement_declared_to_share_cores() -> None:
    placement = Placement("crowd", 1, 4, "shm", binding="none")
    for cores, expected in ((2, "4 ranks on 2 cores of a node"), (4, ""), (None, "")):
        file = plan_file(plan(made_campaign({"crowd": placement}, group={"cores": cores})), "c.yaml")
        assert file.cases[0].oversubscribed == expected
        assert "oversubscribed" not in file.cases[0].declared


def test_a_plan_of_before_has_no_such_fact() -> None:
    import json

    data = json.loads(plan_json(plan_file(plan(made_campaign()), "c.yaml")))
    for case in data["cases"]:
        del case["oversubscribed"]
    assert {case.oversubscribed for case in plan_from(data).cases} == {""}


def runs(placement: str, latency: float, **metadata: str) -> list[Record]:
    found = case_runs(Case("s", "g", placement, "PingPong"), latency, 1e9)
    return [replace(run, metadata={**run.metadata, **metadata}) for run in found]


def test_an_oversubscribed_row_says_so_and_is_ranked_with_none() -> None:
    own, shared = runs("A", 1e-6), [replace(run, metadata=SHARED) for run in runs("SHM", 9e-6)]
    shared[5] = replace(shared[5], status=MISSING, series=(), verdict=None, metadata={})
    (table,) = compare([*own, *runs("B", 2e-6), *shared]).tables
    assert [row.case.placement for row in table.rows] == ["A", "B", "SHM (oversubscribed)"]
    assert [row.counted for row in table.rows] == [6, 6, 5]
    (note,) = table.rows[2].notes[1:]
    assert note_text(note) == "oversubscribed: 4 ranks on 2 CPUs of n1 (repeats 1-5)"
    assert table.rankings
    for ranking in table.rankings:
        assert [each.name for each in ranking.contestants] in (["A", "B"], ["B", "A"])
        assert not ranking.absent


def test_single_oversubscribed_runs_leave_the_row_of_the_others() -> None:
    found = runs("SHM", 1e-6)
    found[2] = replace(found[2], metadata=SHARED)
    found[3] = replace(found[3], metadata=SHARED, verdict=CONTRADICTED)  # shown where its label puts it
    (table,) = compare(found).tables
    assert {row.case.placement: row.planned for row in table.rows} == {"SHM": 5, "SHM (oversubscribed)": 1}


def test_disturbed_runs_that_share_cores_are_named_so() -> None:
    busy = [replace(run, metadata=SHARED, condition=DISTURBED) for run in runs("SHM", 9e-6)]
    (table,) = compare([*runs("A", 1e-6), *busy]).tables
    assert [row.case.placement for row in table.rows] == ["A", "SHM (oversubscribed)"]


def test_data_do_not_call_an_oversubscribed_row_ranked() -> None:
    shared = [replace(run, metadata=SHARED) for run in runs("SHM", 9e-6)]
    data = long_data(compare([*runs("A", 1e-6), *shared]))
    names = list(data.header)
    ranked = {(line[names.index("placement")], line[names.index("ranked")]) for line in data.lines}
    assert ranked == {("A", True), ("SHM (oversubscribed)", False)}


BANDS = (1e-6, 1e-6, 1e-6, 9e-6, 9e-6, 9e-6)  # s; repeats in two modes


def in_two_groups(placement: str, latencies: tuple[float, ...], **metadata: str) -> list[Record]:
    """Repeats with these latencies in each of two host groups."""
    return [
        replace(run, metadata={**run.metadata, **metadata})
        for group in ("g", "h")
        for n, time in enumerate(latencies)
        for run in case_runs(Case("s", group, placement, "PingPong"), time, 1e-3 / time)[n : n + 1]
    ]


@pytest.mark.parametrize(
    ("second", "shared"),
    [((2e-6,) * 6, BANDS), (BANDS, (3e-6,) * 6)],  # named as mixed; one of two that are left to be ranked
)
def test_oversubscribed_placements_take_no_part_in_statements_over_host_groups(
    second: tuple[float, ...], shared: tuple[float, ...]
) -> None:
    found = [*in_two_groups("A", (1e-6,) * 6), *in_two_groups("B", second)]
    (table,) = compare([*found, *in_two_groups("SHM", shared, **SHARED)]).tables
    stated = stated_rankings(table.rows, table.metrics)
    assert stated and not any(one.mixed for one in stated)
    assert all(set(one.order) == {"A", "B"} for one in stated)


def test_a_busy_machine_is_reported_beside_an_oversubscribed_row() -> None:
    reason = "rank 1 waited 40% of its time for a CPU"
    busy = [replace(run, condition=DISTURBED, condition_reason=reason) for run in runs("A", 1e-6)]
    shared = [replace(run, metadata=SHARED) for run in runs("SHM", 9e-6)]
    for answer in answers(compare([*busy, *shared])):
        assert answer.real == "of disturbed runs, not tested" and [one.name for one in answer.candidates] == [
            "A"
        ]
