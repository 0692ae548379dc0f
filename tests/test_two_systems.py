"""Several systems on one machine in one campaign: they run in turn, each with its own MPI."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml
from conftest import ProjectCopy, succeeded
from trivial_campaign import write_trivial

from mpicampaign.records import OK, VERIFIED, read_records

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


@pytest.mark.mpi
@pytest.mark.usefixtures("imb")
@pytest.mark.full
def test_intel_mpi_beside_mpich(project: ProjectCopy, test_mpi: Callable[[str], str]) -> None:
    """The kernels are built with each library, and each run is verified to have used its own."""
    campaign = {
        "campaign": "both",
        "repeats": 1,
        "busy_machine": "rank",
        "time_limit": "1 min",
        "systems": {
            "intel": {"scheduler": "none", "mpi": "wheel"},
            "mpich": {"scheduler": "none", "mpi": "mpich-ofi", "prefix": test_mpi("mpich")},
        },
        "host_groups": {"with-intel": {"system": "intel"}, "with-mpich": {"system": "mpich"}},
        "placements": {"SHM": {"ranks_per_node": 2}},
        "benchmarks": {"tree_gather": {"arguments": "--min-size 256KiB --max-size 512KiB --budget 1"}},
        "matrix": [
            {
                "host_groups": ["with-intel", "with-mpich"],
                "placements": "SHM",
                "benchmarks": "tree_gather",
            }
        ],
    }
    (project.folder / "both.yaml").write_text(yaml.safe_dump(campaign))
    assert succeeded(project.call("run", "--campaign", "both.yaml"))
    _, records = read_records(project.folder / "results/both/records.jsonl")
    assert [(record.status, record.verdict) for record in records] == [(OK, VERIFIED)] * 2
    libraries = {record.case.system: record.metadata["MPI library checksum"] for record in records}
    assert libraries["intel"] != libraries["mpich"]
