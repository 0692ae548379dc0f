"""False alarms and delays of the change detector, for the kinds of noise that benchmarks have.

Each kind: stationary series of 200 points, analysed after each point from the first one on; distinct false
alarms per 1,000 points. Then the delays until a step or a drift is found.

    bench/run_all change_points [--points 20000] [--trials 400] [--seed 2026]
"""

import math
import multiprocessing
import random
from collections.abc import Callable, Sequence
from functools import partial

from common import options, usually

from mpicampaign.statistics.change_points import TOO_SHORT, PossibleChange, latest_change, why_not_judged

LENGTH = 200
POINTS, TRIALS = usually((20_000, 400), smallest=(1, 8))
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
    source, alarms, refused = random.Random(f"{seed} {name}"), 0, 0
    for _ in range(series):
        found = change_points(values := KINDS[name](source, LENGTH))
        alarms += len(found)
        refused += bool(why_not_judged(values, [candidate.first for _, candidate in found]))
    return alarms, refused


def delay(history: int, change: Callable[[int], float], limit: int, seed: int) -> int | None:
    """After how many points a change in 1 % noise is found; ``change``: a factor by the point's number."""
    source = random.Random(seed)
    values = [source.gauss(100, 1) for _ in range(history)]
    for number in range(1, limit + 1):
        values.append(source.gauss(100, 1) * change(number))
        if not why_not_judged(values) and latest_change(values):
            return number
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


def delays(name: str, trial: int, seed: int) -> int | None:
    """One trial."""
    history, change, limit = DELAYS[name]
    return delay(history, change, limit, seed * 100_003 + trial)


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, points=POINTS, trials=TRIALS, seed=2026)
    count = -(-given.points // LENGTH)
    with multiprocessing.Pool() as pool:
        jobs = [(name, count, given.seed) for name in KINDS]
        print(f"{count * LENGTH} stationary points of each kind: false alarms per 1,000, series not judged")
        for name, (alarms, refused) in zip(KINDS, pool.starmap(false_alarms, jobs, 1), strict=True):
            print(f"  {name:18} {1000 * alarms / (count * LENGTH):6.2f}   {refused / count:5.1%}")
        print(f"{given.trials} trials each, normal noise of 1 %")
        for name in DELAYS:
            jobs = [(name, trial, given.seed) for trial in range(given.trials)]
            after = sorted(each or math.inf for each in pool.starmap(delays, jobs, 20))
            found = sum(map(math.isfinite, after)) / len(after)
            text = f"{found:.1%} found by point {DELAYS[name][2]}; median {after[len(after) // 2]:g}"
            print(f"  {name:26} {text}, 90 % {after[math.ceil(0.9 * len(after)) - 1]:g} points")
