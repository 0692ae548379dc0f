"""False alarms and delays of the change detector, for the kinds of noise that benchmarks have.

Each kind: stationary series of 200 points, analysed after each point from the first one on; distinct false
alarms per 1,000 points. Then the delays until a step or a drift is found, and the time for many series.

    bench/change_points.py [--points 20000] [--trials 400] [--seed 2026]
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from common import usually

from mpicampaign.history.changes import analyse_curves
from mpicampaign.history.curves import Curve, CurveKey, Point
from mpicampaign.statistics.change_points import TOO_SHORT, PossibleChange, latest_change, why_not_judged

LENGTH = 200
POINTS, TRIALS, SERIES = usually((20_000, 400, 1000), smallest=(1, 8, 10))
Generator = Callable[[random.Random, int], list[float]]


def _each(draw: Callable[[random.Random], float]) -> Generator:
    return lambda source, count: [draw(source) for _ in range(count)]


def _spikes(source: random.Random) -> float:
    return source.gauss(100, 1) * (source.uniform(1.2, 2) if source.random() < 0.05 else 1)


def _modes(source: random.Random) -> float:
    return source.gauss(100 if source.random() < 0.7 else 115, 1)


def _autoregressive(rho: float) -> Generator:
    def draw(source: random.Random, count: int) -> list[float]:
        found, now = [], source.gauss(0, 1)
        for _ in range(count):
            found.append(100 + now)
            now = rho * now + math.sqrt(1 - rho * rho) * source.gauss(0, 1)
        return found

    return draw


KINDS: dict[str, Generator] = {
    "normal 1 %": _each(lambda source: source.gauss(100, 1)),
    "log-normal 10 %": _each(lambda source: 100 * math.exp(source.gauss(0, 0.1))),
    "exponential tail": _each(lambda source: 100 + source.expovariate(0.5)),
    "spikes, 5 %": _each(_spikes),
    "two modes, 15 %": _each(_modes),
    "rounded": _each(lambda source: round(source.gauss(100, 1))),
    "AR(1) 0.3": _autoregressive(0.3),
    "AR(1) 0.6": _autoregressive(0.6),
}
# Noise that the detector cannot judge: what it is worth to refuse it
PERSISTENT: dict[str, Generator] = {"AR(1) 0.8": _autoregressive(0.8), "AR(1) 0.95": _autoregressive(0.95)}


def change_points(values: Sequence[float]) -> list[tuple[int, PossibleChange]]:
    """All changes of one series, each with the index of the value that completed it."""
    found: list[tuple[int, PossibleChange]] = []
    for end in range(TOO_SHORT, len(values) + 1):
        start = found[-1][1].first if found else 0
        candidate = latest_change(values[:end], start)
        if candidate:
            found.append((end - 1, candidate))
    return found


def false_alarms(name: str, series: int, seed: int) -> tuple[int, int]:
    """Alarms, and series that end as not judged."""
    source = random.Random(f"{seed} {name}")
    alarms = refused = 0
    for _ in range(series):
        values = (KINDS | PERSISTENT)[name](source, LENGTH)
        found = change_points(values)
        alarms += len(found)
        refused += bool(why_not_judged(values, [candidate.first for _, candidate in found]))
    return alarms, refused


class Found(NamedTuple):
    """A change that was found: after how many points, and whether its place is right, or plausible."""

    after: int
    exact: bool
    held: bool


def delay(history: int, change: Callable[[int], float], limit: int, seed: int) -> Found | None:
    """When a change in 1 % noise is found; ``change``: a factor by the point's number."""
    source = random.Random(seed)
    values = [source.gauss(100, 1) for _ in range(history)]
    for number in range(1, limit + 1):
        values.append(source.gauss(100, 1) * change(number))
        found = None if why_not_judged(values) else latest_change(values)
        if found:
            return Found(number, found.first == history, found.earliest <= history <= found.latest)
    return None


def _step(factor: float, number: int) -> float:
    return factor


def _drift(number: int) -> float:
    return 1 + 0.05 * number / 50


DELAYS: dict[str, tuple[int, Callable[[int], float], int]] = {
    "5 % step after 48 points": (48, partial(_step, 1.05), 5),
    "2 % step after 100 points": (100, partial(_step, 1.02), 12),
    "5 % drift over 50 points": (100, _drift, 50),
    "5 % step after 20 points": (20, partial(_step, 1.05), 5),
}


def delays(name: str, trial: int, seed: int) -> Found | None:
    """One trial."""
    history, change, limit = DELAYS[name]
    return delay(history, change, limit, seed * 100_003 + trial)


def _share(trials: list[Found | None]) -> Iterator[str]:
    found = [each for each in trials if each]
    times = sorted(each.after if each else math.inf for each in trials)
    yield f"{len(found) / len(trials):.1%} found"
    yield f"median {times[len(times) // 2]:g}, 90 % {times[math.ceil(0.9 * len(times)) - 1]:g} points"
    exact, held = (sum(each) / len(found) for each in zip(*(each[1:] for each in found), strict=True))
    yield f"at the right point {exact:.1%}, a plausible one {held:.1%}"


def many_series(step: float, count: int = SERIES) -> float:
    """Seconds for one new point each of series of 200 points, with the log; ``step`` of the last 3."""
    source = random.Random(1)
    curves = [_curve(f"m{number}", source, step) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "changes.jsonl"
        done = [
            json.dumps({"tick": point.tick, "tested": 0, "changes": []}) for point in curves[0].points[:-1]
        ]
        log.write_text("\n".join(done) + "\n")
        begin = time.perf_counter()
        analysis = analyse_curves(curves, log)
        seconds = time.perf_counter() - begin
    if len(analysis.new) < (step > 1) * 0.9 * count:
        raise SystemExit(f"only {len(analysis.new)} of {count} steps were found")
    return seconds


def _curve(metric: str, source: random.Random, step: float) -> Curve:
    values = [source.gauss(100, 1) * (step if number > LENGTH - 3 else 1) for number in range(LENGTH + 1)]
    points = [
        Point(f"s/r{number:02d}", f"2026-03-01T00:{number // 60:02d}:{number % 60:02d}Z", value, 1, {})
        for number, value in enumerate(values, start=1)
    ]
    key = CurveKey("", "here", "here", "TCP", "tcp", "osu", metric, 2, metric, 0, "time", "s", True)
    return Curve(key, tuple(points))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS, help="stationary points of each kind")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each delay")
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args(arguments)
    count = -(-options.points // LENGTH)
    with multiprocessing.Pool() as pool:
        jobs = [(name, count, options.seed) for name in KINDS | PERSISTENT]
        print(f"{count * LENGTH} stationary points of each kind: false alarms per 1,000, series not judged")
        for name, (alarms, refused) in zip(
            KINDS | PERSISTENT, pool.starmap(false_alarms, jobs, 1), strict=True
        ):
            print(f"  {name:18} {1000 * alarms / (count * LENGTH):6.2f}   {refused / count:5.1%}")
        print(f"{options.trials} trials each, normal noise of 1 %")
        for name in DELAYS:
            jobs = [(name, trial, options.seed) for trial in range(options.trials)]
            share, times, place = _share(pool.starmap(delays, jobs, 20))
            limit = DELAYS[name][2]
            print(f"  {name:26} {share} by point {limit}; {times}; {place}")
    for step, text in ((1.0, "no change"), (1.05, "all change")):
        seconds = statistics.median(many_series(step) for _ in range(3))
        print(f"{SERIES:,} series of {LENGTH} points with one new point each, {text}: {seconds:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
