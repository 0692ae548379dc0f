"""What reads a run is not the run: patterns that change, and names from before 0.2, which held them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import build_records as make
import pytest

from mpicampaign.base.identity import identity, of_run
from mpicampaign.base.places import shipped
from mpicampaign.base.plan_file import read_plan
from mpicampaign.base.records import FAILED, OK, Header, Record
from mpicampaign.cli import main
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.undescribed import OLDER, undescribed
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import ENDED_WELL, REFUSED
from mpicampaign.history.curves import curves_of
from mpicampaign.history.metrics import add, connect
from mpicampaign.history.rows import rows_of
from mpicampaign.history.series import OpenSeries
from mpicampaign.jobs.prepare import Prepared, host_names, write_plan, write_scripts
from mpicampaign.report.summary import notices
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.queue_status import FINISHED, run_states
from mpicampaign.run.set_aside import set_aside_faulty

BEFORE = Path(__file__).parent / "fixtures/own_before_0_2"  # written by the release before 0.2
OUTPUT = "exchange of 8 B: 0.5 us\nexchange of 16 B: 0.6 us\n5112.4 steps per second\nWARNING: hot\ndone\n"
FIRST = {"r01-8afd131b0b0b", "r02-8b9bb289ba4b"}
SECOND = {"r01-4d3599b7979f", "r02-685e8ceb0c7b"}  # the same runs, after `better` of steps was changed
WRONG = ("steps per", "step per")
CHANGES = {
    "nothing": ("", ""),
    "better": ("better: higher", "better: lower"),
    "a pattern": ("([0-9.]+) steps", "([0-9.]+) ste?ps"),
    "a pattern that finds nothing": WRONG,
    "another metric": ("      steps:", "      speed:"),
    "whole": ("^done$", "^finished$"),
    "no whole": ('    whole: ["^done$"]\n', ""),
    "refused": ("^ERROR", "^WARNING"),
}


class Site:
    """A campaign of a program of one's own, with folders of runs as the release before 0.2 left them."""

    def __init__(self, folder: Path) -> None:
        self.file, self.results = folder / "own.yaml", folder / "results"
        shutil.copy(BEFORE / "own.yaml", self.file)
        self.folder = self.results / "own"
        self.of_case = self.folder / "runs/local/SHM/ours"
        self.of_case.mkdir(parents=True)

    def add(self, name: str, started: str = "", text: str = OUTPUT) -> None:
        """The folder of a run; with a result where it was ``started``."""
        shutil.copytree(BEFORE / "runs/local/SHM/ours" / name, self.of_case / name)
        if started:
            self.end(self.of_case / name / "result", started, text)

    def end(self, result: Path, started: str, text: str = OUTPUT, status: int = 0, reason: str = "") -> None:
        facts = [f"started={started}", f"host={host_names()[0]}", f"exit_status={status}"]
        facts += [f"reason={reason}"] if reason else []
        make.write_result(result, *(f"job {fact}" for fact in facts), output=text)

    def change(self, what: tuple[str, str]) -> None:
        text = self.file.read_text()
        assert what[0] in text
        self.file.write_text(text.replace(*what))

    def prepared(self) -> Prepared:
        return prepare_with_results(self.file, results=self.results)

    def records(self) -> list[Record]:
        write_plan(self.prepared())
        return collect_all(self.folder)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def folders(prepared: Prepared) -> set[str]:
    return {run.folder.name for run in prepared.runs}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_how_outputs_are_read_makes_no_run_due(site: Site, what: str) -> None:
    for name in FIRST:
        site.add(name, "2026-11-01T00:00:00Z")
    site.change(CHANGES[what])
    prepared = site.prepared()
    assert (prepared.pending, folders(prepared)) == ((), FIRST)
    assert set_aside_faulty(prepared.selected) == []
    assert {state.state for state in run_states(prepared)[0]} == {FINISHED}


def test_a_stored_claim_is_compared_without_its_patterns(site: Site) -> None:
    new = {run.repeat: run for run in site.prepared().runs}
    plan = read_plan(BEFORE / "plan.json")
    assert plan.cases[0].reading == new[1].reading | {
        "metrics.steps": new[1].reading["metrics.steps"] | {"better": "lower"}
    }
    for folder in sorted((BEFORE / "runs/local/SHM/ours").iterdir()):
        lines = (folder / "claim").read_text().splitlines()
        declared = json.loads(next(line for line in lines if "claim declared=" in line).partition("=")[2])
        assert identity(declared) == folder.name.partition("-")[2]
        assert of_run(declared) == new[declared["repeat"]].declared
        assert identity(of_run(declared)) == plan.cases[0].identity(declared["repeat"])


