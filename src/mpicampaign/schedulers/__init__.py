"""Schedulers: each is one class, used by campaigns, the doctor and imports alike. No I/O.

How to add one: docs/extending.md.
"""

from __future__ import annotations

from mpicampaign.base.registry import Registry
from mpicampaign.schedulers.scheduler import BatchScheduler, Scheduler

__all__ = ["SCHEDULERS", "BatchScheduler", "Scheduler", "batch_scheduler", "batch_schedulers", "is_local"]

SCHEDULERS: Registry[Scheduler] = Registry("mpicampaign.schedulers", "SCHEDULER", Scheduler)


def batch_schedulers() -> tuple[BatchScheduler, ...]:
    """All schedulers that have a queue."""
    return tuple(scheduler for scheduler in SCHEDULERS.values() if isinstance(scheduler, BatchScheduler))


def batch_scheduler(name: str) -> BatchScheduler | None:
    """The scheduler of a name; None for a machine without one."""
    scheduler = SCHEDULERS.get(name)
    return scheduler if isinstance(scheduler, BatchScheduler) else None


def is_local(name: str) -> bool:
    """Whether job scripts run where they are started; False for an unknown scheduler."""
    scheduler = SCHEDULERS.get(name)
    return scheduler is not None and scheduler.local
