"""The balance of communication and computation."""

from __future__ import annotations

from dataclasses import replace

import build_records as make
import pytest

from mpicampaign.base.records import BLAS, QUIET, REFERENCE_BLAS, Record, Series
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import NOT_COMPARABLE
from mpicampaign.compare.rows import Row
from mpicampaign.show.sentences import note_text


def hpcc(
    repeat: int,
    order: int = 2000,
    hpl: float = 6.91e9,
    ring: float = 0.398e9,
    benchmark: str = "",
    group: str = "blue",
    ranks: int = 192,
    **metadata: str,
) -> Record:
    """A run of HPCC; values per process."""
    columns = {"hpl_flops": hpl * ranks, "hpl_flops_per_process": hpl, "random_ring_bandwidth": ring}
    qualifiers = {"N": str(order), "NB": "80", "grid": f"1 x {ranks}"}
    table = make.series("HPCC", ranks, qualifiers=qualifiers, stream_copy_star=3e9, **columns)
    return of_run("hpcc", benchmark or f"HPCC-{order}", repeat, table, group, **metadata)


def of_run(
    suite: str, benchmark: str, repeat: int, series: Series, group: str = "blue", **metadata: str
) -> Record:
    known = {BLAS: "OpenBLAS 0.3.21", "mpi_library": "Open MPI 4.1.4", **metadata}
    case = make.case("SHM", benchmark, group, "here")
    return make.run(case, repeat, series, suite=suite, hosts=("n1",), condition=QUIET, metadata=known)


def balances(*records: Record) -> list[Row]:
    table = compare(records).tables[-1]
    assert table.label == "balance"
    return list(table.rows)


def values(row: Row) -> dict[str, tuple[float, ...]]:
    return {cell.metric.column: cell.values for cell in row.cells}


def notes(row: Row, kind: str) -> list[str]:
    return [note_text(note) for note in row.notes if note.kind == kind]


TWO_SIZES = [hpcc(repeat, order) for order in (1000, 2000) for repeat in (1, 2, 3)]


def test_reference_blas_is_refused() -> None:
    runs = [replace(run, metadata={**run.metadata, BLAS: REFERENCE_BLAS}) for run in TWO_SIZES]
    [row] = balances(*runs)
    assert values(row)["balance"] == values(row)["memory_balance"] == ()
    assert notes(row, NOT_COMPARABLE) == [
        "no balance: HPL used reference BLAS: its rate is that of the library, not of the machine"
    ]


def test_the_part_of_a_random_ring_within_nodes_is_left_out_of_what_crosses_between_them() -> None:
    """NEC SX-6+, 32 processes on 4 nodes: the paper takes a quarter, which of 31 neighbours are 7."""
    hosts = ("n1", "n2", "n3", "n4")
    runs = [hpcc(repeat, order, hpl=8.375e9, ring=0.672e9, ranks=32) for order in (1, 2) for repeat in (1, 2)]
    runs = [replace(run, hosts=hosts, attributes={"adapters": "2"}) for run in runs]
    [row] = balances(*runs)
    crossing = 0.672e9 * 24 / 31
    for column, value in {
        "random_ring_within": 7 / 31,
        "random_ring_between": crossing,
        "random_ring_of_node": 8 * crossing,
        "random_ring_of_adapter": 4 * crossing,
        "balance_between": crossing / 8.375e9,
    }.items():
        assert values(row)[column] == pytest.approx((value, value)), column
    alone = [replace(hpl_run(repeat, 1000), hosts=("n1", "n2")) for repeat in (1, 2)]
    assert not [table for table in compare(alone).tables if table.label == "balance"], "HPL alone has none"
    uneven = [replace(run, hosts=hosts[:3], attributes={}) for run in runs]
    assert "random_ring_within" not in values(balances(*uneven)[0])


def hpl_run(repeat: int, order: int) -> Record:
    qualifiers = {"N": str(order), "NB": "80", "grid": "2 x 2"}
    table = make.series("HPL", 4, qualifiers=qualifiers, flops=4e9 * 4, hpl_flops_per_process=4e9)
    return of_run("hpl", f"HPL-{order}", repeat, table)


def rings(repeat: int, ranks: int = 4, **metadata: str) -> Record:
    table = make.series("latency_bandwidth", ranks, random_ring_bandwidth=1e9 * repeat)
    return of_run("kernel", "latency_bandwidth", repeat, table, **metadata)


HPL = [hpl_run(repeat, order) for order in (1000, 2000) for repeat in (1, 2)]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (rings(1, ranks=2), "latency_bandwidth and HPL-2000 differ: 2 ranks and 4 ranks"),
        (rings(1, mpi_library="MPICH 4.0"), "differ: MPICH 4.0 and Open MPI 4.1.4"),
        (replace(rings(1), hosts=("n1", "n2")), "differ: 2 nodes and 1 node"),
        (rings(9), "no repeat has both latency_bandwidth and HPL-2000"),
    ],
)
def test_runs_that_are_not_alike_are_refused_with_the_reason(other: Record, reason: str) -> None:
    [row] = balances(*HPL, other)
    assert values(row)["balance"] == ()
    [note] = notes(row, NOT_COMPARABLE)
    assert reason in note
