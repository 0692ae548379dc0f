"""Groups that were measured one after the other are shown by ratio and ranges, without a test."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import build_records as make
import pytest

from mpicampaign.base.expectation import Against, Limit
from mpicampaign.base.records import IMPORTED_FROM, MERGED_FROM, Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.limits.find import UNDECIDED, judge
from mpicampaign.questions.limits.say import judged_text
from mpicampaign.questions.own.find import own_against_others
from mpicampaign.questions.own.say import own_legend, own_lines
from mpicampaign.report.make import to_csv, to_markdown, to_terminal
from mpicampaign.report.summary import summary_text
from mpicampaign.report.write import write_report
from mpicampaign.show.view import DEFAULT
from mpicampaign.verdicts.compare import APART_IN_TIME

TESTED = r"significant|\bp\b\s*[=<:|]|\bp is |difference shown|95 % confidence"


def runs_of(placement: str, time: float, first_hour: int, imported: bool) -> list[Record]:
    """Five repeats, one an hour; of hour 0 it is unknown."""
    return make.case_runs(
        placement,
        time,
        metadata={IMPORTED_FROM: "a folder"} if imported else {},
        started=lambda n: f"2017-03-21T{first_hour + n - 1:02d}:00:00" if first_hour else "",
    )


def drifting(groups: int, repeats: int) -> list[Record]:
    """All alike but for a drift of 20 % over all runs, which were made one group after another."""
    noise, records = random.Random(1), []
    places = [(f"g{group}", name) for group in range(groups) for name in ("A", "B", "C")]
    for place, (group, name) in enumerate(places):
        for repeat in range(repeats):
            number = place * repeats + repeat
            time = 1e-6 * (1 + 0.2 * number / (len(places) * repeats)) * noise.uniform(0.995, 1.005)
            fields = {
                "started": (datetime(2017, 3, 21) + timedelta(hours=number)).isoformat(),
                "metadata": {IMPORTED_FROM: "a folder"},
                "attributes": {"cpu": "old" if place < len(places) / 2 else "new"},
            }
            case = make.case(name, group=group)
            records.append(make.run(case, repeat + 1, make.pingpong(time), **fields))
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
        assert where == "csv" or "ot tested" in text, where


@pytest.mark.parametrize("imported", [True, False])
@pytest.mark.parametrize(("hour", "untested"), [(11, True), (4, True), (3, False)])
def test_other_systems_and_limits_are_compared_by_the_same_rule(
    hour: int, untested: bool, imported: bool
) -> None:
    there = [
        replace(run, case=replace(run.case, system="t"), metadata={**run.metadata, MERGED_FROM: "t"})
        for run in runs_of("A", 2e-6, hour, imported)
    ]
    here = runs_of("A", 1e-6, 1, imported)
    comparison = compare([*here, *there])
    [other] = [one for _, own in own_against_others(comparison) for one in own.others if own.metric.size == 0]
    assert (bool(other.untested), other.pair.shown) == (untested, None if untested else True)
    assert ("not tested against" in own_lines(comparison, DEFAULT)[0]) == untested
    assert ("5 %" in own_legend(comparison)) != untested
    limit = Limit("PingPong", "latency at 0 B", against=Against("t", "g"), tolerance=0.1)
    [judged] = judge([limit], comparison, [here[0].case], None, "c.yaml")
    assert (judged.outcome == UNDECIDED) == untested == (APART_IN_TIME in judged_text(judged))
