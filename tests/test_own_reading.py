"""How an output is read is no part of its run: patterns that change."""

from __future__ import annotations

import shutil
from pathlib import Path

import build_records as make
import golden_messages
import pytest

from mpicampaign.base.records import FAILED, OK, Record
from mpicampaign.cli import main
from mpicampaign.collect.campaign import collect_all
from mpicampaign.compare.compare import compare
from mpicampaign.jobs.prepare import Prepared, host_names, write_plan, write_scripts
from mpicampaign.report.summary import summary
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.queue_status import run_states
from mpicampaign.run.set_aside import set_aside_faulty

CAMPAIGN = Path(__file__).parent / "fixtures/own/own.yaml"
OUTPUT = "exchange of 8 B: 0.5 us\nexchange of 16 B: 0.6 us\n5112.4 steps per second\nWARNING: hot\ndone\n"
STARTED = "2026-11-01T00:00:00Z"
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
    """A campaign of a program of one's own, whose two runs have job scripts."""

    def __init__(self, folder: Path) -> None:
        self.file, self.results = folder / "own.yaml", folder / "results"
        shutil.copy(CAMPAIGN, self.file)
        self.folder = self.results / "own"
        write_scripts(self.prepared())
        self.runs = [run.folder for run in sorted(self.prepared().runs, key=lambda run: run.repeat)]

    def end_all(self) -> None:
        for run in self.runs:
            self.end(run / "result.txt")

    def end(self, result: Path, text: str = OUTPUT, status: int = 0, reason: str = "") -> None:
        facts = [f"started={STARTED}", f"host={host_names()[0]}", f"exit_status={status}"]
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
    site.end_all()
    site.change(CHANGES[what])
    status, *_ = run_states(site.prepared())[0]
    assert f"not read: output.txt: {reason}" in status.reason
    assert str(site.runs[0].parent) in status.reason
    records = site.records()
    assert {(record.status, record.unread) for record in records} == {(FAILED, True)}
    assert f"2 runs not read: output.txt: {reason}." in summary(compare(records)).notices
    site.change(CHANGES[what][::-1])  # type: ignore[arg-type]
    assert [record.status for record in site.records()] == [OK, OK]
    assert site.records()[0].series[0].columns == {"steps": [5112.4]}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (0, ""),
        (65, "the benchmark ended with exit status 0, but its output is incomplete: no line matches ^dune"),
        (65, "the benchmark rejected its arguments: WARNING: hot"),
    ],
)
def test_an_attempt_that_only_a_wrong_pattern_refused_is_taken(site: Site, status: int, reason: str) -> None:
    site.end(site.runs[0] / "attempt-2026-1.txt", OUTPUT, status, reason)
    site.change(WRONG)
    assert set_aside_faulty(site.prepared().selected) == []
    site.change(WRONG[::-1])  # type: ignore[arg-type]
    [line] = set_aside_faulty(site.prepared().selected)
    assert "r01: the campaign file now fits its last output: no new run" in line
    assert [run.repeat for run in site.prepared().pending] == [2]
    assert site.records()[0].status == OK


def test_try_shows_what_the_patterns_find(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    sample = site.file.with_name("sample.out")
    sample.write_text(OUTPUT)
    given = site.file.read_text()

    def said(old: str, new: str) -> list[object]:
        site.file.write_text(given)
        site.change((old, new))
        status = main(["try", str(site.file), "--benchmark", "ours", str(sample)])
        return [status, *capsys.readouterr().out.replace(f"{site.file.parent}/", "").splitlines()]

    golden_messages.check("own_reading", said)


def test_try_counts_the_lines_that_a_run_counts(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Only a newline ends a line, and of several lines one counts."""
    sample = site.file.with_name("sample.out")
    sample.write_bytes(
        b"exchange of 8 B: 0.5 us\n 50 %\r100 %\n1 steps per second\n2 steps per second\ndone\n"
    )
    site.change(("better: higher}", "better: higher, take: last}"))
    assert main(["try", str(site.file), "--benchmark", "ours", str(sample)]) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "3 1 steps per second steps: 1.000 steps/s, does not count (take: last)" in printed
    assert "4 2 steps per second steps: 2.000 steps/s" in printed
    sample.write_bytes(b"\0")
    assert main(["try", str(site.file), "--benchmark", "ours", str(sample)]) == 2
    assert "line 1: holds a NUL byte" in capsys.readouterr().err


def test_try_names_what_it_cannot_try(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["try", str(site.file), "--benchmark", "oars", "no.out"]) == 2
    assert main(["try", str(site.file), "no.out"]) == 2
    printed = capsys.readouterr().err
    assert "no benchmark of suite own is called 'oars'" in printed
    assert "did you mean 'ours'?" in printed
    assert "no.out: cannot be read: No such file or directory" in printed
