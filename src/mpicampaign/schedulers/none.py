"""A machine without a scheduler."""

from __future__ import annotations

from mpicampaign.schedulers.scheduler import Scheduler


class NoScheduler(Scheduler):
    """Job scripts run on this machine, one at a time."""

    name = "none"
    title = "none: jobs run on this machine"


SCHEDULER = NoScheduler()
