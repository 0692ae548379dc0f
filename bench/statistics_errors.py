"""How often the statistics of repeats err, and what they find: simulated, as docs/statistics.md prints it.

bench/statistics_errors.py [--cases 2000] [--seed 29]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from common import usually

from mpicampaign.statistics.comparisons import LEVEL, compare_pairs
from mpicampaign.statistics.one_and_others import alone, differ_from, may_be_best
from mpicampaign.statistics.whole_runs import off

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


# One group and the others


def groups_of(
    source: np.random.Generator, noise: Noise, k: int, n: int, step: float, scatter: float
) -> _Draw:
    """The repeats of k groups, the last of which is that much higher."""
    middle = np.zeros((k, 1))
    middle[-1] = np.log(step)
    return lambda: [list(map(float, row)) for row in np.exp(middle + noise(source, (k, n), scatter))]


def rates(draw: _Draw, cases: int) -> list[float]:
    """Of all cases: the first group called different from the last by the test of the pair; any called
    different from the last; the first one, and any, not among those that may be the best."""
    counts = np.zeros(4)
    for _ in range(cases):
        groups = draw()
        best = may_be_best(groups, lower_is_better=False)
        counts += (
            (alone(groups[0], groups[-1]) or 0) <= LEVEL,
            any(differ_from(groups[-1], groups[:-1])),
            0 not in best,
            len(best) < len(groups),
        )
    return list(map(float, counts / cases))


def one_and_others(cases: int, source: np.random.Generator) -> None:
    print("Groups, repeats, noise, the last is higher by: pair, one against each, best: first out, any out")
    kinds: dict[str, Noise] = {**NOISES, "two modes": two_modes}
    sizes = [*product((2, 3, 4), (5, 6, 10)), (13, 5), (13, 6)]
    for (k, n), (name, noise) in product(sizes, kinds.items()):
        for step in (1.0, 1.1) if name == "normal" else (1.0,):
            shares = rates(groups_of(source, noise, k, n, step, 0.05), cases)
            print(f"  {k:2} {n:2} {name:12} {step - 1:4.0%}  " + "  ".join(f"{one:.3f}" for one in shares))


# Groups measured one after the other


def stays(source: np.random.Generator, runs: int) -> Array:
    """Two modes, a quarter apart, with stays of six runs in the mean."""
    changes = source.random(runs) < 1 / 6
    return np.log1p((np.cumsum(changes) + source.integers(0, 2)) % 2 / 4)


def drift(_source: np.random.Generator, runs: int) -> Array:
    """20 % from the first run to the last."""
    return np.linspace(0, np.log(1.2), runs)


def one_after_the_other(cases: int, source: np.random.Generator) -> None:
    print("Like groups of 6, noise 2 %, in turn and in alternation: any called different; best out")
    for (name, course), k in product({"stays": stays, "drift": drift}.items(), (2, 4)):
        counts = np.zeros(4)
        for _ in range(cases):
            values = np.exp(course(source, 6 * k) + normal(source, 6 * k, 0.02))
            for place, groups in enumerate((values.reshape(k, 6), values.reshape(6, k).T)):
                lists = [list(map(float, group)) for group in groups]
                pairs = compare_pairs(lists).differences.values()
                counts[place] += any(pair.significant for pair in pairs)
                counts[2 + place] += 0 not in may_be_best(lists, lower_is_better=False)
        print(f"  {name} {k:2}  " + "  ".join(f"{one:.3f}" for one in counts / cases))


# Whole runs


def named(of_runs: Array) -> float:
    """In how many cases any run is judged to be off."""
    return float(np.mean([bool((one := off(case)).positions) and one.judged for case in of_runs]))


def both(of_runs: Array) -> float:
    """In how many cases the first two runs, and no others, are judged to be off."""
    return float(np.mean([(one := off(case)).judged and one.positions == (0, 1) for case in of_runs]))


def whole_runs(cases: int, source: np.random.Generator) -> None:
    print("Whole runs: repeats, scatter of runs, any of sound runs named, by noise; two off found")
    for n, scatter in product((8, 10, 15, 30), (0.01, 0.03, 0.05, 0.1, 0.15)):
        false = [named(noise(source, (cases, n), scatter)) for noise in NOISES.values()]
        shifted = normal(source, (cases, n), scatter)
        shifted[:, :2] += np.log((1.35, 1.42))
        print(
            f"  {n:2} {scatter:4.0%}  " + "  ".join(f"{one:.3f}" for one in false) + f"  {both(shifted):.3f}"
        )


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="simulated for each rate")
    parser.add_argument("--seed", type=int, default=29)
    options = parser.parse_args(arguments)
    source = np.random.default_rng(options.seed)
    one_after_the_other(options.cases, source)
    whole_runs(options.cases, source)
    one_and_others(options.cases, source)


if __name__ == "__main__":
    main(sys.argv[1:])
