"""The cache of findings in outputs: keyed by content and program, never an obstacle."""

from __future__ import annotations

from pathlib import Path

from mpicampaign.collect.outputs_read import OutputsRead


def look(folder: Path, output: bytes, found: str = "", asked: str = "imb", lasting: bool = True) -> list[str]:
    """The reason for an output, and what was read for it."""
    before, read = OutputsRead(folder), []

    def find() -> str:
        read.append("read")
        return found

    reason = before.reason(asked, output, find, lambda: lasting)
    before.keep()
    return [reason, *read]


def test_what_another_package_reads_is_not_kept(tmp_path: Path) -> None:
    assert look(tmp_path, b"a", lasting=False) == look(tmp_path, b"a", lasting=False) == ["", "read"]
