"""The cache of findings in outputs: keyed by content and program, never an obstacle."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpicampaign.collect import caches
from mpicampaign.collect.caches import OutputsRead


def look(folder: Path, output: bytes, asked: str = "imb", lasting: bool = True) -> list[str]:
    """The reason for an output, and what was read for it."""
    before, read = OutputsRead(folder), []

    def find() -> str:
        read.append("read")
        return ""

    reason = before.reason(asked, output, find, lambda: lasting)
    before.keep()
    return [reason, *read]


def test_what_another_package_reads_is_not_kept(tmp_path: Path) -> None:
    assert look(tmp_path, b"a", lasting=False) == look(tmp_path, b"a", lasting=False) == ["", "read"]


def test_another_content_suite_or_program_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(tmp_path, b"a")
    assert look(tmp_path, b"b") == ["", "read"]
    look(tmp_path, b"a")
    assert look(tmp_path, b"a", asked="osu") == ["", "read"]
    look(tmp_path, b"a")
    monkeypatch.setattr(caches, "program_state", lambda: "another")
    assert look(tmp_path, b"a") == ["", "read"]
