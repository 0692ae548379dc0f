"""The plan: order, blocks, what is not available, the cap, selections, and what results ask for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import BENCHMARK, MACHINE, campaign, plan, write_trivial
from conftest import ProjectCopy, executable, succeeded

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.records import DISTURBED
from mpicampaign.base.selection import RunSelection
from mpicampaign.campaign.model import Benchmark, Provider
from mpicampaign.jobs.plan import choose_systems, selected_plan
from mpicampaign.jobs.plan_text import no_runs_text, plan_text
from mpicampaign.jobs.prepare import Prepared, prepare, write_scripts
from mpicampaign.jobs.software import find_program
from mpicampaign.run.rounds_due import FILE, known_rounds


def test_systems_are_chosen_by_host_name() -> None:
    made = campaign(login_hosts=("login*.blue",))
    assert choose_systems(made, ["login1.blue"]) == ("here",)
    assert choose_systems(made, ["laptop"]) == ()
    assert choose_systems(made, ["laptop"], "here") == ("here",)
    with pytest.raises(UserError, match="no system 'there'"):
        choose_systems(made, ["laptop"], "there")
    elsewhere = plan(made)
    assert "(laptop) belongs to no system" in no_runs_text(replace(elsewhere, systems=()), "laptop")


def test_further_repeats_that_were_made_are_not_counted_twice() -> None:
    disturbed = replace(MACHINE, condition_of=lambda case, repeat, identity: DISTURBED if repeat < 6 else "")
    made = plan(campaign(), disturbed)
    assert (len(made.runs), made.most(None)[0]) == (12, 18)  # 18: where the machine moves between states
    known = plan(campaign(repeats=UNTIL_KNOWN))
    assert "12 runs here, 12 still to be done; at most 80 until all cases are known" in plan_text(
        known, 12, None
    )
    assert selected_plan(known, RunSelection(repeats=((1, 8),))).most(None)[0] == 16


def test_folders_of_a_suite_below_a_conda_environment(tmp_path: Path) -> None:
    program = tmp_path / "libexec" / "osu-micro-benchmarks" / "mpi" / "pt2pt" / "osu_bw"
    program.parent.mkdir(parents=True)
    executable(program, "#!/bin/sh\n")
    benchmark = Benchmark("osu_bw", "osu", "osu_bw", Provider("conda", str(tmp_path)))
    assert find_program(campaign().systems["here"], benchmark).command == str(program)
    other = replace(benchmark, suite="imb")
    assert "osu_bw is not at" in find_program(campaign().systems["here"], other).not_available


def test_a_program_without_a_wheel_names_the_package() -> None:
    wanted = replace(BENCHMARK, program="IMB-NONE", provider=Provider("wheel"))
    reason = find_program(campaign().systems["here"], wanted).not_available
    assert "environment: pip install 'mpicampaign[mpi]', if impi-rt has a wheel for" in reason


def planned(folder: Path, repeats: int | None = None) -> Prepared:
    return prepare(write_trivial(ProjectCopy(folder), repeats=repeats), results=folder / "results")


def test_a_damaged_plan_is_none(tmp_path: Path) -> None:
    """Of a campaign without the key, which the earlier default finished with five repeats of each case."""
    folder = tmp_path / "project"
    folder.mkdir()
    prepared = planned(folder, repeats=5)
    write_scripts(prepared)
    for script in prepared.pending:
        script.output.parent.mkdir(parents=True, exist_ok=True)
        script.output.touch()
    (folder / "results/trivial/plan.json").write_text("{")
    assert not planned(folder).pending


ROUNDS = {1: ("n1", "n2"), 2: ("n1+n2",)}


def never() -> dict[int, tuple[str, ...]]:
    raise AssertionError("the results are read again")


def test_the_same_results_are_not_read_again(tmp_path: Path) -> None:
    assert known_rounds(tmp_path, "two runs", lambda: ROUNDS) == ROUNDS
    assert known_rounds(tmp_path, "two runs", never) == ROUNDS
    with pytest.raises(AssertionError):
        known_rounds(tmp_path, "three runs", never)


@pytest.mark.parametrize("text", ["", "{", '{"program": "", "rounds": []}', '{"rounds": {"a": 1}}'])
def test_a_damaged_cache_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert known_rounds(tmp_path, "two runs", lambda: ROUNDS) == ROUNDS


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
