"""Distributions, pairs of a family, the smallest difference that is found, and when repeats are enough."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpicampaign.compare.stopping import REPEAT_STAGES, STOPPED_COVERAGE, precision
from mpicampaign.questions.ranking.say_pairs import precision_text
from mpicampaign.statistics import medians
from mpicampaign.statistics.distributions import incomplete_beta
from mpicampaign.verdicts import rank_tests
from mpicampaign.verdicts.compare import compare
from mpicampaign.verdicts.rank_tests import welch
from mpicampaign.verdicts.rows import TimedRun
from mpicampaign.verdicts.smallest import Sight, smallest_seen

finite = st.floats(min_value=-1e12, max_value=1e12)


def test_one_repeat_has_no_interval() -> None:
    assert medians.order_statistic_interval([3.0]) is None
    assert medians.summarise([3.0]) == medians.Summary(1, 3.0, None, 3.0, 3.0, 3.0)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_no_values_or_not_finite_ones_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no values|not finite"):
        medians.summarise(values)


@given(st.lists(finite, min_size=1, max_size=40))
def test_median_lies_between_equal_halves(values: list[float]) -> None:
    middle = medians.median(values)
    assert sum(value < middle for value in values) <= len(values) / 2
    assert sum(value > middle for value in values) <= len(values) / 2


def test_too_few_repeats_show_nothing() -> None:
    assert rank_tests.rank_sum_and_welch([1.0, 2.0, 3.0], [7.0, 8.0, 9.0]) == 1.0


def test_normal_approximation_continues_the_exact_values(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(3)
    a = [source.gauss(0, 1) for _ in range(20)]
    b = [source.gauss(0.6, 1) for _ in range(20)]
    exact = rank_tests.rank_sum(a, b)
    monkeypatch.setattr(rank_tests, "_EXACT_SUM", 0)
    assert rank_tests.rank_sum(a, b) == pytest.approx(exact, rel=0.1)
    assert rank_tests.rank_sum([1.0] * 30, [1.0] * 30) == 1.0


def test_incomplete_beta_where_it_is_known() -> None:
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2, 2, 0.5) == pytest.approx(0.5)
    assert incomplete_beta(2, 1, 0.25) == pytest.approx(0.0625)
    assert (incomplete_beta(2, 3, 0), incomplete_beta(2, 3, 1)) == (0, 1)


def test_welch_without_any_spread() -> None:
    assert (welch([2, 2, 2], [2, 2, 2]), welch([2, 2, 2], [3, 3, 3])) == (1, 0)


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


if TYPE_CHECKING:
    from collections.abc import Callable


def near(n: int, reach: float) -> list[float]:
    """This many values around 1, with this range."""
    return [1 - reach, 1 + reach, *[1.0] * (n - 2)]


def test_six_close_repeats_are_enough() -> None:
    found = precision(near(6, 0.04))
    assert found.enough and found.next_stage == 10
    assert precision_text(found) == "6 repeats: the median is known to 4.0 % (confidence 96.9 %): enough"


DRAWS: dict[str, tuple[Callable[[random.Random, float], float], Callable[[float], float]]] = {
    "normal": (lambda source, scatter: 1 + scatter * source.gauss(0, 1), lambda _: 1.0),
    "exponential": (
        lambda source, scatter: 1 + scatter * source.expovariate(1),
        lambda scatter: 1 + scatter * math.log(2),
    ),
    "log-normal": (lambda source, scatter: math.exp(scatter * source.gauss(0, 1)), lambda _: 1.0),
}


def coverage(family: str, scatter: float, cases: int) -> float:
    """The share of cases whose last interval holds the true median."""
    draw, truth = DRAWS[family]
    source = random.Random(7)
    held = 0
    for _ in range(cases):
        values: list[float] = []
        for count in REPEAT_STAGES:
            values += [draw(source, scatter) for _ in range(count - len(values))]
            found = precision(values)
            if found.enough:
                break
        assert found.interval is not None
        held += found.interval.low <= truth(scatter) <= found.interval.high
    return held / cases


def test_coverage_after_stopping_briefly() -> None:
    assert coverage("normal", 0.03, 300) >= STOPPED_COVERAGE - 0.03


@pytest.mark.full
@pytest.mark.parametrize("scatter", [0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1, 0.3])
@pytest.mark.parametrize("family", DRAWS)
def test_coverage_after_stopping(family: str, scatter: float) -> None:
    found = coverage(family, scatter, 4000)
    print(f"{family}, scatter {scatter:.1%}: {found:.1%}")
    assert found >= STOPPED_COVERAGE
