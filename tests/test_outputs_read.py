"""The cache of findings in outputs: keyed by content and program, never an obstacle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpicampaign.collect import outputs_read
from mpicampaign.collect.outputs_read import FILE, OutputsRead


def look(folder: Path, output: bytes, found: str = "", asked: str = "imb", lasting: bool = True) -> list[str]:
    """The reason for an output, and what was read for it."""
    before, read = OutputsRead(folder), []

    def find() -> str:
        read.append("read")
        return found

    reason = before.reason(asked, output, find, lambda: lasting)
    before.keep()
    return [reason, *read]


def test_an_output_is_read_once(tmp_path: Path) -> None:
    assert look(tmp_path, b"a", "cut off") == ["cut off", "read"]
    assert look(tmp_path, b"a", "never asked") == ["cut off"]


def test_another_content_suite_or_program_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(tmp_path, b"a")
    assert look(tmp_path, b"b") == ["", "read"]
    look(tmp_path, b"a")
    assert look(tmp_path, b"a", asked="osu") == ["", "read"]
    look(tmp_path, b"a")
    monkeypatch.setattr(outputs_read, "program_state", lambda: "another")
    assert look(tmp_path, b"a") == ["", "read"]


def test_what_another_package_reads_is_not_kept(tmp_path: Path) -> None:
    assert look(tmp_path, b"a", lasting=False) == look(tmp_path, b"a", lasting=False) == ["", "read"]


def test_only_what_is_there_now_is_kept(tmp_path: Path) -> None:
    look(tmp_path, b"a")
    look(tmp_path, b"b")
    assert len(json.loads((tmp_path / FILE).read_text())["outputs"]) == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"program": 1}', '{"program": 1, "outputs": 2}'])
def test_a_damaged_file_is_rebuilt(tmp_path: Path, damage: str) -> None:
    (tmp_path / FILE).write_text(damage)
    assert look(tmp_path, b"a") == ["", "read"]
    assert look(tmp_path, b"a") == [""]


def test_results_that_cannot_be_written_to_are_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, text: str) -> None:
        raise PermissionError(13, "not yours")

    monkeypatch.setattr(outputs_read, "write_whole", refuse)
    assert look(tmp_path, b"a") == look(tmp_path, b"a") == ["", "read"]
    assert look(tmp_path / "nowhere", b"a") == ["", "read"]
    assert not (tmp_path / "nowhere").exists()
