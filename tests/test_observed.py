"""Repeats with another program or library are shown, but not averaged."""

from __future__ import annotations

import build_records as make
from evidence_texts import CLAIM, RUN, evidence_text, rank_lines, read

from mpicampaign.base.records import BLAS, Case, Record
from mpicampaign.collect.observed_software import GPU_LIBRARIES, LIBRARY, PROGRAM, mark_earlier, observed
from mpicampaign.compare.compare import compare
from mpicampaign.show.sentences import reason

CASE = Case("here", "blue", "SHM-1", "PingPong")


def runs(*states: dict[str, str]) -> list[Record]:
    """A repeat for each state, one after the other."""
    return make.case_runs(
        CASE,
        repeats=len(states),
        metadata=lambda repeat: states[repeat - 1],
        started=lambda repeat: f"2026-01-0{repeat}T00:00:00Z",
    )


def test_an_upgrade_between_two_repeats_parts_them() -> None:
    old, new = {PROGRAM: "aaaa", LIBRARY: "1111"}, {PROGRAM: "bbbb", LIBRARY: "1111"}
    marked = mark_earlier(runs(old, old, new))
    assert [run.earlier for run in marked] == ["program checksum aaaa, now bbbb"] * 2 + [""]
    [row] = compare(marked).tables[0].rows
    assert row.counted == 1
    [note] = [note for note in row.notes if note.kind == "earlier"]
    assert (note.repeats, reason(note)) == ((1, 2), "program checksum aaaa, now bbbb")


def test_another_blas_library_parts_them_even_without_a_build_id() -> None:
    marked = mark_earlier(runs({BLAS: "OpenBLAS 0.3.21"}, {BLAS: "reference BLAS"}))
    assert [run.earlier for run in marked] == ["BLAS OpenBLAS 0.3.21, now reference BLAS", ""]


def test_another_nccl_parts_them() -> None:
    line = "rank 0 end.gpu_libraries=/opt/lib/libnccl.so.2\nrank 0 end.nccl_version={}\n"
    found = [observed(read(evidence_text(CLAIM, RUN, line.format(each)))) for each in (22005, 22101)]
    assert found[0][GPU_LIBRARIES] == "libnccl.so.2, NCCL 22005"
    said = "GPU libraries libnccl.so.2, NCCL 22005, now libnccl.so.2, NCCL 22101"
    assert [run.earlier for run in mark_earlier(runs(*found))] == [said, ""]


def test_a_bundled_kernel_is_known_by_its_version_and_not_by_its_checksum() -> None:
    ranks = rank_lines(0, "blue1", 0) + "rank 0 start.library=/opt/libmpi.so\njob sha256.libmpi.so=fedcba\n"
    assert observed(read(evidence_text(CLAIM, RUN, ranks)))[LIBRARY] == "fedcba"
    ranks += "rank 0 start.library_build_id=0123456789abcdef\n"
    text = evidence_text(CLAIM, RUN, ranks)
    assert observed(read(text)) == {PROGRAM: "5555", LIBRARY: "0123456789ab"}
    bundled = text.replace('"benchmark"', '"provider":"bundled","benchmark"')
    assert observed(read(bundled)) == {LIBRARY: "0123456789ab"}
