"""Curves of the report: lines, tick boxes, and the data for Bokeh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import synthetic
from mpicampaign.show.report.plots import plot

from mpicampaign.compare.compare import compare
from mpicampaign.records import DISTURBED, Case, Record
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.charts.selection import SelectionChart, selections


def of(records: list[Record], unit: str = "MB/s") -> list[SelectionChart]:
    return selections(Scene(compare(records), unit))


def test_points_of_disturbed_runs_are_hollow() -> None:
    quiet = synthetic.case_runs(Case("s", "g", "SHM", "PingPong"), 1e-6, 1e9)
    busy = synthetic.case_runs(Case("s", "g", "TCP", "PingPong"), 2e-6, 1e9)
    points = sources(of([*quiet, *(replace(run, condition=DISTURBED) for run in busy)])[0])["points"]
    hollow = {(line, fill == "white") for line, fill in zip(points["line"], points["fill"], strict=True)}
    assert hollow == {(0, False), (1, True)}


def test_a_single_size_is_not_a_curve() -> None:
    case = Case("s", "g", "SHM", "PingPong")
    assert of([synthetic.run(case, 1, synthetic.pingpong(1e-6, 1e9, [8.0]))]) == []


def sources(chart: SelectionChart) -> dict[str, dict[str, Any]]:
    """The data for Bokeh, by the name of their source."""
    root = plot(chart)["doc"]["roots"][0]["attributes"]
    drawn = [renderer for renderer in root["renderers"] if renderer["name"] == "GlyphRenderer"]
    found = [renderer["attributes"]["data_source"]["attributes"] for renderer in drawn]
    return {source["name"]: dict(source["data"]["entries"]) for source in found}