def test_of_several_results_of_one_run_the_newest_counts_and_the_others_are_kept(site: Site) -> None:
    for name in FIRST | SECOND:
        site.add(name, f"2026-11-0{2 if name in ('r01-8afd131b0b0b', 'r02-685e8ceb0c7b') else 1}T00:00:00Z")
    prepared, newest = site.prepared(), {"r01-8afd131b0b0b", "r02-685e8ceb0c7b"}
    assert (prepared.pending, folders(prepared)) == ((), newest)
    assert undescribed(prepared.plan, site.folder) == {OLDER: {"local SHM ours": [1, 2]}}
    lines = set_aside_faulty(prepared.selected)
    assert "local SHM ours r01: r01-4d3599b7979f is kept in earlier/: r01-8afd131b0b0b is newer" in lines
    assert {path.name for path in (site.of_case / "earlier").iterdir()} == {
        "r01-4d3599b7979f-1",
        "r02-8b9bb289ba4b-1",
    }
    assert set_aside_faulty(site.prepared().selected) == []
    assert folders(site.prepared()) == newest


def test_a_run_that_waits_in_the_queue_keeps_the_name_of_its_job(site: Site) -> None:
    site.add("r01-8afd131b0b0b")
    site.change(CHANGES["better"])
    prepared = site.prepared()
    [waiting] = [run for run in prepared.runs if run.repeat == 1]
    assert waiting.job_name.startswith("ours-8afd131b0b0b-")
    write_scripts(prepared)
    again = (waiting.folder / "claim").read_text()
    assert '"better":"higher"' in again  # it names the declaration that its identity is made from
    assert folders(site.prepared()) == folders(prepared)


def test_a_folder_whose_name_is_not_made_from_its_claim_is_no_run(site: Site) -> None:
    site.add("r01-8afd131b0b0b", "2026-11-01T00:00:00Z")
    (site.of_case / "r01-8afd131b0b0b").rename(site.of_case / "r01-000000000000")
    assert len(site.prepared().pending) == 2


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("a pattern that finds nothing", "steps: no line matches '^([0-9.]+) step per second'"),
        ("whole", "no line matches whole: '^finished$'"),
        ("refused", "line 4 matches refused: 'WARNING: hot'"),
    ],
)
def test_a_finished_run_says_which_pattern_does_not_fit_and_is_read_again(
    site: Site, what: str, reason: str
) -> None:
    for name in FIRST:
        site.add(name, "2026-11-01T00:00:00Z")
    site.change(CHANGES[what])
    status, *_ = run_states(site.prepared())[0]
    assert f"not read: output.txt: {reason}" in status.reason
    assert str(site.of_case) in status.reason
    records = site.records()
    assert {(record.status, record.unread) for record in records} == {(FAILED, True)}
    assert f"2 runs not read: output.txt: {reason}." in notices(compare(records))
    site.change(CHANGES[what][::-1])  # type: ignore[arg-type]
    assert [record.status for record in site.records()] == [OK, OK]
    assert site.records()[0].series[0].columns == {"steps": [5112.4]}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (0, ""),  # set aside by the release before 0.2
        (65, "the benchmark ended with exit status 0, but its output is incomplete: no line matches ^dune"),
        (65, "the benchmark rejected its arguments: WARNING: hot"),
    ],
)
def test_an_attempt_that_only_a_wrong_pattern_refused_is_taken(site: Site, status: int, reason: str) -> None:
    site.add("r01-8afd131b0b0b")
    site.end(
        site.of_case / "r01-8afd131b0b0b/attempts/2026-1", "2026-11-01T00:00:00Z", OUTPUT, status, reason
    )
    site.change(WRONG)
    assert set_aside_faulty(site.prepared().selected) == []
    site.change(WRONG[::-1])  # type: ignore[arg-type]
    [line] = set_aside_faulty(site.prepared().selected)
    assert "r01: the campaign file fits its last output now: no new run" in line
    assert [run.repeat for run in site.prepared().pending] == [2]
    assert site.records()[0].status == OK


