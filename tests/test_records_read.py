"""The caches of records and of findings in outputs: keyed by content and program, never an obstacle."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from test_collect import CASE, EVIDENCE, OUTPUT, run_folder
from test_own_reading import Site

from mpicampaign.base.records import OK, RECORDS, Header, Record, records_from, write_records
from mpicampaign.campaign.file import load_campaign
from mpicampaign.cli import main
from mpicampaign.cli.judge import judge_folder
from mpicampaign.collect import caches, runs
from mpicampaign.collect.caches import RECORDS_FILE, OutputsRead, RecordsRead
from mpicampaign.collect.runs import RunFolder, read_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return run_folder(tmp_path, "result", output=OUTPUT, evidence=EVIDENCE, stderr="")


def look(folder: Path, monkeypatch: pytest.MonkeyPatch, repeat: int = 1) -> tuple[Record, bool]:
    """The record by way of the cache, and whether the run was read for it."""
    before, real = RecordsRead(folder.parent), runs._read_result
    read: list[object] = []

    def counted(*given: Any) -> Record:
        read.append(given)
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "_read_result", counted)
        record = read_run(CASE, "imb", RunFolder(folder, repeat, 7), None, None, before)
    before.keep()
    assert record == read_run(CASE, "imb", RunFolder(folder, repeat, 7))
    return record, bool(read)


@pytest.mark.parametrize("file", ["result/output.txt", "result/evidence.txt", "result/stderr.txt", "claim"])
def test_a_changed_file_is_read(folder: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    look(folder, monkeypatch)
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[:-1] + b" ")  # as long, but for an empty one
    assert look(folder, monkeypatch)[1]


def test_another_program_or_plan_reads_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(folder, monkeypatch)
    assert look(folder, monkeypatch, repeat=2)[1]
    look(folder, monkeypatch)
    monkeypatch.setattr(caches, "program_state", lambda: "another")
    assert look(folder, monkeypatch)[1]


@pytest.mark.parametrize("damage", [lambda text: text[:-200], lambda text: text.replace(" {", " [", 1)])
def test_a_damaged_cache_is_no_obstacle(
    folder: Path, damage: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(folder, monkeypatch)
    cache = folder.parent / RECORDS_FILE
    cache.write_text(damage(cache.read_text()))  # type: ignore[operator]
    assert look(folder, monkeypatch)[1]
    assert json.loads(cache.read_text().splitlines()[1].split(" ", 2)[2])["status"] == OK


def forged(folder: Path) -> None:
    """Numbers of the cache, with digests that fit."""
    made = RecordsRead(folder)
    changed = {key: text.replace(b"5112.4", b"9999.0") for key, text in made.kept.items()}
    assert changed != made.kept
    made.used = changed
    made.keep()


def test_what_goes_out_is_read_from_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who edits a line with its digest sees it at home, and no other site does."""
    site = Site(tmp_path)
    site.end_all()
    limit = "\nexpect: [{benchmark: ours, metric: steps, at_least: 1}]\n"
    site.file.write_text(site.file.read_text() + limit)
    site.records()
    forged(site.folder)
    records = site.records()
    assert rates(records) == {9999.0}
    write_records(site.folder / RECORDS, Header("own", "A title", (8,)), records)
    [judged] = judge_folder(site.folder, load_campaign(site.file))
    assert (judged.median, judged.n) == (5112.4, 2)
    monkeypatch.chdir(tmp_path)
    assert main(["bundle", "--results", str(site.folder), "-o", "own.tar.gz"]) == 0
    with tarfile.open("own.tar.gz") as bundle:
        carried = bundle.extractfile(RECORDS)
        assert carried
        header, records = records_from(carried.read(), RECORDS)
    assert (header, rates(records)) == (Header("own", "A title", (8,)), {5112.4})


def rates(records: list[Record]) -> set[float | None]:
    return {value for run in records for series in run.series for value in series.columns.get("steps", ())}


def look_for(folder: Path, output: bytes, asked: str = "imb", lasting: bool = True) -> list[str]:
    """The reason for an output, and what was read for it."""
    before, read = OutputsRead(folder), []

    def find() -> str:
        read.append("read")
        return ""

    reason = before.reason(asked, output, find, lambda: lasting)
    before.keep()
    return [reason, *read]


def test_what_another_package_reads_is_not_kept(tmp_path: Path) -> None:
    assert look_for(tmp_path, b"a", lasting=False) == look_for(tmp_path, b"a", lasting=False) == ["", "read"]
