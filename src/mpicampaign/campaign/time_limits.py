"""Time limits that people read otherwise: 10:00 is 10 h here and 10 min to users of Slurm, 30 is no time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.keys import Values
from mpicampaign.schedulers import SCHEDULERS
from mpicampaign.units import format_duration, parse_duration

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign
    from mpicampaign.campaign.notes import Notes
    from mpicampaign.yaml_lines import Document, Key

_KEY = "time_limit"
_NUMBER = re.compile(r"[0-9.]+", re.ASCII)
_TWO_NUMBERS = re.compile(r"([0-9]+):([0-9]{2})", re.ASCII)


def limits_text(campaign: Campaign) -> str:
    """Each time limit of the file as it is read, in one line: ``time_limit 10:00 = 10 h, 5 min``."""
    given = dict.fromkeys(_given(campaign.document).values())
    if not given:
        return f"{_KEY} {format_duration(campaign.time_limit)}, the default"
    return f"{_KEY} {', '.join(map(_as_read, given))}"


def check_time_limits(campaign: Campaign, notes: Notes) -> None:
    """Note numbers without a unit, and warn of H:MM where people know Slurm.

    A campaign with a schedule is only warned: no upgrade may stop what cron calls.
    """
    schedulers = (SCHEDULERS.get(system.scheduler) for system in campaign.systems.values())
    slurm = next((each.title for each in schedulers if each and each.minutes_first), "")
    note = notes.warn if campaign.schedule else notes.add
    for key, text in _given(notes.document).items():
        pair = _TWO_NUMBERS.fullmatch(text)
        if _NUMBER.fullmatch(text):
            message = f"a number without a unit: {text} s as read so far, {text} min to Slurm and LSF"
            note(key, message, text, f"write {text} s or {text} min")
        elif pair and slurm:
            _warn_of_pair(key, int(pair[1]), int(pair[2]), slurm, notes)


def _warn_of_pair(key: Key, first: int, second: int, scheduler: str, notes: Notes) -> None:
    text, units = f"{first}:{second:02d}", ("h", "min") if second == 0 else ("min", "s")
    here, there = (f"{first * 60 + second if second else first} {unit}" for unit in units)
    message = f"{text} is {here} here (H:MM), and {there} to users of {scheduler} (M:SS)"
    notes.warn(key, message, "", f"write {here} or {there}")


def _given(document: Document) -> dict[Key, str]:
    """The time limits of the file, as they are written."""
    values = Values(document)
    keys: list[Key] = [(_KEY,), *((*block, _KEY) for block, _ in document.items(("matrix",)))]
    return {key: text.strip() for key in keys if (text := values.text(key))}


def _as_read(text: str) -> str:
    return text if text[-1].isalpha() else f"{text} = {format_duration(parse_duration(text))}"
