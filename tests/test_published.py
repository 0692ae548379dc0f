"""Published rows beside own rows: only values of equal meaning, in equal units, marked."""

from __future__ import annotations

import build_records as make
import pytest

from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.records import MERGED_FROM, Record, Series
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.own.say import own_legend, own_lines, own_table
from mpicampaign.questions.published.find import published_for, with_published
from mpicampaign.report.make import to_markdown, to_terminal
from mpicampaign.show.view import View

SCARF15 = ReferenceChoice("stfc-2017", ("scarf15",))


def own(placement: str = "TCP", latency: float = 12.3e-6, **keywords: str) -> list[Record]:
    return make.runs(make.case(placement, group="local"), [latency] * 3, **keywords)


def beside(records: list[Record], *choices: ReferenceChoice) -> Comparison:
    return with_published(compare(records), choices)


def values(comparison: Comparison, row: int = 0) -> dict[str, float]:
    return {metric.name: value for metric, value in comparison.tables[0].published[row].values.items()}


def test_host_groups_of_merged_bundles_are_tested_as_a_family() -> None:
    """Mine against 9 others: 8 are twice as slow, one is like mine."""
    latencies = {"mine": 1e-6, "like": 1.001e-6, **{f"slow{n}": 2e-6 for n in range(8)}}
    records = []
    for name, latency in latencies.items():
        case = make.case("TCP", group=name, system="here" if name == "mine" else "there")
        merged = {} if name == "mine" else {MERGED_FROM: "bundle"}
        records += make.runs(case, [latency * (1 + n / 500) for n in range(1, 7)], metadata=merged)
    comparison = compare(records)
    line = next(line for line in own_lines(comparison, View()) if "latency" in line)
    assert "is better than 8 of 9 host groups of there: × 0.5" in line and "(like)" in line
    assert own_legend(comparison) == "The chance of wrongly calling any system different is at most 5 %."
    said = {line[3]: line[5] for line in own_table(comparison, View()) if "latency" in line[0]}
    assert said["there/like"].startswith("no significant difference (p = ")
    assert said["there/slow3"] == "different (p = 0.0043)", "8 of 9 have p = 2/924: the second step of nine"


def test_published_lines_are_marked_in_every_table() -> None:
    comparison = beside(own(), SCARF15)
    terminal, markdown = to_terminal(comparison), to_markdown(comparison)
    lines = [line for line in terminal.splitlines() if line.strip().startswith("scarf15")]
    assert len(lines) == 5 and all("published, stfc-2017" in line for line in lines)
    assert "825.9" not in terminal and "866.0" in terminal  # MB/s by default
    assert "825.9" in to_terminal(comparison, view=View("MiB/s"))
    assert "published, stfc-2017: mean of 5" in markdown and "C. Iddon" in markdown
    assert max(len(line) for line in terminal.splitlines()) <= 100


@pytest.mark.parametrize(
    ("suite", "series", "expected"),
    [
        ("kernel", Series("latency_bandwidth", 8, {"random_ring_latency": [1e-6]}), 24),
        ("hpcc", Series("HPCC", 8, {"random_ring_latency": [1e-6]}), 24),
        ("hpcc", Series("HPCC", 8, {"natural_ring_latency": [1e-6]}), 0),
        ("kernel", Series("b_eff", 8, {"b_eff": [1e9]}), 17),
        ("kernel", Series("b_eff", 8, {"b_eff": [1e9]}, {"Lmax": "1 MiB given"}), 17),
        ("osu", Series("PingPong", 2, {"size": [0.0], "time": [1e-6]}), 0),
        ("imb", Series("PingPong", 2, {"size": [1.0], "time": [1e-6]}), 0),
        ("imb", Series("PingPing", 2, {"size": [0.0], "time": [1e-6]}), 0),
    ],
)
def test_only_equal_definitions_are_matched(suite: str, series: Series, expected: int) -> None:
    runs = [make.run("any", 1, series, suite=suite)]
    table = compare(runs).tables[0]
    choices = [ReferenceChoice(name) for name in ("stfc-2017", "hpcc-2005", "b_eff-t3e")]
    assert len(published_for(table, choices)) == expected
