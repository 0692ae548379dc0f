"""What a person sees of a call in the terminal: a line for each run, then the page's first sentences."""

from __future__ import annotations

import re
from dataclasses import replace

import build_records as make
import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy

from mpicampaign.base.records import Record
from mpicampaign.base.text import display_width
from mpicampaign.compare.compare import compare
from mpicampaign.jobs.prepare import Prepared, prepare
from mpicampaign.jobs.run import Run
from mpicampaign.report.summary import summary, summary_text
from mpicampaign.run.durations import estimate
from mpicampaign.run.progress import headline
from mpicampaign.show.document import Grid
from mpicampaign.show.writers.terminal import terminal_text


def many() -> list[Record]:
    """40 candidates with names of 60 characters, some of them hostile."""
    names = [f"{make.HOSTILE} {'x' * 40} {number}" for number in range(10)]
    return [run for name in names for run in make.campaign(host_group=name)]


@pytest.mark.parametrize("records", [[], make.campaign(), make.campaign()[:3], many()])
def test_it_fits_the_screen(records: list[Record]) -> None:
    text = summary_text(compare(records), title="A campaign\x1b of " + "long " * 40)
    lines = text.splitlines()
    assert len(lines) <= 12
    found = summary(compare(records))
    first = f"{found.answers[0].title}: {found.answers[0].finding}" if found.answers else found.lead
    assert first in re.sub(r"\s+", " ", text), "whole, whatever else is left out"
    assert max(map(display_width, lines)) <= 100
    assert "\x1b" not in text and "\u202e" not in text


X = "x" * 70


@pytest.mark.parametrize("title", ["", "a title"])
@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize(
    "names",
    [
        ("short", "names"),
        (f"A {X} C", f"A {X} D", f"B {X} C", f"B {X} D"),
        (f"{X} one", f"{X} two", "other"),
        (f"one {X}", f"two {X}", "other"),
        (f"{X} one {X}", f"{X} two {X}"),
    ],
)
def test_names_are_never_cut_where_they_differ(names: tuple[str, ...], width: int, title: str) -> None:
    """Nor are numbers; a line is longer than the terminal where the names differ in their middle alone."""
    lines = tuple((name, "1.23", "[1.20, 1.30]") for name in names)
    text = terminal_text([Grid(title, 1, ("candidate", "median", "interval"), lines)], width)
    shown = [line for line in text.splitlines() if line.endswith("1.23  [1.20, 1.30]")]
    assert len({line.partition("  1.23")[0] for line in shown}) == len(names), text
    assert max(map(display_width, shown)) <= width or names[0].startswith(f"{X} one x")


@pytest.fixture
def campaign(project: ProjectCopy) -> Prepared:
    return prepare(write_trivial(project), results=project.folder / "results")


def write_result(script: Run, seconds: int, reason: str = "") -> None:
    """What these functions read of a result."""
    ended = f"job ended=2026-01-02T10:{seconds // 60:02}:{seconds % 60:02}Z"
    absent = [f"job not_available={reason}"] if reason else []
    make.write_result(script.result, *absent, "job started=2026-01-02T10:00:00Z", ended, output="")


def of(prepared: Prepared, placement: str) -> list[Run]:
    return [script for script in prepared.runs if script.case.placement == placement]


def test_an_estimate_comes_from_earlier_runs_and_else_from_the_time_limits(campaign: Prepared) -> None:
    assert estimate(campaign.pending) == "at most 4 min, the sum of their time limits"
    one, two = of(campaign, "one"), of(campaign, "two")
    write_result(one[0], 200)
    assert estimate(campaign.pending) == "about 10 min, as earlier runs took"  # 3 runs of the benchmark
    write_result(two[0], 0, reason="needs 2 sockets")
    assert estimate(campaign.pending) == "about 3 min, as earlier runs took"  # the other one is absent again


def test_the_line_of_a_run_shows_no_value_as_nothing_and_no_maximum_of_a_run_that_gave_up() -> None:
    run = make.run("TCP", 1, make.pingpong(2.5e-3, 400.0))
    whole = run.series[0]
    assert "maximum bandwidth 0.0004 MB/s" in headline(run)
    ends = {name: [*values[:2], None] for name, values in whole.columns.items()}
    stopped = replace(whole, columns={**ends, "size": whole.columns["size"][:3]})
    line = headline(replace(run, series=(stopped,)))
    assert "maximum" not in line and "sizes above " in line and "were given up" in line
