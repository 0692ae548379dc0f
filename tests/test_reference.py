"""Published values: the data against their sources, errors in choices, and their rows beside own ones."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import build_records as make
import golden_messages
import pytest

from mpicampaign.base.errors import UserError
from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.records import Record, Series
from mpicampaign.base.reference import (
    PUBLIC_SYSTEMS,
    REFERENCE,
    UNITS,
    SystemValue,
    load_reference,
    reference_names,
)
from mpicampaign.base.yaml_lines import read_yaml
from mpicampaign.campaign.file import load_campaign
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.published.find import published_for, with_published
from mpicampaign.report.make import to_markdown, to_terminal
from mpicampaign.show.view import View

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not beside the project")
STFC_TABLES = {
    "table1_latency_us": ("PingPong", "time", 0, "us"),
    "table2_bandwidth_1024B": ("PingPong", "bandwidth", 1024, "MiB/s"),
    "table3_bandwidth_8192B": ("PingPong", "bandwidth", 8192, "MiB/s"),
    "table4_bandwidth_32768B": ("PingPong", "bandwidth", 32768, "MiB/s"),
    "table5_bandwidth_max": ("PingPong", "bandwidth", None, "MiB/s"),
    "table6_hpl_gflops": ("HPL (N 44640, NB 180, grid 2 x 2)", "flops", None, "Gflop/s"),
}
HPCC_COLUMNS = {
    "random_ring_gb_s": ("random ring bandwidth per process", "GB/s"),
    "ping_pong_gb_s": ("ping-pong bandwidth of the worst pair", "GB/s"),
    "random_ring_latency_us": ("random ring latency", "us"),
    "ping_pong_latency_us": ("ping-pong latency of the worst pair", "us"),
    "hpl_accumulated_gflops": ("HPL rate", "Gflop/s"),
    "hpl_per_process_gflops": ("HPL rate per process", "Gflop/s"),
    "balance_byte_per_kflop": ("random ring / HPL", "byte/kflop"),
}


def table(path: str) -> list[dict[str, str]]:
    with (SHARED / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines_of(name: str) -> list[dict[str, str]]:
    with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def place_of(value: SystemValue) -> tuple[Any, ...]:
    kind = value.kind
    return value.host_group, value.placement, kind.benchmark, kind.metric, kind.size


# --- the shipped data


def test_each_publication_has_its_source_and_licence() -> None:
    assert reference_names() == ("b_eff-t3e", "stfc-2017")
    for name in reference_names():
        about = read_yaml(REFERENCE / f"{name}.yaml").data
        assert all(about[key].strip() for key in ("title", "source", "licence", "note"))
    assert "C. Iddon" in load_reference("stfc-2017").source


@pytest.mark.parametrize(
    ("name", "count", "total"), [("stfc-2017", 258, 442875.43), ("b_eff-t3e", 51, 163185.8)]
)
def test_nothing_is_lost_or_changed(name: str, count: int, total: float) -> None:
    values, lines = load_reference(name).values, lines_of(name)
    assert len(values) == count == len({place_of(value) for value in values})
    assert math.fsum(float(line["value"]) for line in lines) == pytest.approx(total, abs=1e-6)
    for value, line in zip(values, lines, strict=True):
        assert value.value == float(line["value"]) * UNITS[line["unit"]] and None not in line
        assert value.host_group and value.statistic in ("mean", "single") and value.n == int(line["n"])


def test_the_cloud_has_no_known_mapping() -> None:
    rows = [value for value in load_reference("stfc-2017").values if value.host_group == "Cloud"]
    assert {value.placement for value in rows} == {"SHM", "TCP"}
    assert {value.n for value in rows} == {30}


@shared
def test_stfc_cell_by_cell() -> None:
    seen = 0
    for name, (benchmark, quantity, size, unit) in STFC_TABLES.items():
        for row in table(f"stfc-2017/published/{name}.csv"):
            host_group = row.pop("host_group")
            for placement, printed in row.items():
                known = "SHM" if host_group == "Cloud" and placement == "SHM-1" else placement
                found = [
                    value.value
                    for value in load_reference("stfc-2017").values
                    if place_of(value) == (host_group, known, benchmark, quantity, size)
                ]
                expected = [float(printed) * UNITS[unit]] if printed else []
                assert found == expected, (name, host_group, placement)
                seen += bool(printed)
    assert seen == len(load_reference("stfc-2017").values)


@shared
def test_hpcc_cell_by_cell() -> None:
    values = [line for line in lines_of(PUBLIC_SYSTEMS) if line["year"] == "2005"]
    for row in table("hpcc-2005/table1.csv"):
        system = f"{row['switch'].replace(' ⁺', '')} ({row['processes_x_threads']})"
        place = {"system": system, "cpu": f"{row['cpu']} {row['proc_ghz']} GHz"}
        for column, (metric, unit) in HPCC_COLUMNS.items():
            wanted = place | {"metric": metric}
            [found] = [line for line in values if wanted.items() <= line.items()]
            assert (found["value"], found["unit"]) == (row[column], unit)
            assert found["ranks"] == row["processes_x_threads"].split("x")[0]


@shared
def test_b_eff_cell_by_cell() -> None:
    for row in table("beff/t3e.csv"):
        for column, quantity in (("ring", "b_eff_rings"), ("random", "b_eff_random"), ("beff", "b_eff")):
            placement = f"{row['processes']} processes"
            [found] = [
                value.value
                for value in load_reference("b_eff-t3e").values
                if place_of(value) == ("T3E", placement, "b_eff", quantity, None)
            ]
            assert found == float(row[f"{column}_mb_s"]) * 1e6


def test_an_unknown_publication() -> None:
    with pytest.raises(UserError, match=r"unknown reference 'stfc-2071'[^\0]*did you mean 'stfc-2017'"):
        load_reference("stfc-2071")


# --- in a campaign file

CAMPAIGN = """\
campaign: c
systems: {here: {scheduler: none, mpi: wheel, login_hosts: "*"}}
host_groups: {local: {system: here}}
matrix: [{host_groups: local, placements: SHM-1, benchmarks: PingPong}]
reference: """


def campaign_with(folder: Path, reference: str) -> Any:
    (folder / "campaign.yaml").write_text(CAMPAIGN + reference + "\n")
    return load_campaign(folder / "campaign.yaml").reference


def test_errors_in_references(tmp_path: Path) -> None:
    def said(reference: str) -> str:
        return golden_messages.refusal(tmp_path, lambda: campaign_with(tmp_path, reference))

    golden_messages.check("mistakes/reference", said)


SCARF15 = ReferenceChoice("stfc-2017", ("scarf15",))


def own(placement: str = "TCP", latency: float = 12.3e-6, **keywords: str) -> list[Record]:
    return make.runs(make.case(placement, group="local"), [latency] * 3, **keywords)


def beside(records: list[Record], *choices: ReferenceChoice) -> Comparison:
    return with_published(compare(records), choices)


def values(comparison: Comparison, row: int = 0) -> dict[str, float]:
    return {metric.name: value for metric, value in comparison.tables[0].published[row].values.items()}


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
    choices = [ReferenceChoice(name) for name in ("stfc-2017", "b_eff-t3e")]
    assert len(published_for(table, choices)) == expected
