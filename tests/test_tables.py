"""The comparison as terminal text, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.dimension import RATIO
from mpicampaign.records import Case
from mpicampaign.show.data import COLUMNS
from mpicampaign.show.make import to_csv, to_markdown, to_terminal
from mpicampaign.show.numbers import size_range
from mpicampaign.show.view import View
from mpicampaign.text import clip, display_width, pad, repeats_text, visible

HOSTILE = synthetic.HOSTILE


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(synthetic.campaign())


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    names = Case(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    records = [replace(record, case=names) for record in synthetic.case_runs(names, 1e-6, 1e9)]
    return compare(records + synthetic.not_available(replace(names, placement="=1+1"), HOSTILE))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_terminal_fits_its_width(comparison: Comparison, hostile: Comparison, width: int) -> None:
    for shown in (comparison, hostile):
        assert max(display_width(line) for line in to_terminal(shown, width=width).splitlines()) <= width


def test_terminal_values_are_in_columns(comparison: Comparison) -> None:
    lines = to_terminal(comparison).splitlines()
    start = lines.index("  latency at 0 B (µs)")
    header, *rows = lines[start + 1 : start + 5]
    end = header.index("median") + len("median")
    figures = [row[:end].split()[-1] for row in rows]
    assert figures == ["0.253", "0.401", "3.20"]


def test_terminal_cuts_host_groups_before_placements_and_values() -> None:
    case = Case("s", "a-host-group-of-" + "x" * 60, "SHM-full-of-it", "PingPong")
    text = to_terminal(compare(synthetic.case_runs(case, 1e-6, 1e9)), width=80)
    line = next(line for line in text.splitlines() if "6/6" in line)
    assert re.fullmatch(r"  a-host-g[\w-]*…  SHM-full-of-it  6/6 +[\d.]+ +\[[\d., ]+\]( +[\d.]+){3}", line)


def test_terminal_cuts_names_longer_than_a_line() -> None:
    records = synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "x" * 300)
    assert max(display_width(line) for line in to_terminal(compare(records)).splitlines()) <= 100


def test_terminal_says_interval_coverage_mean_and_range(comparison: Comparison) -> None:
    text = to_terminal(comparison)
    assert "0.253  [0.245, 0.257]  0.253  0.245  0.257" in text
    assert "96.9 % for n = 6" in text


def test_terminal_and_markdown_say_once_what_is_not_available_and_what_else_is_in_doubt(
    comparison: Comparison,
) -> None:
    text = to_terminal(comparison)
    assert text.count("SHM-2") == 1 and to_markdown(comparison).count("SHM-2") == 1
    assert "local SHM-2 is not available: needs 2 sockets, node1 has 1" in text
    assert "contradicted: MPI library's report" in text
    assert "several modes" in text


def test_terminal_in_binary_units(comparison: Comparison) -> None:
    text = to_terminal(comparison, view=View("MiB/s"))
    assert "maximum bandwidth (MiB/s)" in text and "2^20" in text
    assert " MB/s" not in text.split("Left out")[0]


def test_no_note_has_another_unit_than_its_table(comparison: Comparison) -> None:
    assert any(note.kind == "modes" for _, _, note in comparison.notes())
    for write in (to_terminal, to_markdown, to_csv):
        decimal, binary = (write(comparison, View(unit)) for unit in ("MB/s", "MiB/s"))
        assert "MB/s" in decimal and "MiB/s" not in decimal
        assert "MiB/s" in binary and "MB/s" not in binary


@pytest.mark.parametrize(
    ("placements", "said"),
    [(2, "any pair is wrongly"), (16, "any pair is wrongly"), (17, "no single pair is")],
)
def test_the_legend_names_the_error_that_is_controlled(placements: int, said: str) -> None:
    cases = [Case("s", "g", f"P{n}", "PingPong") for n in range(placements)]
    found = compare([run for n, case in enumerate(cases) for run in synthetic.case_runs(case, 1e-6 + n, 1e9)])
    for write in (to_terminal, to_markdown):
        text = " ".join(write(found).split())
        assert said in text
    alone = compare(synthetic.case_runs(cases[0], 1e-6, 1e9))
    assert "5 %" not in to_terminal(alone)


def test_terminal_has_no_control_characters(hostile: Comparison) -> None:
    text = to_terminal(hostile)
    assert "\x1b" not in text and "\u202e" not in text
    assert r"\x1b[31m" in text


def test_csv_has_plain_si_numbers_in_named_columns(comparison: Comparison) -> None:
    first = rows_of(to_csv(comparison))[0]
    assert tuple(first) == tuple(column.name for column in COLUMNS)
    assert (first["metric"], first["unit"], first["size [B]"]) == ("latency at 0 B", "s", "0")
    assert float(first["median [unit]"]) == pytest.approx(0.253e-6, rel=0.01)
    assert float(first["interval_coverage [1]"]) == 0.96875
    assert (first["n"], first["runs_planned"], first["runs_verified"]) == ("6", "6", "6")


def test_csv_has_every_row_and_leaves_missing_values_empty(comparison: Comparison) -> None:
    rows = [row for row in rows_of(to_csv(comparison)) if row["placement"] == "SHM-2"]
    assert {row["benchmark"] for row in rows} == {"PingPong", "tree_gather"}
    assert all(row["median [unit]"] == row["mean [unit]"] == "" and row["n"] == "0" for row in rows)
    assert all("needs 2 sockets" in row["notes"] for row in rows)


def test_csv_cells_are_neither_formulas_nor_extra_lines(hostile: Comparison) -> None:
    rows = rows_of(to_csv(hostile))
    assert all(None not in row for row in rows)
    texts = [row[name] for row in rows for name in ("system", "host_group", "placement", "series", "notes")]
    assert "'=1+1" in texts
    assert not any(text.startswith(("=", "+", "-", "@")) for text in texts)
    assert not any("\n" in text or "\x1b" in text for text in texts)


def test_markdown_tables_are_rectangular(comparison: Comparison, hostile: Comparison) -> None:
    for shown in (comparison, hostile):
        for block in to_markdown(shown).split("\n\n"):
            lines = [line for line in block.splitlines() if line.startswith("|")]
            bars = {line.replace("\\|", "").count("|") for line in lines}
            assert len(bars) <= 1, block


def test_markdown_shows_median_interval_mean_and_range(comparison: Comparison) -> None:
    text = to_markdown(comparison)
    assert r"| local SHM-1 | 6/6 | 0.253 \[0.245, 0.257\] |" in text
    assert "0.253 (0.245 to 0.257)" in text
    assert "- local SHM-2 is not available: needs 2 sockets, node1 has 1" in text


def test_markdown_neutralises_markup(hostile: Comparison) -> None:
    text = to_markdown(hostile)
    assert "<b>" not in text and "&lt;b&gt;" in text
    assert r"\`a\`" in text and "\x1b" not in text


def test_nothing_to_compare() -> None:
    empty = compare([])
    assert to_csv(empty).count("\n") == 1
    assert to_terminal(empty) and to_markdown(empty)
    absent = compare(synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no InfiniBand device"))
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


def test_the_bound_of_a_link_is_beside_the_fraction_that_was_reached() -> None:
    tcp, shm = Case("s", "g", "TCP", "PingPong"), Case("s", "g", "SHM-1", "PingPong")
    runs = [
        replace(record, hosts=("n1", "n2"), line_rate=1.25e8)
        for record in synthetic.case_runs(tcp, 1e-6, 1.2e8)
    ]
    shown = compare(runs + synthetic.case_runs(shm, 1e-6, 1e9))
    lines = to_terminal(shown).split("fraction of line rate (%)\n")[1].split("\n\n")[0].splitlines()
    assert len(lines) == 2  # the heading and TCP: shared memory has no link
    assert re.search(r"TCP +6/6 +9\d\.\d +\[.*\].* 4 MiB of 125\.0 MB/s$", lines[1])
    rows = [row for row in rows_of(to_csv(shown)) if row["metric"] == "fraction of line rate"]
    assert [(row["placement"], row["line_rate_bound [B/s]"], row["unit"]) for row in rows] == [
        ("TCP", "125000000", "1")
    ]
    assert 0.91 < float(rows[0]["median [unit]"]) < 0.98
    text = to_markdown(shown)
    assert re.search(r"\| 9\d\.\d \\\[.*\\\] of 125\.0 MB/s \|", text)
    assert "no bound known" in text


def test_a_sentence_states_what_holds_over_all_host_groups() -> None:
    records = synthetic.campaign() + synthetic.campaign(host_group="other", factor=2)
    for text in (to_terminal(compare(records)), to_markdown(compare(records))):
        assert "latency at 0 B: SHM-1" in text and "of 2 host groups" in text
