"""New runs of cases beside those that they are compared with: `run --again`, and what a plan says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from build_campaigns import UNBOUND, write_trivial
from conftest import ProjectCopy, wait_until
from test_loop import write_result

from mpicampaign.base.errors import UserError
from mpicampaign.cli.json_output import blocks_data
from mpicampaign.jobs.prepare import Prepared
from mpicampaign.jobs.run import Run
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.new_runs import FILE, alone_lines, note_request, read_requests, request_of

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
    assert due(again(project, "ONE", "two")) == asked[3:], "the same command goes on with what it asked for"
    assert len(read_requests(later.folder)) == 1
    for run in later.pending:
        write_result(run)
    assert sorted(due(again(project, "one", "two"))) == [(p, n) for p in ("one", "two") for n in range(9, 13)]
    assert not any(run.further for run in prepared_of(project).runs)


def test_what_is_due_after_an_edit_is_made_in_rows_with_new_runs_of_the_other(project: ProjectCopy) -> None:
    finished(project)
    assert {placement for placement, _ in due(prepared_of(project, placements=EDITED))} == {"two"}
    asked = due(again(project, "one", "two", placements=EDITED))
    assert are_rows(asked)
    assert sorted(asked) == [*(("one", n) for n in (5, 6, 7, 8)), *(("two", n) for n in (1, 2, 3, 4))]
    for run in prepared_of(project, placements=EDITED).pending[:4]:
        write_result(run)
    edited_again = {**EDITED, "two": {**UNBOUND, "environment": {"FOO": "4"}}}
    both = due(prepared_of(project, placements=edited_again))
    assert sorted(both)[0][0] == "one" and len(both) == 6
    assert are_rows(due(again(project, "one", "two", placements=edited_again)))


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


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("one", "twoo"), "--again: unknown name twoo (found one,twoo)\n    did you mean 'two'?"),
        (
            ("one",),
            "fewer than two that have runs here are compared (found one)\n    such as --again one,two",
        ),
        (("one", "local"), "some are placements, others host groups"),
        (("local",), "fewer than two that have runs here"),
    ],
)
def test_names_that_cannot_be_compared_are_refused(
    project: ProjectCopy, names: tuple[str, ...], said: str
) -> None:
    prepared = prepared_of(project)
    with pytest.raises(UserError) as refused:
        request_of(prepared, names)
    assert said in str(refused.value)
    assert not (prepared.folder / FILE).exists()


def test_part_of_the_candidates_of_blocks_and_more_than_the_cap_are_refused(project: ProjectCopy) -> None:
    three = dict.fromkeys(("one", "two", "three"), UNBOUND)
    with pytest.raises(UserError, match=r"one trivial is measured in blocks with here/local three"):
        request_of(prepared_of(project, placements=three, **BLOCKS), ["one", "two"])
    cap = 2 * 4 * 60 / 3600
    finished(project, node_hours_cap=cap)
    done = project.ask("run", "trivial.yaml", "--again", "one,two")
    assert done.returncode == 2 and "may take 0.27 node-hours" in done.stderr, done.stderr
    assert not (project.folder / "results/trivial" / FILE).exists()


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
    [line] = (project.folder / "results/trivial" / FILE).read_text().splitlines()
    assert [len(case["runs"]) for case in json.loads(line)["cases"]] == [4, 4]
    assert "nothing to do, all 12 runs" in project.call("run", "trivial.yaml").stdout
