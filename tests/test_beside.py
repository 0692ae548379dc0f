"""Bundled kernels beside the originals whose definitions they share."""

from __future__ import annotations

from dataclasses import replace

from test_balance import hpcc, of_run, rings

from mpicampaign.compare.beside import beside_tables
from mpicampaign.compare.compare import compare
from mpicampaign.records import Series


def test_a_kernel_and_its_original_with_their_ratio() -> None:
    """Of several linear systems the largest; ratios of repeats of the same number."""
    originals = [hpcc(n, order, ring=order * 1e5 * n, ranks=4) for order in (1000, 2000) for n in (1, 2, 3)]
    [table] = [t for t in compare([*originals, rings(2), rings(3)]).tables if "beside" in t.label]
    assert table.label == "latency_bandwidth beside HPCC"
    [row] = table.rows
    found = {cell.metric.name.rpartition(", ")[2]: (cell.repeats, cell.values) for cell in row.cells}
    assert {cell.metric.part for cell in row.cells} == {""}  # each has a column with its own unit
    assert found == {
        "latency_bandwidth": ((2, 3), (2e9, 3e9)),
        "HPCC": ((1, 2, 3), (2e8, 4e8, 6e8)),
        "ratio": ((2, 3), (5.0, 5.0)),
    }


def test_other_mpi_libraries_and_numbers_of_nodes_have_no_ratio() -> None:
    for unlike in (rings(1, mpi_library="MPICH 4.0"), replace(rings(1), hosts=("n1", "n2"))):
        assert beside_tables(compare([hpcc(1, ranks=4), unlike]).tables) == []
    assert beside_tables(compare([hpcc(1, ranks=4), rings(1)]).tables)


def test_arrays_of_other_sizes_have_no_ratio() -> None:
    """HPCC prints elements of one process, the kernel bytes of all."""
    ours = Series("stream", 4, {"stream_copy_star": [1e9]})
    stream = of_run("kernel", "stream", 1, ours, array_bytes="32000")
    for elements, tables in (("1000", 1), ("100", 0), ("", 0)):
        original = hpcc(1, ranks=4, stream_vectorsize=elements)
        assert len(beside_tables(compare([original, stream]).tables)) == tables, elements


def test_other_places_have_no_such_table() -> None:
    other = [hpcc(1, group="red", ranks=4), hpcc(1, ranks=8), rings(1)]
    assert beside_tables(compare(other).tables) == []
    assert beside_tables(compare([hpcc(1), hpcc(1, benchmark="again")]).tables) == []
