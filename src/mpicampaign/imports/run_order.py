"""The order of imported runs: by their local time, but for the hour that the end of summer time repeats."""

from __future__ import annotations

import re
from datetime import datetime

_SUNDAY = 6
_ENDS = {4: range(1, 8), 10: range(25, 32), 11: range(1, 8)}  # days: in Oceania, Europe, North America
_HOURS = re.compile(r"\d{4}-\d\d-\d\dT0[123]:\d\d:\d\d")  # one of these hours is there twice


def moment(started: str, job: str, path: str, line: int) -> tuple[str, list[int], list[str | int]]:
    """A sort key: start, then the numbers of the job, such as 1234_7 or 1234[7], then path and line.

    In an hour that may be there twice, times do not tell the order: job numbers do, then numbers in paths.
    """
    numbers = [int(number) for number in re.findall(r"\d{1,18}", job)]
    if _may_be_repeated(started):
        digits = re.split(r"([0-9]{1,18})", path)
        return started[:13], numbers, [int(part) if k % 2 else part for k, part in enumerate(digits)] + [line]
    return started, numbers, [path, line]


def _may_be_repeated(started: str) -> bool:
    """Whether a time such as 2017-10-29T02:30:00 may be in that hour; an offset from UTC tells it apart."""
    if not _HOURS.fullmatch(started):
        return False
    try:
        time = datetime.fromisoformat(started)
    except ValueError:
        return False
    return time.weekday() == _SUNDAY and time.day in _ENDS.get(time.month, ())
