"""Progress of a campaign: the present run, each finished run, the time left."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from mpicampaign.compare.metrics import choose_metrics, read
from mpicampaign.records import FAILED, OK, QUIET, VERIFIED
from mpicampaign.show.numbers import quantity
from mpicampaign.units import format_duration

if TYPE_CHECKING:
    from mpicampaign.records import Record


class Progress:
    """A line for each finished run; on a terminal also one for the present run."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._expected = 0
        self._done = 0
        self._since = time.monotonic()

    def expect(self, runs: int) -> None:
        """Add a number of runs to those that are expected."""
        self._expected += runs

    def started(self, label: str) -> None:
        if self._terminal:
            self._print(f"[{self._done + 1}/{self._expected}] running {label} {self._left()}", end="")

    def say(self, message: str) -> None:
        """Print a message, such as why nothing runs or what is tried again."""
        self._print(message, end="\n")

    def finished(self, label: str, record: Record, status: int | None, problem: str = "") -> None:
        """Print the run's headline metrics and verdict from its files, or the ``problem``."""
        self._done += 1
        text = describe(record, status)
        if problem and record.status != OK:
            text = f"{text} ({problem})" if record.status == FAILED else f"FAILED: {problem}"
        left = "" if self._terminal else self._left()
        self._print(f"[{self._done}/{self._expected}] {label}: {text} {left}".rstrip(), end="\n")

    def _left(self) -> str:
        if not self._done or self._done >= self._expected:
            return ""
        seconds = (time.monotonic() - self._since) / self._done * (self._expected - self._done)
        return f"(about {format_duration(seconds)} left)"

    def _print(self, text: str, end: str) -> None:
        clear = "\r\x1b[K" if self._terminal else ""
        # A closed terminal or pipe (| head) must not end the measurement.
        with suppress(OSError):
            print(clear + text, end=end, file=self._stream, flush=True)

    def close(self) -> None:
        if self._terminal:
            self._print("", end="")


def headline(record: Record) -> str:
    """The headline metrics of a run's first table, such as latency and largest bandwidth."""
    table = record.series[0]
    values = []
    for metric in choose_metrics(record.suite, [table], ()):
        found = read(metric, table, record.series) if metric.headline else None
        if found:
            values.append(f"{metric.name} {quantity(found.value, metric.dimension)}")
    return ", ".join(values) or table.label


def describe(record: Record, status: int | None) -> str:
    """A finished run in short: its headline metrics, verdict and condition, or why it has none."""
    if record.status == OK:
        reason = f" ({record.verdict_reasons[0]})" if record.verdict != VERIFIED else ""
        why = "" if record.condition == QUIET else f" ({record.condition_reason})"
        return f"{headline(record)}, {record.verdict}{reason}, {record.condition}{why}"
    state = {"not_available": "n/a", "failed": "FAILED"}.get(record.status, f"FAILED (exit {status})")
    return f"{state}: {record.reason}"
