"""Limits from a history: their rates, what they refuse, and that judge and ReFrame obey them."""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import build_records as make
import numpy as np
import pytest
import reframe_runs
import time_curves
import yaml
from conftest import completed
from history_data import write_ticks

from mpicampaign.base.expectation import Alarm, AlarmRule, Limit, limit_value
from mpicampaign.base.records import RECORDS, Header, write_records
from mpicampaign.cli import main
from mpicampaign.collect.campaign import collect_all
from mpicampaign.history.changes import analyse_curves, key_id
from mpicampaign.history.curves import CurveKey
from mpicampaign.history.limits import (
    FEW,
    NEIGHBOURS,
    NO_TIMES,
    NOT_OWN,
    SEVERAL_RUNS,
    SEVERAL_TESTS,
    TREND,
    Proposal,
    fitting,
    judge_alarm,
    propose,
)
from mpicampaign.questions.limits.find import FAILED, PASSED, UNDECIDED
from mpicampaign.questions.limits.say import reason_text
from mpicampaign.questions.limits.say_history import expect_text, reframe_text
from mpicampaign.statistics.change_points import ALTERNATING, NOT_POSITIVE
from mpicampaign.statistics.limits import (
    LEVEL,
    RETESTED,
    dependence,
    false_alarm_rate,
    fewest,
    is_beyond,
    is_met,
    past_limit,
)
from mpicampaign.statistics.medians import median

WISH = 1e-3
CAMPAIGN = """\
campaign: c
repeats: 3
time_limit: 1 min
systems: {here: {scheduler: none, mpi: intelmpi}}
host_groups:
  blue: {system: here, hosts: [a, b], fabrics: {eth: {transport: tcp, interface: eth0}}}
benchmarks: {latency: {suite: osu, program: osu_latency, provider: {kind: path, location: /opt/osu}}}
matrix: [{host_groups: blue, placements: TCP, benchmarks: latency}]
"""


def values(count: int, seed: int = 1) -> list[float]:
    """Microseconds as OSU prints them."""
    source = random.Random(seed)
    return [round(1.5 * source.gauss(1, 0.01), 2) for _ in range(count)]


# ---- numbers


@pytest.mark.parametrize(
    ("rule", "per_thousand", "needed"),
    [(AlarmRule(1, 1), 32.258, 999), (AlarmRule(2, 3), 5.6818, 75), (AlarmRule(3, 3), 0.18328, 17)],
)
def test_the_rates_are_those_of_ranks(rule: AlarmRule, per_thousand: float, needed: int) -> None:
    assert 1000 * false_alarm_rate(rule, 30) == pytest.approx(per_thousand, rel=1e-4)
    assert fewest(rule, WISH) == needed


def test_the_smallest_change_is_seen_in_nine_of_ten_cases() -> None:
    past = [float(value) for value in np.exp(0.01 * np.random.default_rng(1).standard_normal(60))]
    for lower in (True, False):
        limit = past_limit(past, lower_is_better=lower, wish=WISH)
        source = random.Random(2)
        factor = limit.change * 1.000001 if lower else 1 / limit.change / 1.000001
        new = [[source.choice(past) * factor for _ in range(3)] for _ in range(2000)]
        seen = sum(
            is_met(RETESTED, [is_beyond(v, limit.value, lower_is_better=lower) for v in row]) for row in new
        )
        assert limit.change > 1 and 0.88 < seen / 2000 < 0.95


def test_one_in_twenty_healthy_histories_is_called_dependent() -> None:
    """By each of two tests."""
    source = np.random.default_rng(4)
    p = np.array([dependence(source.standard_normal(30).tolist()) for _ in range(400)])
    assert ((p < LEVEL).mean(axis=0) < 0.08).all() and (p.mean(axis=0) > 0.4).all()


# ---- which histories give a limit


def found(of: Sequence[float], key: CurveKey = time_curves.LATENCY) -> Proposal:
    plain = replace(time_curves.curve(of), key=key)
    [curve] = analyse_curves([plain], Path("none"), write=False).curves
    return propose(curve, WISH)


