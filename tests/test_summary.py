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
from mpicampaign.report.summary import summary, summary_text
from mpicampaign.show.document import Grid
from mpicampaign.show.writers.terminal import terminal_text

if TYPE_CHECKING:
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


def test_disturbed_runs_are_counted() -> None:
    first, *others = make.case_runs("SHM", condition=QUIET)
    records = [replace(first, condition=DISTURBED), *others]
    assert summary(compare(records)).notices == (
        "The machine was quiet in 5 of 6 runs; 1 run was disturbed and left out.",
    )
    assert summary(compare(others)).notices == ("The machine was quiet in all 5 runs.",)
