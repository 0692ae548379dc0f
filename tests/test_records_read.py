"""The cache of records: a record from it is the one that is read, and follows whatever it is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_collect import CASE, EVIDENCE, OUTPUT, run_folder
from test_own_reading import FIRST, Site
from test_own_reading import OUTPUT as OWN_OUTPUT

from mpicampaign.collect import records_read, runs
from mpicampaign.collect.records_read import FILE, RecordsRead
from mpicampaign.collect.runs import RunFolder, read_run
from mpicampaign.records import FAILED, OK, Record


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


def test_a_run_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, read = look(folder, monkeypatch)
    assert (first.status, bool(first.series), read) == (OK, True, True)
    assert look(folder, monkeypatch) == (first, False)


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
    monkeypatch.setattr(records_read, "program_state", lambda: "another")
    assert look(folder, monkeypatch)[1]


@pytest.mark.parametrize("damage", [lambda text: text[:-200], lambda text: text.replace(" {", " [", 1)])
def test_a_damaged_cache_is_no_obstacle(
    folder: Path, damage: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(folder, monkeypatch)
    cache = folder.parent / FILE
    cache.write_text(damage(cache.read_text()))  # type: ignore[operator]
    assert look(folder, monkeypatch)[1]
    assert json.loads(cache.read_text().splitlines()[1].partition(" ")[2])["status"] == OK


def test_what_other_packages_or_grep_had_a_part_in_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path)
    for name, text in zip(sorted(FIRST), (OWN_OUTPUT, OWN_OUTPUT.replace("done", "")), strict=True):
        site.add(name, "2026-11-01T00:00:00Z", text)
    assert [each.status for each in site.records()] == [OK, FAILED]
    assert len((site.folder / FILE).read_text().splitlines()) == 2  # the state of the program, and a record
    (site.folder / FILE).unlink()
    (tmp_path / "garden-1.0.dist-info").mkdir()
    (tmp_path / "garden-1.0.dist-info/entry_points.txt").write_text("[mpicampaign.mpis]\nhoe = garden:MPI\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("mpicampaign.mpis.MPIS._plugins", {})
    assert [each.status for each in site.records()] == [OK, FAILED]
    assert not (site.folder / FILE).exists()
