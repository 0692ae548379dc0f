"""The log of a campaign's ticks: one JSON object per line in history/ticks.jsonl, only ever appended to."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.files import append_lines

FILE = "history/ticks.jsonl"

# events
BEGAN = "began"
ENDED = "ended"
BUSY = "another at work"


class Tick(NamedTuple):
    """A line of the log. ``data``: of the event, such as the exit status."""

    event: str
    time: datetime
    series: str
    data: dict[str, Any]


class TickLog:
    """The ticks of a campaign; ``damaged`` are the numbers of lines that cannot be read."""

    def __init__(self, campaign_folder: Path) -> None:
        self.path = campaign_folder / FILE
        self.damaged: list[int] = []
        self.ticks = list(self._read())

    def _read(self) -> list[Tick]:
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        numbered = [(number, _tick(line)) for number, line in enumerate(lines, start=1) if line]
        self.damaged = [number for number, tick in numbered if tick is None]
        return [tick for _, tick in numbered if tick is not None]

    @property
    def last(self) -> Tick | None:
        """The last call of a tick, whether it could begin or not."""
        return next((tick for tick in reversed(self.ticks) if tick.event != ENDED), None)

    def has_ended(self, series: str) -> bool:
        """Whether the last tick of a series came to its end: it was not killed or interrupted."""
        of_series = (tick for tick in reversed(self.ticks) if tick.series == series and tick.event != BUSY)
        last = next(of_series, None)
        return last is not None and last.event == ENDED and last.data.get("status", 128) < 128

    def add(self, event: str, series: str = "", **data: Any) -> None:
        """Append a line, as a whole and down to the disk.

        Raises
        ------
        OSError
            when it cannot be written, with the file's name.
        """
        now = datetime.now(UTC)
        tick = {"event": event, "time": now.isoformat(timespec="seconds"), "series": series, **data}
        append_lines(self.path, [json.dumps(tick, ensure_ascii=False)])
        self.ticks.append(Tick(event, now, series, data))


def _tick(line: bytes) -> Tick | None:
    try:
        data = json.loads(line)
        event, time, series = (str(data.pop(key)) for key in ("event", "time", "series"))
        return Tick(event, datetime.fromisoformat(time), series, data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
