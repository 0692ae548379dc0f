"""What goes wrong around the runs of a call: no answer of the scheduler, no room for results.

A file system may be full, over quota, or read-only for a while. Faults of the cluster have a line each at the
end of a call.
"""

from __future__ import annotations

import errno
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from mpicampaign.base.units import format_duration

ROOM = 2**20  # bytes that must be free: more than some runs write
TRIES = 3  # of a run that could not write its results, where they can be written here
SECONDS_BETWEEN_WRITES = 10.0  # while all is well


@dataclass(slots=True)
class Outage:
    """The times at which something did not work; ``began``: the present one, on the caller's clock in s."""

    times: int = 0
    seconds: float = 0.0
    began: float | None = None

    @property
    def now(self) -> bool:
        """Whether it does not work at present."""
        return self.began is not None

    def begin(self, clock: float) -> bool:
        """Note that it does not work; returns whether that is new."""
        if self.began is not None:
            return False
        self.began = clock
        self.times += 1
        return True

    def end(self, clock: float) -> bool:
        """Note that it works; returns whether that is new."""
        if self.began is None:
            return False
        self.seconds += clock - self.began
        self.began = None
        return True

    def text(self, clock: float) -> str:
        """``for 31 s, 2 times``."""
        seconds = self.seconds + (0.0 if self.began is None else clock - self.began)
        times = {1: "once", 2: "twice"}.get(self.times, f"{self.times} times")
        return f"for {format_duration(seconds)}{' in all' if self.times > 1 else ''}, {times}"


@dataclass(slots=True)
class Faults:
    """The faults of a call.

    ``again``: jobs that were submitted again, by their state; ``requeued``: jobs that the scheduler itself
    started again, of runs that have ended well; ``lists_cut``: lists of jobs without one that the scheduler
    still knew.
    """

    silent: Outage = field(default_factory=Outage)
    unwritable: Outage = field(default_factory=Outage)
    again: Counter[str] = field(default_factory=Counter)
    requeued: int = 0
    lists_cut: int = 0

    def lines(self, clock: float) -> Iterator[str]:
        """A line for each kind of fault; none where all went well."""
        if self.silent.times:
            yield f"the scheduler did not answer {self.silent.text(clock)}"
        if self.unwritable.times:
            yield f"results could not be written {self.unwritable.text(clock)}"
        for state, count in self.again.items():
            yield f"{_jobs(count)} lost ({state}) and submitted again"
        if self.requeued:
            yield f"{_jobs(self.requeued)} requeued by the scheduler"
        if self.lists_cut:
            lists = "list of jobs was" if self.lists_cut == 1 else "lists of jobs were"
            yield f"{self.lists_cut} {lists} incomplete; no job was considered lost"


def _jobs(count: int) -> str:
    return "1 job was" if count == 1 else f"{count} jobs were"


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
        space = f", {free / 1e6:.1f} MB free" if free is not None else ""
        return f"{folder}: {error.strerror}{space}"
    return ""


@cache
def _content() -> bytes:
    """Random, as zeros may take no room; made once, since that takes 3 ms."""
    return os.urandom(ROOM)


def _free(folder: Path) -> int | None:
    """The bytes that are free for this user; None where the file system does not say."""
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize if system.f_blocks else None
