"""Other ways to start ticks: a systemd user timer, and Slurm's scrontab."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mpicampaign.schedule.times import times_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.campaign.model import Schedule


def systemd_units(schedule: Schedule, campaign: str, script: Path) -> dict[str, str]:
    """The texts of a service and its timer, by file name, for ~/.config/systemd/user."""
    name = f"mpicampaign-{campaign}"
    service = f"""[Unit]
Description=One tick of campaign {campaign}

[Service]
Type=oneshot
ExecStart=/bin/sh {_quoted(str(script))}
"""
    timer = f"""[Unit]
Description=Ticks of campaign {campaign}

[Timer]
OnCalendar={times_of(schedule).calendar}
AccuracySec=1s

[Install]
WantedBy=timers.target
"""
    return {f"{name}.service": service, f"{name}.timer": timer}


def _quoted(text: str) -> str:
    """As systemd reads an argument: C escapes in quotes; a doubled % or $ is literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def scrontab_lines(schedule: Schedule, campaign: str, script: Path) -> str:
    """Lines for Slurm's scrontab, after its documentation: one task of one core starts the tick."""
    minutes = -(-(schedule.limit or schedule.every) // 60) + 5
    command = shlex.join(["/bin/sh", str(script)])
    return f"""#SCRON --job-name=mpicampaign-{campaign}
#SCRON --ntasks=1
#SCRON --time={minutes}
{times_of(schedule).cron} {command}
"""
