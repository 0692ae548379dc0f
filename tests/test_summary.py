"""The summary that ends a call in the terminal: the page's first sentences on one screen."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import DISTURBED, QUIET, Case, Record
from mpicampaign.show.summary import summary, summary_text
from mpicampaign.text import display_width

if TYPE_CHECKING:
    pass


def many() -> list[Record]:
    """40 candidates with names of 60 characters, some of them hostile."""
    names = [f"{synthetic.HOSTILE} {'x' * 40} {number}" for number in range(10)]
    return [run for name in names for run in synthetic.campaign(host_group=name)]


@pytest.mark.parametrize("records", [[], synthetic.campaign(), synthetic.campaign()[:3], many()])
def test_it_fits_the_screen(records: list[Record]) -> None:
    text = summary_text(compare(records), title="A campaign\x1b of " + "long " * 40)
    lines = text.splitlines()
    assert len(lines) <= 22, "two more are the paths of the files"
    found = summary(compare(records))
    first = " ".join([f"{found.answers[0].title}:", *found.answers[0].said]) if found.answers else found.lead
    assert first in re.sub(r"\s+", " ", text), "whole, whatever else is left out"
    assert max(map(display_width, lines)) <= 100
    assert "\x1b" not in text and "\u202e" not in text


def test_disturbed_runs_are_counted() -> None:
    runs = synthetic.case_runs(Case("s", "g", "SHM", "PingPong"), 1e-6, 1e9)
    first, *others = (replace(run, condition=QUIET) for run in runs)
    records = [replace(first, condition=DISTURBED), *others]
    assert summary(compare(records)).notices == (
        "The machine was quiet in 5 of 6 runs; 1 run was disturbed and left out.",
    )
    assert summary(compare(others)).notices == ("The machine was quiet in all 5 runs.",)


def test_what_is_not_available_for_one_reason_is_one_line() -> None:
    def absent(groups: list[str]) -> list[str]:
        records = [run for group in groups for run in synthetic.campaign(host_group=group)]
        return [text for text in summary(compare(records)).notices if "not available" in text]

    reason = "needs 2 sockets, node1 has 1"
    assert absent(["a", "b"]) == [f"a and b SHM-2 is not available: {reason}."]
    assert absent(list("abcd")) == [f"SHM-2 of 4 host groups is not available: {reason}."]
