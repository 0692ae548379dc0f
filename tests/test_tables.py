"""The comparison as terminal text, CSV and Markdown."""

from __future__ import annotations

import build_records as make
import pytest

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.text import clip, display_width, pad, repeats_text, visible
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.make import to_terminal
from mpicampaign.show.view import size_range


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(make.campaign())


def test_terminal_cuts_names_longer_than_a_line() -> None:
    records = make.not_available("IBV", "x" * 300)
    assert max(display_width(line) for line in to_terminal(compare(records)).splitlines()) <= 100


def test_widths_of_wide_and_combining_characters() -> None:
    assert display_width("宽a") == 3 and display_width("e\u0301") == 1
    assert clip("宽宽宽", 5) == "宽宽…" and pad("宽", 4) == "宽  " and pad("a", 3, right=True) == "  a"


def test_visible_text_is_one_line() -> None:
    assert visible("a\nb\x1b[0m\u202e\u200b é宽") == r"a\nb\x1b[0m\u202e\u200b é宽"
    assert visible("\ud800") == r"\ud800"


def test_repeats_as_text() -> None:
    assert repeats_text([2]) == "repeat 2" and repeats_text([5, 1, 2, 3]) == "repeats 1-3, 5"


def test_ranges_of_sizes() -> None:
    assert size_range([4096]) == "4 KiB" and size_range([2048, 4096]) == "2-4 KiB"
    assert size_range([2**20, 1024]) == "1 KiB-1 MiB" and size_range([]) == ""


def test_ratios_keep_three_digits() -> None:
    assert [RATIO.number(ratio) for ratio in (0.8, 12.5, 99.96, 717.3)] == ["0.800", "12.5", "100", "717"]
