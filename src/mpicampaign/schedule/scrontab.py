"""Lines for Slurm's scrontab, which starts ticks where there is no cron."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from mpicampaign.base.records import NEW_SERIES
from mpicampaign.campaign.model import Schedule
from mpicampaign.jobs.render import SECONDS_OF_SETUP
from mpicampaign.jobs.run import Run
from mpicampaign.schedule.times import times_of


def limit_of_tick(schedule: Schedule, runs: Iterable[Run]) -> int:
    """How long a tick may need (s), where it takes a place in the queue itself and no limit is given.

    Its jobs run beside each other, what runs here one after the other. If they wait longer in the queue, the
    tick ends, they stay, and a later tick takes their results.
    """
    last = {(run.case, run.repeat if schedule.series == NEW_SERIES else 0): run for run in runs}
    here = sum(run.time_limit for run in last.values() if run.job.system.local)
    jobs = (run.time_limit + SECONDS_OF_SETUP for run in last.values() if not run.job.system.local)
    return schedule.limit or min(schedule.every, here + max(jobs, default=0) + SECONDS_OF_SETUP)


def scrontab_lines(schedule: Schedule, campaign: str, script: Path) -> str:
    """Lines for Slurm's scrontab, after its documentation: one task of one core starts the tick."""
    minutes = -(-(schedule.limit or schedule.every) // 60) + 5
    command = shlex.join(["/bin/sh", str(script)])
    return f"""#SCRON --job-name=mpicampaign-{campaign}
#SCRON --ntasks=1
#SCRON --time={minutes}
{times_of(schedule).cron} {command}
"""