def wave(count: int) -> list[float]:
    return [value + 0.02 * math.sin(number / 3) for number, value in enumerate(values(count))]


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (values(16), FEW),
        ([*values(30), 0.0], NOT_POSITIVE),
        ([value * (1 + number / 1000) for number, value in enumerate(values(40))], TREND),
        (wave(60), NEIGHBOURS),
        ([value * (1 + (number // 20) % 2) for number, value in enumerate(values(100))], ALTERNATING),
        ([value * (1 + (number // 30)) for number, value in enumerate(values(40))], FEW),
    ],
)
def test_a_history_that_says_nothing_of_the_rate_gives_no_limit(history: list[float], why: str) -> None:
    assert (found(history).why, found(history).limit) == (why, None)


def test_a_limit_fits_those_who_use_it() -> None:
    """A tick of several runs scatters less than a test's one run; without times nothing is in turn."""
    one = found(values(30))
    several = replace(one, points=tuple(point._replace(n=2) for point in one.points))
    for own, of_tests, why in ((several, False, ""), (several, True, SEVERAL_RUNS), (one, True, "")):
        assert fitting(own, of_tests=of_tests).why == why
        assert fitting(replace(own, own=False), of_tests=of_tests).why == (why if of_tests else NOT_OWN)
    untimed = tuple(point._replace(time="") for point in one.points)
    assert propose(replace(one.curve, points=untimed), WISH).why == NO_TIMES


@pytest.mark.parametrize(("lower", "unit"), [(True, "s"), (False, "B/s"), (True, "things")])
def test_a_limit_as_written_holds_the_value_that_it_is_from(lower: bool, unit: str) -> None:
    """Rounded outwards: else that value would be beyond its own limit."""
    source = random.Random(6)
    for scale in (3e-7, 1.0, 7e9):
        past = [scale * source.gauss(1, 0.01) for _ in range(40)]
        name = {"s": "time", "B/s": "bandwidth"}.get(unit, unit)
        one = found(past, replace(time_curves.LATENCY, unit=unit, dimension=name, lower_is_better=lower))
        assert one.limit
        [written] = yaml.safe_load(expect_text("c", [one], WISH))["expect"]
        text = str(written["at_most" if lower else "at_least"])
        limit = limit_value(text, unit)
        assert not is_beyond(one.limit.value, limit, lower_is_better=lower)
        assert limit == pytest.approx(one.limit.value, rel=2e-5)


def test_hostile_names_stay_text() -> None:
    evil = 'a"\n- {x: 1} # \x1b[31m: \U0001f600 \\'
    key = replace(time_curves.LATENCY, metric=evil, host_group="on", benchmark="x: y", label=evil)
    key = replace(key, placement="TCP (60 ns apart)")
    one = found(values(30), key)
    [written] = yaml.safe_load(expect_text(evil, [one], WISH))["expect"]
    assert (written["host_groups"], written["placements"]) == ("on", "TCP")
    assert "\x1b" not in expect_text(evil, [one], WISH)
    assert expect_text("c", [], WISH) == "# The history of c gives no limit.\n", "no rate of none"
    twice = reframe_text(evil, [one, one], WISH)
    assert len(yaml.safe_load(twice)) == 1 and "# no limit: another one has its names" in twice


# ---- the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a campaign file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.working_folder", lambda: tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    (tmp_path / "c.yaml").write_text(CAMPAIGN)
    (tmp_path / "results/c").mkdir(parents=True)
    return tmp_path


def ticks(folder: Path, latencies: Sequence[float]) -> None:
    """A history with a tick a day."""
    write_ticks(folder / "results/c", latencies)
    write_records(folder / "results/c" / RECORDS, Header("c"), collect_all(folder / "results/c"))


def test_what_is_proposed_can_be_pasted_and_is_judged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks(folder, values(30))
    assert main(["judge", "c.yaml", "--propose", "-o", "limits.yaml"]) == 0
    (folder / "c.yaml").write_text(CAMPAIGN + (folder / "limits.yaml").read_text())
    ticks(folder, [*values(30), 1.6, 1.6, 1.6])
    assert main(["judge", "c.yaml"]) == 1
    assert "1.60 µs, at most 1.52 us (3 of 3 ticks): the rule is met" in capsys.readouterr().out
    text = (folder / "c.yaml").read_text()
    for here, there, said in (
        ("1.52 us", "2 GB/s", "expect[0].at_most: latency at 1 B: '2 GB/s'"),
        ("metric: latency at 1 B", "metric: time at 8 B", "its curve is of another metric: latency at 1 B"),
    ):
        (folder / "c.yaml").write_text(text.replace(here, there))
        assert main(["judge", "c.yaml"]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("new", "outcome", "said"),
    [
        ("", UNDECIDED, "no tick yet after the past"),
        ("b", UNDECIDED, "1 of 3 beyond, 2 re-tests by the next ticks"),
        ("bb", UNDECIDED, "2 of 3 beyond, 1 re-test by the next ticks"),
        ("bwb", UNDECIDED, "1 of 3 beyond, 2 re-tests by the next ticks"),
        ("bbb", FAILED, "the rule is met: 3 of 3 beyond"),
        ("bbbw", PASSED, "the newest tick is within the limit"),
    ],
)
def test_the_newest_ticks_decide(new: str, outcome: str, said: str) -> None:
    """The past is what was past when the limit was proposed, whenever judge is called."""
    past = found(values(30)).curve
    alarm = Alarm(RETESTED, key_id(past.key), past.points[-1].time, 43200)
    limit = Limit("osu", "latency at 0 B", at_most="1.6 s", alarm=alarm)
    curve = time_curves.curve([*values(30), *({"b": 1.7, "w": 1.5}[each] for each in new)])
    judged = judge_alarm(limit, alarm, curve)
    assert judged.outcome == outcome and said in reason_text(judged)
    in_one_minute = judge_alarm(limit, replace(alarm, apart=4 * 86400), curve)
    assert in_one_minute.outcome == (UNDECIDED if len(new) < 4 else PASSED), "they count as one"
    assert judge_alarm(limit, alarm, None).outcome == UNDECIDED


def test_mistakes_are_named_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (
            ["--alarms", "x", "--reframe"],
            ["--alarms needs --propose", "--reframe needs", "not a rate such as"],
        ),
        (["--propose", "--alarms", "3 per 2"], ["not a rate such as '1 per 1000' (found 3 per 2)"]),
        (["--propose"], ["no results yet", "'mpicampaign run FILE' makes them"]),
    ):
        assert main(["judge", "c.yaml", *arguments]) == 2
        message = capsys.readouterr().err
        assert all(each in message for each in said)
    assert main(["judge", "--propose", "--results", "nope"]) == 2
    assert "--results: no such folder (found nope)" in capsys.readouterr().err
    ticks(folder, values(5))
    assert main(["judge", "c.yaml", "--propose", "--metric", "latency", "--placement", "SHM"]) == 2
    assert capsys.readouterr().err.count("no curve has this name") == 2
    assert main(["judge", "c.yaml", "--propose"]) == 3
    assert "needs 17 ticks, has 5: 12 are missing" in capsys.readouterr().out


def test_imported_runs_have_a_limit_each_run_a_value(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = make.case("gnu", "latency", "blue", "site")
    started = make.case_runs(case, 20e-6, repeats=20, started=lambda n: time_curves.day(20 - n))
    (folder / "results/old/imports").mkdir(parents=True)
    write_records(folder / "results/old" / RECORDS, Header("old"), started)
    call = ["judge", "--propose", "--results", "results/old", "--metric", "latency at 0 B"]
    assert main(call) == 3
    assert "# no limit: it was imported or merged" in capsys.readouterr().out
    assert main([*call, "--reframe"]) == 0
    printed = capsys.readouterr().out
    assert "# worst of 20 runs, 24 h apart; per 1,000: one run 48, --max-retries=2 0.56" in printed
    assert list(yaml.safe_load(printed)["latency"]["site:blue"]["gnu"]) == ["latency_at_0_B"]


# ---- ReFrame


METRIC = {"unit": "us", "better": "lower"}


def test_limits_of_imported_tests_have_reframes_names_and_units(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a session's runs the first counts: the others are retries of slow ones."""
    name = "Stream %size=8 KiB %fixture.n=2"
    blobs = {
        number: reframe_runs.report(
            number,
            [
                reframe_runs.case(
                    number + retry / 100,
                    name=name,
                    perfvalues={
                        "alpha:cpu:size": [100 * value + retry, 0, None, None, "MBytes/sec"],
                        "alpha:cpu:t": [value, 0, None, None, "ms"],
                    },
                )
                for retry in range(1 + (number == 5))
            ],
        )
        for number, value in enumerate(values(20))
    }
    reframe_runs.database(folder / "results.db", blobs)
    assert main(["import", "results.db"]) == 0
    capsys.readouterr()
    assert main(["judge", "--propose", "--reframe", "--results", "results/results"]) == 0
    found = yaml.safe_load(capsys.readouterr().out)["Stream"]
    assert found.pop("$index") == ["$partition", "$environ", "display_name"]
    written = found["alpha:cpu"]["gnu"][name]
    middle = median(values(20))
    assert [written["t"][0], written["t"][3]] == [middle, "ms"]
    assert [written["size"][0], written["size"][3]] == [pytest.approx(100 * middle), "MBytes/sec"]


def test_runs_of_several_tests_give_no_limit() -> None:
    one = replace(found(values(30)), tests=("A @s:p+e", "B @s:p+e"))
    assert fitting(one, of_tests=True).why == SEVERAL_TESTS


# The n-th run of a test prints the n-th of its values.
TEST = """\
import os
import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class osu(rfm.RunOnlyRegressionTest):
    prints = parameter(["1.52", "1.53", "1.53 1.53 1.52", "1.53 1.53 1.53"])
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "bash"
    reference = {"$ref": os.path.abspath("refs.yaml")}
    require_reference = True

    @run_before("run")
    def say(self):
        count = os.path.abspath("count-" + self.prints.replace(" ", "-"))
        self.executable_opts = [os.path.abspath("say.sh"), count, self.prints]

    @sanity_function
    def ran(self):
        return sn.assert_found("us", self.stdout)

    @performance_function("us")
    def latency_at_0_B(self):
        return sn.extractsingle(r"(\\S+)us", self.stdout, 1, float)
"""
SAY = 'echo >> "$1"; n=$(wc -l < "$1"); shift; echo "${!n:-$1}us"'


@pytest.mark.full
def test_reframe_obeys_the_references(folder: Path) -> None:
    key = replace(time_curves.LATENCY, system="generic", host_group="default", placement="builtin")
    one = found([value * 1e-6 for value in values(30)], replace(key, metric="latency_at_0_B"))
    assert one.limit and one.limit.value == pytest.approx(1.52e-6)
    named = [
        replace(one, tests=(f"osu %prints={prints} @generic:default+builtin",), metric=METRIC)
        for prints in ("1.52", "1.53", "1.53 1.53 1.52", "1.53 1.53 1.53")
    ]
    (folder / "refs.yaml").write_text(reframe_text("c", named, WISH))
    (folder / "osu.py").write_text(TEST)
    (folder / "say.sh").write_text(SAY)

    def passed(*options: str) -> set[str]:
        call = [str(Path(sys.executable).with_name("reframe")), "-c", "osu.py", "-r", "--prefix", "out"]
        call += ["--report-file", "report.json", *options]
        done = completed(call, cwd=folder)
        assert "Ran 4/4 test case" in done.stdout, done.stdout + done.stderr
        assert "does not match the unit" not in done.stdout
        runs = json.loads((folder / "report.json").read_text())["runs"]
        return {each["prints"] for run in runs for each in run["testcases"] if each["result"] == "pass"}

    assert passed() == {"1.52"}
    for count in folder.glob("count-*"):
        count.unlink()
    assert passed("--max-retries=2") == {"1.52", "1.53 1.53 1.52"}
