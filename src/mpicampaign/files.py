"""Writing files so that a reader never sees a partial one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all, even when two processes write it at once."""
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def same_text(path: Path, text: str) -> bool:
    """Whether the file exists and holds exactly this text."""
    try:
        return path.read_bytes() == text.encode("utf-8")
    except FileNotFoundError:
        return False
