"""mpicampaign compare: two dates, series, folders or bundles, case by case."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from history_data import FIRST, name_of, store_of
from test_command_line import CAMPAIGN

from mpicampaign.base.records import Header, Record, write_records
from mpicampaign.cli import main
from mpicampaign.history.changes import NAMES
from mpicampaign.history.rows import OBSERVED
from mpicampaign.questions.two_sides.find import Both, Side, two_sides
from mpicampaign.questions.two_sides.say import lead, two_sides_document
from mpicampaign.show.writer import writer

CASE = make.case("SHM")


def side(name: str, factor: float, hour: int, system: str = "s", kernel: str = "5.14", step: int = 1) -> Side:
    """Six runs, ``step`` minutes apart."""
    minutes = lambda repeat: (repeat - 1) * step  # noqa: E731
    runs = make.case_runs(
        replace(CASE, system=system),
        1e-6 * factor,
        started=lambda n: f"2026-11-20T{hour + minutes(n) // 60:02d}:{minutes(n) % 60:02d}:00Z",
        hosts=("n1",),
        metadata={"n1: kernel": kernel},
    )
    return Side(name, runs)


def latency_of(before: Side, after: Side) -> tuple[Both, str]:
    found = two_sides(before, after, (), OBSERVED, NAMES)
    return next(one for one in found.both if one.metric.name == "latency at 0 B"), lead(found, {})


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_a_few_repeats_tell_nothing(repeats: int) -> None:
    """Two of each lie apart by chance once in three."""
    nights = [Side(of.name, of.records[:repeats]) for of in (side("A", 1, 4), side("B", 1.3, 9))]
    latency, said = latency_of(*nights)
    assert latency.few and not latency.apart and latency.p is None
    assert "have fewer than 4 repeats a side, too few to tell." in said and "differ" not in said
    found = two_sides(*nights, (), OBSERVED, NAMES)
    text = writer("markdown").write(two_sides_document(found, {}))
    assert "too few to tell |" in text and "overlap" not in text and "apart" not in text
    assert ("In brackets" in text) == ("[" in text)


def test_the_only_systems_of_two_sites_are_compared_whatever_their_names() -> None:
    other = side("B", 2, 9, system="t")
    lacks = replace(CASE, placement="TCP", system="t")
    found = two_sides(
        side("A", 1, 4),
        Side("B", [*other.records, *make.case_runs(lacks)]),
        (),
        OBSERVED,
        NAMES,
    )
    assert {one.row.case.system for one in found.both} == {"t"}
    assert found.only == ((), ("t/g TCP PingPong",))


def results(folder: Path, records: list[Record]) -> Path:
    folder.mkdir(parents=True)
    write_records(folder / "records.jsonl", Header("c", "c", (1024,)), records)
    return folder


def test_two_folders_and_two_dates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    results(tmp_path / "a", [*side("A", 1, 4).records])
    results(tmp_path / "b", [*side("B", 1.3, 9).records])
    assert main(["compare", "a", "b"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"s/g SHM PingPong *\n +latency at 0 B \(µs\) +0\.999 .* 1\.30 +apart\n", said)
    store_of(tmp_path / "results/c", 2)
    pack = tmp_path / "results/c/history/series" / f"{name_of(0)}.tar.gz"
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN.replace("mine", "c"))
    for first in (f"{FIRST:%Y-%m-%d}", name_of(0), str(pack)):
        assert main(["compare", first, "2026-02-28"]) == 0
        said = capsys.readouterr().out
        assert re.search(r" 1\.07 +too few to tell\n", said) and "Linux 5.14.0-427" in said
    assert main(["compare", "2025-01-01", "2026-02-28"]) == 2
    assert f"known: {name_of(0)} to {name_of(1)}" in capsys.readouterr().err
    assert main(["compare", "nosuch", "2026-02-28"]) == 2
    assert "no such file, and no date or series" in capsys.readouterr().err
