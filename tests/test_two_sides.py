"""mpicampaign compare: two dates, series, folders or bundles, case by case."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
from history_data import FIRST, name_of, store_of
from test_command_line import CAMPAIGN

from mpicampaign.cli import main
from mpicampaign.compare.two_sides import Side, two_sides
from mpicampaign.history.changes import NAMES
from mpicampaign.history.rows import OBSERVED
from mpicampaign.records import Case, Header, Record, write_records
from mpicampaign.show.two_sides import lead

CASE = Case("s", "g", "SHM", "PingPong")


def side(name: str, factor: float, hour: int, system: str = "s", kernel: str = "5.14", step: int = 1) -> Side:
    """Six runs, ``step`` minutes apart."""
    runs = [
        replace(
            run,
            started=f"2026-11-20T{hour + number * step // 60:02d}:{number * step % 60:02d}:00Z",
            hosts=("n1",),
            metadata={"n1: kernel": kernel},
        )
        for number, run in enumerate(synthetic.case_runs(replace(CASE, system=system), 1e-6 * factor, 1e9))
    ]
    return Side(name, runs)


def test_one_after_the_other_is_a_ratio_with_ranges_and_no_test() -> None:
    found = two_sides(side("A", 1, 4), side("B", 1.3, 9, kernel="5.15"), (), OBSERVED, NAMES)
    latency = next(one for one in found.both if one.metric.name == "latency at 0 B")
    assert latency.ratio == pytest.approx(1.3) and latency.apart and latency.p is None
    assert found.recorded == (("kernel", "5.14", "5.15"),)
    assert "measured one after the other" in lead(found, {}) and "real" not in lead(found, {})


@pytest.mark.parametrize(("factor", "real"), [(1.3, True), (1.0, False)])
def test_what_ran_in_blocks_is_tested(factor: float, real: bool) -> None:
    found = two_sides(side("A", 1, 4, step=20), side("B", factor, 4, step=21), (), OBSERVED, NAMES)
    latency = next(one for one in found.both if one.metric.name == "latency at 0 B")
    assert latency.real == real and found.recorded == ()


def test_the_only_systems_of_two_sites_are_compared_whatever_their_names() -> None:
    other = side("B", 2, 9, system="t")
    lacks = replace(CASE, placement="TCP", system="t")
    found = two_sides(
        side("A", 1, 4),
        Side("B", [*other.records, *synthetic.case_runs(lacks, 1e-6, 1e9)]),
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
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.places.results_folder", lambda: tmp_path / "results")
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
        assert re.search(r" 1\.07 +apart\n", said) and "Linux 5.14.0-427" in said
    assert main(["compare", "2025-01-01", "2026-02-28"]) == 2
    assert f"known: {name_of(0)} to {name_of(1)}" in capsys.readouterr().err
    assert main(["compare", "nosuch", "2026-02-28"]) == 2
    assert "no such file, and no date or series" in capsys.readouterr().err
