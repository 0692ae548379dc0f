"""One metric of a table as host groups × placements."""

from __future__ import annotations

import build_records as make

from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison, Matrix
from mpicampaign.show.sentences import absence
from mpicampaign.show.tables import chosen_matrices
from mpicampaign.show.view import DEFAULT


def only(comparison: Comparison, name: str) -> Matrix:
    return next(
        m for m in chosen_matrices(comparison, comparison.tables[0], DEFAULT) if m.metric.name == name
    )


def test_each_number_of_ranks_has_its_own_matrix_and_absent_rows_are_in_each() -> None:
    case, absent = make.case("SHM-full", "Gather"), make.case("TCP-full", "Gather")
    pair = [make.collective("Gather", n * 1e-6, 1e9, ranks=n) for n in (2, 4)]
    records = [make.run(case, n, *pair) for n in (1, 2)] + make.not_available(absent, "no network")
    comparison = compare(records)
    found = [m for m in chosen_matrices(comparison, comparison.tables[0], DEFAULT) if m.metric.size == 1]
    assert [m.ranks for m in found] == [2, 4]
    assert [m.row("g", "SHM-full").ranks for m in found] == [2, 4]  # type: ignore[union-attr]
    assert {absence(m.absence("g", "TCP-full")) for m in found} == {"n/a: no network"}


def test_a_table_without_values_has_no_matrix() -> None:
    comparison = compare(make.not_available("IBV", "none"))
    assert chosen_matrices(comparison, comparison.tables[0], DEFAULT) == ()
