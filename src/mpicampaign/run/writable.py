"""Whether results can be written: a file system may be full, over quota, or read-only for a while."""

from __future__ import annotations

import errno
import os
from functools import cache
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROOM = 2**20  # bytes that must be free: more than some runs write
TRIES = 3  # of a run that could not write its results, where they can be written here
SECONDS_BETWEEN_WRITES = 10.0  # while all is well


def why_not_writable(folder: Path, *, write: bool = True) -> str:
    """Why results cannot be written in a folder; empty where they can, or where it does not exist.

    ``write``: try it, since nothing else shows a quota; the file has no name, so that none is left behind.
    """
    try:
        free = _free(folder)
        if free is not None and free < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if write or not os.access(folder, os.W_OK):
            with TemporaryFile(dir=folder, buffering=0) as file:
                file.write(_content())
                os.fsync(file.fileno())
    except FileNotFoundError:
        return ""
    except OSError as error:
        free = _free(folder)  # now: it may have filled meanwhile
        left = f", {free / 1e6:.1f} MB free" if free is not None else ""
        return f"{folder}: {error.strerror}{left}"
    return ""


@cache
def _content() -> bytes:
    """Random, as zeros may take no room; made once, since that takes 3 ms."""
    return os.urandom(ROOM)


def _free(folder: Path) -> int | None:
    """The bytes that are free for this user; None where the file system does not say."""
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize if system.f_blocks else None
