"""Bundled kernels beside the originals whose definitions they share."""

from __future__ import annotations

from dataclasses import replace

import build_records as make
from test_balance import hpcc, of_run, rings

from mpicampaign.compare.beside_originals import beside_tables
from mpicampaign.compare.compare import compare


def test_other_mpi_libraries_and_numbers_of_nodes_have_no_ratio() -> None:
    for unlike in (rings(1, mpi_library="MPICH 4.0"), replace(rings(1), hosts=("n1", "n2"))):
        assert beside_tables(compare([hpcc(1, ranks=4), unlike]).tables) == []
    assert beside_tables(compare([hpcc(1, ranks=4), rings(1)]).tables)


def test_arrays_of_other_sizes_have_no_ratio() -> None:
    """HPCC prints elements of one process, the kernel bytes of all."""
    ours = make.series("stream", 4, stream_copy_star=1e9)
    stream = of_run("kernel", "stream", 1, ours, array_bytes="32000")
    for elements, tables in (("1000", 1), ("100", 0), ("", 0)):
        original = hpcc(1, ranks=4, stream_vectorsize=elements)
        assert len(beside_tables(compare([original, stream]).tables)) == tables, elements


def test_other_places_have_no_such_table() -> None:
    other = [hpcc(1, group="red", ranks=4), hpcc(1, ranks=8), rings(1)]
    assert beside_tables(compare(other).tables) == []
    assert beside_tables(compare([hpcc(1), hpcc(1, benchmark="again")]).tables) == []
