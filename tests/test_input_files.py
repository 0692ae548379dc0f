"""Input files in the folder that a program starts in, and results that it writes to a file there."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import problems_of, write_campaign
from test_job_script_run import END, execute, prepared

from mpicampaign.jobs.inputs import Input
from mpicampaign.jobs.prepare import Prepared, write_inline, write_scripts


def with_input(folder: Path, program: str, content: str = "hello\n", **system: object) -> Prepared:
    """A run whose program has the input file words.txt; the suite takes its results from results.txt."""
    found = prepared(folder, program, **system)  # type: ignore[arg-type]
    source = folder / "source.txt"
    source.write_text(content)
    sha256 = subprocess.check_output(["sha256sum", source], text=True).split()[0]
    run = replace(found.plan.runs[0], inputs=(Input("words.txt", sha256, source=source),), time_limit=5)
    made = replace(found, plan=replace(found.plan, runs=(run,)))
    write_scripts(made)
    return made


def test_an_input_that_was_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    found = with_input(tmp_path, END)
    script = found.runs[0]
    script.inputs[0].kept(found.folder).write_text("changed\n")
    assert execute(script) == 66
    [attempt] = script.folder.glob("attempts/*")
    reason = "the input file words.txt differs from the one that the campaign declares"
    assert f"job reason={reason}" in (attempt / "evidence.txt").read_text()


def test_a_script_with_everything_in_it_holds_its_input(tmp_path: Path) -> None:
    found = with_input(tmp_path, f"cat words.txt; {END}", "end of file\n$(touch /tmp/x) `x`\n")
    write_inline(found)
    script = found.runs[0]
    script.inputs[0].kept(found.folder).unlink()
    assert execute(script) == 0
    assert script.output.read_text().startswith("end of file\n$(touch /tmp/x) `x`\n")


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
