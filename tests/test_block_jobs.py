"""Blocks on a scheduler: one job each, never half of one, never on two sets of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import campaign, plan
from test_cluster_jobs import Cluster, leave

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import FAILED
from mpicampaign.base.selection import RunSelection
from mpicampaign.jobs.prepare import Prepared, check_runs, write_scripts
from mpicampaign.run.cluster_jobs import GRACE_SECONDS
from mpicampaign.run.conditions import MachineWithResults
from mpicampaign.schemes.block import LEFT, LEFT_BEHIND, VALUE, Made


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Cluster]:
    def cluster(repeats: int = 1, **group: object) -> Cluster:
        made = campaign(repeats=repeats, scheduler="slurm", group=group, pack=8)
        made = replace(made, matrix=(replace(made.matrix[0], blocks="reference"),))
        prepared = Prepared(made, plan(made), tmp_path / "results")
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
    evidence = next(second.folder.glob("attempts/*-2")) / "evidence.txt"
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
        prepared = Prepared(made, plan(made), tmp_path, RunSelection(placements=("SHM",), repeats=((1, 1),)))
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
        (["job reason=results could not be written", "job exit_status=74"], ""),
        ([], ""),
    ],
)
def test_what_an_attempt_is_in_a_block(make: Callable[..., Cluster], lines: list[str], state: str) -> None:
    first, _ = make().scripts
    machine = MachineWithResults(first.campaign_folder)
    asked = first.kept, 1, first.identity, first.benchmark, 60
    leave(first, 0)
    evidence = next(first.folder.glob("attempts/*")) / "evidence.txt"
    evidence.write_text(
        "\n".join(["#mpicampaign-evidence 2", *lines, *(["end of evidence"] if lines else []), ""])
    )
    why = lines[0].partition("=")[2] if state == FAILED else ""
    assert machine.in_block(*asked) == Made(state, why=why)
    (first.folder / LEFT_BEHIND).write_text("n7 was lost\n")
    assert machine.in_block(*asked) == Made(LEFT, why="n7 was lost")


def test_a_tick_makes_one_block(tmp_path: Path) -> None:
    made = campaign(repeats=3, scheduler="slurm")
    made = replace(made, matrix=(replace(made.matrix[0], blocks="reference"),))
    prepared = Prepared(made, plan(made), tmp_path)
    write_scripts(prepared)
    assert [run.repeat for run in prepared.one_repeat] == [1, 1]
    for run in prepared.one_repeat[:1]:
        leave(run, 0, result=True)
    assert [run.repeat for run in prepared.one_repeat] == [1]  # the rest of it, not half of the next one
