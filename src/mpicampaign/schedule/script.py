"""The script that cron or a timer starts: the environment that these lack, a log, and a time limit."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.campaign.model import Schedule
from mpicampaign.schedule.times import is_exact

FOLDER = "schedule"  # in the campaign's folder
MAX_LOG = 1_000_000  # B
SECONDS_TO_END = 120  # after SIGTERM
# What a site's profile sets for login shells. Nothing else is kept, since it may hold secrets.
CARRIED = (
    *("PATH", "LD_LIBRARY_PATH", "MODULEPATH", "MODULESHOME", "LMOD_CMD", "LMOD_PKG", "SLURM_CONF"),
    *("LSF_BINDIR", "LSF_SERVERDIR", "LSF_LIBDIR", "LSF_ENVDIR", "LANG"),
)


def script_path(folder: Path, system: str) -> Path:
    """The script of a campaign, for one of its systems where one is named."""
    return folder.resolve() / FOLDER / f"tick{f'-{system}' if system else ''}.sh"


def script_text(
    schedule: Schedule, campaign: Path, folder: Path, system: str, environ: Mapping[str, str]
) -> str:
    """The script.

    Parameters
    ----------
    campaign : the campaign file
    folder : of the campaign in results/
    system : the option ``--system``, or empty
    environ : from which the variables in `CARRIED` are taken

    Raises
    ------
    UserError
        when a path has a line break.
    """
    options = [str(campaign.resolve()), *(["--system", system] if system else [])]
    options += [] if is_exact(schedule) else ["--due"]
    tick = [sys.executable, "-P", "-m", "mpicampaign.cli", "tick", *options]
    seconds = schedule.limit or schedule.every
    limit = ["timeout", "--signal=TERM", f"--kill-after={SECONDS_TO_END}", str(seconds)]
    working = folder.resolve().parents[1]
    log = script_path(folder, system).with_suffix(".log")
    for path in (*options, str(folder.resolve()), sys.executable):
        if not path.isprintable():
            raise UserError(Problem("a path with a line break or control character", value=ascii(path)))
    carried = [f"export {name}={shlex.quote(environ[name])}" for name in CARRIED if environ.get(name)]
    lines = [
        "#!/bin/sh",
        "# Made by 'mpicampaign schedule': one tick of the campaign, for cron or a timer.",
        *carried,
        f"cd {shlex.quote(str(working))} || exit 2",
        f"log={shlex.quote(str(log))}",
        f'if [ "$(wc -c 2>/dev/null <"$log" || echo 0)" -gt {MAX_LOG} ]; then',
        "    for number in 3 2 1; do",
        '        [ ! -f "$log.$number" ] || mv "$log.$number" "$log.$((number + 1))"',
        "    done",
        '    mv "$log" "$log.1"',
        "fi",
        f'exec {shlex.join([*limit, *tick])} >>"$log" 2>&1 </dev/null',
    ]
    return "\n".join(lines) + "\n"
