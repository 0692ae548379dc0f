"""Bundled kernels beside the originals whose definitions they share."""

from __future__ import annotations

import build_records as make
from test_balance import hpcc, of_run

from mpicampaign.compare.beside_originals import beside_tables
from mpicampaign.compare.compare import compare


def test_arrays_of_other_sizes_have_no_ratio() -> None:
    """HPCC prints elements of one process, the kernel bytes of all."""
    ours = make.series("stream", 4, stream_copy_star=1e9)
    stream = of_run("kernel", "stream", 1, ours, array_bytes="32000")
    for elements, tables in (("1000", 1), ("100", 0), ("", 0)):
        original = hpcc(1, ranks=4, stream_vectorsize=elements)
        assert len(beside_tables(compare([original, stream]).tables)) == tables, elements
