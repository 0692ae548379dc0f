"""The user's crontab: one marked block for each campaign; all other lines stay as they are."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mpicampaign.base.commands import call
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.records import NEW_SERIES
from mpicampaign.campaign.model import Schedule
from mpicampaign.jobs.render import SECONDS_OF_SETUP
from mpicampaign.jobs.run import Run
from mpicampaign.schedule.times import times_of

_EMPTY = "no crontab for"


def block(schedule: Schedule, script: Path) -> str:
    """The lines of a campaign, marked by the path of its script."""
    begin, end = _marks(script)
    command = shlex.join(["/bin/sh", str(script)]).replace("%", r"\%")  # cron takes % for a line break
    return f"{begin}\n{times_of(schedule).cron} {command}\n{end}\n"


def _marks(script: Path) -> tuple[str, str]:
    return f"# begin mpicampaign {script}", f"# end mpicampaign {script}"


def install(schedule: Schedule, script: Path) -> bool:
    """Put the block into the user's crontab in place of an earlier one; whether anything changed.

    Raises
    ------
    UserError
        when the crontab cannot be read or written, or the marks in it were edited.
    """
    before = _read()
    return _write(before, _without(before, script) + block(schedule, script))


def remove(script: Path) -> bool:
    """Remove the block from the user's crontab; whether there was one.

    Raises
    ------
    UserError
        when the crontab cannot be read or written, or the marks in it were edited.
    """
    before = _read()
    return _write(before, _without(before, script))


def _read() -> str:
    answer = call(["crontab", "-l"])
    if answer.status == 0:
        return answer.out
    if answer.status == 1 and _EMPTY in answer.err:
        return ""
    hint = "without cron: schedule --scrontab, or any timer that starts schedule/tick.sh"
    raise UserError(Problem(f"the crontab cannot be read: {answer.failure}", hint=hint))


def _without(text: str, script: Path) -> str:
    """The crontab without the block."""
    begin, end = _marks(script)
    lines = text.splitlines(keepends=True)
    marks = [line.rstrip("\n") for line in lines if line.rstrip("\n") in (begin, end)]
    if not marks:
        return text if not text or text.endswith("\n") else f"{text}\n"
    if marks != [begin, end]:
        message = "the lines that mark this campaign in your crontab were edited"
        raise UserError(Problem(message, hint=f"crontab -e: remove the lines about {script}"))
    plain = [line.rstrip("\n") for line in lines]
    return "".join(lines[: plain.index(begin)] + lines[plain.index(end) + 1 :])


def _write(before: str, text: str) -> bool:
    if text == before:
        return False
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "crontab"
        file.write_text(text, encoding="utf-8")
        done = call(["crontab", str(file)])
    if done.status != 0 or _read() != text:
        raise UserError(Problem(f"the crontab cannot be written: {done.failure or 'it is unchanged'}"))
    return True


# ---- where there is no cron: Slurm's scrontab


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
    options = (f"--job-name=mpicampaign-{campaign}", "--ntasks=1", f"--time={minutes}")
    times = f"{times_of(schedule).cron} {command}\n"
    return "\n".join([*(f"#SCRON {option}" for option in options), times])
