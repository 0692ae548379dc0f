"""How often verdicts err, and what they find, by when the runs were made: simulated.

bench/run_all verdicts [--cases 1000] [--seed 42] [--parts rows_in_time power errors_in_blocks]
"""

import math
from collections.abc import Callable, Sequence
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
from common import options, usually

from mpicampaign.questions.crossings.find import Curves, leaders_of
from mpicampaign.verdicts.blocks import compare_blocks
from mpicampaign.verdicts.compare import compare
from mpicampaign.verdicts.rows import TimedRun

CASES = usually(1000, smallest=2)
NOISE = 0.01  # of a run
STEP = 60.0  # s from one begin to the next
DAY = 86400.0
SIZES = [2**power for power in range(24)]  # B
Array = npt.NDArray[np.float64]
Source = np.random.Generator
Layout = list[tuple[float, int]]  # begin of each run and who it is of, in order of time

# ---- who runs when


def in_rows(orders: Sequence[Sequence[int]]) -> Layout:
    return [(STEP * place, who) for place, who in enumerate(who for order in orders for who in order)]


def even(source: Source, k: int, n: int) -> Layout:
    """Own plans: of each four repeats two orders are drawn, two are their mirrors."""
    orders: list[list[int]] = []
    while len(orders) < n:
        drawn = [source.permutation(k).tolist() for _ in range(2)]
        four = drawn + [order[::-1] for order in drawn]
        orders += [four[place] for place in source.permutation(4)]
    return in_rows(orders[:n])


def cron(_source: Source, k: int, n: int) -> Layout:
    return in_rows([range(k)] * n)


def in_turn(_source: Source, k: int, n: int) -> Layout:
    return in_rows([[who] * n for who in range(k)])


def later(source: Source, k: int, n: int) -> Layout:
    """The last candidate was added a day later, or edited."""
    first = even(source, k - 1, n)
    return [*first, *((first[-1][0] + DAY + STEP * place, k - 1) for place in range(n))]


def one_again(source: Source, k: int, n: int) -> Layout:
    """One run of the first candidate was made again at the end."""
    runs = even(source, k, n)
    runs.remove(next(run for run in runs if run[1] == 0))
    return [*runs, (runs[-1][0] + STEP, 0)]


LAYOUTS: dict[str, Callable[[Source, int, int], Layout]] = {
    **{"own, even": even, "one made again": one_again},
    **{"cron, the same order": cron, "in turn": in_turn},
    "one a day later": later,
}

# ---- what the machine does meanwhile: logarithms by run


def noise(source: Source, times: Array) -> Array:
    return NOISE * source.standard_normal(len(times))


def drift(total: float) -> Callable[[Source, Array], Array]:
    return lambda source, times: noise(source, times) + np.log1p(total) * (times - times[0]) / np.ptp(times)


def states(source: Source, times: Array) -> Array:
    """Two, 5 % apart, each for some 20 runs."""
    return noise(source, times) + 0.05 * (np.cumsum(source.random(len(times)) < 1 / 20) % 2)


def autocorrelated(source: Source, times: Array) -> Array:
    """By .7 from one run to the next."""
    steps, value = source.standard_normal(len(times)) * NOISE, 0.0
    found = []
    for step in steps:
        value = 0.7 * value + step
        found.append(value)
    return np.array(found)


def days(source: Source, times: Array) -> Array:
    """Each day another level; some 20 runs a day."""
    day = np.arange(len(times)) // 20
    return noise(source, times) + 0.02 * source.standard_normal(day[-1] + 1)[day]


def wave(source: Source, times: Array) -> Array:
    """3 % up and down, 24 runs a period."""
    return noise(source, times) + 0.03 * np.sin(2 * np.pi * (np.arange(len(times)) / 24 + source.random()))


def heavy_tails(source: Source, times: Array) -> Array:
    return NOISE * source.standard_t(3, len(times))


COURSES: dict[str, Callable[[Source, Array], Array]] = {
    **{"quiet": noise, "drift 5": drift(0.05), "20": drift(0.2), "states": states},
    **{"autoc.": autocorrelated, "days": days, "wave": wave, "t3": heavy_tails},
}


