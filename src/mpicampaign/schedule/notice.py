"""What a tick found, in a file, and the user's own command that is called with its name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mpicampaign.base.commands import call
from mpicampaign.base.files import write_whole
from mpicampaign.base.records import CONTRADICTED, FAILED, OK, Record
from mpicampaign.base.text import visible
from mpicampaign.history.overview import Overview
from mpicampaign.questions.history.say import change_text, curve_name, event_text, year_of

FOLDER = "history/notices"


def notice_text(history: Overview, records: Sequence[Record], lines: Sequence[str]) -> str:
    """What a tick found, as Markdown; empty where there is nothing to report.

    Parameters
    ----------
    history : whose new changes the tick was the first to report
    records : of the open series
    lines : on missed ticks, the clock and the campaign file
    """
    failed = [record for record in records if record.end == FAILED]
    wrong = [record for record in records if record.status == OK and record.verdict == CONTRADICTED]
    new = [(history.curves[place], change) for place, change in history.new]
    first = {curve.points[change.index].tick for curve, change in new}
    parts = [
        [event_text(event, year_of(history)) for event in history.events if event.tick in first],
        [f"{curve_name(curve.key)}: {change_text(change, curve)}" for curve, change in new],
        [f"failed: {record.case} repeat {record.repeat}: {record.reason}" for record in failed],
        [f"contradicted: {record.case} repeat {record.repeat}" for record in wrong],
        dict.fromkeys((*lines, *history.problems)),
    ]
    lines = [f"- {visible(line)}" for part in parts for line in part]
    heading = f"# {visible(history.campaign)}: what the last tick found"
    return "\n".join([heading, "", *lines, ""]) if lines else ""


def notify(folder: Path, text: str, command: Sequence[str]) -> list[str]:
    """Write the notice below the campaign's folder, and call the command with its name; lines to print."""
    now = datetime.now(UTC)
    path = folder / FOLDER / f"{now:%Y%m%dT%H%M%SZ}-{os.urandom(2).hex()}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    lines = [f"notice: {path}"]
    if command:
        done = call([*command, str(path)])
        lines += [f"the notify command failed: {done.failure}"] if done.failure else []
    return lines
