"""Progress of a campaign: the present run, each finished run, the time left."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TextIO

from mpicampaign.base.records import (
    CHOSEN_TRANSPORT,
    DISTURBED,
    FAILED,
    NOT_AVAILABLE,
    OK,
    QUIET,
    STOPPED,
    VERIFIED,
    WITHOUT_LOCK,
    Case,
    Record,
)
from mpicampaign.base.text import visible_lines
from mpicampaign.base.units import format_size
from mpicampaign.compare.metrics import choose_metrics, read, stopped_at
from mpicampaign.jobs.run import Run
from mpicampaign.run.durations import TimeLeft
from mpicampaign.show.view import quantity


class Progress:
    """A line for each finished run; on a terminal also one for the present run.

    What is not available for the same reason in all runs of a placement is reported once, and not counted.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self.left = TimeLeft()
        self.repeats_more = False  # whether runs of this call were disturbed, and are repeated
        self._host_groups: set[str] = set()
        self._expected = 0
        self._done = 0
        self._absent: set[tuple[Case, str]] = set()
        self._said_left = ""
        self._without_lock: set[str] = set()  # why

    def expect(self, runs: Sequence[Run]) -> None:
        """Add runs to those that are expected."""
        self.left.expect(runs)
        self._host_groups |= {run.case.host_group for run in runs}
        self._expected += len(runs)

    def left_out(self, runs: Sequence[Run]) -> None:
        """Remove runs that are not made now."""
        self.left.left_out(runs)
        self._expected -= len(runs)

    def started(self, label: str) -> None:
        if self._terminal:
            time_left = f" ({text})" if (text := self.left.text(self.repeats_more)) else ""
            self._print(
                self._cut(f"[{self._done + 1}/{self._expected}] running {self._short(label)}{time_left}"),
                end="",
            )

    def say(self, message: str) -> None:
        """Print a message, such as why nothing runs or what is tried again."""
        self._print(message, end="\n")

    def finished(self, label: str, record: Record, status: int | None, problem: str = "") -> None:
        """Print the run's verdict and headline metrics from its files, or the ``problem``."""
        self.left.ended(label)
        if record.status == NOT_AVAILABLE:
            self._not_available(record)
            return
        self._done += 1
        text = describe(record, status)
        if problem and record.status != OK:
            text = f"{text} ({problem})" if record.status == FAILED else f"FAILED: {problem}"
        line = f"[{self._done}/{self._expected}] {self._short(label)}: {text}"
        line = self._cut(line) if record.status == OK else line
        if not self._terminal and (time_left := self.left.text(self.repeats_more)) != self._said_left:
            self._said_left = time_left
            line = f"{line} ({time_left})" if time_left else line
        self._print(line, end="\n")
        if (why := record.metadata.get(WITHOUT_LOCK)) and why not in self._without_lock:
            self._without_lock.add(why)
            told = f"warning: another measurement may run at the same time: {why}"
            self.say(f"{told}; MPICAMPAIGN_LOCK names another folder")

    def _not_available(self, record: Record) -> None:
        self._expected -= 1
        absent = replace(record.case, benchmark=""), record.reason
        if absent not in self._absent:
            self._absent.add(absent)
            name = self._short(f"{record.case.host_group} {record.case.placement}")
            self._print(f"{name}: {describe(record, None)}", end="\n")

    def _short(self, label: str) -> str:
        """A label without the host group, if there is only one."""
        return label.partition(" ")[2] if len(self._host_groups) == 1 else label

    def _cut(self, line: str) -> str:
        """The line as far as it fits the terminal: its most important parts come first."""
        columns = len(line)
        if self._terminal:
            with suppress(OSError):
                columns = os.get_terminal_size(self._stream.fileno()).columns
        return line if len(line) <= columns else f"{line[: columns - 1]}…"

    def _print(self, text: str, end: str) -> None:
        clear = "\r\x1b[K" if self._terminal else ""
        # A closed terminal or pipe (| head) must not end the measurement.
        with suppress(OSError):
            print(clear + visible_lines(text), end=end, file=self._stream, flush=True)

    def close(self) -> None:
        if self._terminal:
            self._print("", end="")


def headline(record: Record) -> str:
    """The headline metrics of a run's first table, such as latency and largest bandwidth."""
    table = record.series[0]
    values = []
    for metric in choose_metrics(record.suite, [table], ()):
        reading = read(metric, table, record.series) if metric.headline else None
        if reading:
            values.append(f"{metric.name} {quantity(reading.value, metric.dimension)}")
    if (size := stopped_at(table)) is not None:
        values.append(f"sizes above {format_size(size)} were given up")
    return ", ".join(values) or table.label


def describe(record: Record, status: int | None) -> str:
    """A finished run in short: its verdict, condition and headline metrics, or why it has none."""
    if record.status == OK:
        reasons = [*record.verdict_reasons[:1]] if record.verdict != VERIFIED else []
        reasons += [] if record.condition == QUIET else [record.condition_reason]
        if chosen := record.metadata.get(CHOSEN_TRANSPORT):
            reasons.append(f"{CHOSEN_TRANSPORT} {chosen}")
        why = f" ({'; '.join(reasons)})" if reasons else ""
        return f"{record.verdict}, {record.condition}: {headline(record)}{why}"
    if record.unread:
        return record.reason
    if record.condition == DISTURBED:  # others left it too little time
        return f"not done: {record.reason}"
    states = {NOT_AVAILABLE: "n/a", FAILED: "FAILED", STOPPED: "stopped"}
    state = states.get(record.end, f"FAILED (exit {status})")
    return f"{state}: {record.reason}"
