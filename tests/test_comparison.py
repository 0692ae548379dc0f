"""Rows, values and rankings of a comparison."""

from __future__ import annotations

import csv
from dataclasses import replace

import build_records as make
import pytest
import stfc_runs

from mpicampaign.base.records import Case, Series
from mpicampaign.compare.compare import compare
from mpicampaign.compare.rows import Row
from mpicampaign.questions.ranking.say_pairs import pair_sentence
from mpicampaign.show.view import View
from mpicampaign.suites import SUITES

SHM_1 = make.case("SHM-1")
TCP = make.case("TCP")


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
