"""Rooms for suites and other things that people add: built in, or from other packages."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import pytest
from build_campaigns import MACHINE
from evidence_texts import read
from test_verdict import TCP

from mpicampaign.base.dimension import UPDATE_RATE
from mpicampaign.base.errors import UserError
from mpicampaign.base.records import Series
from mpicampaign.base.registry import Registry
from mpicampaign.campaign.file import load_campaign
from mpicampaign.evidence.counters import payload
from mpicampaign.jobs.plan import make_plan
from mpicampaign.suites import SUITES
from mpicampaign.suites.reading import ParsedOutput
from mpicampaign.suites.suite import Banner, ColumnMetric, Suite

CAMPAIGN = """\
campaign: rooms
systems: {here: {scheduler: none, mpi: intelmpi}}
host_groups: {blue: {system: here}}
benchmarks: {own: {suite: SUITE, program: PROGRAM, provider: {kind: path, location: /apps}}}
matrix: [{host_groups: blue, placements: SHM, benchmarks: own, repeats: 1}]
"""
TOY = Suite(
    name="toy",
    banner=Banner("Toy test", re.compile(r"Toy test v\d")),
    parse=lambda text: ParsedOutput("1", {}, (Series("Toy", 2, {"toys": [float(text.split()[-1])]}),)),
    programs=r"toy_\w+",
    whole=("^toys ",),
    benchmarks={"toys": {"program": "toy_all", "provider": "path", "ranks_minimum": 2}},
    metrics={"toys": ColumnMetric("toys", UPDATE_RATE, headline=True)},
)


def loaded(folder: Path, suite: str, program: str) -> Any:
    path = folder / "campaign.yaml"
    path.write_text(CAMPAIGN.replace("SUITE", suite).replace("PROGRAM", program))
    return load_campaign(path)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another package had brought it."""
    monkeypatch.setitem(SUITES._plugins, "toy", TOY)


@pytest.mark.parametrize(("suite", "program"), [("hpl", "xhpl"), ("hpcc", "hpcc")])
def test_hpl_and_hpcc_are_checked_and_planned_like_others(tmp_path: Path, suite: str, program: str) -> None:
    [run] = make_plan(loaded(tmp_path, suite, program), ["here"], MACHINE).runs
    assert (run.declared["suite"], run.declared["program"]) == (suite, program)


@pytest.mark.parametrize(
    ("suite", "hint"), [("ocu", "did you mean 'osu'?"), ("reframe", "did you mean 'stream'?")]
)
def test_a_suite_that_cannot_be_run_is_refused_with_those_that_can(
    tmp_path: Path, suite: str, hint: str
) -> None:
    """Nobody brings it, or its results are only imported."""
    with pytest.raises(UserError) as caught:
        loaded(tmp_path, suite, "osu_bw")
    [problem] = caught.value.problems
    assert (problem.key, problem.line, problem.value) == ("benchmarks.own.suite", 4, f"'{suite}'")
    assert problem.message == "must be hpcc, hpl, imb, kernel, nccl_tests, osu, own, stream or babelstream"
    assert problem.hint == hint


def test_windows_of_messages_do_not_measure_all_traffic() -> None:
    table = make.series("Uniband", size=1048576.0, repetitions=100.0)
    assert not payload(read(TCP), (table,)).close
    assert payload(read(TCP), (replace(table, benchmark="PingPong"),)).close


THING = """
class Thing:
    def __init__(self, name):
        self.name = name
"""


class Installed:
    """A room, and packages that add to it, as installed in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shed").mkdir()
        (folder / "shed_things.py").write_text(THING)
        (folder / "shed" / "__init__.py").write_text("")
        self.built_in("spade", 'Thing("spade")')
        self.built_in("rakes", '(Thing("rake"), Thing("hoe"))')
        (folder / "shed" / "helpers.py").write_text("")

    def built_in(self, module: str, value: str) -> None:
        text = f"from shed_things import Thing\nTHING = {value}\n"
        (self.folder / "shed" / f"{module}.py").write_text(text)

    def bring(self, package: str, text: str) -> None:
        (self.folder / f"{package}.py").write_text(f"from shed_things import Thing\n{text}\n")
        info = self.folder / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[shed]\nit = {package}:THING\n")

    def registry(self) -> Registry:
        from shed_things import Thing  # type: ignore[import-not-found]

        return Registry("shed", "THING", Thing)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("shed", "shed_things", "garden")]:
        monkeypatch.delitem(sys.modules, name)
    return Installed(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('raise RuntimeError("rusty")', "it cannot be loaded: rusty"),
        ('THING = "a text"', "it is a str, not a Thing"),
        ('THING = Thing("spade")', "'spade' exists already"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(installed: Installed, text: str, reason: str) -> None:
    installed.bring("garden", text)
    found = installed.registry()
    assert found["spade"].name == "spade"  # what is built in needs no other package
    with pytest.raises(UserError, match=r"it = garden:THING of garden cannot be used") as error:
        list(found)
    assert reason in str(error.value)
