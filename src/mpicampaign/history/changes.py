"""Changes in the curves of a campaign: looked for after each tick, and kept as they were reported.

``history/changes.jsonl`` has one line for each tick that was analysed, with the changes reported then. It is
only appended to, so a reported change stays reported, and each point is analysed once.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.files import append_lines
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import plain_fields
from mpicampaign.history.curves import Cause, ChangePoint, Curve, CurveKey
from mpicampaign.history.series import tick_order
from mpicampaign.statistics.change_points import (
    PossibleChange,
    false_discoveries_controlled,
    latest_change,
    smallest_change,
    why_not_judged,
)
from mpicampaign.statistics.medians import median

FILE = "changes.jsonl"  # in history/


class Analysis(NamedTuple):
    """Curves with their changes.

    ``new``: the changes that this analysis was the first to report, with the positions of their curves.
    ``problems``: damaged lines of the log.
    """

    curves: tuple[Curve, ...]
    new: tuple[tuple[int, ChangePoint], ...]
    problems: tuple[str, ...] = ()


class _ReportedChange(NamedTuple):
    """A change in the log; ``first``: the tick after it, ``tick``: the one that proved it."""

    first: str
    tick: str
    before: float
    after: float
    p: float


class _LogLine(NamedTuple):
    """A line of the log: a tick, how many curves were tested at it, the changes with the `key_id` of each."""

    tick: str
    tested: int
    changes: list[tuple[str, _ReportedChange]]


def analyse_curves(curves: Sequence[Curve], log: Path, *, write: bool = True) -> Analysis:
    """The curves with the changes of the log, and those that ticks which are not in it yet show.

    A tick at which a curve changed that is known no more is analysed again: the curve has another key since
    it was joined with others, or since other values of its metric are the better ones.

    Parameters
    ----------
    curves : without changes, their points in the order of ticks
    log : history/changes.jsonl
    write : whether to append the new ticks to the log; else they are only returned
    """
    lines, problems = _read(log)
    states = {(state := _State(curve)).key: state for curve in curves}
    for line in lines:
        for key, change in line.changes:
            if key in states:
                states[key].reported.append(change)
    last = {line.tick: line for line in lines}
    done = {tick for tick, line in last.items() if all(key in states for key, _ in line.changes)}
    tested = {tick: line.tested for tick, line in last.items()}
    new: list[tuple[str, str]] = []
    written: list[dict[str, Any]] = []
    ticks = {point.tick for curve in curves for point in curve.points}
    for tick in sorted(ticks - done, key=tick_order):
        reported, tested[tick] = _analyse_tick(states.values(), tick)
        data = [{"curve": key, **change._asdict()} for key, change in reported.items()]
        written.append({"tick": tick, "tested": tested[tick], "changes": data})
        new += [(key, tick) for key in reported]
    if write and written:
        append_lines(log, map(json.dumps, written))
    judged = tuple(state.judged(tested[state.curve.points[-1].tick]) for state in states.values())
    places = {key: number for number, key in enumerate(states)}
    fresh = [
        (places[key], change)
        for key, tick in new
        for change in judged[places[key]].changes
        if judged[places[key]].points[change.reported].tick == tick
    ]
    return Analysis(judged, tuple(fresh), tuple(problems))


class _State:
    """A curve, its values, the places of its ticks, and what was reported of it."""

    def __init__(self, curve: Curve) -> None:
        self.curve, self.key = curve, key_id(curve.key)
        self.values = [point.value for point in curve.points]
        self.places = {point.tick: number for number, point in enumerate(curve.points)}
        self.reported: list[_ReportedChange] = []

    def starts(self, end: int) -> list[int]:
        """The positions of the first points after the reported changes, up to a point."""
        return [change.index for change in self.changes() if change.index <= end]

    def changes(self) -> list[ChangePoint]:
        """The reported changes whose points are there, each once."""
        change_at: dict[int, ChangePoint] = {}
        for change in self.reported:
            first, proved = self.places.get(change.first, 0), self.places.get(change.tick, 0)
            if 0 < first <= proved:
                change_at.setdefault(first, ChangePoint(first, proved, change.before, change.after))
        return [change_at[index] for index in sorted(change_at)]

    def judged(self, tested: int) -> Curve:
        """The curve with its changes; ``tested``: how many curves were, at the tick of its last point."""
        changes = self.changes()
        starts = [change.index for change in changes]
        why = why_not_judged(self.values, starts)
        since = self.values[starts[-1] if starts else 0 :]
        return replace(
            self.curve,
            changes=tuple(replace(change, causes=causes(self.curve, change.index)) for change in changes),
            not_judged=why,
            smallest=None if why else smallest_change(since, max(tested, 1)),
        )


def key_id(key: CurveKey) -> str:
    """A short name of a curve, the same on every machine."""
    return hashlib.sha256(json.dumps(plain_fields(key), sort_keys=True).encode()).hexdigest()[:12]


def _analyse_tick(states: Iterable[_State], tick: str) -> tuple[dict[str, _ReportedChange], int]:
    """The changes that a tick proves, which become reported, and how many curves were tested at it."""
    candidates: dict[str, _ReportedChange] = {}
    at_tick = [state for state in states if tick in state.places]
    tested = 0
    for state in at_tick:
        place = state.places[tick]
        values, starts = state.values[: place + 1], state.starts(place)
        if why_not_judged(values, starts):
            continue
        tested += 1
        start = starts[-1] if starts else 0
        if candidate := latest_change(values, start):
            first = likely_first(state.curve, candidate)
            medians = median(values[start:first]), median(values[first:])
            first_tick = state.curve.points[first].tick
            candidates[state.key] = _ReportedChange(first_tick, tick, *medians, candidate.p)
    passed = false_discoveries_controlled([candidate.p for candidate in candidates.values()], tested)
    real = {key: candidate for (key, candidate), ok in zip(candidates.items(), passed, strict=True) if ok}
    for state in at_tick:
        if state.key in real:
            state.reported.append(real[state.key])
    return real, tested


def number_reported(log: Path) -> int:
    """How many changes the ticks have reported so far."""
    return sum(len(line.changes) for line in _read(log)[0])


def _read(log: Path) -> tuple[list[_LogLine], list[str]]:
    """The lines of the log, and what is wrong with those that cannot be read."""
    try:
        texts = log.read_bytes().splitlines()
    except FileNotFoundError:
        return [], []
    lines: list[_LogLine] = []
    problems = []
    for number, text in enumerate(texts, start=1):
        try:
            lines.append(_checked(json.loads(text)))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            problems.append(f"{log}:{number}: damaged line: {error}; its tick is analysed again")
    return lines, problems


def _checked(line: dict[str, Any]) -> _LogLine:
    """The line, with texts and numbers where they belong."""
    changes = []
    for data in line["changes"]:
        numbers = (float(data[name]) for name in ("before", "after", "p"))
        change = _ReportedChange(str(data["first"]), str(data["tick"]), *numbers)
        changes.append((str(data["curve"]), change))
        if not (change.before > 0 and 0 < change.after / change.before < math.inf and 0 <= change.p <= 1):
            raise ValueError(
                f"not the numbers of a change: {change.before:g}, {change.after:g}, {change.p:g}"
            )
    return _LogLine(str(line["tick"]), int(line["tested"]), changes)


# ---- what else changed where a curve changed: from the observations that the runs recorded

# Observations by column, as people name them
NAMES = {
    "host": "host",
    "kernel": "kernel",
    "cpu_model": "CPU",
    "microcode": "microcode",
    "governor": "frequency governor",
    "mpi": "MPI library",
    "mpi_library": "build of the MPI library",
    "program": "build of the program",
    "blas": "BLAS",
    "round_trip": "round trip of a cache line",
}


def likely_first(curve: Curve, candidate: PossibleChange) -> int:
    """The first point after a change: where observations changed too, if the values allow it."""
    plausible = range(candidate.earliest, candidate.latest + 1)
    seen = [index for index in plausible if index and causes(curve, index)]
    return min(seen, key=lambda index: abs(index - candidate.first), default=candidate.first)


def causes(curve: Curve, index: int) -> tuple[Cause, ...]:
    """What the runs observed otherwise from the point ``index`` on than at the point before."""
    before, after = curve.points[index - 1].observed, curve.points[index].observed
    return tuple(
        Cause(text, before[name], after[name])
        for name, text in NAMES.items()
        if name in before and name in after and before[name] != after[name]
    )


class Share(NamedTuple):
    """How many of the curves with one transport changed; ``where``: the transport, or else the placement."""

    where: str
    changed: int
    of: int


class Event(NamedTuple):
    """Changes that began at one tick, or at those next to it, with the same causes.

    ``tick``: where most of them began. ``since``: when its first run began (UTC). ``worse``, ``better``: how
    many curves changed in which direction, where one is known to be better; ``change``: by which
    fraction of the value before, in the median. ``shares``: by transport, of all curves that have a point at
    these ticks.
    """

    tick: str
    since: str
    causes: tuple[Cause, ...]
    worse: int
    better: int
    change: float
    shares: tuple[Share, ...]


def events(curves: Sequence[Curve]) -> list[Event]:
    """The changes of all curves, those that belong together as one; the latest first."""
    changes = [(curve, change) for curve in curves for change in curve.changes]
    order = sorted({point.tick for curve in curves for point in curve.points}, key=tick_order)
    places = {tick: number for number, tick in enumerate(order)}
    made = [
        (tick, _event(order[tick], why, pairs, curves))
        for why, alike in grouped(changes, lambda pair: pair[1].causes).items()
        for tick, pairs in _neighbours(alike, places)
    ]
    return [event for _, event in sorted(made, key=lambda dated: dated[0], reverse=True)]


_Pair = tuple["Curve", "ChangePoint"]


def _neighbours(pairs: Iterable[_Pair], places: Mapping[str, int]) -> Iterator[tuple[int, list[_Pair]]]:
    """Changes at the tick where most begin, with those next to it; then the same of the others."""
    by_place = grouped(pairs, lambda pair: places[_tick(*pair)])
    while by_place:
        most = max(by_place, key=lambda place: (len(by_place[place]), -place))
        yield most, [pair for place in (most - 1, most, most + 1) for pair in by_place.pop(place, ())]


def _tick(curve: Curve, change: ChangePoint) -> str:
    return curve.points[change.index].tick


def _event(tick: str, why: tuple[Cause, ...], pairs: Sequence[_Pair], curves: Iterable[Curve]) -> Event:
    changed, ticks = {curve.key for curve, _ in pairs}, {_tick(*pair) for pair in pairs}
    there = [curve for curve in curves if any(point.tick in ticks for point in curve.points)]
    shares = [
        Share(where, sum(curve.key in changed for curve in of), len(of))
        for where, of in grouped(there, lambda curve: curve.key.transport or curve.key.placement).items()
    ]
    factors = [(change.ratio, curve.key.lower_is_better) for curve, change in pairs]
    worse = sum((ratio > 1) is lower for ratio, lower in factors)
    better = sum((ratio < 1) is lower for ratio, lower in factors)
    times = [point.time for curve, _ in pairs for point in curve.points if point.tick == tick and point.time]
    change = median([abs(ratio - 1) for ratio, _ in factors])
    return Event(tick, min(times, default=""), why, worse, better, change, tuple(shares))
