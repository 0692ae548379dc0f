"""Curves of the report: lines, tick boxes, and the data for Bokeh."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import DISTURBED, Case, Record
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.charts.selection import SelectionChart, selections
from mpicampaign.show.report.plots import bokeh_script, curves_data, inline_json, plot
from mpicampaign.statistics.medians import median


def of(records: list[Record], unit: str = "MB/s") -> list[SelectionChart]:
    return selections(Scene(compare(records), unit))


def test_each_benchmark_has_its_columns_over_size() -> None:
    found = of(synthetic.campaign())
    assert [chart.title for chart in found] == [
        "PingPong: time",
        "PingPong: bandwidth",
        "tree_gather: bandwidth",
        "tree_gather: wire bandwidth",
    ]
    # the wire traffic of MPI_Gather is unknown: no line of its wire bandwidth
    assert [len(chart.lines) for chart in found] == [3, 3, 6, 4]
    assert [facet.name for facet in found[2].facets] == ["placement", "series"]


def test_curves_hold_medians_and_repeats_as_recorded() -> None:
    chart = of(synthetic.campaign())[0]
    curve = chart.lines[0].curve
    assert len(curve.repeats) == 6 and chart.sizes[0] == 0
    values = [repeat.values[4096] for repeat in curve.repeats]
    assert curve.median[4096] == median(values)
    assert values[0] == pytest.approx(0.7e-6, rel=0.1), "s"
    assert chart.up.scaled(values[0]) == pytest.approx(0.7, rel=0.1), "µs"


def test_bokeh_gets_values_in_the_axis_unit_without_what_a_log_axis_cannot_show() -> None:
    chart = of(synthetic.campaign())[0]
    points = sources(chart)["points"]
    assert 0 not in points["x"]
    drawn = dict(zip(points["x"][:22], points["y"][:22], strict=True))
    assert drawn[4096] == pytest.approx(chart.lines[0].curve.median[4096] * 1e6, rel=1e-4)


def test_points_of_disturbed_runs_are_hollow() -> None:
    quiet = synthetic.case_runs(Case("s", "g", "SHM", "PingPong"), 1e-6, 1e9)
    busy = synthetic.case_runs(Case("s", "g", "TCP", "PingPong"), 2e-6, 1e9)
    points = sources(of([*quiet, *(replace(run, condition=DISTURBED) for run in busy)])[0])["points"]
    hollow = {(line, fill == "white") for line, fill in zip(points["line"], points["fill"], strict=True)}
    assert hollow == {(0, False), (1, True)}


def test_bandwidths_follow_the_unit() -> None:
    records = synthetic.campaign()
    decimal, binary = (sources(of(records, unit)[1])["points"]["y"][12] for unit in ("MB/s", "MiB/s"))
    assert decimal / binary == pytest.approx(1.048576, rel=1e-4)


def test_few_lines_are_all_ticked_and_of_many_those_of_the_first_host_group() -> None:
    few = of(synthetic.campaign())[0]
    assert all(value.ticked for facet in few.facets for value in facet.values)
    groups = [record for n in range(5) for record in synthetic.campaign(host_group=f"group{n}")]
    placements, hosts = of(groups)[0].facets
    assert [value.ticked for value in placements.values] == [True] * 3
    assert [value.ticked for value in hosts.values] == [True, False, False, False, False]


def test_placements_differ_in_colour_and_host_groups_in_dashes() -> None:
    groups = [record for n in range(2) for record in synthetic.campaign(host_group=f"group{n}")]
    chart = of(groups)[0]
    looks = [line.curve.look for line in chart.lines]
    assert len({(look.colour, look.marker) for look in looks}) == 3
    assert len({look.line for look in looks}) == 2
    assert len({(look.colour, look.line) for look in looks}) == 6


def test_a_run_that_does_not_count_is_not_a_line() -> None:
    tcp = next(line.curve for line in of(synthetic.campaign())[0].lines if "TCP" in line.curve.name)
    assert [repeat.run.repeat for repeat in tcp.repeats] == [1, 2, 6, 7]


def test_a_single_size_is_not_a_curve() -> None:
    case = Case("s", "g", "SHM", "PingPong")
    assert of([synthetic.run(case, 1, synthetic.pingpong(1e-6, 1e9, [8.0]))]) == []


def test_repeats_know_their_runs() -> None:
    found = sources(of(synthetic.campaign())[0])
    assert list(found) == ["medians", "points", "repeats"]
    data = found["repeats"]
    assert data["repeat"][:6] == [1, 2, 3, 4, 5, 6] and data["job"][0] == "1001"
    assert data["hosts"][0] == "node1" and data["state"][0] == "verified"
    assert data["state"].count("unverified") == 3


def sources(chart: SelectionChart) -> dict[str, dict[str, Any]]:
    """The data for Bokeh, by the name of their source."""
    root = plot(chart)["doc"]["roots"][0]["attributes"]
    drawn = [renderer for renderer in root["renderers"] if renderer["name"] == "GlyphRenderer"]
    found = [renderer["attributes"]["data_source"]["attributes"] for renderer in drawn]
    return {source["name"]: dict(source["data"]["entries"]) for source in found}


def test_inline_json_holds_nothing_that_ends_a_script() -> None:
    evil = "</script><!--&\u2028\u2029"
    text = inline_json({"name": evil})
    assert not any(sign in text for sign in ("<", ">", "&", "\u2028", "\u2029"))
    assert json.loads(text) == {"name": evil}
    with pytest.raises(ValueError, match="not JSON compliant"):
        inline_json([float("nan")])


def test_foreign_names_go_into_the_data_as_visible_text() -> None:
    records = [replace(r, job_id="\u202e</script>") for r in synthetic.campaign()]
    text = curves_data(of(records))
    assert "\\\\u202e\\u003c/script\\u003e" in text


def test_bokehs_program_is_one_inline_script() -> None:
    text = bokeh_script().lower()
    assert "</script" not in text and "<!--" not in text
    assert 500_000 < len(text) < 2_000_000
