"""Curves of the report: which there are, and their points."""

from __future__ import annotations

import re

import build_records as make

from mpicampaign.base.records import DISTURBED, Record
from mpicampaign.compare.compare import compare
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.interactive import InteractiveChart, curve_chart, interactive_charts


def of(records: list[Record]) -> list[InteractiveChart]:
    return interactive_charts(Scene(compare(records)))


def test_points_of_disturbed_runs_are_hollow() -> None:
    busy = make.case_runs("TCP", 2e-6, condition=DISTURBED)
    drawn = curve_chart(of(make.case_runs("SHM") + busy)[0])
    fills = dict(re.findall(r'<marker id="([^"]+)".*?fill="([^"]+)"', drawn))
    assert [fills[mark] == "white" for mark in re.findall(r"url\(#([^)]+)\)", drawn)] == [False, True]


def test_a_single_size_is_not_a_curve() -> None:
    assert of([make.run("SHM", 1, make.pingpong(1e-6, sizes=[8.0]))]) == []
