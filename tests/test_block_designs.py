"""Blocks: which cases form a design, in which order they are run, and which blocks count."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from build_campaigns import MACHINE

from mpicampaign.base.errors import UserError
from mpicampaign.base.identity import run_path
from mpicampaign.base.plan_file import plan_from, plan_json
from mpicampaign.base.records import CONTRADICTED, DISTURBED, FAILED, Case
from mpicampaign.campaign.designs import Design
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Benchmark
from mpicampaign.jobs.drafts import PlanMachine
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.jobs.plan_text import blocks_text
from mpicampaign.schemes.block import ENDED, LEFT, VALUE, DesignState, Made

BASE = """
campaign: c
systems: {cluster: {scheduler: slurm, mpi: [intelmpi, openmpi5], pack: 4}}
host_groups:
  milan: {system: cluster, fabrics: {eth: {transport: tcp, interface: eth0}}}
placements:
  Four: {nodes: 4, ranks_per_node: 1, transport: tcp}
  Any: {nodes: 2, ranks_per_node: 1, transport: any}
"""


def plan_of(tmp_path: Path, entry: str, *more: str, machine: PlanMachine = MACHINE, base: str = BASE) -> Plan:
    file = tmp_path / "c.yaml"
    entries = "".join(f"- {{host_groups: milan, {each}}}\n" for each in (entry, *more))
    file.write_text(f"{base}matrix:\n{entries}")
    campaign = load_campaign(file)
    return make_plan(campaign, list(campaign.systems), machine)


def with_runs(made: dict[tuple[str, str, int], Made]) -> PlanMachine:
    """A machine with these runs, by placement, benchmark and repeat."""

    def in_block(case: Case, repeat: int, identity: str, benchmark: Benchmark, limit: int) -> Made:
        return made.get((case.placement, case.benchmark, repeat), Made())

    return replace(MACHINE, in_block=in_block)


TCP = "placements: TCP, benchmarks: [PingPong, Exchange]"


def test_the_key_makes_a_design_of_eight_blocks_and_changes_no_run(tmp_path: Path) -> None:
    before = {run.identity for run in plan_of(tmp_path, f"{TCP}, repeats: 8").runs}
    plan = plan_of(tmp_path, f"{TCP}, blocks: all pairs")
    assert {run.identity for run in plan.runs} == before and len(before) == 32
    [(name, compared)] = {(case.block, case.compared) for case in plan.cases}
    assert (name, compared) == ("milan TCP with intelmpi, TCP with openmpi5, 2 nodes", "all pairs")
    again = plan_from(json.loads(plan_json(plan)))
    assert [(case.block, case.compared) for case in again.cases] == [(name, compared)] * 4


TWO = (
    "placements: [TCP, Any], mpis: intelmpi, benchmarks: [PingPong, Exchange], repeats: 3, blocks: reference"
)
N1, N2 = ("n1", "n2"), ("n1", "n3")
DONE = Made(VALUE, has_result=True, hosts=N1)


def block(repeat: int, **of_part: Made) -> dict[tuple[str, str, int], Made]:
    """A whole block on the nodes n1 and n2; ``of_part``: other runs of PingPong, by placement."""
    whole = {(p, b, repeat): DONE for p in ("TCP", "Any") for b in ("PingPong", "Exchange")}
    return whole | {(placement, "PingPong", repeat): made for placement, made in of_part.items()}


def numbers(plan: Plan, benchmark: str) -> list[int]:
    """The repeats of each candidate of a benchmark."""
    runs = [run for run in plan.runs if run.case.benchmark == benchmark]
    one, other = (sorted(r.repeat for r in runs if r.case.placement == p) for p in ("TCP", "Any"))
    assert one == other  # together, or not at all
    return one


LEFT_RUN = Made(LEFT, why="job 7 ended: NODE_FAIL")


@pytest.mark.parametrize(
    ("made", "repeats", "complete", "said"),
    [
        (block(1), 3, 1, "1 of 3 blocks complete, 2 missing: 8 runs"),
        (block(1, TCP=Made(DISTURBED, has_result=True, hosts=N1)), 4, 0, "0 of 3"),
        (block(1, TCP=Made(CONTRADICTED, has_result=True, hosts=N1)), 4, 0, "a run is contradicted; block 4"),
        (block(1, TCP=Made(FAILED)), 4, 0, "0 of 3 blocks complete, 3 missing: 10 runs"),
        (block(1, TCP=Made(VALUE)), 3, 1, "1 of 3 blocks complete, 2 missing: 8 runs"),
        (block(1, TCP=Made(ENDED)), 3, 0, "0 of 3"),
        (
            block(1, TCP=LEFT_RUN),
            4,
            0,
            "block 1 was left after 3 of 4 runs: job 7 ended: NODE_FAIL; block 4 stands in for it",
        ),
        (block(1, TCP=Made(VALUE, has_result=True, hosts=N2)), 4, 0, "of several sets of nodes"),
        (block(1, TCP=LEFT_RUN) | block(4, Any=LEFT_RUN), 5, 0, "block 5 stands in for it"),
    ],
)
def test_what_stands_in_for_a_block_that_does_not_count(
    tmp_path: Path,
    made: dict[tuple[str, str, int], Made],
    repeats: int,
    complete: int,
    said: str,
) -> None:
    plan = plan_of(tmp_path, TWO, machine=with_runs(made))
    assert numbers(plan, "PingPong") == [*range(1, repeats + 1)]
    assert numbers(plan, "Exchange") == [1, 2, 3]
    assert plan.designs[0].complete == complete
    assert said in "\n".join(blocks_text(plan))
    ended = {key for key, each in made.items() if each.state and not each.has_result and each.state != ENDED}
    assert ended == {(r.case.placement, r.case.benchmark, r.repeat) for r in plan.runs if r.closed}


def test_a_run_that_failed_is_made_again_on_nodes_that_are_always_the_same(tmp_path: Path) -> None:
    listed = BASE.replace("milan: {", "milan: {hosts: [n1, n2], ")
    lost = Made(FAILED, why="n2 does not answer ssh from n1")
    plan = plan_of(tmp_path, TWO, base=listed, machine=with_runs(block(1, TCP=lost)))
    assert numbers(plan, "PingPong") == [1, 2, 3] and not any(run.closed for run in plan.runs)
    said = "\n".join(blocks_text(plan))
    assert "block 1 has 3 of 4 runs: n2 does not answer ssh from n1; the same command makes" in said


@pytest.mark.parametrize(
    ("entry", "warning"),
    [
        (f"{TCP}, blocks: reference", "systems.cluster.pack: without effect on cases in blocks"),
        (f"{TCP}, blocks: reference, repeats: 5", "5 blocks can show no difference between 2 candidates"),
        (f"{TCP}, blocks: reference, repeats: 6", "between 2 candidates unless all blocks agree"),
        (f"{TCP}, mpis: openmpi5, blocks: reference", "only one candidate of PingPong, Exchange in blocks"),
        (
            "placements: [TCP, Four], benchmarks: PingPong, blocks: all pairs",
            "cases of host group 'milan' on 2, 4 nodes are not compared with each other",
        ),
    ],
)
def test_check_warns_of_blocks_that_can_show_nothing(tmp_path: Path, entry: str, warning: str) -> None:
    plan_of(tmp_path, entry)
    said = "\n".join(map(str, load_campaign(tmp_path / "c.yaml").warnings))
    assert warning in said, said
    with pytest.raises(UserError, match="blocks take a number of repeats"):
        base = f"{BASE}node_hours_cap: 100\n"
        plan_of(tmp_path, f"{TCP}, blocks: reference, repeats: until known", base=base)


def test_repeats_for_states_of_the_machine_are_blocks_too(tmp_path: Path) -> None:
    made = block(1, TCP=LEFT_RUN) | block(5, TCP=LEFT_RUN)
    one_more: Callable[..., dict[Case, int]] = lambda cases: {each.case: 2 for each in cases}  # noqa: E731
    plan = plan_of(tmp_path, TWO, machine=replace(with_runs(made), blocks=one_more))
    assert numbers(plan, "PingPong") == [1, 2, 3, 4, 5, 6] and numbers(plan, "Exchange") == [1, 2, 3, 4, 5]
    assert all(run_path(run.kept, run.repeat, run.identity) in run.part for run in plan.runs)
    assert {len(run.part) for run in plan.runs} == {2}
    left = [(run.case.placement, run.case.benchmark, run.repeat) for run in plan.runs if run.closed]
    assert left == [("TCP", "PingPong", 1), ("TCP", "PingPong", 5)]


def test_the_benchmark_that_lacks_most_says_how_far_a_design_is() -> None:
    whole: Any = SimpleNamespace(is_complete=True)
    state = DesignState(
        Design("d", "", 1, {}), 60, blocks=[[whole] * 16, [whole] * 8], planned_blocks=[16, 12]
    )
    assert (state.complete, state.planned, state.missing) == (8, 12, 4)
