"""Writing files so that a reader never sees a partial one."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mpicampaign.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpicampaign.errors import Problem


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


@contextmanager
def locked(lock: Path, held: Problem) -> Iterator[None]:
    """Hold a lock file.

    Raises
    ------
    UserError
        with the problem ``held``, when another process holds it.
    """
    with lock.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(held) from None
        yield
