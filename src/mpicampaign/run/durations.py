"""How long the runs that are due will take, from the runs of the same case or benchmark that have ended."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.records import Case
from mpicampaign.base.run_files import part_of, result_in, text_of
from mpicampaign.base.units import format_duration, format_roughly
from mpicampaign.jobs.run import Run

REPEATS = 5  # of a case that are read
_KEYS = ("started", "ended")
_TIME = re.compile(rf"^job ({'|'.join(_KEYS)})=(\S+)$", re.M)
_NOT_AVAILABLE = "\njob not_available="


class Durations:
    """Durations (s) of results by case and by benchmark, those of earlier calls included."""

    def __init__(self) -> None:
        self._of_case: dict[tuple[Path, Case], list[float]] = {}
        self._of_benchmark: dict[tuple[Path, str], list[float]] = {}

    def expected(self, run: Run) -> float | None:
        """The mean of the case, else of the benchmark wherever it ran; None without any."""
        alike = self._case(run) or self._benchmark(run)
        return sum(alike) / len(alike) if alike else None

    def expected_or_limit(self, run: Run) -> float:
        """The mean of the case or the benchmark; the time limit where nothing is known of them."""
        seconds = self.expected(run)
        return run.time_limit if seconds is None else seconds

    def add(self, run: Run) -> None:
        """Add a run that has ended, if it has a result."""
        of_case, of_benchmark = self._case(run), self._benchmark(run)
        if (duration := _duration(run.folder)) is not None:
            of_case.append(duration.seconds)
            of_benchmark += [duration.seconds] * duration.available

    def _case(self, run: Run) -> list[float]:
        key = run.campaign_folder, run.kept
        if key not in self._of_case:
            self._of_case[key] = [duration.seconds for duration in _measured(run.folder.parent)]
        return self._of_case[key]

    def _benchmark(self, run: Run) -> list[float]:
        key = run.campaign_folder, run.kept.benchmark
        if key not in self._of_benchmark:
            cases = (run.campaign_folder / "runs").glob(f"*/*/{run.kept.benchmark}")
            measured = [duration for case in cases for duration in _measured(case)]
            self._of_benchmark[key] = [duration.seconds for duration in measured if duration.available]
        return self._of_benchmark[key]


class _Duration(NamedTuple):
    """``available``: whether the placement was, so that something ran."""

    seconds: float
    available: bool


def _measured(case: Path) -> list[_Duration]:
    """The durations of a case's last repeats."""
    names: list[str] = []
    with suppress(FileNotFoundError):
        names = sorted(entry.name for entry in os.scandir(case) if entry.name.startswith("r"))
    durations = map(_duration, (case / name for name in names[-REPEATS:]))
    return [duration for duration in durations if duration is not None]


def _duration(run: Path) -> _Duration | None:
    evidence = text_of(part_of(result_in(run), "evidence"))
    times = _times(evidence)
    if len(times) < len(_KEYS) or times["ended"] < times["started"]:  # none, or damaged
        return None
    return _Duration((times["ended"] - times["started"]).total_seconds(), _NOT_AVAILABLE not in evidence)


def _times(evidence: str) -> dict[str, datetime]:
    times = {}
    for key, text in _TIME.findall(evidence):
        with suppress(ValueError):
            times[key] = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return times


def last_ended(runs: Iterable[Run]) -> str:
    """``the last one ended on 2026-03-05 at 14:07 UTC``; empty where that is not known."""
    results = [(result.stat().st_mtime, result) for run in runs if (result := run.result).exists()]
    if not results:
        return ""
    ended = _times(text_of(part_of(max(results)[1], "evidence"))).get("ended")
    return f"the last one ended on {ended:%Y-%m-%d at %H:%M} UTC" if ended else ""


class TimeLeft:
    """The time that the runs on this machine still take, one after the other, by their labels."""

    def __init__(self) -> None:
        self._durations = Durations()
        self._due: dict[Case, dict[str, Run]] = {}

    def expect(self, runs: Iterable[Run]) -> None:
        """Add runs that are due. When a scheduler starts its jobs is not known: theirs are left out."""
        for run in runs:
            if run.job.system.local:
                self._due.setdefault(run.kept, {})[run.label] = run

    def ended(self, label: str) -> None:
        """Remove a run that has ended: its duration is expected of those that are alike."""
        for alike in self._due.values():
            if (run := alike.pop(label, None)) is not None:
                self._durations.add(run)

    def left_out(self, runs: Iterable[Run]) -> None:
        """Remove runs that are not made now."""
        for run in runs:
            self._due.get(run.kept, {}).pop(run.label, None)

    def expected(self, run: Run) -> float:
        """How long a run takes (s): its time limit where nothing is known of it."""
        return self._durations.expected_or_limit(run)

    def text(self, repeats_more: bool = False) -> str:
        """``about 2 min left``; empty where nothing is due, or where a benchmark has not run yet.

        ``repeats_more``: name also the time if all runs that are planned are disturbed, and repeated.
        """
        seconds = self._seconds(lambda run: True)
        if not seconds:
            return ""
        repeats = (self._seconds(lambda run: not run.further) or 0) if repeats_more else 0
        left, at_worst = format_roughly(seconds), format_roughly(seconds + repeats)
        return f"{left} left" + (f", {at_worst} if all are disturbed" if at_worst != left else "")

    def _seconds(self, counts: Callable[[Run], bool]) -> float | None:
        """Expected seconds of due runs that count, a case at a time; None for a case that never ran."""
        total = 0.0
        for alike in filter(None, self._due.values()):
            seconds = self._durations.expected(next(iter(alike.values())))
            if seconds is None:
                return None
            total += seconds * sum(map(counts, alike.values()))
        return total


def estimate(runs: Sequence[Run]) -> str:
    """How long the runs take: as earlier runs did, else at most their time limits. One line."""
    here = [run for run in runs if run.job.system.local]
    hours = sum(run.node_seconds for run in runs if not run.job.system.local) / 3600
    there = f"at most {hours:.3g} node-hours; when they start is up to the scheduler"
    return "; ".join([*([_estimate_here(here)] if here else []), *([there] if len(here) < len(runs) else [])])


def _estimate_here(runs: Sequence[Run]) -> str:
    durations = Durations()
    known = [seconds for run in runs if (seconds := durations.expected(run)) is not None]
    if len(known) == len(runs):
        return f"{format_roughly(sum(known))}, as earlier runs took"
    limits = sum(run.time_limit for run in runs)
    return f"at most {format_duration(limits)}, the sum of their time limits"