def test_job_scripts_say_in_these_words_that_a_pattern_refused_an_output() -> None:
    script = shipped("templates/job/library/run.sh").read_text()
    assert all(words in script for words in ENDED_WELL)
    assert script.count(f"fail {REFUSED} ") == len(ENDED_WELL)


@pytest.mark.parametrize(
    ("status", "reason", "text"),
    [
        (0, "", OUTPUT + "MPI_ABORT was invoked\n"),
        (1, "the benchmark ended with exit status 1; see stderr.txt", OUTPUT),
        (124, "stopped at the time limit of 60 s", OUTPUT),
        (
            65,
            "the benchmark ended with exit status 0, but its output is incomplete: no line matches",
            "done\n",
        ),
    ],
)
def test_an_attempt_that_failed_stays_one(site: Site, status: int, reason: str, text: str) -> None:
    site.add("r01-8afd131b0b0b")
    site.end(site.of_case / "r01-8afd131b0b0b/attempts/2026-1", "2026-11-01T00:00:00Z", text, status, reason)
    assert set_aside_faulty(site.prepared().selected) == []
    assert len(site.prepared().pending) == 2


def test_runs_of_a_merged_bundle_are_known_by_their_present_identity(site: Site) -> None:
    merged = site.folder / "merged/abc"
    for name in SECOND:
        site.add(name, "2026-11-01T00:00:00Z")
    shutil.copytree(site.folder / "runs", merged / "runs")
    shutil.rmtree(site.folder / "runs")
    shutil.copy(BEFORE / "plan.json", merged)
    (merged / "merge.json").write_text('{"bundle": "b", "renamed": {}}')
    records = site.records()
    assert [record.status for record in records] == [OK, OK]
    assert {record.series[0].metrics["steps"]["better"] for record in records} == {"higher"}  # as here
    assert undescribed(site.prepared().plan, merged) == {}


def test_the_curves_of_a_history_are_joined(site: Site) -> None:
    for name in FIRST:
        site.add(name, "2026-11-01T00:00:00Z")
    base = connect()
    for number, direction in enumerate(("higher", "lower")):
        if number:
            site.change(("steps/s, better: higher", f"steps/s, better: {direction}"))
        name = f"2026110{number + 1}T000000Z-00000000"
        series, header = OpenSeries(name, "2026-11-01T00:00:00+00:00", "new", {}), Header("own", "", ())
        add(base, rows_of(site.records(), read_plan(site.folder / "plan.json"), series, header))
    curves = [each for each in curves_of(base) if each.key.metric == "steps"]
    assert [(len(curve.points), curve.key.lower_is_better) for curve in curves] == [(2, True)]


@pytest.mark.parametrize(
    ("change", "said", "status"),
    [
        (
            ("", ""),
            ["     3  5112.4 steps per second", "  steps: 5112 steps/s", "exchange at 8 B: 0.500 us"],
            0,
        ),
        (("", ""), ["whole: line 5 matches '^done$'", "refused: no line matches '^ERROR'"], 0),
        (WRONG, ["steps: no line matches '^([0-9.]+) step per second'"], 1),
        (
            ("([0-9.]+) steps per", "(.*) per"),
            ["steps: not a value", "line 3: steps is '5112.4 steps', not a number"],
            1,
        ),
        (("^done", "^dune"), ["whole: no line matches '^dune$'"], 1),
        (("^ERROR", "^WARN"), ["refused: line 4 matches '^WARN'"], 1),
    ],
)
def test_try_shows_what_the_patterns_find(
    site: Site, capsys: pytest.CaptureFixture[str], change: tuple[str, str], said: list[str], status: int
) -> None:
    sample = site.file.with_name("sample.out")
    sample.write_text(OUTPUT)
    site.change(change)
    assert main(["try", str(site.file), "--benchmark", "ours", str(sample)]) == status
    printed = capsys.readouterr().out
    assert [line for line in said if line not in printed] == []


def test_try_names_what_it_cannot_try(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["try", str(site.file), "--benchmark", "oars", "no.out"]) == 2
    assert main(["try", str(site.file), "no.out"]) == 2
    printed = capsys.readouterr().err
    assert "no benchmark of suite own is called 'oars'" in printed
    assert "did you mean 'ours'?" in printed
    assert "no.out: cannot be read: No such file or directory" in printed
