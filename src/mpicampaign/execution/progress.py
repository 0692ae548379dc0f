"""What a person sees while a campaign runs: what runs now, each finished run, the time left."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from mpicampaign.compare.metrics import choose_metrics, read
from mpicampaign.records import FAILED, OK, VERIFIED
from mpicampaign.show.numbers import quantity
from mpicampaign.units import format_duration

if TYPE_CHECKING:
    from mpicampaign.records import Record


class Progress:
    """One line for each finished run; on a terminal also one that tells what runs now."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._expected = 0
        self._done = 0
        self._since = time.monotonic()

    def expect(self, runs: int) -> None:
        """So many more runs have been taken on."""
        self._expected += runs

    def started(self, label: str) -> None:
        if self._terminal:
            self._print(f"[{self._done + 1}/{self._expected}] running {label} {self._left()}", end="")

    def say(self, words: str) -> None:
        """Something that a person should know: why nothing runs, what is tried again."""
        self._print(words, end="\n")

    def finished(self, label: str, record: Record, status: int | None, problem: str = "") -> None:
        """Print the run's headline figure and verdict, as its own files tell them, or the ``problem``."""
        self._done += 1
        words = describe(record, status)
        if problem and record.status != OK:
            words = f"{words} ({problem})" if record.status == FAILED else f"FAILED: {problem}"
        left = "" if self._terminal else self._left()
        self._print(f"[{self._done}/{self._expected}] {label}: {words} {left}".rstrip(), end="\n")

    def _left(self) -> str:
        if not self._done or self._done >= self._expected:
            return ""
        seconds = (time.monotonic() - self._since) / self._done * (self._expected - self._done)
        return f"(about {format_duration(seconds)} left)"

    def _print(self, text: str, end: str) -> None:
        clear = "\r\x1b[K" if self._terminal else ""
        # A reader that went away (a closed terminal, | head) must not end the measurement.
        with suppress(OSError):
            print(clear + text, end=end, file=self._stream, flush=True)

    def close(self) -> None:
        if self._terminal:
            self._print("", end="")


def headline(record: Record) -> str:
    """The figures by which a run is known, of its first table: latency and largest bandwidth, say."""
    table = record.series[0]
    words = []
    for metric in choose_metrics(record.suite, [table], ()):
        found = read(metric, table, record.series) if metric.headline else None
        if found:
            words.append(f"{metric.name} {quantity(found.value, metric.dimension)}")
    return ", ".join(words) or table.label


def describe(record: Record, status: int | None) -> str:
    """A finished run in a few words: its headline figure and verdict, or why it has none."""
    if record.status == OK:
        reason = f" ({record.verdict_reasons[0]})" if record.verdict != VERIFIED else ""
        return f"{headline(record)}, {record.verdict}{reason}"
    state = {"not_available": "n/a", "failed": "FAILED"}.get(record.status, f"FAILED (exit {status})")
    return f"{state}: {record.reason}"
