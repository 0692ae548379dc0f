"""Programs of one's own: keys, input files, outputs read with their convergence, and the worked example."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import pytest
from build_campaigns import problems_of, program_at, with_draft, write_campaign
from conftest import PROJECT, ProjectCopy
from test_job_script_run import END, execute, prepared

from mpicampaign.campaign.file import load_campaign
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.jobs.inputs import Input
from mpicampaign.jobs.prepare import Prepared, write_inline, write_scripts
from mpicampaign.show.sentences import note_text
from mpicampaign.suites import OutputError, parse
from mpicampaign.suites.reading import ParsedOutput

ROOT = Path(__file__).parents[1]
RATE = {"pattern": "^rate ([0-9.]+)", "unit": "cells/s", "better": "higher", "take": ""}
TIME = {"pattern": "^(?P<size>[0-9]+) (?P<value>[0-9.e-]+)", "unit": "us", "better": "lower", "take": ""}


def read(text: str, **metrics: dict[str, str]) -> ParsedOutput:
    declared = {"benchmark": "ours", **{f"metrics.{name}": about for name, about in metrics.items()}}
    return parse("own", text, reading=declared)


def refused(text: str, **metrics: dict[str, str]) -> str:
    with pytest.raises(OutputError) as caught:
        read(text, **metrics)
    return str(caught.value)


def test_a_faulty_pattern_of_a_plan_from_elsewhere_finds_nothing() -> None:
    assert "x: not a regular expression" in refused("rate 1\n", x=RATE | {"pattern": "^rate ("})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nothing\n", "x: no line matches '^rate"),
        ("rate 1\nrate 2\n", "x: 2 lines match (lines 1, 2...); give take: first, last, smallest, largest"),
        ("rate 1.2.3\n", "line 1: x is '1.2.3', not a number"),
        ("rate 9" + "9" * 400 + "\n", "a value is finite and not negative"),
        ("\nSegmentation fault\nrate 1\n", "the program was aborted"),
    ],
)
def test_what_is_not_a_value_is_refused_with_its_line(text: str, reason: str) -> None:
    assert reason in refused(text, x=RATE)


def test_one_size_twice_is_refused() -> None:
    assert "line 2: step at 8 B a second time" in refused("8 1.5\n8 1.6\n", step=TIME)


def messages(tmp_path: Path, **keys: Any) -> list[str]:
    """The errors of a campaign file with these keys of its benchmark, each with its line's text."""
    benchmark = {
        **program_at(Path("/apps/p"), "own"),
        "whole": "^done$",
        "metrics": {"rate": {"pattern": "^rate ([0-9.]+)", "unit": "1/s", "better": "higher"}},
        **keys,
    }
    given = {name: value for name, value in benchmark.items() if value is not None}
    return problems_of(write_campaign(tmp_path / "c.yaml", benchmarks={"ours": given}))


def metric(**changes: str) -> dict[str, dict[str, str]]:
    return {"rate": {"pattern": "^rate ([0-9.]+)", "unit": "1/s", "better": "higher", **changes}}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, ""),
        ({"whole": None}, ""),
        ({"whole": "^done("}, "whole: ^done( | not a pattern of grep -E: grep: Unmatched ("),
        ({"refused": "[a"}, "refused: '[a' | not a pattern of grep -E: grep: "),
        ({"metrics": None}, "suite: own | suite own needs metrics"),
        ({"metrics": metric(pattern="^rate (")}, "pattern: ^rate ( | not a regular expression"),
        ({"metrics": metric(pattern="^rate")}, "pattern: ^rate | the number must be its only group"),
        ({"metrics": metric(pattern="(?P<n>1)")}, "its groups are named value and size, not n"),
        ({"metrics": metric(pattern="(?P<size>1) (2)", take="last")}, "a metric over sizes has one value at"),
        ({"metrics": metric(better="faster")}, "better: faster | must be"),
        ({"metrics": metric(pattern="", unit="s", better="lower")}, ""),
        ({"metrics": metric(pattern="", unit="s")}, "without a pattern the metric is the time to solution"),
        ({"metrics": {"size": metric()["rate"]}}, "a metric cannot be called size"),
        ({"suite": "imb"}, "suite imb does not take this key: only own"),
    ],
)
def test_the_keys_are_checked_with_their_lines(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    found = messages(tmp_path, **keys)
    assert any(message in each for each in found) if message else found == []


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
def test_the_worked_example_from_source_to_tables(project: ProjectCopy) -> None:
    if shutil.which("mpicc") is None:
        pytest.skip("mpicc is not installed")
    folder = project.folder / "campaigns"
    shutil.copytree(ROOT / "campaigns/own-program", folder / "own-program")
    shutil.copy(ROOT / "campaigns/own-program.yaml", folder)
    text = (folder / "own-program.yaml").read_text().replace("repeats: 6", "repeats: 2\nbusy_machine: rank")
    (folder / "own-program.yaml").write_text(text)
    source = folder / "own-program/halo.c"
    environment = project.environment | {"I_MPI_ROOT": sys.prefix}
    subprocess.run(["mpicc", "-O2", "-o", source.with_suffix(""), source], check=True, env=environment)
    project.succeed("run", "--campaign", "campaigns/own-program.yaml")
    records = project.records("own-program")
    assert len(records) == 4
    for record in records:
        assert (record.status, record.verdict) == ("ok", "verified"), record
        assert record.condition
        alone, over = record.series
        assert (alone.columns["steps"][0] or 0) > 0
        assert len(over.columns["size"]) == len(over.columns["time"]) == 18
    text = project.ask("tables", "--campaign", "campaigns/own-program.yaml", "--format", "csv").stdout
    lines = [line for line in csv.DictReader(io.StringIO(text)) if line["metric"] == "steps"]
    assert {line["placement"]: line["unit"] for line in lines} == {
        "SHM-1": "steps/s",
        "TCP-loopback": "steps/s",
    }
    assert list((project.folder / "results/own-program/figures").glob("halo*time*.svg"))


def test_a_metric_without_a_pattern_is_the_time_to_solution() -> None:
    """It stands beside metrics of the output; without a time of the launch there is no value."""
    timed = {"pattern": "", "unit": "s", "better": "lower", "take": ""}
    reading = {"benchmark": "ours", "metrics.x": RATE, "metrics.t": timed, "time to solution": 1.25}
    (series,) = parse("own", "rate 5\n", reading=reading).series
    assert series.columns == {"x": [5.0], "t": [1.25]}
    (metric,) = choose_metrics("own", [replace(series, columns={"t": [1.25]})], ())
    assert (metric.headline, metric.lower_is_better) == (True, True)
    assert "recorded no time of the launch" in refused("rate 5\n", t=timed)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("source", ""),
        (".", "the source folder contains the campaign file: each edit would make all runs due again"),
        (str(PROJECT), "the source folder contains build/, where mpicampaign builds its copy"),
    ],
)
def test_a_folder_of_source_that_changes_by_itself_is_noted(tmp_path: Path, location: str, said: str) -> None:
    provider = {"kind": "source", "location": location, "build": "make"}
    noted = messages(tmp_path, provider=provider)
    noted += map(str, [] if noted else load_campaign(tmp_path / "c.yaml").warnings)
    assert len(noted) == bool(said) and said in "".join(noted)


