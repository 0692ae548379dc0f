"""How often verdicts err, and what they find, by when the runs were made: simulated.

bench/verdicts.py [--cases 1000] [--seed 42]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt
from common import options, usually

from mpicampaign.questions.crossings.find import Curves, leaders_of
from mpicampaign.verdicts.compare import compare
from mpicampaign.verdicts.rows import TimedRun
from mpicampaign.verdicts.smallest import Sight, smallest_seen

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


def drawn(source: Source, k: int, n: int) -> Layout:
    return in_rows([source.permutation(k).tolist() for _ in range(n)])


def cron(_source: Source, k: int, n: int) -> Layout:
    return in_rows([range(k)] * n)


def back_and_forth(_source: Source, k: int, n: int) -> Layout:
    return in_rows([[*range(k)][:: -1 if row % 2 else 1] for row in range(n)])


def threes(_source: Source, k: int, n: int) -> Layout:
    return in_rows([[who] * 3 for _ in range(n // 3) for who in range(k)])


def in_turn(_source: Source, k: int, n: int) -> Layout:
    return in_rows([[who] * n for who in range(k)])


def later(source: Source, k: int, n: int) -> Layout:
    """The last candidate was added a day later, or edited."""
    first = even(source, k - 1, n)
    return [*first, *((first[-1][0] + DAY + STEP * place, k - 1) for place in range(n))]


def one_overlaps(source: Source, k: int, n: int) -> Layout:
    """The same, but one of its runs stands among the others."""
    runs = later(source, k, n)
    return sorted([*runs[:-1], (runs[len(runs) // 3][0] + 1, k - 1)])


def one_again(source: Source, k: int, n: int) -> Layout:
    """One run of the first candidate was made again at the end."""
    runs = even(source, k, n)
    runs.remove(next(run for run in runs if run[1] == 0))
    return [*runs, (runs[-1][0] + STEP, 0)]


def by_days(_source: Source, k: int, n: int) -> Layout:
    """Two runs of one candidate each day."""
    days = [who for _ in range(n // 2) for who in range(k)]
    return [(DAY * day + STEP * run, who) for day, who in enumerate(days) for run in range(2)]


LAYOUTS: dict[str, Callable[[Source, int, int], Layout]] = {
    **{"own, even": even, "own, as drawn before": drawn, "one made again": one_again},
    **{"cron, the same order": cron, "back and forth": back_and_forth, "in threes": threes},
    **{
        "in turn": in_turn,
        "one a day later": later,
        "one overlaps": one_overlaps,
        "batches by days": by_days,
    },
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


def table_of_smallest(source: Source, cases: int) -> None:
    print("The smallest difference: how often it is found; estimated / true, 10 and 90 %")
    for k, n in ((2, 4), (2, 6), (2, 8), (2, 10), (2, 30), (3, 8), (4, 6), (4, 8), (6, 6), (6, 16)):
        true = Sight(k, n, NOISE * math.sqrt(2), NOISE * math.sqrt(2)).difference
        if true is None:
            continue
        shown, estimated = 0, []
        for _ in range(max(cases // (1 if k < 4 else 4), 2)):
            layout = even(source, k, n)
            costs = COURSES["quiet"](source, np.array([begin for begin, _ in layout]))
            runs = candidates(layout, costs, [1.0] + [1 + true] * (k - 1))
            verdict = compare(runs)
            shown += bool(verdict.pairs[0, 1].shown)
            if sight := smallest_seen(verdict):
                estimated.append((sight.difference or math.nan) / true)
        ends = np.quantile(estimated, (0.1, 0.9)) if estimated else (math.nan, math.nan)
        said = f"{true:8.1%}{shown / max(cases // (1 if k < 4 else 4), 2):7.2f}{ends[0]:7.2f}{ends[1]:6.2f}"
        print(f"  {k:3} {n:3}{said}", flush=True)


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


def table_of_sizes(source: Source, cases: int) -> None:
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


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, cases=CASES, seed=42)
    source = np.random.default_rng(given.seed)
    for k, n in ((2, 6), (2, 8), (2, 30), (3, 8), (4, 8), (6, 16)):
        table(source, k, n, given.cases)
    power(source, given.cases)
    table_of_smallest(source, given.cases)
    table_of_sizes(source, given.cases)


if __name__ == "__main__":
    main(sys.argv[1:])
