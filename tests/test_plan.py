"""The plan: order, what is not available, the cap, selections, new runs, and what results ask for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import golden_messages
import pytest
from build_campaigns import BENCHMARK, UNBOUND, AnyMachine, campaign, plan, write_trivial
from conftest import ProjectCopy, executable, succeeded, wait_until
from test_loop import write_result

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.records import DISTURBED
from mpicampaign.base.selection import RunSelection
from mpicampaign.campaign.model import Benchmark, Provider
from mpicampaign.cli.json_output import blocks_data
from mpicampaign.jobs.plan import choose_systems, selected_plan
from mpicampaign.jobs.plan_text import no_runs_text, plan_text
from mpicampaign.jobs.prepare import Prepared, prepare, write_scripts
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import find_program
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.new_runs import FILE as NEW_RUNS
from mpicampaign.run.new_runs import alone_lines, note_request, read_requests, request_of
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
    disturbed = AnyMachine(condition_of=lambda case, repeat, identity: DISTURBED if repeat < 6 else "")
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


def test_a_damaged_plan_is_none(tmp_path: Path) -> None:
    """Whatever plan.json holds, the results are those of the campaign file."""
    folder = tmp_path / "project"
    folder.mkdir()
    file = write_trivial(ProjectCopy(folder))
    prepared = prepare(file, results=folder / "results")
    write_scripts(prepared)
    for script in prepared.pending:
        script.result.touch()
    (folder / "results/trivial/plan.json").write_text("{")
    assert not prepare(file, results=folder / "results").pending


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
    assert done.returncode == 2 and "no run can be made here: all of them belong to there" in done.stderr
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
    assert "no run gave a value that counts" in project.call("run", file).stderr
    counts, line = project.ask("status", file).stdout.splitlines()
    assert counts == "2 not available"
    assert line.startswith("  local wide: not available, 2 runs: needs 100 cores; ")


EDITED = {"one": UNBOUND, "two": {**UNBOUND, "environment": {"FOO": "3"}}}
BLOCKS = {"entry": {"blocks": "all pairs"}}


def prepared_of(project: ProjectCopy, **changes: object) -> Prepared:
    file = write_trivial(project, **{"repeats": 4, **changes})
    return prepare_with_results(file, results=project.folder / "results")


def again(project: ProjectCopy, *names: str, **changes: object) -> Prepared:
    """As `run --again` does before the first run."""
    before = prepared_of(project, **changes)
    selection, request = request_of(before, names)
    if request:
        note_request(before.folder, request)
    return prepare_with_results(Path(before.campaign.file), results=before.results, selection=selection)


def finished(project: ProjectCopy, **changes: object) -> list[Run]:
    runs = prepared_of(project, **changes).pending
    for run in runs:
        write_result(run)
    return list(runs)


def due(prepared: Prepared) -> list[tuple[str, int]]:
    return [(run.case.placement, run.repeat) for run in prepared.pending]


def are_rows(runs: list[tuple[str, int]]) -> bool:
    """Whether each two neighbours are a run of each placement."""
    return all({one for one, _ in runs[n : n + 2]} == {"one", "two"} for n in range(0, len(runs), 2))


def test_new_runs_of_both_are_numbered_on_and_due_in_rows_until_they_are_made(project: ProjectCopy) -> None:
    first = finished(project)
    asked = due(again(project, "one", "two"))
    assert are_rows(asked) and sorted(asked) == [(p, n) for p in ("one", "two") for n in (5, 6, 7, 8)]
    assert [p for p, _ in asked[::2]].count("one") == 2, "even: of four rows two are mirrors"
    later = prepared_of(project)
    assert due(later) == asked and {run.identity for run in first} < {run.identity for run in later.runs}
    for run in later.pending[:3]:
        write_result(run)
    assert due(prepared_of(project)) == asked[3:]
    assert due(again(project, "one", "two")) == asked[3:], "the same command goes on with what it asked for"
    assert len(read_requests(later.folder)) == 1
    for run in later.pending:
        write_result(run)
    assert sorted(due(again(project, "one", "two"))) == [(p, n) for p in ("one", "two") for n in range(9, 13)]
    assert not any(run.further for run in prepared_of(project).runs)


def test_blocks_that_were_begun_with_another_candidate_are_made_anew(project: ProjectCopy) -> None:
    finished(project, **BLOCKS)
    asked = due(again(project, "one", "two", placements=EDITED, **BLOCKS))
    assert are_rows(asked)
    assert sorted(asked) == [(p, n) for p in ("one", "two") for n in range(9, 17)]
    for run in prepared_of(project, placements=EDITED, **BLOCKS).pending:
        write_result(run)
    after = prepared_of(project, placements=EDITED, **BLOCKS)
    assert not after.pending and after.plan.designs[0].missing == 0
    [block] = blocks_data(after)
    assert (block["complete"], block["runs"]) == (8, 0)
    more = due(again(project, "one", "two", placements=EDITED, **BLOCKS))
    assert are_rows(more) and sorted(more) == [(p, n) for p in ("one", "two") for n in range(17, 25)]


def test_a_plan_says_what_is_due_alone_and_the_command_that_makes_new_runs_of_all(
    project: ProjectCopy,
) -> None:
    assert not alone_lines(prepared_of(project)), "all are due"
    finished(project, placements={"one": UNBOUND, "two": UNBOUND})
    assert not alone_lines(prepared_of(project))
    said = (
        "two alone is due: to compare it with one, one needs new runs, too (4, 0.0011 node-hours): "
        "--again one,two"
    )
    assert alone_lines(prepared_of(project, placements=EDITED)) == [said]
    for command in (("plan",), ("run", "--dry-run")):
        done = project.ask(*command, "trivial.yaml")
        assert done.stdout.count(said) == 1, done.stdout + done.stderr
    three = {**EDITED, "three": UNBOUND}
    [line] = alone_lines(prepared_of(project, placements=three))
    assert line.startswith("two and three alone are due: to compare them with one, one needs"), line
    again(project, "one", "two", "three", placements=three)
    assert not alone_lines(prepared_of(project, placements=three))


def test_names_that_cannot_be_compared_are_refused(project: ProjectCopy) -> None:
    prepared = prepared_of(project)

    def said(*names: str) -> str:
        return golden_messages.refusal(project.folder, lambda: request_of(prepared, names))

    golden_messages.check("mistakes/again", said)
    assert not (prepared.folder / NEW_RUNS).exists()


def test_part_of_the_candidates_of_blocks_and_more_than_the_cap_are_refused(project: ProjectCopy) -> None:
    three = dict.fromkeys(("one", "two", "three"), UNBOUND)
    with pytest.raises(UserError, match=r"one trivial is measured in blocks with here/local three"):
        request_of(prepared_of(project, placements=three, **BLOCKS), ["one", "two"])
    cap = 2 * 4 * 60 / 3600
    finished(project, node_hours_cap=cap)
    done = project.ask("run", "trivial.yaml", "--again", "one,two")
    assert done.returncode == 2 and "may take 0.27 node-hours" in done.stderr, done.stderr
    assert not (project.folder / "results/trivial" / NEW_RUNS).exists()


def test_a_killed_call_is_gone_on_with_and_the_report_counts_the_new_repeats(project: ProjectCopy) -> None:
    write_trivial(project, body="sleep 0.3")
    project.succeed("run", "trivial.yaml")
    call = project.start("run", "trivial.yaml", "--again", "one,two")
    wait_until(lambda: len(project.results("trivial")) >= 7)
    call.kill()
    call.wait()
    refused = project.call("run", "trivial.yaml", "--again", "one,two", "--repeat", "1")
    assert refused.returncode == 2 and "takes no --only, --repeat or --placement" in refused.stderr
    project.succeed("run", "trivial.yaml")
    records = project.records("trivial")
    made = sorted(records, key=lambda record: (record.started, record.order))
    assert sorted((r.case.placement, r.repeat) for r in made) == [
        (placement, number) for placement in ("one", "two") for number in range(1, 7)
    ]
    assert all(record.status == "ok" for record in records)
    [line] = (project.folder / "results/trivial" / NEW_RUNS).read_text().splitlines()
    assert [len(case["runs"]) for case in json.loads(line)["cases"]] == [4, 4]
    assert "nothing to do, all 12 runs" in project.call("run", "trivial.yaml").stdout
