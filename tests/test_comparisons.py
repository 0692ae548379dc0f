"""All pairs of a family: probabilities by ranks of sets of groups, compared with a plain computation."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from test_many_groups import compare_groups

from mpicampaign.statistics.comparisons import share_of_level
from mpicampaign.statistics.distributions import chi_squared_tail
from mpicampaign.verdicts import rank_tests
from mpicampaign.verdicts.rank_tests import doubled_midranks, rank_sum


def kruskal_wallis(groups: list[list[float]]) -> float:
    """Probability that groups of one distribution differ as much in their ranks, ranked together."""
    ranks = doubled_midranks([value for group in groups for value in group])
    n, following = len(ranks), iter(ranks)
    spread = 1 - sum(count**3 - count for count in Counter(ranks).values()) / (n**3 - n)
    if spread <= 0:
        return 1.0
    squares = math.fsum((sum(next(following) for _ in group) / 2) ** 2 / len(group) for group in groups)
    h = (12 * squares / (n * (n + 1)) - 3 * (n + 1)) / spread
    return float(chi_squared_tail(np.array([h]), len(groups) - 1)[0])


def welch(a: list[float], b: list[float]) -> float:
    return rank_tests.welch([math.log(value) for value in a], [math.log(value) for value in b])


def expected(groups: list[list[float]], a: int, b: int) -> float:
    """The largest probability of the pair by two tests, and of all sets with both, each at its level."""
    k = len(groups)

    def scaled(p: float, m: int) -> float:
        return 1 - (1 - p) ** (1 / share_of_level(m, k, 2 / k))

    p = rank_sum(groups[a], groups[b])
    found = [scaled(p, 2), scaled(welch(groups[a], groups[b]), 2)]
    for m in range(3, k + 1):
        for members in combinations(range(k), m):
            if a in members and b in members:
                found.append(scaled(kruskal_wallis([groups[index] for index in members]), m))
    return max(found)


def test_groups_that_are_all_tied_do_not_differ() -> None:
    assert {found.p for found in compare_groups([[1.0] * 5] * 3).pairs.values()} == {1.0}


def test_a_separated_pair_of_unequal_spreads_must_also_pass_welchs_test() -> None:
    wide, narrow = [0.1, 1.0, 4.0, 8.0, 16.0], [16.1, 16.2, 16.3, 16.4, 16.5]
    found = compare_groups([wide, narrow]).pairs[0, 1]
    assert rank_sum(wide, narrow) < 0.01 < found.p
    assert found.p == pytest.approx(welch(wide, narrow)) and not found.shown


def test_no_pair_of_one_group() -> None:
    assert compare_groups([[1.0, 2.0]]).pairs == {}
    assert compare_groups([]).pairs == {}


@pytest.mark.parametrize("digits", [1, 2, 9])
def test_probabilities_of_unequal_groups_with_ties(digits: int) -> None:
    source = random.Random(digits)
    groups = [[round(source.uniform(1, 2) + n / 4, digits) for _ in range(5 + n % 2)] for n in range(6)]
    for (a, b), found in compare_groups(groups).pairs.items():
        assert found.p == pytest.approx(expected(groups, a, b), abs=1e-12)
