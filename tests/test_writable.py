"""Whether results can be written: read-only, full and over quota look alike."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mpicampaign.run.faults import why_not_writable


def test_a_folder_with_room_is_writable_and_nothing_is_left_in_it(tmp_path: Path) -> None:
    assert why_not_writable(tmp_path) == why_not_writable(tmp_path, write=False) == ""
    assert why_not_writable(tmp_path / "removed") == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.ENOSPC, errno.EROFS, errno.EIO])
def test_writing_shows_a_quota_and_what_a_server_says_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", refuse)
    assert why_not_writable(tmp_path).startswith(f"{tmp_path}: {os.strerror(number)}, ")
    assert why_not_writable(tmp_path, write=False) == ""
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert why_not_writable(tmp_path, write=False), "a mount became read-only"
