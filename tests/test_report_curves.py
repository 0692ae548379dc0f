"""Curves of the report: which there are, and their points."""

from __future__ import annotations

import re
from dataclasses import replace

import build_records as make

from mpicampaign.base.records import DISTURBED, Case, Record
from mpicampaign.compare.compare import compare
from mpicampaign.report.curves import curve_chart
from mpicampaign.show.charts.interactive import InteractiveChart, interactive_charts
from mpicampaign.show.charts.scene import Scene


def of(records: list[Record]) -> list[InteractiveChart]:
    return interactive_charts(Scene(compare(records)))


def test_points_of_disturbed_runs_are_hollow() -> None:
    quiet = make.case_runs(Case("s", "g", "SHM", "PingPong"), 1e-6, 1e9)
    busy = make.case_runs(Case("s", "g", "TCP", "PingPong"), 2e-6, 1e9)
    drawn = curve_chart(of([*quiet, *(replace(run, condition=DISTURBED) for run in busy)])[0])
    fills = dict(re.findall(r'<marker id="([^"]+)".*?fill="([^"]+)"', drawn))
    assert [fills[mark] == "white" for mark in re.findall(r"url\(#([^)]+)\)", drawn)] == [False, True]


def test_a_single_size_is_not_a_curve() -> None:
    case = Case("s", "g", "SHM", "PingPong")
    assert of([make.run(case, 1, make.pingpong(1e-6, 1e9, [8.0]))]) == []
