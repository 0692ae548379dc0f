"""Whether an output is whole by the campaign file: the patterns are those of grep -E, as in job scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.commands import call
from mpicampaign.suites.reading import UnreadError, shown


class Line(NamedTuple):
    """A line of an output with its number."""

    number: int
    text: str


def first_line(pattern: str, output: bytes) -> Line | None:
    """The first line of an output that a pattern matches.

    Raises
    ------
    UnreadError
        when it cannot be searched, as with the faulty pattern of a plan from elsewhere.
    """
    with os.fdopen(os.memfd_create("output"), "wb") as file:  # /tmp may be full
        file.write(output)
        file.flush()
        grep = ["env", "LC_ALL=C", "grep", "-aEnm1", "-e", pattern]
        searched = call(grep, script=Path(f"/proc/self/fd/{file.fileno()}"))
    if searched.status not in (0, 1):
        raise UnreadError(f"grep -E {shown(pattern)}: {searched.last_line}")
    number, _, text = searched.out.rstrip("\n").partition(":")
    return Line(int(number), text) if searched.status == 0 else None


def not_whole(reading: Mapping[str, Any], output: bytes) -> str:
    """Why an output is not whole; empty where it is."""
    for pattern in reading.get("whole", ()):
        if not first_line(pattern, output):
            return f"no line matches whole: {shown(pattern)}"
    refused = reading.get("refused") and first_line(reading["refused"], output)
    return f"line {refused.number} matches refused: {shown(refused.text)}" if refused else ""
