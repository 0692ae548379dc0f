"""What comparing within blocks finds, and how often it errs: simulated, as docs/statistics.md prints it.

bench/blocks.py [--cases 2000] [--seed 32] [--parts found errors]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
from common import options, usually

from mpicampaign.verdicts.blocks import compare_blocks

CASES = usually(2000, smallest=2)
NOISE = 0.01  # of a run
Array = npt.NDArray[np.float64]
Course = Callable[[np.random.Generator, int, int], Array]  # logarithms by block and place in it


def quiet(_source: np.random.Generator, n: int, k: int) -> Array:
    return np.zeros((n, k))


def drift(_source: np.random.Generator, n: int, k: int, total: float = 0.05) -> Array:
    """5 % from the first run to the last."""
    return np.linspace(0, np.log1p(total), n * k).reshape(n, k)


def time_of_day(source: np.random.Generator, n: int, k: int) -> Array:
    """3 % up and down, twelve blocks a day."""
    return 0.03 * np.sin(2 * np.pi * (np.arange(n * k) / (12 * k) + source.random())).reshape(n, k)


def states(source: np.random.Generator, n: int, k: int) -> Array:
    """Each block in one of two states, a factor of 2 apart."""
    return np.log(2) * source.integers(0, 2, (n, 1)) + np.zeros((n, k))


def moving(source: np.random.Generator, n: int, k: int) -> Array:
    """The same, and the state may change between any two runs."""
    return (np.log(2) * (np.cumsum(source.random(n * k) < 1 / 6) % 2)).reshape(n, k)


def nodes(spread: float) -> Course:
    """Each block on other nodes."""
    return lambda source, n, k: spread * source.standard_normal((n, 1)) + np.zeros((n, k))


COURSES: dict[str, Course] = {
    **{"quiet": quiet, "drift 5 %": drift, "time of day": time_of_day, "states": states},
    **{"moving states": moving},
    **{f"nodes {spread:.0%}": nodes(spread) for spread in (0.01, 0.03, 0.05)},
}


def costs(source: np.random.Generator, course: Course, n: int, truth: Sequence[float]) -> Array:
    """Blocks x candidates, these in random order within each block; ``truth``: how much each takes."""
    k = len(truth)
    places = np.argsort(source.random((n, k)), axis=1)
    effects = np.take_along_axis(course(source, n, k), places, axis=1)
    return effects + np.log(truth) + NOISE * source.standard_normal((n, k))


def differing(found: Array, question: str) -> dict[tuple[int, int], bool]:
    """Which pairs are shown to differ."""
    verdict = compare_blocks(found, with_reference=question == "reference")
    return {both: bool(pair.shown) for both, pair in verdict.pairs.items()}


def rates(
    source: np.random.Generator,
    course: Course,
    n: int,
    truth: Sequence[float],
    question: str,
    cases: int,
) -> tuple[float, float]:
    """How often any pair that is alike is called different, and the first and the last candidate are."""
    false = true = 0
    for _ in range(cases):
        shown = differing(costs(source, course, n, truth), question)
        false += any(differ for (a, b), differ in shown.items() if truth[a] == truth[b])
        true += shown[0, len(truth) - 1]
    return false / cases, true / cases


def found(cases: int, source: np.random.Generator) -> None:
    print("Found: 2 % with noise of 1 %, by blocks; two candidates, the last of four against the reference,")
    print("the same with another one 2 % the other way, and all pairs")
    alone, between = [1.0, 1.0, 1.0, 1.02], [1.0, 1.0, 0.98, 1.02]
    kinds = (([1.0, 1.02], "reference"), (alone, "reference"), (between, "reference"), (alone, "all pairs"))
    for n in (6, 7, 8, 10):
        shares = [rates(source, quiet, n, truth, asked, cases)[1] for truth, asked in kinds]
        print(f"  {n:2}  " + "  ".join(f"{share:.2f}" for share in shares), flush=True)


def errors(cases: int, source: np.random.Generator) -> None:
    print("Any false difference, 8 blocks: four alike, and three alike with one 5 % slower; 2 % found of two")
    for name, course in COURSES.items():
        false = [
            rates(source, course, 8, [1.0] * 3 + [last], asked, cases)[0]
            for asked, last in product(("reference", "all pairs"), (1.0, 1.05))
        ]
        power = rates(source, course, 8, [1.0, 1.02], "reference", cases)[1]
        print(f"  {name:14}" + "  ".join(f"{one:.3f}" for one in false) + f"  {power:.2f}", flush=True)


PARTS = {part.__name__: part for part in (found, errors)}


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, PARTS, cases=CASES, seed=32)
    for part in given.parts:
        PARTS[part](given.cases, np.random.default_rng(given.seed))


if __name__ == "__main__":
    main(sys.argv[1:])
