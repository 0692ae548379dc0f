"""The smallest difference that repeats find in 8 of 10 cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mpicampaign.verdicts.compare import compare
from mpicampaign.verdicts.rows import TimedRun
from mpicampaign.verdicts.smallest import Sight, smallest_seen


def test_the_smallest_difference_by_hand() -> None:
    """Eight rows of two: the largest p within 5 % is 0.039, of which Student's t with 7 degrees is 2.534."""
    sight = Sight(2, 8, 0.02, 0.05)
    assert sight.difference == pytest.approx(
        math.expm1(1.1 * (2.534 + 0.8416) * 0.02 / math.sqrt(8)), rel=1e-3
    )
    # six are compared by all their values: p = 0.041, 10 degrees, 2.347
    assert sight.at(6) == pytest.approx(math.expm1(1.1 * (2.347 + 0.8416) * 0.05 / math.sqrt(6)), rel=3e-3)
    assert sight.at(3) is None and Sight(4, 4, 0.01, 0.01).difference is None
    assert sight._replace(in_rows=None).at(8) > (sight.at(8) or 0)
    for wanted in (0.05, 0.02, 0.01):
        needed = sight.repeats_for(wanted)
        assert needed and sight.at(needed) <= wanted and not (sight.at(needed - 1) or 1) <= wanted
    assert Sight(2, 8, 50.0, 50.0).repeats_for(0.01) is None


def test_the_spread_is_that_of_those_that_may_be_the_best_and_the_level_that_of_the_tests() -> None:
    """C is led, and ten times as noisy. Two that ran days later are tested with each other alone."""
    source = np.random.default_rng(1)

    def runs(noise: float, lead: float, begin: float = 0.0) -> list[TimedRun]:
        costs = lead + noise * source.permutation([-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0])
        return [TimedRun(begin + 300.0 * n, cost) for n, cost in enumerate(costs.tolist())]

    a, b, c = runs(0.01, 0), runs(0.01, 0, 60), runs(0.1, 2.0, 120)
    verdict = compare([a, b, c])
    assert verdict.may_be_best == (0, 1)
    found = smallest_seen(verdict)
    assert found and found.of_values == pytest.approx(math.sqrt(2) * 1.25 * 0.0125 * 8 / 7)
    assert (found.candidates, found.steps) == (3, 0)
    other = [runs(0.01, 0, 9e5), runs(0.01, 0, 9e5 + 60)]
    apart = smallest_seen(compare([a, b, *other]))
    assert apart and (apart.candidates, apart.steps) == (4, 2)  # two pairs, each at half of the level
    assert apart.difference and apart.difference > (apart._replace(candidates=2, steps=0).difference or 1)
