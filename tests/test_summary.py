"""The summary that ends a call in the terminal: the page's first sentences on one screen."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import build_records as make
import pytest

from mpicampaign.base.records import DISTURBED, QUIET, Record
from mpicampaign.base.text import display_width
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import SHORTENED
from mpicampaign.report.analyse import write_tables
from mpicampaign.report.make import tables, to_terminal
from mpicampaign.report.summary import summary, summary_text
from mpicampaign.show.document import Grid, Paragraph
from mpicampaign.show.writers.terminal import WRITER, terminal_text, terminal_width

if TYPE_CHECKING:
    from pathlib import Path

    pass


def many() -> list[Record]:
    """40 candidates with names of 60 characters, some of them hostile."""
    names = [f"{make.HOSTILE} {'x' * 40} {number}" for number in range(10)]
    return [run for name in names for run in make.campaign(host_group=name)]


@pytest.mark.parametrize("records", [[], make.campaign(), make.campaign()[:3], many()])
def test_it_fits_the_screen(records: list[Record]) -> None:
    text = summary_text(compare(records), title="A campaign\x1b of " + "long " * 40)
    lines = text.splitlines()
    assert len(lines) <= 22, "two more are the paths of the files"
    found = summary(compare(records))
    first = " ".join([f"{found.answers[0].title}:", *found.answers[0].said]) if found.answers else found.lead
    assert first in re.sub(r"\s+", " ", text), "whole, whatever else is left out"
    assert max(map(display_width, lines)) <= 100
    assert "\x1b" not in text and "\u202e" not in text


def test_the_answer_is_the_first_line_of_whatever_the_terminal_shows() -> None:
    comparison = compare(make.campaign())
    answer = summary(comparison).lead
    assert "SHM" in answer
    for text in (to_terminal(comparison), tables(comparison, "terminal").decode()):
        assert re.sub(r"\s+", " ", text).startswith(f"{answer}. ")
    assert answer not in re.sub(r"\s+", " ", tables(comparison, "latex").decode())


@pytest.mark.parametrize("columns", [80, 200])
def test_the_terminal_gives_the_width(columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `report`'s and `run`'s screens, of `tables`, and of any other document."""
    monkeypatch.setenv("COLUMNS", str(columns))
    comparison = compare(make.campaign())
    write_tables(comparison, tmp_path)
    texts = [(tmp_path / name).read_text() for name in ("summary.txt", "comparison.txt")]
    texts += [tables(comparison, "terminal", width=terminal_width()).decode()]
    texts += [WRITER.write([Paragraph("word " * 50)])]
    for text in texts:
        assert columns - 30 < max(map(display_width, text.splitlines())) <= columns
    monkeypatch.delenv("COLUMNS")
    assert terminal_width() == 100


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


def test_a_budget_that_shortened_nothing_is_no_finding() -> None:
    found = {
        what: to_terminal(compare(make.case_runs("SHM", repeats=2, metadata={SHORTENED: what})))
        for what in ("nothing", "3 of 8 pairs")
    }
    assert "shortened" not in found["nothing"]
    assert "shortened by its budget: 3 of 8 pairs" in found["3 of 8 pairs"]


def test_disturbed_runs_are_counted() -> None:
    first, *others = make.case_runs("SHM", condition=QUIET)
    records = [replace(first, condition=DISTURBED), *others]
    assert summary(compare(records)).notices == (
        "The machine was quiet in 5 of 6 runs; 1 run was disturbed and left out.",
    )
    assert summary(compare(others)).notices == ("The machine was quiet in all 5 runs.",)


def test_what_is_not_available_for_one_reason_is_one_line() -> None:
    def absent(groups: list[str]) -> list[str]:
        records = [run for group in groups for run in make.campaign(host_group=group)]
        return [text for text in summary(compare(records)).notices if "not available" in text]

    reason = "needs 2 sockets, node1 has 1"
    assert absent(["a", "b"]) == [f"a and b SHM-2 is not available: {reason}."]
    assert absent(list("abcd")) == [f"SHM-2 of 4 host groups is not available: {reason}."]
