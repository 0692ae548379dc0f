"""How far a run is from convergence is stated by a width, where the output shows one."""

from __future__ import annotations

from collections.abc import Sequence

import build_records as make

from mpicampaign.compare.compare import compare
from mpicampaign.show.sentences import note_text

CASE = make.case("SHM-1", "tree_gather")
OLD = "not converged: at some sizes the samples did not converge in the time allowed (repeat 1)"
Numbers = Sequence[float | None]


def notes(*runs: dict[str, Numbers], suite: str = "kernel") -> list[str]:
    """The sentences on runs with these columns at 8 and 16 B."""
    records = [
        make.run(CASE, repeat, make.series("x", size=[8, 16], time=[1e-6, 2e-6], **columns), suite=suite)
        for repeat, columns in enumerate(runs, start=1)
    ]
    ((row,),) = (table.rows for table in compare(records, [8]).tables)
    return [note_text(note) for note in row.notes]


def test_runs_without_widths_are_reported_as_before() -> None:
    assert notes({"converged": [0, 1]}) == [OLD]
    assert notes({"converged": [0, 1], "width": [None, 0.1]}) == [OLD]


def test_percentiles_of_osu_show_a_tail() -> None:
    narrow: dict[str, Numbers] = {"time_p50": [1e-6, 2e-6], "time_p99": [1.05e-6, 2e-6]}
    wide: dict[str, Numbers] = {"time_p50": [1e-6, 2e-6], "time_p99": [1.05e-6, 5e-6]}
    assert notes(narrow, wide, suite="osu") == [
        "wide spread: samples at 16 B: the slowest 1 % lie 150 % or more above the median (repeat 2)"
    ]
    two: dict[str, Numbers] = {"time_p50": [1e-6, 2e-6], "time_p99": [4e-6, 2.5e-6]}
    assert notes(two, suite="osu") == [
        "wide spread: samples at 8 B: the slowest 1 % lie 300 % or more above the median (repeat 1)"
    ]
