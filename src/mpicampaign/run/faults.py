"""What went wrong with the cluster during a call, for one line each at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpicampaign.base.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator


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
