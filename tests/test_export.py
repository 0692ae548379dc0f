"""Exports: read by the parsers of Prometheus, whatever names, units and values are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import build_records as make
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as classic_families

from mpicampaign.base.records import Header, Record, write_records
from mpicampaign.base.text import visible
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.history.ticks import TickLog
from mpicampaign.report.exports.openmetrics import openmetrics, samples_of
from mpicampaign.schedule.textfile import write_textfile

if TYPE_CHECKING:
    from prometheus_client import Metric

HOSTILE = f'{make.HOSTILE} \\n "quoted\\" é\x00\u2028'
UNITS = ("ns/day", "°C", "info", "total", '"\n}', "s")


def own(unit: str, value: float | None, case: str = HOSTILE) -> Record:
    """A run of a program with a metric of its own."""
    name = f"{HOSTILE} {unit}"
    series = make.series(HOSTILE, metrics={name: {"unit": unit, "better": "higher"}}, **{name: value})
    return make.run(make.case("SHM", f"of {unit}", case), 1, series, suite="own")


def families(records: list[Record]) -> dict[str, Metric]:
    return read(openmetrics(samples_of(compare(records), HOSTILE)))


def read(text: str) -> dict[str, Metric]:
    """What both parsers read, which is the same; the labels are unique."""
    found = list(openmetrics_families(text))  # type: ignore[no-untyped-call]
    samples = [sample for family in found for sample in family.samples]
    assert samples == [sample for family in classic_families(text) for sample in family.samples]
    assert not any(sample.timestamp for sample in samples), "node_exporter refuses them"
    assert len({(each.name, *sorted(each.labels.items())) for each in samples}) == len(samples)
    return {family.name: family for family in found}


def test_hostile_names_and_units_survive_and_what_is_no_number_is_left_out() -> None:
    values = (1.0, None, float("nan"), float("inf"))
    records = [own(unit, value, f"{HOSTILE}{value}") for unit in UNITS for value in values]
    found = families([*records, own("s", 2.0, f"{HOSTILE}1.0\x01"), own("s", 3.0, f"{HOSTILE}1.0\\x01")])
    medians = [s for name, family in found.items() if "median" in name for s in family.samples]
    assert sorted(each.value for each in medians) == [*[1.0] * len(UNITS), 2.0, 3.0]
    assert {each.labels["campaign"] for each in medians} == {visible(HOSTILE)}
    assert {each.labels["unit"] for each in medians} == set(map(visible, UNITS))
    assert sum("duplicate" in each.labels for each in medians) == 1
    assert {"mpicampaign_median_ns_per_day", "mpicampaign_median_C", "mpicampaign_median_seconds"} <= set(
        found
    )


def test_an_export_replaces_no_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = tmp_path / "records.jsonl"
    write_records(records, Header("c"), make.campaign())
    before = records.read_bytes()
    prom = tmp_path / "runs/a.prom"
    prom.parent.mkdir()
    prom.touch()
    for output in (records, prom):
        call = ("tables", "--results", str(tmp_path), "--format", "openmetrics", "-o", str(output))
        assert main(call) == 2
    err = capsys.readouterr().err
    assert "one of the results" in err and "replaces files *.prom only" in err
    assert records.read_bytes() == before


def test_the_textfile_of_a_tick_says_how_the_ticks_went(tmp_path: Path) -> None:
    log, file = TickLog(tmp_path), tmp_path / "c.prom"

    def values() -> dict[str, float]:
        assert write_textfile(str(file), "c", tmp_path, log) == []
        samples = [each for family in read(file.read_text()).values() for each in family.samples]
        return {"".join((each.name, each.labels.get("end", ""))): each.value for each in samples}

    for status in (0, 1):
        log.add("began")
        log.add("ended", status=status)
    log.add("another at work")
    log.add("began")
    killed = values()
    assert killed["mpicampaign_tick_failures"] == 2 and killed["mpicampaign_changes"] == 0
    assert killed["mpicampaign_tick_timestamp_seconds"] == log.ticks[-1].time.timestamp()
    assert "mpicampaign_tick_success_timestamp_seconds" in killed and "mpicampaign_tick_status" not in killed
    write_records(tmp_path / "records.jsonl", Header("c"), make.campaign())
    log.add("ended", status=0)
    after = values()
    assert (after["mpicampaign_tick_failures"], after["mpicampaign_tick_status"]) == (0, 0)
    assert after["mpicampaign_runsfailed"] > 0 and after["mpicampaign_runsdisturbed"] == 0
    assert "mpicampaign_median_seconds" in after


def test_a_textfile_that_cannot_be_written_or_has_no_results_stops_no_tick(tmp_path: Path) -> None:
    log = TickLog(tmp_path)
    [line] = write_textfile(str(tmp_path / "none/c.prom"), "c", tmp_path, log)
    assert line.startswith("schedule.textfile is not written: ") and "none/c.prom: No such file" in line
    (tmp_path / "records.jsonl").write_text("{torn")
    [line] = write_textfile(str(tmp_path / "c.prom"), "c", tmp_path, log)
    assert line.startswith("schedule.textfile has no results: ") and "records.jsonl:1" in line
    assert read((tmp_path / "c.prom").read_text())