def candidates(layout: Layout, costs: Array, truth: Sequence[float]) -> list[list[TimedRun]]:
    """``truth``: how much each takes."""
    found: list[list[TimedRun]] = [[] for _ in truth]
    for (begin, who), cost in zip(layout, costs.tolist(), strict=True):
        found[who].append(TimedRun(begin, cost + math.log(truth[who])))
    return found


def rates(
    source: Source, layout: str, course: str, truth: Sequence[float], n: int, cases: int
) -> tuple[float, float, float]:
    """How often any two that are alike are called different, the first alone may be best, any is tested."""
    false = right = tested = 0
    for _ in range(cases):
        runs = LAYOUTS[layout](source, len(truth), n)
        times = np.array([begin for begin, _ in runs])
        verdict = compare(candidates(runs, COURSES[course](source, times), truth))
        pairs = verdict.pairs.values()
        false += any(pair.shown for pair in pairs if truth[pair.better] == truth[pair.worse])
        right += verdict.may_be_best == (0,)
        tested += any(pair.tested for pair in pairs)
    return false / cases, right / cases, tested / cases


def table(source: Source, k: int, n: int, cases: int) -> None:
    print(
        f"{k} candidates, {n} repeats: false differences of alike ones by what the machine does; any tested"
    )
    print(f"  {'':22}" + "".join(f"{course:>9}" for course in COURSES))
    for layout in LAYOUTS:
        found = [rates(source, layout, course, [1.0] * k, n, cases) for course in COURSES]
        said = "".join(f"{false:9.3f}" for false, _, _ in found)
        print(f"  {layout:22}{said}{max(tested for _, _, tested in found):8.2f}", flush=True)


def power(source: Source, cases: int) -> None:
    print("Found: the first is the best by 2 %, own, even; candidates, repeats")
    print(f"  {'':22}" + "".join(f"{course:>9}" for course in COURSES))
    for k, n in ((2, 4), (2, 6), (2, 8), (2, 10), (3, 8), (4, 8), (6, 16), (8, 16)):
        truth = [1.0] + [1.02] * (k - 1)
        found = [rates(source, "own, even", course, truth, n, cases)[1] for course in COURSES]
        print(f"  {k:3} {n:3}{'':15}" + "".join(f"{right:9.2f}" for right in found), flush=True)


def curves_of(
    source: Source, course: str, truth: Sequence[Array], n: int
) -> tuple[list[list[TimedRun]], list[Curves]]:
    """Times of runs at 24 sizes, each near those of the sizes beside it; ranked by the last."""
    layout = even(source, len(truth), n)
    times = np.array([begin for begin, _ in layout])
    runs: list[list[TimedRun]] = [[] for _ in truth]
    curves: list[Curves] = [{size: [] for size in SIZES} for _ in truth]
    for (begin, who), cost in zip(layout, COURSES[course](source, times).tolist(), strict=True):
        walk = np.cumsum(NOISE / 2 * source.standard_normal(len(SIZES)))
        values = np.exp(cost + walk + NOISE / 2 * source.standard_normal(len(SIZES))) * truth[who]
        runs[who].append(TimedRun(begin, float(np.log(values[-1]))))
        for size, value in zip(SIZES, values.tolist(), strict=True):
            curves[who][size].append(value)
    return runs, curves


def leading(
    source: Source, course: str, truth: Sequence[Array], n: int, cases: int, sizes: Sequence[int]
) -> float:
    """How often anybody is shown to lead at any of these sizes."""
    found = 0
    for _ in range(cases):
        runs, curves = curves_of(source, course, truth, n)
        tested = [
            (str(a), str(b))
            for pair, of in compare(runs).pairs.items()
            if of.tested
            for a, b in permutations(pair)
        ]
        leaders = leaders_of({str(who): curve for who, curve in enumerate(curves)}, tested, True)
        found += any(one.shown and one.size in sizes for one in leaders)
    return found / cases


