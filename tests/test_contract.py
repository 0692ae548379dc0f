"""The acceptance contract: passed, failed or undecided by intervals; its files and exit statuses."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import build_records as make
import golden_messages
import pytest
from build_campaigns import write_trivial
from conftest import PROJECT, ProjectCopy
from test_campaign_file import load

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import FEWEST_OF_RATIO, FEWEST_OF_VALUE, Against, Limit
from mpicampaign.base.records import DISTURBED, QUIET, Case, Record
from mpicampaign.cli.limits import check_limits
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import dimension_named
from mpicampaign.questions.limits.find import (
    FAILED,
    FEW,
    NO_OTHER,
    NO_VALUE,
    PASSED,
    UNDECIDED,
    Judged,
    judge,
    ratio_interval,
)
from mpicampaign.questions.limits.say import (
    contract_document,
    contract_json,
    contract_junit,
    contract_lines,
    judged_text,
)
from mpicampaign.questions.machine.find import whole_case
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.suites import SUITES

HERE = Case("here", "blue", "TCP", "PingPong")
LATENCY = Limit("PingPong", "latency at 0 B")
LIMITED = {"benchmark": "PingPong", "metric": "latency at 0 B", "at_most": "2 us"}
ALARM = {"rule": "3 of 3", "curve": "0123456789ab", "after": "2026-11-26T04:00:00Z", "apart": "12 h"}
TRIVIAL = {"benchmark": "trivial", "metric": "latency at 1 B"}


def runs(latency: float = 20e-6, repeats: int = 6, case: Case = HERE, **changes: Any) -> list[Record]:
    """Runs of PingPong within 2 % of a latency."""
    return make.case_runs(case, latency, repeats=repeats, **{"condition": QUIET, **changes})


def judged(limit: Limit, records: list[Record], before: list[Record] | None = None) -> Judged:
    cases = [HERE]
    [found] = judge([limit], compare(records), cases, compare(before) if before else None, "c.yaml")
    return found


def test_too_few_disturbed_and_missing_runs_are_undecided() -> None:
    limit = replace(LATENCY, at_most="30 us")
    assert (judged(limit, runs(repeats=5)).outcome, judged(limit, runs(repeats=5)).why) == (UNDECIDED, FEW)
    disturbed = judged(limit, runs(condition=DISTURBED))
    assert (disturbed.outcome, disturbed.why) == (UNDECIDED, NO_VALUE)
    assert "disturbed" in judged_text(disturbed)
    mixed = runs(repeats=8, condition=lambda repeat: DISTURBED if repeat > 6 else QUIET)
    assert judged(limit, mixed).n == 6
    lost = judged_text(judged(limit, mixed[1:]))
    assert "has 5, needs 6; not counted: disturbed" in lost and "(repeats 7-8)" in lost
    ranked = judged(limit, runs(condition=DISTURBED, ranks_busy=True))
    assert "Disturbed runs count (busy\\_machine: rank)" in markdown(contract_document("c", [ranked]))
    assert "Disturbed and contradicted runs do not count" in markdown(contract_document("c", [disturbed]))
    absent = judged(limit, make.not_available(HERE, "no such network"))
    assert (absent.outcome, absent.why) == (UNDECIDED, NO_VALUE)
    assert "no such network" in judged_text(absent)
    other = runs(case=replace(HERE, placement="IBV"))
    assert judged(limit, other).outcome == UNDECIDED, "a case that has no row must not pass"


def test_what_would_decide_is_said_and_warned_of_before_anything_runs(tmp_path: Path) -> None:
    """The numbers of repeats are those from which on there is an interval of 95 %."""
    of_value, of_ratio = replace(LATENCY, at_most="30 us"), replace(LATENCY, against=Against("before"))
    for limit, needed, said in (
        (of_value, FEWEST_OF_VALUE, "has 5, needs 6"),
        (of_ratio, FEWEST_OF_RATIO, "has 3 against 3, needs 4 against 4"),
    ):
        few, enough = (runs(repeats=repeats) for repeats in (needed - 1, needed))
        assert said in judged_text(judged(limit, few, few))
        assert judged(limit, enough, enough).outcome == PASSED
    from_history = json.dumps(LIMITED | {"alarm": ALARM})
    warned = load(tmp_path, repeats="repeats: 5", expect=f"expect: [{from_history}]").warnings
    assert not [one for one in warned if "cannot decide" in str(one)], "each tick is a value"
    warned = load(tmp_path, repeats="repeats: 5", expect=f"expect: [{json.dumps(LIMITED)}]").warnings
    assert [str(one).partition("expect")[2] for one in warned if "cannot decide" in str(one)] == [
        "[0]: 5 repeats cannot decide this limit\n    it needs 6 repeats; set repeats: 6"
    ]


def test_members_of_a_machine_are_judged_by_its_answer_and_that_is_said_once() -> None:
    members = [
        replace(HERE, host_group=f"{group} n{number}") for group in ("blue", "blue:n1") for number in (1, 2)
    ]
    whole = dict.fromkeys(map(whole_case, members))
    found = judge([replace(LATENCY, at_most="30 us")], compare([]), [], None, "c.yaml", whole)
    assert contract_lines(found) == [
        "undecided: blue TCP PingPong: latency at 0 B, at most 30 us: its members are compared with each "
        "other: the report's whole-machine answer judges them",
        "0 passed, 0 failed, 1 undecided",
    ]


def test_a_metric_that_no_run_has_is_named_with_the_nearest() -> None:
    with pytest.raises(
        UserError, match=r"no run of PingPong has the metric 'latency at 1 B'\n    did you mean"
    ):
        judged(replace(LATENCY, metric="latency at 1 B", at_most="2 us"), runs())


def test_an_unknown_source_is_an_error_not_undecided() -> None:
    limit = replace(LATENCY, against=Against("stfc-2071"))
    with pytest.raises(UserError, match=r"'stfc-2071' is neither .*\n    did you mean 'stfc-2017'"):
        judged(limit, runs())


@pytest.mark.parametrize(
    ("factor", "tolerance", "outcome"), [(1.0, 0.5, PASSED), (2.0, 0.5, FAILED), (1.05, 0.05, UNDECIDED)]
)
def test_the_series_before_is_compared_by_the_interval_of_the_ratio(
    factor: float, tolerance: float, outcome: str
) -> None:
    limit = replace(LATENCY, against=Against("before"), tolerance=tolerance)
    found = judged(limit, runs(20e-6 * factor), runs())
    assert (found.outcome, found.bound and found.bound.ratio) == (outcome, True)
    assert judged(limit, runs()).why == NO_OTHER


def test_more_bandwidth_is_better_and_less_fails() -> None:
    limit = Limit("PingPong", "maximum bandwidth", against=Against("before"), tolerance=0.2)
    slow, fast = (make.case_runs(HERE, 20e-6, b) for b in (1e9, 2e9))
    assert judged(limit, fast, slow).outcome == PASSED
    assert judged(limit, slow, fast).outcome == FAILED


def test_maxima_are_those_over_the_sizes_of_both() -> None:
    """The series before ended at 8 B, where it had half the bandwidth."""
    limit = Limit("PingPong", "maximum bandwidth", against=Against("before"), tolerance=0.2)

    def up_to(sizes: tuple[int, ...], rates: list[float]) -> list[Record]:
        table = make.series("PingPong", 2, size=[*sizes], bandwidth=rates)
        return [replace(run, series=(table,)) for run in runs()]

    now = up_to((1, 8, 1024), [1e8, 1e9, 9e9])
    found = judged(limit, now, up_to((1, 8), [1e8, 2e9]))
    assert (found.outcome, found.median, found.sizes) == (FAILED, 1e9, 2)
    assert "maximum bandwidth over the 2 sizes of both" in judged_text(found)
    assert "no message size is of both" in judged_text(judged(limit, now, up_to((2,), [2e9])))


def test_a_published_value_and_a_merged_system_are_compared() -> None:
    published = Against("stfc-2017", "scarf15", "TCP")
    limit = Limit("PingPong", "latency at 0 B", against=published, tolerance=0.05)
    found = judged(limit, runs(1e-7))
    assert (found.outcome, found.bound and found.bound.ratio) in ((PASSED, False), (UNDECIDED, None))
    theirs = runs(case=replace(HERE, system="there", host_group="red"))
    merged = replace(LATENCY, against=Against("there", "red"), tolerance=0.5)
    assert judged(merged, [*runs(), *theirs]).outcome == PASSED
    assert judged(merged, [*runs(40e-6), *theirs]).outcome == FAILED


def test_the_files_hold_hostile_names_and_every_outcome() -> None:
    evil = "a\x00<b>&\"'\x1b"
    cases = [replace(HERE, host_group=evil), replace(HERE, placement="IBV")]
    records = runs(case=cases[0])
    limits = [replace(LATENCY, at_most="30 us"), replace(LATENCY, at_most="10 us")]
    found = judge(limits, compare(records), cases, None, "c.yaml")
    assert [each.outcome for each in found] == [PASSED, UNDECIDED, FAILED, UNDECIDED]
    root = ElementTree.fromstring(contract_junit(evil, found))
    [suite] = root
    assert (root.tag, suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == (
        *("testsuites", "4", "1", "2"),
    )
    assert [[part.tag for part in case] for case in suite] == [[], ["error"], ["failure"], ["error"]]
    assert "<b>&" in suite[0].attrib["name"]
    data = json.loads(contract_json(evil, found))
    assert [each["outcome"] for each in data["limits"]] == [each.outcome for each in found]
    assert data["limits"][0]["bound"] == pytest.approx(30e-6) and data["limits"][1]["median"] is None
    lines = contract_lines(found)
    assert lines[-1] == "1 passed, 1 failed, 2 undecided" and lines[0].startswith("failed: ")
    assert "\x1b" not in "".join(lines)


# ---- intervals of ratios


def test_the_interval_of_a_ratio_is_the_inverted_rank_test() -> None:
    """By hand: 4 and 4 repeats have 70 orders; leaving out the outermost ratio on each side leaves 95 %."""
    before, after = [1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.3, 2.6]
    found = ratio_interval(before, after)
    ratios = sorted(b / a for a, b in itertools.product(before, after))
    assert found and (found.low, found.high) == (ratios[0], ratios[-1])
    assert found.coverage == pytest.approx(1 - 2 / 70)
    assert ratio_interval(before[:3], after[:3]) is None
    assert ratio_interval([0.0, *before], after) is None


# ---- the campaign file and the command


def test_what_is_wrong_with_a_limit_is_found_before_anything_runs(tmp_path: Path) -> None:
    def said(limit: dict[str, Any]) -> str:
        limits = [{"benchmark": "PingPong", "metric": "latency at 0 B", **limit}]
        text = f"expect: {json.dumps(limits)}"
        return golden_messages.refusal(tmp_path, lambda: check_limits(load(tmp_path, expect=text)))

    golden_messages.check("mistakes/limits", said)


def test_every_metric_of_results_may_have_a_limit() -> None:
    tables = [path.read_text() for path in PROJECT.glob("tests/frozen/*/expected/tables/comparison.md")]
    heads = {
        head
        for table in tables
        for head in re.findall(r"(?m)^\| host group, placement \| n \| (.*) \|$", table)
    }
    of_runs = [head.replace("\\", "") for head in heads if "/ HPL" not in head]  # made of two benchmarks
    columns = {column for head in of_runs for column in head.split(" | ")} - {"values"}
    for name, unit in (column.rstrip(")").rsplit(" (", 1) for column in columns):
        found = [dimension_named(suite, {}, name) for suite in SUITES]
        assert unit in {dimension.units[0].name for dimension in found if dimension}, name
    assert len(columns) > 40


def test_a_comment_on_a_change_is_short() -> None:
    failed = judge([replace(LATENCY, at_most="10 us")], compare(runs()), [HERE], None, "c.yaml")
    text = markdown(contract_document("c", failed * 500))
    assert len(text) < 4000 and "480 more are in judgement.json" in text and text.count("| failed |") == 20


@pytest.mark.slow
@pytest.mark.full
def test_the_exit_status_says_how_it_ended(project: ProjectCopy) -> None:
    def status(**limit: str) -> int:
        write_trivial(project, repeats=6, expect=[TRIVIAL | limit])
        return project.ask("judge", "trivial.yaml").returncode

    write_trivial(project, repeats=6)
    project.succeed("run", "--campaign", "trivial.yaml")
    assert "this campaign sets no limits" in project.ask("judge", "trivial.yaml").stderr
    assert (status(at_most="0.5 us"), status(at_most="0.4 us"), status(against="before")) == (0, 1, 3)
    assert status(at_most="2 GB/s") == 2
    folder = project.folder / "results/trivial"
    assert {path.suffix for path in folder.glob("judgement.*")} == {".xml", ".json", ".md"}
