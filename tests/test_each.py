"""Every node, or every pair, of a host group: rounds, identities, and the job that makes them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import campaign, plan, script_of
from conftest import completed, executable, succeeded

from mpicampaign.campaign.each import screen
from mpicampaign.campaign.model import Each, Placement
from mpicampaign.jobs.run import Run
from mpicampaign.run.batches import Batch, batches_of
from mpicampaign.schedulers import batch_scheduler

NODE = Placement("NODE", 1, 2, "shm", binding="none")
PAIR = Placement("PAIR", 2, 1, "any", binding="none")


def test_many_nodes_are_paired_at_random() -> None:
    rounds = screen([f"n{number:04}" for number in range(1000)], "pair", seed=1)
    assert len(rounds) == 2 * 10
    assert all(len({host for one in members for host in one.hosts}) == 1000 for members in rounds.values())


def made(scheduler: str, placement: Placement, folder: Path, each: Each, **group: Any) -> list[Run]:
    """The runs of a campaign on the nodes n1 to n4."""
    group = {"hosts": ("n[1-2]", "n3", "n4"), **group}
    whole = campaign({placement.name: placement}, scheduler=scheduler, group=group)
    whole = replace(whole, matrix=(replace(whole.matrix[0], each=each),))
    return [script_of(run, folder) for run in plan(whole).runs]


def batches(runs: list[Run], name: str) -> list[Batch]:
    scheduler = batch_scheduler(name)
    assert scheduler
    return batches_of(runs, scheduler, Counter({"here": 100}))


@pytest.mark.parametrize(
    ("unit", "most", "runs"),
    [
        *(("node", None, [8]), ("node", 2, [4, 4]), ("node", 1, [2] * 4)),
        *(("pair", None, [12]), ("pair", 2, [2] * 6)),
    ],
)
def test_jobs_have_no_more_nodes_than_they_may(
    tmp_path: Path, unit: str, most: int | None, runs: list[int]
) -> None:
    """Two rounds of four nodes, six of two pairs; a member that is alone in a job has an array of its own."""
    placement = PAIR if unit == "pair" else NODE
    due = made("slurm", placement, tmp_path, Each(unit, nodes_per_job=most))
    assert [len(batch.runs) for batch in batches(due, "slurm")] == runs


def script(runs: list[Run], name: str) -> Path:
    [batch] = batches(runs, name)
    runs[0].campaign_folder.mkdir(parents=True, exist_ok=True)
    return batch.write()


BLAUNCH = r"""#!/bin/bash
# Page "blaunch": -u FILE COMMAND, with a host on each line of the file, inside of a job only.
[ -n "$LSB_JOBID" ] && [ "$1" = -u ] && [ "$#" -gt 2 ] || { echo "usage: blaunch -u" >&2; exit 1; }
hosts=$(tr '\n' ' ' <"$2")
shift 2
echo "$hosts" >>"$STANDIN/launches"
for host in $hosts; do
    case $host in n[1-4]) ;; *) echo "$host: not in the job" >&2; exit 255 ;; esac
    STANDIN_HOST=$host "$@" &
done
wait
"""
OTHERS = {
    "uname": '[ "$1" = -n ] && echo "${STANDIN_HOST:-n1}"',
    "bhosts": r"printf 'HOST_NAME STATUS JL/U MAX\nn1 ok - 4\nn2.a closed_Full - 4\nn3 ok - 4\nn4 %s - 4\n' "
    '"$(cat "$STANDIN/n4")"',
}
# A run whose launcher starts something on the second node, as ssh would.
JOB = r"""#!/bin/bash
cd "${0%/*}" || exit
export there=$PWD/there
"$MPICAMPAIGN_AGENT" -x -q n4 'echo "$LSB_MCPU_HOSTS on $SLURMD_NODENAME, $GIVEN" >"$there"; exit 3'
echo "$?" >result.txt
"""


def test_lsf_starts_a_step_by_one_blaunch(tmp_path: Path) -> None:
    """A node that the scheduler loses takes no part; a pair's launcher gets to its second node, and back."""
    runs = made("lsf", PAIR, tmp_path / "my results", Each("pair"))
    job = script(runs, "lsf")
    commands = {"blaunch": BLAUNCH} | {name: f"#!/bin/bash\n{text}\n" for name, text in OTHERS.items()}
    for name, text in commands.items():
        executable(tmp_path / name, text)
    for run in runs:
        run.folder.mkdir(parents=True)
        run.path.write_text(JOB.replace("n4", run.job.hosts[1]))
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "STANDIN": str(tmp_path)}
    environment |= {"LSB_JOBID": "1", "LSB_MCPU_HOSTS": "n1 1 n2 1 n3 1 n4 1", "GIVEN": "as it was"}
    for state, count in (("unreach", 6), ("ok", 12)):
        (tmp_path / "n4").write_text(state)
        subprocess.run(["bash", str(job)], env=environment, check=True, timeout=100)
        assert len([run for run in runs if run.has_result]) == count
    assert {run.result.read_text() for run in runs} == {"3\n"}
    for run in runs:
        first, second = run.job.hosts
        assert (run.folder / "there").read_text() == f"{first} 1 {second} 1 on {second}, as it was\n"
    launches = (tmp_path / "launches").read_text().splitlines()
    assert (
        sorted(map(len, map(str.split, launches))) == [2] * 12
    )  # one pair at a time while n4 is lost, then its own
    assert not list(tmp_path.glob("my results/batches/*.mail"))
    [states] = tmp_path.glob("my results/batches/*.nodes")
    assert states.read_text() == "n1|ok|\nn2|closed_Full|\nn3|ok|\nn4|ok|\n"


STATES = {
    "lsf": "HOST_NAME STATUS JL/U MAX NJOBS RUN\na ok - 4 0 0\nb ok - 4 1 1\nc closed_Full - 4 4 4\nsorry\n",
    "slurm": "a|idle|none\nb|mixed|none\nc|allocated|none\na|completing|none\n",
}


@pytest.mark.parametrize("name", STATES)
def test_nodes_with_jobs_of_others_are_told_from_free_ones(name: str) -> None:
    scheduler = batch_scheduler(name)
    assert scheduler
    states = scheduler.read_states(STATES[name])
    assert "".join(node for node, state in states.items() if scheduler.in_use(state)) == "bc"
    assert all(state.usable for state in states.values())


@pytest.mark.parametrize("name", ["slurm", "lsf"])
def test_shellcheck_takes_the_script(name: str, tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    path = script(made(name, NODE, tmp_path, Each("node")), name)
    assert succeeded(completed(["shellcheck", "--shell=bash", str(path)]))
