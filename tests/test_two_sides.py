"""mpicampaign compare: two dates, series, folders or bundles, case by case."""

from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from history_data import FIRST, name_of, store_of
from test_command_line import CAMPAIGN

from mpicampaign.base.identity import identity, run_path
from mpicampaign.base.plan_file import FILE, CaseEntry, PlanFile, RunEntry, plan_json
from mpicampaign.base.records import Case, Header, Record, plain_fields, write_records
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
    assert f"known: series {name_of(0)} to {name_of(1)}" in capsys.readouterr().err
    assert main(["compare", "nosuch", "2026-02-28"]) == 2
    assert "no such file or campaign, and no date or series" in capsys.readouterr().err


LATENCY = Case("here", "blue", "TCP", "latency")


def defined(folder: Path, arguments: str, latency: float, day: int, program: str = "a" * 12) -> CaseEntry:
    """Four runs of a definition on disk."""
    declared = {**plain_fields(LATENCY), "suite": "osu", "arguments": [arguments]}
    entries = []
    for repeat in range(1, 5):
        named = identity({**declared, "repeat": repeat})
        entries.append(RunEntry(repeat, named, repeat))
        run = folder / run_path(LATENCY, repeat, named)
        lines = [f"job started=2026-11-{day:02d}T0{repeat}:00:00Z", "job exit_status=0"]
        output = make.OSU_OUTPUT.replace("0.50", f"{latency + repeat / 100:.2f}")
        make.write_result(run / "result", *lines, f"job program_sha256={program}", output=output)
        claim = f"#mpicampaign-claim 1\nclaim declared={json.dumps({**declared, 'repeat': repeat})}\n"
        (run / "claim").write_text(claim)
    return CaseEntry(LATENCY, "osu", "", None, None, declared, tuple(entries))


def test_earlier_definitions_on_disk_are_compared_with_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    folder = tmp_path / "results/mine"

    def compared(*arguments: str) -> tuple[int, str]:
        status = main(["compare", *arguments])
        out, err = capsys.readouterr()
        return status, " ".join((out + err).split())

    (tmp_path / "mine.yaml").write_text(CAMPAIGN)
    assert "no results yet" in compared("mine.yaml")[1]
    defined(folder, "-i1", 1.0, day=1)
    defined(folder, "-i2", 1.5, day=2)
    entry = defined(folder, "-i3", 3.0, day=3)
    plan = PlanFile("mine", ("here",), "../../mine.yaml", cases=(entry,))
    (folder / FILE).write_text(plan_json(plan))
    status, said = compared("mine.yaml")
    assert status == 0, said
    assert "arguments: -i2 → -i3" in said and "-i1" not in said
    assert re.search(r"latency at 1 B \(µs\) 1\.5\S* \[1\.5\S+ 1\.54\S* 3\.0\S* \[.*?\] 1\.98 apart", said), (
        said
    )
    assert "Not tested: measured one after the other" in said and "run mine.yaml --again A,B" in said
    assert "on disk, too: mpicampaign compare 2026-11-01T01:00:00Z mine.yaml" in said
    assert "arguments: -i1 → -i3" in compared("2026-11-01", "mine.yaml")[1]
    assert compared("mine")[1] == said
    compared("mine.yaml", "--format", "csv", "-o", "mine.csv")
    [line, *_] = csv.DictReader((tmp_path / "mine.csv").read_text().splitlines())
    assert (line["before_n"], line["after_n"], line["judged"]) == ("4", "4", "apart")
    assert float(line["ratio [1]"]) == pytest.approx(3.025 / 1.525)
    for run in (folder / "runs/blue/TCP/latency").iterdir():
        if run.name.partition("-")[2] not in {each.identity for each in entry.runs}:
            shutil.rmtree(run)
    status, said = compared("mine.yaml")
    assert status == 2 and "nothing on disk is of an earlier definition" in said and "campaigns in" in said
    defined(tmp_path / "aside", "-i3", 4.5, day=2, program="b" * 12)
    for run in (tmp_path / "aside/runs/blue/TCP/latency").iterdir():
        (folder / "runs/blue/TCP/latency/earlier").mkdir(exist_ok=True)
        run.rename(folder / "runs/blue/TCP/latency/earlier" / f"{run.name}-1")
    status, said = compared("mine.yaml")
    assert status == 0 and "another program or library" in said and " 0.669 apart" in said
    assert "build of the program bbbbbbbbbbbb aaaaaaaaaaaa" in said
