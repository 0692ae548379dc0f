"""The user's crontab: one marked block for each campaign; all other lines stay as they are."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from mpicampaign.base.commands import call
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.campaign.model import Schedule
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
    hint = "without cron: schedule --scrontab, or any timer of yours that starts schedule/tick.sh"
    raise UserError(Problem(f"the crontab cannot be read: {answer.failure}", hint=hint))


def _without(text: str, script: Path) -> str:
    """The crontab without the block."""
    begin, end = _marks(script)
    lines = text.splitlines(keepends=True)
    marks = [line.rstrip("\n") for line in lines if line.rstrip("\n") in (begin, end)]
    if not marks:
        return text if not text or text.endswith("\n") else f"{text}\n"
    if marks != [begin, end]:
        message = "the marks of this campaign's lines in your crontab were edited"
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
