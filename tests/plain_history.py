"""What is said of a history checked against its points: recomputed by numpy alone, sentence by sentence.

A sentence that no rule here knows fails.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from plain_screen import UNITS, near

from mpicampaign.show.document import Box, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.show.document import Grid

FEWEST, LASTING, MOST_BEFORE = 15, 8, 100  # points
OVER = {"tcp": "over TCP", "ibv": "over verbs", "shm": "in shared memory"}
NAMES = {
    "kernel": "kernel",
    "microcode": "microcode",
    "host": "host",
    "round_trip": "round trip of a cache line",
}
CHANGE = r"(\d+ \w+): (?:([+−])([\d.]+) %|([\d.]+) times), (.*)"
WHERE = r"over \w+|in shared memory|of [\w-]+"
BARS = "▁▂▃▄▅▆▇█"


class At(NamedTuple):
    """A point: what its runs gave, in SI units."""

    time: str
    value: float
    seen: Mapping[str, str]


class Drawn(NamedTuple):
    """A curve; ``where``: its transport, or else its placement."""

    placement: str
    where: str
    lower: bool
    points: tuple[At, ...]

    @property
    def values(self) -> np.ndarray:
        return np.array([point.value for point in self.points])

    def at(self, day: str) -> list[int]:
        return [number for number, point in enumerate(self.points) if day_of(point.time) == day]

    def has_step(self, at: int) -> bool:
        """Whether the points after lie beyond those before, clearly."""
        before, after = self.values[max(0, at - MOST_BEFORE) : at], self.values[at : at + LASTING]
        if min(len(before), len(after)) < 3:
            return False
        scatter = max(np.std(np.log(before), ddof=1), np.std(np.log(after), ddof=1))
        shift = abs(np.log(np.median(after) / np.median(before)))
        return bool(shift > 6 * scatter * np.sqrt(1 / len(before) + 1 / len(after)))

    def causes(self, at: int) -> str:
        before, after = self.points[at - 1].seen, self.points[at].seen
        changed = [name for name in before if name in after and before[name] != after[name]]
        named = [f"{NAMES[name]} {after[name].removeprefix('Linux ')}" for name in changed]
        return f"with {' and '.join(named)}" if named else "no cause recorded"


def day_of(time: str) -> str:
    moment = datetime.fromisoformat(time)
    return f"{moment.day} {moment:%B}"


class Plain:
    """The history of a campaign: its curves by their metrics."""

    def __init__(self, curves: Mapping[str, Drawn], ticks: tuple[int, int, int] = (0, 0, 0)) -> None:
        self.curves, self.ticks = curves, ticks
        self.long = [curve for curve in curves.values() if len(curve.points) >= FEWEST]
        self.sizes: dict[str, tuple[str, float]] = {}  # the day and the size told of each curve's change

    def sentence(self, text: str) -> str:
        """Which kind of sentence it is, if it holds."""
        for kind, pattern in KINDS.items():
            if match := re.fullmatch(pattern, text):
                getattr(self, kind)(*match.groups())
                return kind
        raise AssertionError(f"no such sentence: {text}")

    # ---- the table: it says of each curve what the sentences say of all

    def table(self, grid: Grid) -> None:
        assert len(grid.lines) == len(self.curves)
        for line in grid.lines:
            texts = (box.text if isinstance(box, Box) else str(box) for box in line)
            cells = dict(zip(map(plain, grid.header), map(plain, texts), strict=True))
            curve = self.curves[cells["metric"]]
            assert (cells["placement"], cells["points"]) == (curve.placement, str(len(curve.points))), cells
            for end, name in ((0, "first"), (-1, "last")):
                assert near(curve.values[end] / UNITS[cells["unit"]], cells[name]), cells
            bars = [BARS.index(bar) for bar in cells["over time"]]
            ends = [len(curve.points) * number // len(bars) for number in range(1, len(bars))]
            middles = [float(np.median(part)) for part in np.split(curve.values, ends)]
            assert len({*bars}) == 1 or np.corrcoef(bars, middles)[0, 1] > 0.9, (cells, middles)
            if cells["last change"]:
                self.change(cells["metric"], cells["last change"])
            else:
                steps = range(FEWEST, len(curve.points) - LASTING)
                assert len(curve.points) < FEWEST or not any(map(curve.has_step, steps)), cells

    def change(self, metric: str, text: str) -> None:
        curve, match = self.curves[metric], re.fullmatch(CHANGE, text)
        assert match, text
        day, sign, percent, times, causes = match.groups()
        [at] = curve.at(day)
        told = float(times) - 1 if times else float(percent) / 100 * (1 if sign == "+" else -1)
        # as it was first reported: from three points on
        ratios = [np.median(curve.values[at : at + k]) / np.median(curve.values[:at]) for k in range(3, 26)]
        digits = 0.006 * told if times else 0.0006 if abs(told) < 0.1 else 0.006  # two, or three of a factor
        assert min(abs(np.array(ratios) - 1 - told)) < digits, (text, ratios)
        assert curve.has_step(at) and causes == curve.causes(at), text
        self.sizes[metric] = day, told

    def note(self, text: str) -> None:
        """Below the only curve."""
        [(metric, curve)] = self.curves.items()
        if text.startswith("Changes: "):
            for part in text.removeprefix("Changes: ").removesuffix(".").split("; "):
                self.change(metric, part)
        elif len(curve.points) < FEWEST:
            assert text == "Not judged: fewer than 15 points.", text
        else:
            self.sentence(text)

    # ---- sentences

    def event(self, day: str, causes: str, direction: str, *said: str) -> None:
        percent, times, worse, better, shares = said
        changed = [(self.curves[name], size) for name, (of, size) in self.sizes.items() if of == day]
        assert changed and all(curve.causes(curve.at(day)[0]) == causes for curve, _ in changed), said
        size = float(np.median([abs(size) for _, size in changed]))
        assert (
            near(1 + size, times)
            if times
            else abs(size - float(percent) / 100) < (0.0006 if size < 0.1 else 0.006)
        ), said
        bad = sum((size > 0) == curve.lower for curve, size in changed)
        good = len(changed) - bad
        assert direction == " or ".join(["worse"] * bool(bad) + ["better"] * bool(good)), said
        assert (int(worse or 0), int(better or 0)) == ((bad, good) if bad and good else (0, 0)), said
        told = re.findall(rf"(\d+) of (\d+) curves ({WHERE})", shares)
        none = re.findall(rf"none ({WHERE})", shares)
        there = [curve for curve in self.curves.values() if curve.at(day)]
        wheres = [OVER.get(curve.where, f"of {curve.where}") for curve in there]
        for count, of, where in [*told, *(("0", "", where) for where in none)]:
            own = [curve for curve, its in zip(there, wheres, strict=True) if its == where]
            assert int(count) == sum(curve in own for curve, _ in changed), said
            assert own and of in ("", str(len(own))), said
        assert {where for *_, where in told} | {*none} == {*wheres}, said

    def none(self, count: str | None, low: str, high: str | None) -> None:
        assert not self.sizes and int(count or 1) == len(self.long), count
        rough = sorted(map(smallest, self.long))
        for told, found in ((float(low), rough[0]), (float(high or low), rough[-1])):
            assert found / 1.8 < told / 100 < found * 1.8, (told, found)

    def unknown(self, count: str | None) -> None:
        assert int(count or 1) == len(self.long) and all(len({*one.values}) == 1 for one in self.long)

    def untested(self) -> None:
        assert not self.long

    def tested(self, count: str, of: str, rate: str | None, short: str | None, states: str | None) -> None:
        assert bool(states) == any("apart)" in curve.placement for curve in self.curves.values())
        assert (int(count), int(of)) == (len(self.long), len(self.curves)), (count, of)
        assert bool(rate) == bool(self.long) and int(short or 0) == len(self.curves) - len(self.long), short

    def began(self, *counts: str) -> None:
        assert tuple(map(int, counts)) == self.ticks and self.ticks[0], counts

    def no_tick(self) -> None:
        assert not self.ticks[0]

    def period(self, first: str, last: str) -> None:
        days = sorted(point.time[:10] for curve in self.curves.values() for point in curve.points)
        assert (first, last) == (days[0], days[-1]), (first, last)

    def legend(self) -> None: ...


def smallest(curve: Drawn) -> float:
    """Roughly the change of the last points that is found in 8 of 10 cases at p = 10^-4."""
    before = curve.values[-MOST_BEFORE - LASTING : -LASTING]
    scatter = float(np.std(np.log(before), ddof=1))
    return 1.1 * (4.1 + 0.84) * scatter * float(np.sqrt(1 / len(before) + 1 / LASTING))


KINDS = {
    "event": r"since (\d+ \w+), (no cause recorded|with .*?): (worse|better|worse or better) by "
    r"(?:([\d.]+) %|a factor of ([\d.]+))(?: \((\d+) worse, (\d+) better\))? (in .*)",
    "none": r"No change was found(?: in (\d+) curves)?: one of about ([\d.]+)(?: to ([\d.]+))? % or more "
    r"that lasts 8 points would be found in at least about 8 of 10 cases\.",
    "unknown": r"No change was found(?: in (\d+) curves)?; how small a change the points would show "
    r"is not known\.",
    "untested": r"No curve was tested for changes yet\.",
    "tested": r"Tested for changes: (\d+) of (\d+) curves?\.( Of the changes reported at a tick, at most 5 % "
    r"are expected to be false \(Benjamini and Yekutieli\)\.)?"
    r"(?: Not tested: (\d+) \(fewer than 15 points\)\.)?"
    r"( A distance in brackets after a placement is the round trip of a cache line between the CPUs of its "
    r"runs\.)?",
    "began": r"Ticks: (\d+) began, (\d+) found another one running, (\d+) missed\.",
    "no_tick": r"No tick has run this campaign: its schedule, or cron, has not started\.",
    "period": r"\d+ series, ([\d-]+) to ([\d-]+) · report of the open series",
    "legend": r"A point for each tick: the median of its runs that count\. Dashed: changes\. Scales do .*",
}
