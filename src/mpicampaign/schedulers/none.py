"""A machine without a scheduler."""

from __future__ import annotations

from pathlib import Path

from mpicampaign.schedulers.scheduler import Scheduler

_REACHABLE = "reachable"


class NoScheduler(Scheduler):
    """Job scripts run on this machine, one at a time; on listed hosts also side by side, by ssh."""

    name = "none"
    title = "none: jobs run on this machine"
    rounds = Path(__file__).with_name("none.rounds.sh.j2")

    def usable(self, native_state: str) -> bool:
        return native_state == _REACHABLE


SCHEDULER = NoScheduler()
