"""Blocks: which cases form a design, in which order they are run, and which blocks count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import MACHINE

from mpicampaign.campaign.file import load_campaign
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.plan_file import plan_from, plan_json

BASE = """
campaign: c
systems: {cluster: {scheduler: slurm, mpi: [intelmpi, openmpi5], pack: 4}}
host_groups:
  milan: {system: cluster, fabrics: {eth: {transport: tcp, interface: eth0}}}
placements: {Four: {nodes: 4, ranks_per_node: 1, transport: tcp}}
"""


def plan_of(tmp_path: Path, entry: str, *more: str) -> Plan:
    file = tmp_path / "c.yaml"
    entries = "".join(f"- {{host_groups: milan, {each}}}\n" for each in (entry, *more))
    file.write_text(f"{BASE}matrix:\n{entries}")
    campaign = load_campaign(file)
    return make_plan(campaign, list(campaign.systems), MACHINE)


TCP = "placements: TCP, benchmarks: [PingPong, Exchange]"


def test_the_key_makes_a_design_of_eight_blocks_and_changes_no_run(tmp_path: Path) -> None:
    before = {run.identity for run in plan_of(tmp_path, f"{TCP}, repeats: 8").runs}
    plan = plan_of(tmp_path, f"{TCP}, blocks: all pairs")
    assert {run.identity for run in plan.runs} == before and len(before) == 32
    [(name, compared)] = {(case.block, case.compared) for case in plan.cases}
    assert (name, compared) == ("milan TCP with intelmpi, TCP with openmpi5, 2 nodes", "all pairs")
    again = plan_from(json.loads(plan_json(plan)))
    assert [(case.block, case.compared) for case in again.cases] == [(name, compared)] * 4


@pytest.mark.parametrize(
    ("entry", "designs"),
    [
        ("placements: [SHM-1, TCP, Four], mpis: openmpi5", ["SHM-1", "TCP", "Four"]),
        ("placements: [TCP, Four], mpis: [openmpi5, intelmpi]", ["TCP", "Four", "TCP", "Four"]),
    ],
)
def test_cases_with_another_number_of_nodes_form_a_design_of_their_own(
    tmp_path: Path, entry: str, designs: list[str]
) -> None:
    plan = plan_of(
        tmp_path,
        f"{entry}, benchmarks: PingPong, blocks: reference",
        "placements: TCP, benchmarks: Exchange, mpis: openmpi5, blocks: reference",
    )
    *cases, last = plan.cases
    assert [case.case.placement for case in cases] == designs
    assert cases[0].case.library == "openmpi5"  # the first one that is named is the reference
    assert len({case.block for case in cases}) == len({*designs})
    assert last.block not in {case.block for case in cases}
