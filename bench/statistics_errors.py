"""How often the statistics of repeats err, and what they find: simulated, as docs/statistics.md prints it.

bench/run_all statistics_errors [--cases 2000] [--seed 29] [--parts whole_runs]
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from common import options, usually

from mpicampaign.base.expectation import AlarmRule
from mpicampaign.questions.over_groups.find_settings import OverSettings, Setting, judged
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.limits import (
    RETESTED,
    dependence,
    false_alarm_rate,
    is_beyond,
    is_met,
    past_limit,
)
from mpicampaign.statistics.outliers import off
from mpicampaign.verdicts.compare import Verdict, compare
from mpicampaign.verdicts.rows import TimedRun

CASES = usually(2000, smallest=4)
Array = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, Any, float], Array]  # logarithms, by shape and scatter


def normal(source: np.random.Generator, shape: Any, scatter: float) -> Array:
    return scatter * source.standard_normal(shape)


def student(source: np.random.Generator, shape: Any, scatter: float) -> Array:
    return scatter * source.standard_t(3, shape)


def exponential(source: np.random.Generator, shape: Any, scatter: float) -> Array:
    return scatter * (source.exponential(1, shape) - 1)


def tied(source: np.random.Generator, shape: Any, scatter: float) -> Array:
    """Values such as 1.02 and 1.05: many are equal."""
    return np.asarray(np.log(np.maximum(np.round(np.exp(normal(source, shape, scatter)), 2), 0.01)))


def two_modes(source: np.random.Generator, shape: Any, scatter: float) -> Array:
    """Half of the repeats are a quarter higher."""
    return np.asarray(np.log1p(source.integers(0, 2, shape) / 4) + normal(source, shape, scatter / 5))


NOISES: dict[str, Noise] = {"normal": normal, "t3": student, "exponential": exponential, "tied": tied}
_Draw = Callable[[], list[list[float]]]


# Several groups


def groups_of(
    source: np.random.Generator, noise: Noise, k: int, n: int, step: float, scatter: float
) -> _Draw:
    """The repeats of k groups, the last of which is that much higher."""
    middle = np.zeros((k, 1))
    middle[-1] = np.log(step)
    return lambda: [list(map(float, row)) for row in np.exp(middle + noise(source, (k, n), scatter))]


def compare_groups(groups: list[list[float]]) -> Verdict:
    """Rows whose order is not known: all values are ranked."""
    return compare(
        [[TimedRun(60.0 * n, -math.log(value)) for n, value in enumerate(group)] for group in groups]
    )


def led(groups: list[list[float]]) -> set[int]:
    """Those that another is shown to be better than: they are not the best. More is better."""
    return {pair.worse for pair in compare_groups(groups).pairs.values() if pair.shown}


def rates(draw: _Draw, cases: int) -> list[float]:
    """Of all cases: the last one alone may be the best; the first one, and any, may not."""
    counts = np.zeros(3)
    for _ in range(cases):
        groups = draw()
        out = led(groups)
        counts += out == {*range(len(groups) - 1)}, 0 in out, bool(out)
    return list(map(float, counts / cases))


def several_groups(cases: int, source: np.random.Generator) -> None:
    print("Groups, repeats, noise, the last is higher by: it alone may be best, the first is out, any is out")
    kinds: dict[str, Noise] = {**NOISES, "two modes": two_modes}
    sizes = [*product((2, 3, 4), (5, 6, 10)), (13, 5), (13, 6)]
    for (k, n), (name, noise) in product(sizes, kinds.items()):
        for step in (1.0, 1.1, 1.2) if name == "normal" else (1.0,):
            shares = rates(groups_of(source, noise, k, n, step, 0.05), cases)
            print(f"  {k:2} {n:2} {name:12} {step - 1:4.0%}  " + "  ".join(f"{one:.3f}" for one in shares))


# Over host groups


def over_host_groups(cases: int, source: np.random.Generator) -> None:
    print("Placements, host groups, noise, the last is better by: any called different, it from all others")
    for (k, n), (name, noise) in product(((2, 6), (3, 7), (3, 13), (4, 8), (4, 13)), NOISES.items()):
        for better in (0.0, 0.04) if name == "normal" else (0.0,):
            effect = math.log1p(better) * (np.arange(k) == k - 1)
            found = [_differ(noise(source, (n, k), 0.02) + effect) for _ in range(cases)]
            last = [all({a, k - 1} in pairs for a in range(k - 1)) for pairs in found]
            shares = f"{np.mean([*map(bool, found)]):.3f}  {np.mean(last):.3f}"
            print(f"  {k} {n:2} {name:12} {better:3.0%}  {shares}")


def _differ(values: Array) -> list[set[int]]:
    """The pairs of columns that are shown to differ over the rows."""
    both = list(combinations(range(values.shape[1]), 2))
    ratios = np.exp([values[:, a] - values[:, b] for a, b in both])
    pairs = [
        OverSettings(str(a), str(b), tuple(Setting(str(n), float(one)) for n, one in enumerate(own)))
        for (a, b), own in zip(both, ratios, strict=True)
    ]
    shown = (one for one in judged(pairs, [[] for _ in pairs]) if one.p is not None and one.p <= LEVEL)
    return [{int(one.better), int(one.worse)} for one in shown]


# Whole runs


def named(of_runs: Array) -> float:
    """In how many cases any run is judged to be off."""
    return float(np.mean([bool((one := off(case)).positions) and one.judged for case in of_runs]))


def found(of_runs: Array, factors: Sequence[float]) -> float:
    """In how many cases the first runs, slower by these factors, are judged to be off, and no others."""
    first = tuple(range(len(factors)))
    shifted = of_runs.copy()
    shifted[:, : len(factors)] += np.log(factors)
    return float(np.mean([(one := off(case)).judged and one.positions == first for case in shifted]))


def drifting(source: np.random.Generator, shape: Any, scatter: float) -> Array:
    """By 20 % from the first run to the last."""
    return np.linspace(0, np.log(1.2), shape[-1]) + normal(source, shape, scatter)


OFF = {"one": (1.42,), "two": (1.35, 1.42)}


def whole_runs(cases: int, source: np.random.Generator) -> None:
    noises: dict[str, Noise] = {**NOISES, "two modes": two_modes, "drift": drifting}
    header = "any sound run named, with " + ", ".join(noises)
    print(f"Whole runs, repeats, scatter: {header}; one off, two off found")
    for n, scatter in product((8, 10, 15, 30), (0.01, 0.03, 0.05, 0.1, 0.15)):
        false = [named(noise(source, (cases, n), scatter)) for noise in noises.values()]
        right = [found(normal(source, (cases, n), scatter), factors) for factors in OFF.values()]
        shown = ("  ".join(f"{each:.3f}" for each in rates) for rates in (false, right))
        print(f"  {n:2} {scatter:4.0%}  " + "   ".join(shown), flush=True)


# Limits from past runs of a healthy system


WISH, PAST = 1e-3, 30
RULES = (AlarmRule(1, 1), AlarmRule(2, 3), RETESTED)


def correlated(r: float) -> Noise:
    """Normal noise of which each run keeps a part of the one before."""

    def noise(source: np.random.Generator, shape: tuple[int, int], scatter: float) -> Array:
        values = normal(source, shape, scatter)
        for run in range(1, shape[1]):
            values[:, run] = r * values[:, run - 1] + np.sqrt(1 - r * r) * values[:, run]
        return values

    return noise


PAST_NOISES = {name: NOISES[name] for name in ("normal", "exponential", "t3")} | {"two modes": two_modes}
PAST_NOISES |= {f"correlated {r}": correlated(r) for r in (0.2, 0.4, 0.6)}


def alarms(past: list[float], new: list[float]) -> list[bool]:
    """Which limits raise an alarm, and whether the past is accepted as exchangeable."""
    proposed = past_limit(past, lower_is_better=True, wish=WISH).value
    beyond, retested = (
        [is_beyond(value, limit, lower_is_better=True) for value in new] for limit in (max(past), proposed)
    )
    accepted = min(dependence(past)) >= LEVEL
    return [
        *(is_met(rule, beyond[: rule.of]) for rule in RULES),
        is_met(RETESTED, retested),
        accepted and is_met(RETESTED, retested),
        accepted,
    ]


def limits(cases: int, source: np.random.Generator) -> None:
    names = [*(f"{rule} beyond the worst" for rule in RULES), "proposed", "proposed where accepted"]
    exact = [false_alarm_rate(rule, PAST) for rule in RULES]
    print(f"Alarms per 1,000 checks, {PAST} past runs: {'; '.join(names)}; share accepted")
    print("  exact, by ranks: " + "; ".join(f"{1000 * rate:.2f}" for rate in exact))
    for (name, noise), scatter in product(PAST_NOISES.items(), (0.02, 0.05)):
        drawn = np.exp(noise(source, (10 * cases, PAST + RETESTED.of), scatter)).tolist()
        *rates, of_accepted, accepted = np.mean([alarms(each[:PAST], each[PAST:]) for each in drawn], axis=0)
        rates.append(of_accepted / (accepted or 1))
        shown = "; ".join(f"{1000 * rate:.2f}" for rate in rates)
        print(f"  {name} {scatter:.0%}: {shown}; {accepted:.3f}", flush=True)


PARTS = {part.__name__: part for part in (several_groups, over_host_groups, whole_runs, limits)}


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, PARTS, cases=CASES, seed=29)
    for part in given.parts:
        PARTS[part](given.cases, np.random.default_rng(given.seed))
