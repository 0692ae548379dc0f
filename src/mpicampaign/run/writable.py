"""Whether results can be written: a file system may be full, over quota, or read-only for a while."""

from __future__ import annotations

import errno
import os
import time
from functools import cache
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from mpicampaign.run.faults import Outage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROOM = 2**20  # bytes that must be free: more than some runs write
TRIES = 3  # of a run that could not write its results, where they can be written here
SECONDS_BETWEEN_WRITES = 10.0  # while all is well


class Writable:
    """Whether results can be written: tried now and then while all is well; changes are said.

    ``meanwhile``: what becomes of runs. ``outage``: where the times are counted, on this clock.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        meanwhile: str,
        clock: Callable[[], float] = time.monotonic,
        outage: Outage | None = None,
    ) -> None:
        self._say, self._meanwhile, self._clock = say, meanwhile, clock
        self._outage = outage or Outage()
        self._next_write = 0.0

    def now(self, folder: Path, *, write: bool = False) -> bool:
        """``write``: try it in any case."""
        clock = self._clock()
        write = write or self._outage.now or clock >= self._next_write
        if write:
            self._next_write = clock + SECONDS_BETWEEN_WRITES
        problem = why_not_writable(folder, write=write)
        if not problem and self._outage.end(clock):
            self._say("results can be written again")
        if problem and self._outage.begin(clock):
            self._say(f"results can't be written: {problem}; {self._meanwhile}")
        return not problem


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
