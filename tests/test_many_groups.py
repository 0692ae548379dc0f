"""How often the procedures for many groups err, and what they find: simulated repeats.

The soak has 3 to 20 groups of 4 to 30 repeats; ``pytest -s -m soak`` prints the rates. Groups are alike if
their true values are equal. Scatter is relative, as that of run times and bandwidths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mpicampaign.statistics.comparisons import (
    FAMILY_WISE,
    LEVEL,
    hochberg,
)
from mpicampaign.verdicts.compare import FEW_REPEATS, Verdict, compare
from mpicampaign.verdicts.rows import TimedRun

Groups = list[list[float]]


def equal(random: np.random.Generator, true: float, n: int, _group: int) -> list[float]:
    """All scatter by 5 %."""
    return list(map(float, true * np.exp(0.05 * random.standard_normal(n))))


def unequal(random: np.random.Generator, true: float, n: int, group: int) -> list[float]:
    """Spreads of 1 to 20 %."""
    return list(map(float, true * np.exp(0.01 * 20 ** (group % 7 / 6) * random.standard_normal(n))))


def modes(random: np.random.Generator, true: float, n: int, _group: int) -> list[float]:
    """Half of the repeats are a quarter higher."""
    high = 1 + random.integers(0, 2, n) / 4
    return list(map(float, true * high * np.exp(0.01 * random.standard_normal(n))))


def ties(random: np.random.Generator, true: float, n: int, _group: int) -> list[float]:
    """Values such as 1.02, 1.05: many are equal."""
    return [round(float(value), 2) for value in true * np.exp(0.02 * random.standard_normal(n))]


Setting = Callable[[np.random.Generator, float, int, int], list[float]]
SETTINGS = (equal, unequal, modes, ties)


def draws(setting: Setting, trues: Sequence[float], n: int, count: int) -> list[Groups]:
    """So many times the repeats of all groups."""
    random = np.random.default_rng([len(trues), n, SETTINGS.index(setting)])
    return [[setting(random, true, n, group) for group, true in enumerate(trues)] for _ in range(count)]


def alike(k: int) -> list[float]:
    return [1.0] * k


def compare_groups(groups: Groups) -> Verdict:
    """Rows whose order is not known: all values are ranked."""
    return compare(
        [[TimedRun(60.0 * n, math.log(value)) for n, value in enumerate(group)] for group in groups]
    )


def false_pairs(trues: Sequence[float], groups: Groups) -> tuple[int, int]:
    """How many pairs are wrongly called different, and how many are called so."""
    found = [pair for pair, one in compare_groups(groups).pairs.items() if one.shown]
    return sum(trues[a] == trues[b] for a, b in found), len(found)


def any_false(setting: Setting, trues: Sequence[float], n: int, count: int) -> float:
    """The share of cases in which any pair is wrongly called different."""
    return sum(false_pairs(trues, groups)[0] > 0 for groups in draws(setting, trues, n, count)) / count


def false_share(setting: Setting, trues: Sequence[float], n: int, count: int) -> float:
    """The mean share of wrong ones among the pairs called different."""
    found = [false_pairs(trues, groups) for groups in draws(setting, trues, n, count)]
    return sum(wrong / called for wrong, called in found if called) / count


def against_others(groups: Groups) -> list[float]:
    """The probability of each pair of the first group, among all of these."""
    alone = [compare_groups([groups[0], other]).pairs[0, 1].p for other in groups[1:]]
    return [*dict(sorted(hochberg({place: p for place, p in enumerate(alone) if p}).items())).values()]


def false_against(setting: Setting, k: int, n: int, count: int) -> float:
    """How often one group, of k that are alike, is called different from any other."""
    cases = draws(setting, alike(k), n, count)
    return sum(min(against_others(groups)) <= LEVEL for groups in cases) / count


# What is exact


def separated(k: int, n: int) -> Groups:
    return [[(group + 1) * (1 + repeat / 1000) for repeat in range(n)] for group in range(k)]


def test_three_repeats_are_never_tested() -> None:
    groups = [*separated(3, 6), [0.1, 0.11, 0.12]]
    verdict = compare_groups(groups)
    found = verdict.pairs[0, 3]
    assert (found.shown, found.p, found.reason) == (None, None, FEW_REPEATS)
    assert verdict.pairs[0, 1].shown and verdict.judged == {0, 1, 2}


# What was simulated


def shown(k: int, n: int, step: float) -> float:
    """The share of pairs of neighbours, groups apart by so much, that are called different."""
    trues = [step**group for group in range(k)]
    cases = [compare_groups(groups).pairs for groups in draws(equal, trues, n, 40)]
    found = [bool(case[a, a + 1].shown) for case in cases for a in range(k - 1)]
    return sum(found) / len(found)


@pytest.mark.soak
@pytest.mark.parametrize("n", [4, 6, 30])
@pytest.mark.parametrize("k", [3, 8, 20])
def test_errors(k: int, n: int) -> None:
    """Each rate is below its limit and three standard errors of the simulation."""
    count = 1000 if k <= 3 else 200 if k <= 8 else 100
    family_wise = compare_groups(separated(k, n)).error == FAMILY_WISE
    of_pairs = any_false if family_wise else false_share
    limit = 0.05 + 3 * (0.05 * 0.95 / count) ** 0.5
    for setting in SETTINGS:
        rates = {
            "pairs, all alike": of_pairs(setting, alike(k), n, count),
            "pairs, two of each": of_pairs(setting, [1.2 ** (group // 2) for group in range(k)], n, count),
            "one against each": false_against(setting, k, n, count),
        }
        print(
            f"{k} groups of {n}, {setting.__name__}:", {name: round(rate, 3) for name, rate in rates.items()}
        )
        assert all(rate <= limit + 0.01 for rate in rates.values()), rates
    print(f"{k} groups of {n}: steps of 20 % shown {shown(k, n, 1.2):.2f}, of 5 % {shown(k, n, 1.05):.2f}")


def test_five_separated_repeats_among_thirteen_groups() -> None:
    """p is 0.0079 of each pair at best: enough where at least 7 of 12 differ."""
    groups = separated(13, 5)
    assert against_others(groups) == pytest.approx([2 / 252] * 12)
    assert against_others([groups[0]] * 7 + groups[1:7])[6:] == pytest.approx([7 * 2 / 252] * 6)
