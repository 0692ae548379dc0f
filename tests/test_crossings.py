"""Curves that cross: at which sizes the order of a headline turns."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import build_records as make

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.crossings.find import Crossing, Curves, crossings_of
from mpicampaign.report.questions import answers
from mpicampaign.report.summary import summary

SIZES = (8, 128, 1024, 65536, 1048576)
RATES = {"A": (2e6, 30e6, 2e8, 1e9, 1e9), "B": (1e6, 15e6, 3e8, 4e9, 5e9)}  # A leads below 1 KiB


def runs(repeats: int, turned: int = 0) -> list[Record]:
    """In ``turned`` repeats A is as slow as B at 128 B."""
    made = []
    for name, rates in RATES.items():
        for repeat in range(1, repeats + 1):
            found = [rate * (1 + repeat / 1000) for rate in rates]
            if name == "A" and repeat <= turned:
                found[1] = RATES["B"][1]
            made.append(make.run(name, repeat, make.series("PingPong", size=SIZES, bandwidth=found)))
    return made


def noisy(candidates: int, repeats: int) -> list[Crossing]:
    """Of 24 sizes the others lead the first by 1.5 times up to 16 B; it leads at the last eight."""
    source, sizes = Random(1), [2**power for power in range(24)]
    curves: dict[str, Curves] = {}
    for who in range(candidates):
        factors = [1.5 if (place < 5) == (who == 0) and not 5 <= place < 16 else 1.0 for place in range(24)]
        values = {
            s: [f * source.gauss(1, 0.02) for _ in range(repeats)]
            for s, f in zip(sizes, factors, strict=True)
        }
        curves[str(who)] = values
    return [*crossings_of(curves, ["0"], lower_is_better=True)]


def test_the_chance_is_that_of_whole_runs_exchanged_however_many_sizes() -> None:
    assert [(one.name, one.low, one.high) for one in noisy(4, 6)] == [(who, 1, 16) for who in "123"]
    assert [(one.name, one.low, one.high) for one in noisy(2, 4)] == [("1", 1, 16)], "2 of 70 exchanges"
    assert not noisy(2, 3), "2 of 20"
    assert not noisy(5, 4), "four others, of each 1 of 70"


def test_headlines_name_their_metric_and_where_curves_cross() -> None:
    comparison = compare(runs(6))
    said = summary(comparison).lead
    turn = "ahead of B in all repeats: A at 8 B to 128 B (2.00 times)"
    bandwidth = next(one for one in answers(comparison) if one.title.endswith("maximum bandwidth"))
    assert f"A{turn[1:]}." in bandwidth.said
    assert "by maximum bandwidth" in said and said.endswith(turn), said
    both = [replace(run, case=replace(run.case, host_group=group)) for group in "gh" for run in runs(6)]
    assert summary(compare(both)).lead.endswith(f"; g: {turn}"), "of several host groups the first"
