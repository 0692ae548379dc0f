"""Selections of runs: what they take, and calls about some of a campaign's runs."""

from __future__ import annotations

import json

import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy, succeeded

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import Case
from mpicampaign.base.selection import RunSelection, selection_of

RUNS = [
    (Case(system, "local", placement, benchmark), repeat)
    for system in ("here", "there")
    for placement in ("SHM", "TCP")
    for benchmark in ("PingPong", "Gather")
    for repeat in (1, 2, 3)
]


def test_every_unknown_name_is_reported_with_the_nearest() -> None:
    wrong = RunSelection(("TPC",), ("PinPong",), ("lokal",), ((2, 4), (0, 0)))
    with pytest.raises(UserError) as raised:
        wrong.check(RUNS)
    keys = [problem.key for problem in raised.value.problems]
    assert keys == ["--placement", "--benchmark", "--host-group", "--repeat", "--repeat"]
    assert "did you mean 'PingPong'?" in str(raised.value)
    with pytest.raises(UserError, match="no run of the campaign has all of these: placement TCP; repeat 3"):
        RunSelection(placements=("TCP",), repeats=((3, 3),)).check([*RUNS[:3], (RUNS[6][0], 1)])


def test_snakemakes_configuration_takes_lists_and_texts() -> None:
    found = selection_of({"placement": "TCP,SHM", "repeat": 5, "host_group": ["a"], "campaign": "x.yaml"})
    assert found == RunSelection(("TCP", "SHM"), (), ("a",), ((5, 5),))
    assert selection_of(found.texts) == found


@pytest.mark.slow
def test_a_selection_of_which_no_run_can_be_made_is_refused(project: ProjectCopy) -> None:
    """Nothing to do is not the same as nothing possible."""
    systems = {name: {"scheduler": "none", "mpi": "none"} for name in ("here", "there")}
    systems["there"]["login_hosts"] = "elsewhere"
    groups = {"local": {"system": "here"}, "far": {"system": "there"}}
    matrix = [{"host_groups": ["local", "far"], "placements": "one", "benchmarks": "trivial"}]
    file = write_trivial(project, systems=systems, host_groups=groups, matrix=matrix).name
    done = project.call("run", file, "--host-group", "far")
    assert done.returncode == 2 and "no run can be made here: all of them are of there" in done.stderr
    assert project.results("trivial") == []


@pytest.mark.slow
def test_status_and_report_of_a_selection(project: ProjectCopy) -> None:
    """A failed run has its path and reason, and the exit status says that there is one."""
    file = write_trivial(project).name
    done = project.call("run", file, "--placement", "one")
    assert succeeded(done) and done.stdout.count("report.html, tables and figures") == 1
    assert done.stdout.count("trivial\nNothing to compare") == 1, "the closing screen, once"
    failed = project.call(
        "run", file, "--placement", "two", "--repeat", "1", variables={"TRIVIAL_FAILS": "1"}
    )
    assert failed.returncode == 1
    status = project.ask("status", file)
    assert status.returncode == 1
    assert status.stdout.splitlines()[0] == "2 finished, 1 failed, 1 not run"
    assert "  local two trivial r01: failed: the benchmark ended with exit status 7" in status.stdout
    assert str(project.folder / "results/trivial/runs/local/two/trivial/r01-") in status.stdout
    assert "  local two trivial repeat 2: not run" in status.stdout
    data = json.loads(project.ask("status", file, "--json").stdout)
    assert (data["status"], data["counts"]) == (1, {"finished": 2, "failed": 1, "not run": 1})
    chosen = project.ask("status", file, "--placement", "one")
    assert chosen.returncode == 0
    assert chosen.stdout.splitlines() == ["only placement one: 2 of 4 runs", "2 finished"]
    whole = project.folder / "results/trivial/report.html"
    assert succeeded(project.ask("report", file))
    before = whole.read_bytes()
    said = project.ask("report", file, "--placement", "one").stdout
    assert "only placement one; the report of all runs is not changed" in said and "2 runs: 2 ok" in said
    assert whole.read_bytes() == before
    own = (whole.parent / "selected/report.html").read_text()
    assert "a selection of its runs" in own and "Only placement one." in own
    assert project.ask("report", file, "--placement", "one").stdout == said  # nothing is made again
    table = project.ask("tables", file, "--placement", "one", "--repeat", "2", "--format", "json")
    assert {row["n"] for row in json.loads(table.stdout)["rows"]} == {1}
    assert project.ask("tables", file, "--repeat", "3").returncode == 2


@pytest.mark.slow
def test_status_names_a_placement_that_is_not_available_once(project: ProjectCopy) -> None:
    wide = {"nodes": 1, "ranks_per_node": 100, "transport": "any"}
    file = write_trivial(project, placements={"wide": wide}).name
    project.succeed("run", file)
    counts, line = project.ask("status", file).stdout.splitlines()
    assert counts == "2 not available"
    assert line.startswith("  local wide: not available, 2 runs: needs 100 cores; ")
