"""When ticks are due, in the terms of cron."""

from __future__ import annotations

from datetime import timedelta
from math import gcd
from typing import NamedTuple

from mpicampaign.campaign.model import Schedule

HOUR, DAY = 60, 24 * 60  # minutes


class Times(NamedTuple):
    """The five fields of a crontab line.

    ``minutes``: between two of these times. They are more frequent than ticks where cron cannot express the
    time between ticks, such as 50 min; then each call looks whether a tick is due.
    """

    cron: str
    minutes: int


def times_of(schedule: Schedule) -> Times:
    """The times at which cron calls the tick, by the local clock."""
    minutes = schedule.every // 60
    if minutes % HOUR:
        step = gcd(minutes, HOUR)
        return Times(f"*/{step} * * * *" if step > 1 else "* * * * *", step)
    if minutes % DAY:
        hours = gcd(minutes // HOUR, DAY // HOUR)
        return Times(f"0 */{hours} * * *" if hours > 1 else "0 * * * *", hours * HOUR)
    hour, minute = divmod(schedule.at, HOUR)
    return Times(f"{minute} {hour} * * *", DAY)


def is_exact(schedule: Schedule) -> bool:
    """Whether each of these times is one of a tick."""
    return times_of(schedule).minutes * 60 == schedule.every


def is_due(schedule: Schedule, since_last: timedelta | None) -> bool:
    """Whether a tick is due, so long after the last one; half a step early is in time."""
    if since_last is None or since_last.total_seconds() < 0:  # a clock that went backwards says nothing
        return True
    return since_last.total_seconds() >= schedule.every - times_of(schedule).minutes * 30


def missed(schedule: Schedule, since_last: timedelta) -> int:
    """How many ticks were missed; days of 23 and 25 hours miss none."""
    return max(0, round(since_last.total_seconds() / schedule.every) - 1)
