"""Imported groups that were measured one after the other are shown by ratio and ranges, without a test."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.contract import UNDECIDED, judge
from mpicampaign.compare.in_turn import IN_TURN as NOT_TESTED
from mpicampaign.compare.own import own_against_others
from mpicampaign.expectation import Against, Limit
from mpicampaign.records import IMPORTED_FROM, MERGED_FROM, Case, Record
from mpicampaign.show.contract import judged_text
from mpicampaign.show.make import to_csv, to_markdown, to_terminal
from mpicampaign.show.pairs import certainty_of_best, own_legend, own_lines, pair_sentence
from mpicampaign.show.report.write import write_report
from mpicampaign.show.summary import summary, summary_text
from mpicampaign.show.view import DEFAULT
from mpicampaign.statistics.comparisons import FALSE_SHARE, FAMILY_WISE, compare_pairs

TESTED = r"significant|\bp\b\s*[=<:|]|\bp is |difference shown|95 % confidence"
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
    assert ("not tested" in text and "Not tested" in text) == (said == IN_TURN) == (pair.difference.p is None)
    assert pair.clear and "A is the fastest placement" in first
    if said == IN_TURN:
        assert "p = " not in text and "real" not in text and "repeats " in text


def drifting(groups: int, repeats: int) -> list[Record]:
    """All alike but for a drift of 20 % over all runs, which were made one group after another."""
    noise, records = random.Random(1), []
    places = [(f"g{group}", name) for group in range(groups) for name in ("A", "B", "C")]
    for place, (group, name) in enumerate(places):
        for repeat in range(repeats):
            number = place * repeats + repeat
            time = 1e-6 * (1 + 0.2 * number / (len(places) * repeats)) * noise.uniform(0.995, 1.005)
            run = synthetic.run(Case("s", group, name, "PingPong"), repeat + 1, synthetic.pingpong(time, 1e9))
            at = datetime(2017, 3, 21) + timedelta(hours=number)
            metadata = {**run.metadata, IMPORTED_FROM: "a folder"}
            attributes = {"cpu": "old" if place < len(places) / 2 else "new"}
            records.append(replace(run, started=at.isoformat(), metadata=metadata, attributes=attributes))
    return records


@pytest.mark.parametrize(("groups", "repeats"), [(7, 4), (4, 2)])
def test_a_drift_is_called_significant_nowhere(tmp_path: Path, groups: int, repeats: int) -> None:
    """On the page, in the terminal, in the document and in tables of every kind."""
    records = drifting(groups, repeats)
    comparison = compare(records)
    write_report(tmp_path / "report.html", comparison, records)
    page = re.sub(r"<(style|script)\b.*?</\1>", "", (tmp_path / "report.html").read_text(), flags=re.S)
    texts = {
        "page": re.sub(r"<[^>]*>", " ", page),
        "summary": summary_text(comparison),
        "terminal": to_terminal(comparison),
        "full": to_markdown(comparison),
        "csv": to_csv(comparison),
    }
    for where, text in texts.items():
        assert not re.search(TESTED, text), where
        assert where == "csv" or "not tested" in text, where


@pytest.mark.parametrize(("hour", "untested"), [(11, True), (3, False)])
def test_other_systems_and_limits_are_compared_by_the_same_rule(hour: int, untested: bool) -> None:
    there = [
        replace(run, case=replace(run.case, system="t"), metadata={**run.metadata, MERGED_FROM: "t"})
        for run in runs_of("A", 2e-6, hour, True)
    ]
    here = runs_of("A", 1e-6, 1, True)
    comparison = compare([*here, *there])
    [other] = [one for _, own in own_against_others(comparison) for one in own.others if own.metric.size == 0]
    assert (other.in_turn, other.differs) == (untested, None if untested else True)
    assert ("not tested against" in own_lines(comparison, DEFAULT)[0]) == untested
    assert ("5 %" in own_legend(comparison)) != untested
    limit = Limit("PingPong", "latency at 0 B", against=Against("t", "g"), tolerance=0.1)
    [judged] = judge([limit], comparison, [here[0].case], None, "c.yaml")
    assert (judged.outcome == UNDECIDED) == untested == (NOT_TESTED in judged_text(judged))


def test_pairs_left_out_are_not_counted_among_those_tested() -> None:
    """One pair of six is a test alone; of four with four repeats, Holm's first step is out of reach."""
    groups = [[n + place / 10 for n in range(6)] for place in range(4)]
    pairs = {(a, b): "apart" for a in range(4) for b in range(a + 1, 4)}
    del pairs[1, 3]
    found = compare_pairs(groups, left_out=pairs)
    of_two = compare_pairs(groups[1::2]).differences[0, 1].corrected
    assert found.differences[1, 3].corrected == of_two
    assert {found.differences[pair].reason for pair in pairs} == {"apart"}
    assert found.differences[1, 3].comparisons == 1 and found.error == FAMILY_WISE
    few = compare_pairs([group[:4] for group in groups], left_out={(0, 1): "apart", (2, 3): "apart"})
    assert few.error == FALSE_SHARE and few.differences[0, 2].comparisons == 4
    ratio = [[1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5], [9.0, 9.1, 9.2, 9.3, 9.4, 9.5]]
    holm = compare_pairs(ratio, left_out={(0, 1): "apart"}).differences
    alone = compare_pairs(ratio[::2]).differences[0, 1].corrected
    assert alone is not None and holm[0, 2].corrected == pytest.approx(2 * alone)
