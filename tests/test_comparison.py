"""Rows, values and rankings of a comparison."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
import stfc_runs
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.ranking import rank_placements
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.dimension import SLOWDOWN, TIME
from mpicampaign.records import CONTRADICTED, FAILED, NOT_AVAILABLE, Case, Record, Series
from mpicampaign.show.pairs import pair_sentence, pair_sentences
from mpicampaign.show.rankings import absent_text, verdict
from mpicampaign.show.sentences import absence, note_text, reason
from mpicampaign.show.view import View
from mpicampaign.suites import SUITES

SHM_1 = Case("s", "g", "SHM-1", "PingPong")
TCP = Case("s", "g", "TCP", "PingPong")


def table_of(comparison: Comparison, label: str) -> Table:
    return next(table for table in comparison.tables if table.label == label)


def row_of(table: Table, placement: str) -> Row:
    return next(row for row in table.rows if row.case.placement == placement)


def median_of(row: Row, name: str) -> float | None:
    cell = next(cell for cell in row.cells if cell.metric.name == name)
    return cell.summary.median if cell.summary else None


def fixed(case: Case, latencies: list[float], bandwidth: float = 1e9) -> list[Record]:
    return [
        synthetic.run(case, repeat, synthetic.pingpong(latency, bandwidth))
        for repeat, latency in enumerate(latencies, start=1)
    ]


def test_metrics_of_a_transfer_benchmark() -> None:
    table = compare(fixed(SHM_1, [1e-6, 2e-6, 3e-6])).tables[0]
    names = ["latency at 0 B", *(f"bandwidth at {size}" for size in ("1 KiB", "8 KiB", "32 KiB"))]
    assert [metric.name for metric in table.metrics] == [*names, "maximum bandwidth"]
    assert median_of(table.rows[0], "latency at 0 B") == 2e-6
    assert median_of(table.rows[0], "bandwidth at 1 KiB") == pytest.approx(1024 / (2e-6 + 1024 / 1e9))


def test_maximum_is_found_in_each_run_with_its_size() -> None:
    cell = compare(fixed(SHM_1, [1e-6, 2e-6])).tables[0].rows[0].cells[-1]
    assert cell.sizes == (2**22, 2**22)
    assert cell.values[0] > cell.values[1]


def test_latency_is_named_after_the_smallest_printed_size() -> None:
    sizes = [1.0, 2.0, 4.0]
    records = [synthetic.run(SHM_1, n, synthetic.pingpong(1e-6, 1e9, sizes)) for n in (1, 2)]
    assert compare(records).tables[0].metrics[0].name == "latency at 1 B"


def test_sizes_that_were_not_printed_are_replaced_and_single_ones_have_no_value() -> None:
    few = [synthetic.run(SHM_1, 1, synthetic.pingpong(1e-6, 1e9, [0.0, 1.0, 2.0, 4.0]))]
    names = [metric.name for metric in compare(few).tables[0].metrics]
    assert names[1:-1] == ["bandwidth at 1 B", "bandwidth at 2 B", "bandwidth at 4 B"]
    some = [synthetic.run(SHM_1, 1, synthetic.pingpong(1e-6, 1e9, [0.0, 1024.0, 2048.0]))]
    assert median_of(compare(some).tables[0].rows[0], "bandwidth at 8 KiB") is None


def test_sizes_of_a_benchmark_override_those_of_the_campaign() -> None:
    comparison = compare(fixed(SHM_1, [1e-6]), (1024,), {"PingPong": (64,)})
    assert comparison.tables[0].metrics[1].name == "bandwidth at 64 B"


def test_collectives_show_times_and_no_latency_of_nothing() -> None:
    case = Case("s", "g", "SHM-full", "Gather")
    records = [synthetic.run(case, n, synthetic.collective("Gather", 1e-6, 1e9)) for n in (1, 2)]
    names = [metric.name for metric in compare(records).tables[0].metrics]
    assert names == ["time at 1 B", "time at 1 KiB", "time at 8 KiB", "time at 32 KiB"]


def test_benchmark_without_sizes() -> None:
    case = Case("s", "g", "SHM", "Barrier")
    records = [synthetic.run(case, n, Series("Barrier", 2, {"time": [n * 1e-6]})) for n in (1, 2, 3)]
    row = compare(records).tables[0].rows[0]
    assert [cell.metric.name for cell in row.cells] == ["time"]
    assert median_of(row, "time") == 2e-6


def test_osu_latency_prints_only_times_and_has_a_latency() -> None:
    series = synthetic.collective("osu_latency", 1e-6, 1e9, ranks=2)
    metric = compare([synthetic.run(SHM_1, 1, series, suite="osu")]).tables[0].metrics[0]
    assert metric.name == "latency at 0 B"


def test_numbers_of_ranks_have_their_own_rows_and_are_not_ranked_together() -> None:
    case, other = Case("s", "g", "SHM-full", "Gather"), Case("s", "g", "TCP-full", "Gather")
    two, four = (synthetic.collective("Gather", n * 1e-6, 1e9, ranks=n) for n in (2, 4))
    records = [synthetic.run(case, n, two, four) for n in (1, 2)]
    records += [synthetic.run(other, n, four) for n in (1, 2)]
    table = compare(records).tables[0]
    assert [(row.case.placement, row.ranks) for row in table.rows] == [
        ("SHM-full", 2),
        ("SHM-full", 4),
        ("TCP-full", 4),
    ]
    assert sorted(len(r.contestants) for r in table.rankings if r.metric.size == 1) == [1, 2]


def test_runs_that_do_not_count_are_left_out_and_noted() -> None:
    records = fixed(SHM_1, [1e-6, 1e-6, 9.0, 9.0])
    records[2] = replace(records[2], verdict=CONTRADICTED, verdict_reasons=("hosts: wrong",))
    records[3] = replace(records[3], status=FAILED, reason="garbled")
    row = compare(records).tables[0].rows[0]
    assert (row.counted, row.planned) == (2, 4)
    assert row.cells[0].summary is not None and row.cells[0].summary.maximum == 1e-6
    notes = [note_text(note) for note in row.notes]
    assert notes == ["failed: garbled (repeat 4)", "contradicted: hosts: wrong (repeat 3)"]
    assert row.verdicts == {"verified": 2, "contradicted": 1}


def test_rows_never_vanish() -> None:
    records = fixed(SHM_1, [1e-6]) + synthetic.not_available(TCP, "no such network")
    row = row_of(compare(records).tables[0], "TCP")
    assert absence(row.absence) == "n/a: no such network"
    assert row.counted == 0 and all(cell.summary is None for cell in row.cells)


def test_only_absent_runs_still_make_a_table() -> None:
    comparison = compare(synthetic.not_available(TCP, "no such network"))
    assert absence(comparison.tables[0].rows[0].absence) == "n/a: no such network"
    assert comparison.rankings == ()


def test_contradicted_runs_alone_show_their_reason() -> None:
    records = [replace(r, verdict=CONTRADICTED, verdict_reasons=("why",)) for r in fixed(SHM_1, [1e-6, 1e-6])]
    assert absence(compare(records).tables[0].rows[0].absence) == "contradicted: why"


def test_a_run_without_the_series_of_the_others_is_noted() -> None:
    records = fixed(SHM_1, [1e-6, 1e-6])
    records.append(synthetic.run(SHM_1, 3, synthetic.collective("Other", 1e-6, 1e9)))
    notes = [note_text(note) for note in table_of(compare(records), "PingPong").rows[0].notes]
    assert notes == ["not printed: the output has no such series (repeat 3)"]


def test_values_that_are_not_finite_are_missing() -> None:
    series = Series("PingPong", 2, {"size": [0.0, 1.0], "time": [float("nan"), 1e-6]})
    assert median_of(compare([synthetic.run(SHM_1, 1, series)]).tables[0].rows[0], "time at 1 B") == 1e-6
    broken = Series("osu_latency", 2, {"size": [0.0, 1.0], "time": [float("inf"), None]})
    row = compare([synthetic.run(SHM_1, 1, broken, suite="osu")]).tables[0].rows[0]
    assert median_of(row, "latency at 0 B") is None


def test_kernels_show_useful_and_wire_bandwidth_and_the_ratio_in_the_same_run() -> None:
    case = Case("s", "g", "SHM-1", "tree_gather")
    series = synthetic.tree_gather("max-inter", 1e-6, 4e9), synthetic.mpi_gather(1e-6, 2e9)
    comparison = compare([synthetic.run(case, 1, *series, suite="kernel")])
    table = table_of(comparison, "tree_gather (tree max-inter)")
    assert [metric.part for metric in table.metrics[:3]] == ["B_useful", "B_wire", "/ MPI_Gather"]
    useful, wire, ratio = (cell.values[0] for cell in table.rows[0].cells[:3])
    assert wire == pytest.approx(useful * 4 / 3)
    gather = table_of(comparison, "MPI_Gather").rows[0].cells[0].values[0]
    assert ratio == pytest.approx(useful / gather)


def test_kernels_that_had_not_settled_are_noted_and_count() -> None:
    case = Case("s", "g", "SHM-1", "tree_gather")
    series = synthetic.tree_gather("max-inter", 1e-6, 4e9)
    settled = [1.0] * len(series.columns["size"])
    quiet, restless = (
        replace(series, columns={**series.columns, "converged": flags})
        for flags in (settled, [0.0, *settled[1:]])
    )
    row = compare([synthetic.run(case, 1, quiet), synthetic.run(case, 2, restless)]).tables[0].rows[0]
    assert [(note.kind, note.repeats) for note in row.notes] == [("not_converged", (2,))]
    assert row.counted == 2


def test_the_baseline_of_kernels_comes_last() -> None:
    case = Case("s", "g", "SHM-1", "tree_gather")
    series = synthetic.mpi_gather(1e-6, 2e9), synthetic.tree_gather("max-inter", 1e-6, 4e9)
    labels = [table.label for table in compare([synthetic.run(case, 1, *series, suite="kernel")]).tables]
    assert labels == ["tree_gather (tree max-inter)", "MPI_Gather"]


def test_the_baseline_has_no_wire_bandwidth_since_nobody_knows_what_mpi_sends() -> None:
    case = Case("s", "g", "SHM-1", "tree_gather")
    records = [synthetic.run(case, 1, synthetic.mpi_gather(1e-6, 2e9), suite="kernel")]
    assert {metric.part for metric in compare(records).tables[0].metrics} == {"B_useful"}


GIGABIT = 1.25e8  # B/s


def linked(table: Series, *, hosts: tuple[str, ...] = ("n1", "n2"), rate: float | None = GIGABIT) -> Row:
    """The row of six runs with this table over a link of this rate."""
    case = Case("s", "g", "TCP", table.benchmark)
    suite = next((each.name for each in SUITES.values() if table.benchmark in each.sends), "imb")
    made = [synthetic.run(case, n, table, suite=suite) for n in range(1, 7)]
    runs = [replace(run, hosts=hosts, line_rate=rate) for run in made]
    return compare(runs).tables[0].rows[0]


def fractions(row: Row) -> list[tuple[float | None, float | None, tuple[int, ...]]]:
    """Bound, median and sizes of the fractions that the row holds."""
    cells = [cell for cell in row.cells if cell.metric.bound]
    return [(c.bound, c.summary.median if c.summary else None, tuple(set(c.sizes))) for c in cells]


def test_large_messages_are_compared_with_the_line_rate() -> None:
    table = synthetic.pingpong(1e-6, 1.2e8)
    table.columns["bandwidth"][synthetic.SIZES.index(65536.0)] = (
        9e8  # what a buffer takes at once is no bandwidth
    )
    ((bound, median, sizes),) = fractions(linked(table))
    assert bound == GIGABIT
    assert median == pytest.approx(0.96, abs=0.001)
    assert sizes == (2**22,)


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
    table = replace(synthetic.pingpong(1e-6, 1e8), benchmark=benchmark, ranks=ranks)
    found = fractions(linked(table, hosts=hosts))
    assert [each[0] for each in found] == ([bound] if bound else [])


def test_without_a_rate_or_large_messages_there_is_no_fraction() -> None:
    assert fractions(linked(synthetic.pingpong(1e-6, 1e8), rate=None)) == []
    assert fractions(linked(synthetic.pingpong(1e-6, 1e8, [0.0, 1024.0]))) == [(GIGABIT, None, ())]


def test_more_than_the_line_rate_is_noted() -> None:
    (note,) = [note for note in linked(synthetic.pingpong(1e-6, 2e8)).notes if note.kind == "above"]
    assert "125.0 MB/s" in reason(note) and "1.60 times" in reason(note)
    assert note.repeats == (1, 2, 3, 4, 5, 6)
    assert not [note for note in linked(synthetic.pingpong(1e-6, 1.2e8)).notes if note.kind == "above"]


def test_two_modes_are_a_finding_with_the_repeats_in_each() -> None:
    records = fixed(SHM_1, [1.0e-6, 2.0e-6, 1.01e-6, 2.02e-6, 1.02e-6, 2.01e-6])
    notes = compare(records).tables[0].rows[0].notes
    assert [note.kind for note in notes] == ["modes"]  # and not that the median is between them
    assert "(repeats 1, 3, 5)" in reason(notes[0]) and "(repeats 2, 4, 6)" in reason(notes[0])
    quiet = fixed(SHM_1, [1.0e-6, 1.03e-6, 1.01e-6, 1.05e-6, 1.02e-6, 1.04e-6])
    assert compare(quiet).tables[0].rows[0].notes == ()


def test_bands_at_one_size_among_many_may_be_chance() -> None:
    records = fixed(SHM_1, [1e-6] * 6)
    for record in records:
        times = record.series[0].columns["time"]
        times[3] = 5e-6 if record.repeat % 2 else 9e-6
    assert compare(records).tables[0].rows[0].notes == ()


def test_neighbouring_printed_values_are_not_modes() -> None:
    times = (1e-7, 1e-7, 1e-7, 1.1e-7, 1.1e-7, 1.1e-7)
    series = [Series("osu_latency", 2, {"size": [1.0], "time": [time]}) for time in times]
    records = [synthetic.run(SHM_1, n, s, suite="osu") for n, s in enumerate(series, start=1)]
    assert compare(records).tables[0].rows[0].notes == ()


def test_ranking_of_separated_placements() -> None:
    records = fixed(SHM_1, [1e-6 + n * 1e-8 for n in range(6)])
    records += fixed(TCP, [1e-5 + n * 1e-8 for n in range(6)])
    ranking = compare(records).tables[0].rankings[0]
    assert verdict(ranking) == "lowest: SHM-1"
    assert pair_sentences(ranking, View()) == (
        "latency at 0 B: TCP (10.0 µs) takes 9.78 times as long as SHM-1 (1.02 µs); "
        "all 6 repeats of one lie below all 6 of the other",
    )


def test_a_ranking_puts_the_lowest_first_wherever_lower_is_better() -> None:
    slowdown = Metric("contention", "contention", SLOWDOWN, headline=True)
    assert slowdown.lower_is_better and slowdown.dimension is not TIME
    records = [
        synthetic.run(case, repeat, Series("core_pairs", 4, {"contention": [value]}), suite="kernel")
        for case, values in ((SHM_1, (3.0, 3.1, 3.2)), (TCP, (1.5, 1.6, 1.7)))
        for repeat, value in enumerate(values, start=1)
    ]
    table = compare(records).tables[0]
    rows = [replace(row, cells=(replace(row.cells[0], metric=slowdown),)) for row in table.rows]
    (ranking,) = rank_placements(rows, [slowdown])
    assert [contestant.name for contestant in ranking.contestants] == ["TCP", "SHM-1"]
    assert verdict(ranking).startswith("lowest: TCP")


def test_ranking_in_per_cent_and_higher_is_better_for_bandwidth() -> None:
    records = fixed(SHM_1, [1e-6] * 6, 1.5e9) + fixed(TCP, [1e-6] * 6, 1.2e9)
    ranking = next(r for r in compare(records).tables[0].rankings if r.metric.name == "maximum bandwidth")
    assert "SHM-1 (1499 MB/s) reaches 25 % more than TCP (1200 MB/s)" in pair_sentences(ranking, View())[0]
    assert "1430 MiB/s" in pair_sentences(ranking, View("MiB/s"))[0]


def test_ranking_refuses_when_there_is_no_difference_or_too_few_repeats() -> None:
    same = [1e-6 + n * 1e-8 for n in range(6)]
    ranking = compare(fixed(SHM_1, same) + fixed(TCP, same[::-1])).tables[0].rankings[0]
    assert "no significant difference" in pair_sentences(ranking, View())[0]
    assert verdict(ranking) == "lowest: SHM-1; no significant difference between SHM-1 and TCP"
    ranking = compare(fixed(SHM_1, [1e-6] * 3) + fixed(TCP, [1e-5] * 3)).tables[0].rankings[0]
    assert "too few repeats to compare them" in pair_sentences(ranking, View())[0]
    assert len(ranking.leaders) == 2


def test_ranking_of_one_contestant_compares_nothing() -> None:
    records = fixed(SHM_1, [1e-6]) + synthetic.not_available(TCP, "no network")
    ranking = compare(records).tables[0].rankings[0]
    assert verdict(ranking) == "only SHM-1 has values: nothing to compare"
    assert tuple(map(absent_text, ranking.absent)) == ("TCP: n/a: no network",)


def test_host_groups_are_ranked_where_there_are_several() -> None:
    other = replace(SHM_1, host_group="h")
    comparison = compare(fixed(SHM_1, [1e-6] * 6) + fixed(other, [3e-6] * 6))
    ranking = next(r for _, r in comparison.rankings if r.kind == "host groups")
    assert (ranking.scope, verdict(ranking)) == ("SHM-1", "lowest: g")


def test_every_pair_is_compared() -> None:
    def pairs(count: int) -> list[tuple[str, str]]:
        cases = [replace(SHM_1, placement=f"P{n}") for n in range(count)]
        records = [record for n, case in enumerate(cases, 1) for record in fixed(case, [n * 1e-6] * 5)]
        return [(p.better.name, p.worse.name) for p in compare(records).tables[0].rankings[0].pairs]

    assert pairs(3) == [("P0", "P1"), ("P0", "P2"), ("P1", "P2")]
    assert len(pairs(13)) == 78


def test_zero_medians_have_no_factor() -> None:
    def series(time: float) -> Series:
        return Series("osu_latency", 2, {"size": [1.0], "time": [time]})

    records = [synthetic.run(SHM_1, n, series(0.0), suite="osu") for n in range(1, 7)]
    records += [synthetic.run(TCP, n, series(1e-6), suite="osu") for n in range(1, 7)]
    pair = compare(records).tables[0].rankings[0].pairs[0]
    assert pair.factor is None and "TCP (1.00 µs) takes longer than SHM-1" in pair_sentence(pair, View())


def test_run_notes_are_listed_once_for_all_series_of_a_benchmark() -> None:
    comparison = compare(synthetic.campaign())
    absent = [(row.case.benchmark, note) for _, row, note in comparison.notes() if note.kind == NOT_AVAILABLE]
    assert sorted(benchmark for benchmark, _ in absent) == ["PingPong", "tree_gather"]


def test_coverages_are_those_of_the_repeats() -> None:
    assert compare(synthetic.campaign()).coverages() == {4: 0.875, 6: 0.96875}


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