CASE = make.case("SHM-1", "tree_gather")
OLD = "not converged: at some sizes the samples did not converge in the time allowed (repeat 1)"
Numbers = Sequence[float | None]


def notes(*runs: dict[str, Numbers], suite: str = "kernel") -> list[str]:
    """The sentences on runs with these columns at 8 and 16 B."""
    records = [
        make.run(CASE, repeat, make.series("x", size=[8, 16], time=[1e-6, 2e-6], **columns), suite=suite)
        for repeat, columns in enumerate(runs, start=1)
    ]
    ((row,),) = (table.rows for table in compare(records, [8]).tables)
    return [note_text(note) for note in row.notes]


def test_runs_without_widths_are_reported_as_before() -> None:
    assert notes({"converged": [0, 1]}) == [OLD]
    assert notes({"converged": [0, 1], "width": [None, 0.1]}) == [OLD]


def test_percentiles_of_osu_show_a_tail() -> None:
    narrow: dict[str, Numbers] = {"time_p50": [1e-6, 2e-6], "time_p99": [1.05e-6, 2e-6]}
    wide: dict[str, Numbers] = {"time_p50": [1e-6, 2e-6], "time_p99": [1.05e-6, 5e-6]}
    assert notes(narrow, wide, suite="osu") == [
        "wide spread: samples at 16 B: the slowest 1 % lie 150 % or more above the median (repeat 2)"
    ]
    two: dict[str, Numbers] = {"time_p50": [1e-6, 2e-6], "time_p99": [4e-6, 2.5e-6]}
    assert notes(two, suite="osu") == [
        "wide spread: samples at 8 B: the slowest 1 % lie 300 % or more above the median (repeat 1)"
    ]


def with_input(folder: Path, program: str, content: str = "hello\n", **system: object) -> Prepared:
    """A run whose program has the input file words.txt; the suite takes its results from results.txt."""
    found = prepared(folder, program, **system)  # type: ignore[arg-type]
    source = folder / "source.txt"
    source.write_text(content)
    sha256 = subprocess.check_output(["sha256sum", source], text=True).split()[0]
    run = found.plan.runs[0]
    inputs, entry = (Input("words.txt", sha256, source=source),), replace(run.draft.entry, time_limit=5)
    run = with_draft(run, inputs=inputs, entry=entry)
    made = replace(found, plan=replace(found.plan, runs=(run,)))
    write_scripts(made)
    return made


def test_an_input_that_was_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    found = with_input(tmp_path, END)
    script = found.runs[0]
    script.draft.inputs[0].kept(found.folder).write_text("changed\n")
    assert execute(script) == 66
    [attempt] = script.folder.glob("attempt-*")
    reason = "the input file words.txt differs from the one that the campaign declares"
    assert f"job reason={reason}" in attempt.read_text()


def test_a_script_with_everything_in_it_holds_its_input(tmp_path: Path) -> None:
    found = with_input(tmp_path, f"cat words.txt; {END}", "end of file\n$(touch /tmp/x) `x`\n")
    write_inline(found)
    script = found.runs[0]
    script.draft.inputs[0].kept(found.folder).unlink()
    assert execute(script) == 0
    assert " bytes <==\nend of file\n$(touch /tmp/x) `x`\n" in script.result.read_text()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["absent.txt"], "no such file"),
        (["words.txt", "folder/words.txt"], "a second input file of this name"),
        (["a b.txt"], "not usable as the name of an input file"),
    ],
)
def test_input_files_are_checked_with_the_campaign(tmp_path: Path, inputs: list[str], message: str) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("words.txt", "folder/words.txt", "a b.txt"):
        (tmp_path / name).write_text("x\n")
    (problem,) = problems_of(write_campaign(tmp_path / "c.yaml", benchmarks={"PingPong": {"inputs": inputs}}))
    assert message in problem
