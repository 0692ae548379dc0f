"""Several systems on one machine in one campaign: they run in turn, each with its own MPI."""

from __future__ import annotations

import pytest
from conftest import ProjectCopy, succeeded
from trivial_campaign import write_trivial

pytestmark = pytest.mark.slow


def test_both_systems_run_and_are_finished_together(project: ProjectCopy) -> None:
    systems = {name: {"scheduler": "none", "mpi": "none"} for name in ("first", "second")}
    groups = {f"on-{name}": {"system": name} for name in systems}
    matrix = [{"host_groups": list(groups), "placements": "one", "benchmarks": "trivial"}]
    write_trivial(project, systems=systems, host_groups=groups, matrix=matrix)
    done = project.call("run", "--campaign", "trivial.yaml")
    assert succeeded(done)
    assert len(project.results("trivial")) == 4
    assert "nothing to do, all 4 runs are there" in project.call("run", "--campaign", "trivial.yaml").stdout
    one = project.call("plan", "--campaign", "trivial.yaml", "--system", "first").stdout
    assert "2 runs here, 0 still to be done" in one


@pytest.mark.parametrize("command", [["run"], ["snakemake"]])
def test_a_campaign_of_which_nothing_can_run_never_succeeds(project: ProjectCopy, command: list[str]) -> None:
    elsewhere = {"here": {"scheduler": "none", "mpi": "none", "login_hosts": ["elsewhere"]}}
    absent = {"suite": "osu", "program": "osu_bw", "provider": {"kind": "path", "location": "/no/such"}}
    for name, change in (("a", {"systems": elsewhere}), ("b", {"benchmarks": {"trivial": absent}})):
        write_trivial(project, name, **change)
        if command == ["run"]:
            done = project.call("run", "--campaign", f"{name}.yaml")
        else:
            done = project.snakemake("--profile", "cluster", "--config", f"campaign={name}.yaml")
        assert done.returncode not in (0, 130)
        assert ("belongs to no system" if name == "a" else "is not at /no/such") in done.stderr
        assert "Traceback" not in done.stderr
