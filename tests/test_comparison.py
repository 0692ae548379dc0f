"""Rows, values and rankings of a comparison."""

from __future__ import annotations

import csv
from dataclasses import replace

import build_records as make
import pytest
import stfc_runs

from mpicampaign.base.dimension import SLOWDOWN, TIME
from mpicampaign.base.records import CONTRADICTED, FAILED, Case, Series
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.questions.ranking.find import rank
from mpicampaign.questions.ranking.say import verdict
from mpicampaign.questions.ranking.say_pairs import pair_sentence
from mpicampaign.show.sentences import note_text
from mpicampaign.show.view import View
from mpicampaign.suites import SUITES

SHM_1 = make.case("SHM-1")
TCP = make.case("TCP")


def median_of(row: Row, name: str) -> float | None:
    cell = next(cell for cell in row.cells if cell.metric.name == name)
    return cell.summary.median if cell.summary else None


def test_osu_latency_prints_only_times_and_has_a_latency() -> None:
    series = make.collective("osu_latency", 1e-6, 1e9, ranks=2)
    metric = compare([make.run(SHM_1, 1, series, suite="osu")]).tables[0].metrics[0]
    assert metric.name == "latency at 0 B"


def test_a_run_without_the_series_of_the_others_is_noted() -> None:
    records = make.runs(SHM_1, [1e-6, 1e-6])
    records.append(make.run(SHM_1, 3, make.collective("Other", 1e-6, 1e9)))
    [table] = [table for table in compare(records).tables if table.label == "PingPong"]
    notes = [note_text(note) for note in table.rows[0].notes]
    assert notes == ["not printed: the output has no such series (repeat 3)"]


GIGABIT = 1.25e8  # B/s


def linked(table: Series, *, hosts: tuple[str, ...] = ("n1", "n2")) -> Row:
    """The row of six runs with this table over a link of 1 Gbit/s."""
    case = Case("s", "g", "TCP", table.benchmark)
    suite = next((each.name for each in SUITES.values() if table.benchmark in each.sends), "imb")
    runs = [make.run(case, n, table, suite=suite, hosts=hosts, line_rate=GIGABIT) for n in range(1, 7)]
    return compare(runs).tables[0].rows[0]


def fractions(row: Row) -> list[tuple[float | None, float | None, tuple[int, ...]]]:
    """Bound, median and sizes of the fractions that the row holds."""
    cells = [cell for cell in row.cells if cell.metric.bound]
    return [(c.bound, c.summary.median if c.summary else None, tuple(set(c.sizes))) for c in cells]


@pytest.mark.parametrize(
    ("benchmark", "ranks", "hosts", "bound"),
    [
        ("PingPong", 2, ("n1", "n2"), GIGABIT),
        ("Sendrecv", 2, ("n1", "n2"), 2 * GIGABIT),  # counts what goes and what comes
        ("Sendrecv", 3, ("n1", "n2", "n3"), 2 * GIGABIT),
        ("MPI Bi-Directional Bandwidth", None, ("n1", "n2"), 2 * GIGABIT),
        ("tree_gather", 3, ("n1", "n2", "n3"), GIGABIT),  # over the root's link
        ("tree_gather", 4, ("n1", "n2"), None),  # some of it within a host
        ("PingPong", 2, ("n1",), None),
        ("Alltoall", 2, ("n1", "n2"), None),
    ],
)
def test_the_bound_fits_the_bytes_that_the_metric_counts(
    benchmark: str, ranks: int | None, hosts: tuple[str, ...], bound: float | None
) -> None:
    table = replace(make.pingpong(1e-6, 1e8), benchmark=benchmark, ranks=ranks)
    found = fractions(linked(table, hosts=hosts))
    assert [each[0] for each in found] == ([bound] if bound else [])


def test_a_ranking_puts_the_lowest_first_wherever_lower_is_better() -> None:
    slowdown = Metric("contention", "contention", SLOWDOWN, headline=True)
    assert slowdown.lower_is_better and slowdown.dimension is not TIME
    records = [
        make.run(case, repeat, make.series("core_pairs", 4, contention=value), suite="kernel")
        for case, values in ((SHM_1, (3.0, 3.1, 3.2, 3.3)), (TCP, (1.5, 1.6, 1.7, 1.8)))
        for repeat, value in enumerate(values, start=1)
    ]
    table = compare(records).tables[0]
    rows = [replace(row, cells=(replace(row.cells[0], metric=slowdown),)) for row in table.rows]
    (ranking,) = rank(rows, [slowdown])
    assert [contestant.name for contestant in ranking.contestants] == ["TCP", "SHM-1"]
    assert verdict(ranking).startswith("lowest: TCP")


def test_zero_medians_have_no_factor() -> None:
    records = [
        make.run(case, n, make.series("osu_latency", size=1.0, time=time), suite="osu")
        for case, time in ((SHM_1, 0.0), (TCP, 1e-6))
        for n in range(1, 7)
    ]
    pair = compare(records).tables[0].rankings[0].pairs[0]
    assert pair.factor is None and "TCP (1.00 µs) takes longer than SHM-1" in pair_sentence(pair, View())


@stfc_runs.needed
def test_published_means_are_found_again() -> None:
    comparison = compare(stfc_runs.scarf_records())
    tables = {
        "latency at 0 B": ("table1_latency_us.csv", 1e-6),
        "bandwidth at 8 KiB": ("table3_bandwidth_8192B.csv", 2**20),
        "maximum bandwidth": ("table5_bandwidth_max.csv", 2**20),
    }
    compared = 0
    for name, (file, unit) in tables.items():
        lines = csv.DictReader((stfc_runs.FOLDER / "published" / file).open())
        published = {line["host_group"]: line for line in lines}
        for row in comparison.tables[0].rows:
            cell = next(cell for cell in row.cells if cell.metric.name == name)
            text = published[row.case.host_group].get(row.case.placement)
            if text and cell.summary:
                assert cell.summary.mean / unit == pytest.approx(float(text), abs=0.0051), (name, row.case)
                compared += 1
    assert compared == 3 * 7 * 4


def test_runs_that_do_not_count_are_left_out_and_noted() -> None:
    records = make.runs(SHM_1, [1e-6, 1e-6, 9.0, 9.0])
    records[2] = replace(records[2], verdict=CONTRADICTED, verdict_reasons=("hosts: wrong",))
    records[3] = replace(records[3], status=FAILED, reason="garbled")
    row = compare(records).tables[0].rows[0]
    assert (row.counted, row.planned) == (2, 4)
    assert row.cells[0].summary is not None and row.cells[0].summary.maximum == 1e-6
    notes = [note_text(note) for note in row.notes]
    assert notes == ["failed: garbled (repeat 4)", "contradicted: hosts: wrong (repeat 3)"]
    assert row.verdicts == {"verified": 2, "contradicted": 1}


def test_sizes_that_were_not_printed_are_replaced_and_single_ones_have_no_value() -> None:
    few = [make.run(SHM_1, 1, make.pingpong(1e-6, 1e9, [0.0, 1.0, 2.0, 4.0]))]
    names = [metric.name for metric in compare(few).tables[0].metrics]
    assert names[1:-1] == ["bandwidth at 1 B", "bandwidth at 2 B", "bandwidth at 4 B"]
    some = [make.run(SHM_1, 1, make.pingpong(1e-6, 1e9, [0.0, 1024.0, 2048.0]))]
    assert median_of(compare(some).tables[0].rows[0], "bandwidth at 8 KiB") is None
