"""One metric of a table as host groups × placements."""

from __future__ import annotations

import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import NOT_IN_CAMPAIGN, Note
from mpicampaign.compare.matrix import Matrix
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.records import Case
from mpicampaign.show.sentences import absence
from mpicampaign.show.tables import chosen_matrices
from mpicampaign.show.view import DEFAULT


def only(comparison: Comparison, name: str) -> Matrix:
    return next(
        m for m in chosen_matrices(comparison, comparison.tables[0], DEFAULT) if m.metric.name == name
    )


def table_of(comparison: Comparison, benchmark: str) -> Table:
    return next(table for table in comparison.tables if table.benchmark == benchmark)


def test_headlines_and_table_sizes_each_have_a_matrix() -> None:
    comparison = compare(synthetic.campaign())
    names = [m.metric.name for m in chosen_matrices(comparison, comparison.tables[0], DEFAULT)]
    sizes = [f"bandwidth at {size}" for size in ("1 KiB", "8 KiB", "32 KiB")]
    assert names == ["latency at 0 B", *sizes, "maximum bandwidth"]


def test_entries_have_their_row_and_value_or_the_reason() -> None:
    groups = [Case("s", group, "SHM-1", "PingPong") for group in ("g1", "g2")]
    tcp = Case("s", "g2", "TCP", "PingPong")
    ibv = Case("s", "g1", "IBV", "PingPong")
    records = [run for case in groups for run in synthetic.case_runs(case, 1e-6, 1e9)]
    records += synthetic.case_runs(tcp, 5e-6, 1e8) + synthetic.not_available(ibv, "no InfiniBand device")
    found = only(compare(records), "latency at 0 B")
    assert (found.host_groups, found.placements) == (("g1", "g2"), ("SHM-1", "TCP", "IBV"))
    assert found.ranks == 2 and found.title == "PingPong, latency at 0 B, 2 ranks"
    row = found.row("g2", "TCP")
    assert row is not None and row.case == tcp and found.absence("g2", "TCP") == ()
    assert absence(found.absence("g1", "IBV")) == "n/a: no InfiniBand device"
    assert found.row("g2", "IBV") is None
    assert found.absence("g2", "IBV") == (Note(kind=NOT_IN_CAMPAIGN),)
    assert len(found.rows) == 3


def test_a_size_that_one_case_did_not_print_is_noted() -> None:
    few, all_sizes = (Case("s", "g", placement, "PingPong") for placement in ("TCP", "SHM-1"))
    records = [synthetic.run(few, 1, synthetic.pingpong(1e-6, 1e9, [0.0, 8192.0]))]
    records += synthetic.case_runs(all_sizes, 1e-6, 1e9)
    found = only(compare(records), "bandwidth at 1 KiB")
    assert absence(found.absence("g", "TCP")) == "not printed at this size"
    assert found.absence("g", "SHM-1") == ()


def test_several_systems_are_in_the_names_of_rows() -> None:
    comparison = compare(synthetic.campaign("one") + synthetic.campaign("two"))
    assert only(comparison, "latency at 0 B").host_groups == ("one/local", "two/local")


def test_each_number_of_ranks_has_its_own_matrix_and_absent_rows_are_in_each() -> None:
    case, absent = Case("s", "g", "SHM-full", "Gather"), Case("s", "g", "TCP-full", "Gather")
    pair = [synthetic.collective("Gather", n * 1e-6, 1e9, ranks=n) for n in (2, 4)]
    records = [synthetic.run(case, n, *pair) for n in (1, 2)] + synthetic.not_available(absent, "no network")
    comparison = compare(records)
    found = [m for m in chosen_matrices(comparison, comparison.tables[0], DEFAULT) if m.metric.size == 1]
    assert [m.ranks for m in found] == [2, 4]
    assert [m.row("g", "SHM-full").ranks for m in found] == [2, 4]  # type: ignore[union-attr]
    assert {absence(m.absence("g", "TCP-full")) for m in found} == {"n/a: no network"}


def test_names_are_harmless_and_still_find_their_rows() -> None:
    names = Case(synthetic.HOSTILE, synthetic.HOSTILE, synthetic.HOSTILE, "PingPong")
    found = only(compare(synthetic.case_runs(names, 1e-6, 1e9)), "latency at 0 B")
    assert "\x1b" not in "".join((*found.host_groups, *found.placements, found.title))
    assert found.absence(found.host_groups[0], found.placements[0]) == ()


def test_a_table_without_values_has_no_matrix() -> None:
    comparison = compare(synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "none"))
    assert chosen_matrices(comparison, table_of(comparison, "PingPong"), DEFAULT) == ()