def leaders(source: Source, cases: int) -> None:
    print(
        "Leaders by size: the first leads by 1.5 times at the last 8 sizes; at 16 others all are alike, or at"
    )
    print("5 it leads, too: shown there though alike, and found; candidates, repeats")
    print(f"  {'':22}" + "".join(f"{course:>12}" for course in COURSES))
    late, early = np.where(np.arange(24) < 16, 1.0, 1.5), np.where(np.arange(24) < 5, 1 / 1.5, 1.0)
    for k, n in ((2, 4), (2, 6), (3, 4), (3, 6), (4, 6), (6, 6), (3, 8), (6, 8)):
        said = ""
        for course in COURSES:
            others = [late] * (k - 1)
            false = leading(source, course, [np.ones(24), *others], n, cases, SIZES[:16])
            right = leading(source, course, [early, *others], n, cases // 4 or 1, SIZES[:5])
            said += f"{false:7.3f}{right:5.2f}"
        print(f"  {k:3} {n:3}{'':15}{said}", flush=True)


# ---- within blocks


def nodes(spread: float, both: bool = False) -> Callable[[Source, Array], Array]:
    """Each block of eight on other nodes, or in one of two states that are so far apart."""

    def course(source: Source, times: Array) -> Array:
        of_blocks = source.integers(0, 2, 8) if both else source.standard_normal(8)
        return noise(source, times) + np.repeat(spread * of_blocks, len(times) // 8)

    return course


IN_BLOCKS = {name: COURSES[name] for name in ("quiet", "drift 5", "wave", "states")}
IN_BLOCKS |= {"a factor of 2": nodes(math.log(2), both=True)}
IN_BLOCKS |= {f"nodes {spread:.0%}": nodes(spread) for spread in (0.01, 0.03, 0.05)}


def rates_in_blocks(
    source: Source, course: str, n: int, truth: Sequence[float], asked: str, cases: int
) -> tuple[float, float]:
    """How often any pair that is alike is called different, and the first and the last candidate are.

    Blocks x candidates, these in random order within each block.
    """
    false = true = 0
    for _ in range(cases):
        places = np.argsort(source.random((n, len(truth))), axis=1)
        costs = IN_BLOCKS[course](source, STEP * np.arange(n * len(truth))).reshape(n, len(truth))
        costs = np.take_along_axis(costs, places, axis=1) + np.log(truth)
        pairs = compare_blocks(costs, with_reference=asked == "reference").pairs
        false += any(pair.shown for (a, b), pair in pairs.items() if truth[a] == truth[b])
        true += bool(pairs[0, len(truth) - 1].shown)
    return false / cases, true / cases


def found_in_blocks(source: Source, cases: int) -> None:
    print("Found: 2 % with noise of 1 %, by blocks; two candidates, the last of four against the reference,")
    print("the same with another one 2 % the other way, and all pairs")
    alone, between = [1.0, 1.0, 1.0, 1.02], [1.0, 1.0, 0.98, 1.02]
    kinds = (([1.0, 1.02], "reference"), (alone, "reference"), (between, "reference"), (alone, "all pairs"))
    for n in (6, 7, 8, 10):
        shares = [rates_in_blocks(source, "quiet", n, truth, asked, cases)[1] for truth, asked in kinds]
        print(f"  {n:2}  " + "  ".join(f"{share:.2f}" for share in shares), flush=True)


def errors_in_blocks(source: Source, cases: int) -> None:
    print("Any false difference, 8 blocks: four alike, and three alike with one 5 % slower; 2 % found of two")
    for name in IN_BLOCKS:
        false = [
            rates_in_blocks(source, name, 8, [1.0] * 3 + [last], asked, cases)[0]
            for asked, last in product(("reference", "all pairs"), (1.0, 1.05))
        ]
        power = rates_in_blocks(source, name, 8, [1.0, 1.02], "reference", cases)[1]
        print(f"  {name:14}" + "  ".join(f"{one:.3f}" for one in false) + f"  {power:.2f}", flush=True)


def rows_in_time(source: Source, cases: int) -> None:
    for k, n in ((2, 6), (2, 8), (2, 30), (3, 8), (4, 8), (6, 16)):
        table(source, k, n, cases)


PARTS = {part.__name__: part for part in (rows_in_time, power, leaders, found_in_blocks, errors_in_blocks)}


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, PARTS, cases=CASES, seed=42)
    for part in given.parts:
        PARTS[part](np.random.default_rng(given.seed), given.cases)
