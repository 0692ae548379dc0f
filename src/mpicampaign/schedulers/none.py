"""A machine without a scheduler."""

from __future__ import annotations

from pathlib import Path

from mpicampaign.schedulers.scheduler import NodeState, Scheduler

_REACHABLE = "reachable"


class NoScheduler(Scheduler):
    """Job scripts run on this machine, one at a time; on listed hosts also side by side, by ssh."""

    name = "none"
    title = "none: jobs run on this machine"
    rounds = Path(__file__).with_name("none.rounds.sh.j2")

    def read_states(self, text: str) -> dict[str, NodeState]:
        """``n1|reachable``."""
        lines = (line.split("|") for line in text.splitlines())
        return {name: NodeState(state == _REACHABLE, state) for name, state in lines}


SCHEDULER = NoScheduler()
