"""Imported groups that were measured one after the other are shown by ratio and ranges, without a test."""

from __future__ import annotations

from dataclasses import replace

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import IMPORTED_FROM, Case, Record
from mpicampaign.show.pairs import certainty_of_best, pair_sentence
from mpicampaign.show.summary import summary
from mpicampaign.show.view import DEFAULT

IN_TURN, UNKNOWN = "were measured one after the other", "is not known: tests assume"


def runs_of(placement: str, time: float, first_hour: int, imported: bool) -> list[Record]:
    """Five repeats, one an hour; of hour 0 it is unknown."""
    runs = synthetic.case_runs(Case("s", "g", placement, "PingPong"), time, 1e9)
    metadata = {IMPORTED_FROM: "a folder"} if imported else {}
    hours = range(first_hour, first_hour + len(runs))
    starts = [f"2017-03-21T{hour:02d}:00:00" if first_hour else "" for hour in hours]
    return [
        replace(run, started=started, metadata={**run.metadata, **metadata})
        for run, started in zip(runs, starts, strict=True)
    ]


@pytest.mark.parametrize(
    ("hour", "imported", "said"),
    [(11, True, IN_TURN), (3, True, ""), (11, False, ""), (0, True, UNKNOWN)],
    ids=["in turn", "overlapping", "own", "unknown"],
)
def test_what_is_said_of_the_time(hour: int, imported: bool, said: str) -> None:
    comparison = compare(runs_of("A", 1e-6, 1, imported) + runs_of("B", 2e-6, hour, imported))
    first = summary(comparison).lead
    assert said in first if said else IN_TURN not in first and UNKNOWN not in first
    pair = comparison.rankings[0][1].pairs[0]
    text = f"{pair_sentence(pair, DEFAULT)} {certainty_of_best([pair])}"
    assert ("not tested" in text and "Not tested" in text) == (said == IN_TURN)
    if said == IN_TURN:
        assert "p = " not in text and "real" not in text and "repeats " in text
