"""Candidates in blocks: designs, their order, one job each on a scheduler, exact values, simulations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from build_campaigns import MACHINE, AnyMachine, campaign, prepared_in
from build_records import write_result
from test_cluster_jobs import Cluster, leave

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import fewest_blocks
from mpicampaign.base.records import CONTRADICTED, DISTURBED, FAILED, Case
from mpicampaign.base.selection import RunSelection
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Benchmark
from mpicampaign.jobs.drafts import PlanMachine
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.jobs.plan_text import blocks_text
from mpicampaign.jobs.prepare import check_runs, write_scripts
from mpicampaign.run.cluster_jobs import GRACE_SECONDS
from mpicampaign.run.conditions import MachineWithResults
from mpicampaign.schemes.block import ENDED, LEFT, LEFT_BEHIND, VALUE, Made
from mpicampaign.verdicts.blocks import compare_blocks, ratio
from mpicampaign.verdicts.rank_tests import signed_ranks

Array = npt.NDArray[np.float64]
LEVEL = 0.05 + 1e-9


def machine(source: np.random.Generator, blocks: int, k: int) -> Array:
    """Logarithms: blocks that differ by 3 %, runs by 1 %."""
    nodes = 0.03 * source.standard_normal((blocks, 1))
    return np.asarray(nodes + 0.01 * source.standard_normal((blocks, k)))


def of_pairs(costs: Array, with_reference: bool = True) -> dict[tuple[int, int], float]:
    """The probability of each pair; 1 where it is not tested."""
    pairs = compare_blocks(costs, with_reference=with_reference).pairs
    return {both: 1.0 if pair.p is None else pair.p for both, pair in pairs.items()}


def test_blocks_that_can_show_something() -> None:
    assert [fewest_blocks(k, all_pairs=False) for k in (2, 4, 8, 16, 17)] == [6, 6, 6, 6, 10]
    assert [fewest_blocks(k, all_pairs=True) for k in (2, 3, 4, 6, 7, 8, 9)] == [6, 6, 7, 7, 8, 8, 8]
    slower = np.array([[0.0, 0.1, 0.2]] * 6) + np.arange(6)[:, None]
    assert max(of_pairs(slower).values()) <= LEVEL < min(of_pairs(slower[:5]).values())
    fourth = np.column_stack([slower, slower[:, :1] + 0.3])
    assert min(of_pairs(fourth, with_reference=False).values()) > LEVEL
    many = np.array([0.1 * np.arange(10)] * 8) + np.arange(8)[:, None]
    assert max(of_pairs(many, with_reference=False).values()) <= LEVEL


def test_a_time_out_is_the_worst_rank() -> None:
    costs = np.array([[0.0, 0.01, 0.0]] * 6) + 0.001 * np.arange(6)[:, None]
    costs[2, 1] = math.inf
    assert of_pairs(costs)[0, 1] <= LEVEL
    found = ratio(costs[:, :2])
    assert found.median == pytest.approx(math.exp(0.01))
    assert found.interval is not None and found.interval.high == math.inf
    costs[3] = math.inf  # alike
    assert of_pairs(costs[:, :2])[0, 1] == 2 / 2**5


@pytest.mark.parametrize("blocks", [6, 9, 24])
def test_the_interval_of_a_ratio_agrees_with_its_test(blocks: int) -> None:
    costs = machine(np.random.default_rng(1), blocks, 2)
    interval = ratio(costs).interval
    assert interval is not None and ratio(costs[:5]).interval is None
    for end in (interval.low, interval.high):
        for factor in (end * 0.9999, end * 1.0001):
            shifted = costs[:, 1] - costs[:, 0] - math.log(factor)
            inside = interval.low < factor < interval.high
            assert (signed_ranks(shifted.tolist()) > 1 - interval.coverage + 1e-9) == inside


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

    return AnyMachine(in_block=in_block)


TCP = "placements: TCP, benchmarks: [PingPong, Exchange]"


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
    tmp_path: Path, made: dict[tuple[str, str, int], Made], repeats: int, complete: int, said: str
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
        (f"{TCP}, blocks: reference", "systems.cluster.pack: no effect on cases in blocks"),
        (f"{TCP}, blocks: reference, repeats: 5", "5 blocks can show no difference between 2 candidates"),
        (f"{TCP}, blocks: reference, repeats: 6", "between 2 candidates unless all blocks agree"),
        (f"{TCP}, mpis: openmpi5, blocks: reference", "only one candidate of PingPong, Exchange in blocks"),
        (
            "placements: [TCP, Four], benchmarks: PingPong, blocks: all pairs",
            "cases of host group 'milan' on 2, 4 nodes are not compared together",
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


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Cluster]:
    def cluster(repeats: int = 1, **group: object) -> Cluster:
        made = campaign(repeats=repeats, scheduler="slurm", group=group, pack=8)
        made = replace(made, matrix=(replace(made.matrix[0], blocks="reference"),))
        prepared = prepared_in(tmp_path / "results", made)
        write_scripts(prepared)
        return Cluster(prepared.runs, prepared.folder / "submitting.lock")

    return cluster


@pytest.mark.parametrize("state", ["NODE_FAIL", "FAILED", "TIMEOUT", "PREEMPTED"])
def test_a_block_that_is_lost_is_left_once_it_has_begun(make: Callable[..., Cluster], state: str) -> None:
    cluster = make()
    first, second = cluster.scripts
    cluster.step()
    cluster.becomes(state)
    cluster.step()
    cluster.step(2 * GRACE_SECONDS)
    cluster.step()
    assert [len(task) for tasks in cluster.submitted for task in tasks] == [2, 2]  # nothing was there of it
    leave(first, 0, result=True, number="2")
    leave(second, 143, number="2")
    evidence = next(second.folder.glob("attempt-*-2.txt"))
    evidence.write_text(
        evidence.read_text().replace("job exit", "job reason=interrupted by signal 15\njob exit")
    )
    cluster.becomes(state, "2")
    ended = [end for _ in range(4) for end in cluster.step(2 * GRACE_SECONDS)]
    assert [end.run for end in ended] == [first, second]
    assert ended[1].problem == f"its block was left: job 2 {state}"
    assert (second.folder / LEFT_BEHIND).read_text() == f"job 2 {state}\n"
    assert cluster.calls == 2 and not cluster.jobs.names


def test_a_selection_of_some_candidates_is_refused(tmp_path: Path) -> None:
    for hosts in ((), ("n7",)):
        made = campaign(scheduler="slurm", group={"hosts": hosts})
        made = replace(made, matrix=(replace(made.matrix[0], blocks="reference"),))
        selection = RunSelection(placements=("SHM",), repeats=((1, 1),))
        prepared = replace(prepared_in(tmp_path, made), selection=selection)
        if hosts:
            check_runs(prepared)  # where the nodes are always the same, a block is a stretch of time
        else:
            with pytest.raises(UserError, match="without the others: blue SHM-1, SHM, 1 node"):
                check_runs(prepared)


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        (["job reason=stopped at the time limit of 60 s", "job exit_status=124"], VALUE),
        (["job reason=stopped at the time limit of 30 s", "job exit_status=124"], FAILED),  # it was raised
        (["job reason=the benchmark ended with exit status 7", "job exit_status=7"], FAILED),
        (["job reason=interrupted by signal 15", "job exit_status=143"], ""),
        (["job reason=could not write to /tmp on n1: is the disk full", "job exit_status=74"], ""),
        ([], ""),
    ],
)
def test_what_an_attempt_is_in_a_block(make: Callable[..., Cluster], lines: list[str], state: str) -> None:
    first, _ = make().scripts
    machine = MachineWithResults(first.campaign_folder)
    asked = first.kept, 1, first.identity, first.benchmark, 60
    leave(first, 0)
    attempt = next(first.folder.glob("attempt-*"))
    write_result(attempt, *lines, output="") if lines else attempt.write_text("")
    why = lines[0].partition("=")[2] if state == FAILED else ""
    assert machine.in_block(*asked) == Made(state, why=why)
    (first.folder / LEFT_BEHIND).write_text("n7 was lost\n")
    assert machine.in_block(*asked) == Made(LEFT, why="n7 was lost")
