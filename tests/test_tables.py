"""The comparison as terminal text, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import build_records as make
import pytest

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.records import Case
from mpicampaign.base.text import clip, display_width, pad, repeats_text, visible
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.data import COLUMNS
from mpicampaign.report.make import to_csv, to_markdown, to_terminal
from mpicampaign.show.view import size_range

HOSTILE = make.HOSTILE


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(make.campaign())


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    names = Case(*[HOSTILE] * 4)
    return compare(make.case_runs(names) + make.not_available(replace(names, placement="=1+1"), HOSTILE))


def test_terminal_cuts_names_longer_than_a_line() -> None:
    records = make.not_available("IBV", "x" * 300)
    assert max(display_width(line) for line in to_terminal(compare(records)).splitlines()) <= 100


def test_csv_has_plain_si_numbers_in_named_columns(comparison: Comparison) -> None:
    first = next(csv.DictReader(io.StringIO(to_csv(comparison))))
    assert tuple(first) == tuple(column.name for column in COLUMNS)
    assert (first["metric"], first["unit"], first["size [B]"]) == ("latency at 0 B", "s", "0")
    assert float(first["median [unit]"]) == pytest.approx(0.253e-6, rel=0.01)
    assert float(first["interval_coverage [1]"]) == 0.96875
    assert (first["n"], first["runs_planned"], first["runs_verified"]) == ("6", "6", "6")


def test_nothing_to_compare() -> None:
    empty = compare([])
    assert to_csv(empty).count("\n") == 1
    assert to_terminal(empty) and to_markdown(empty)
    absent = compare(make.not_available("IBV", "no InfiniBand device"))
    for text in (to_terminal(absent), to_markdown(absent), to_csv(absent)):
        assert "no InfiniBand device" in text


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


def test_a_sentence_states_what_holds_over_all_host_groups() -> None:
    groups = {"local": 1, "other": 2, "third": 3}
    records = [one for name, by in groups.items() for one in make.campaign(host_group=name, factor=by)]
    for text in (to_terminal(compare(records)), to_markdown(compare(records))):
        assert "SHM-1 < TCP-loopback in 3 of 3 host groups (shown in each)" in text.replace("&lt;", "<")
