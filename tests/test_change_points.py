"""Change points in single series: the tests behind them, delays, false alarms, and what is not judged."""

from __future__ import annotations

import math
import random
import sys
from itertools import combinations
from pathlib import Path

import pytest

from mpicampaign.statistics.change_points import (
    ALTERNATING,
    CORRELATED,
    LASTING,
    NOT_POSITIVE,
    REFERENCE,
    SHORT,
    TOO_SHORT,
    _level_correlation,
    _mann_whitney,
    false_discoveries_controlled,
    latest_change,
    smallest_change,
    why_not_judged,
)
from mpicampaign.statistics.distributions import rank_sum_ways

sys.path.append(str(Path(__file__).parents[1] / "bench"))
import change_points as bench
from change_points import change_points


def noise(seed: int, count: int, level: float = 100.0) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(level, level / 100) for _ in range(count)]


# ---- the exact test


def counted(n: int, k: int) -> list[int]:
    """How many orders of n and k values have each U, counted one by one."""
    found = [0] * (n * k + 1)
    for chosen in combinations(range(n + k), k):
        found[sum(place - number for number, place in enumerate(chosen))] += 1
    return found


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 3), (3, 4), (9, 5), (12, 3)])
def test_the_null_distribution_is_that_of_a_count_of_all_orders(n: int, k: int) -> None:
    assert rank_sum_ways(n, k, n * k + 1) == counted(n, k)


def test_separated_values_have_the_least_probability_on_either_side() -> None:
    ordered = [float(value) for value in range(10, 110)]
    least = 2 / math.comb(103, 3)
    assert _mann_whitney(ordered, [200.0, 201.0, 202.0]) == pytest.approx(least)
    assert _mann_whitney(ordered, [1.0, 2.0, 3.0]) == pytest.approx(least)


def test_ties_never_help() -> None:
    """Half a win for each tie, and U is rounded to the middle of the distribution."""
    ordered = [float(value) for value in range(1, 101)]
    apart, tied, inside = (_mann_whitney(ordered, [top, 101.0, 102.0]) for top in (103.0, 100.0, 99.5))
    assert apart < tied == inside  # a tie with the largest is no better than a place below it
    assert _mann_whitney([5.0] * 100, [5.0] * 25) == 1.0


# ---- steps


def test_a_constant_series_has_no_change_and_one_that_steps_has_one() -> None:
    assert change_points([5.0] * 150) == []
    ((end, found),) = change_points([5.0] * 50 + [5.5] * 10)
    assert (found.first, end) == (50, 52)  # by the third point: a smaller window proves nothing


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("place", [2, 49])
def test_values_that_are_not_positive_and_finite_are_refused(value: float, place: int) -> None:
    values = noise(1, 50)
    values[place] = value
    with pytest.raises(ValueError, match="positive and finite"):
        latest_change(values)
    assert why_not_judged(values) == NOT_POSITIVE


# ---- noise that is not independent, or of two levels


def test_two_levels_that_stay_for_a_while_are_one_kind_of_noise() -> None:
    stays = ([100.0, 100.5, 101.0] * 3 + [115.0, 115.5]) * 8
    correlation = _level_correlation(stays)
    assert correlation is not None and correlation > 0.1
    assert _level_correlation(noise(1, 90)) is None
    assert _level_correlation([100 + math.sin(n / 3) for n in range(90)]) is None  # slow, without a gap
    assert _level_correlation([100.0, 115.0] * 45) is None  # visits of one value: not a level that stays
    assert _level_correlation(noise(1, 45) + noise(2, 45, 115)) is None  # a single step is no noise


# ---- what is not judged


def test_series_that_are_too_short() -> None:
    assert why_not_judged(noise(1, TOO_SHORT - 1)) == SHORT
    assert why_not_judged(noise(1, TOO_SHORT)) == ""
    assert why_not_judged([]) == SHORT


def test_noise_that_drifts_by_itself_is_not_judged_over_100_points() -> None:
    source, level, walk = random.Random(3), 100.0, []
    for _ in range(REFERENCE):
        level += source.gauss(0, 0.1)
        walk.append(level)
    assert why_not_judged(walk) == CORRELATED
    assert why_not_judged(walk[1:]) == ""  # too few to know
    assert why_not_judged(noise(1, 50) + walk, [50]) == CORRELATED
    assert why_not_judged([*walk, *noise(1, 100, walk[-1])]) == ""  # the last 100 count
    assert why_not_judged([5.0] * REFERENCE) == ""


def test_the_same_two_levels_a_third_time_are_not_judged() -> None:
    a, b = noise(1, 20), noise(2, 20, 110)
    assert why_not_judged(a + b + a, [20, 40]) == ""
    assert why_not_judged(a + b + a + b, [20, 40, 60]) == ALTERNATING
    assert why_not_judged(a + b + a + noise(3, 20, 120), [20, 40, 60]) == ""
    assert why_not_judged(a + b + noise(3, 20, 121) + noise(4, 20, 133), [20, 40, 60]) == ""


# ---- many series


def test_the_control_over_many_series_is_that_of_benjamini_and_yekutieli() -> None:
    """By hand for three tests: limits of rank · 0.05 / (4 · 3 · (1 + 1/2 + 1/3))."""
    one = 0.05 / (4 * 3 * (1 + 1 / 2 + 1 / 3))
    assert false_discoveries_controlled([one * 0.999], 3) == [True]
    assert false_discoveries_controlled([one * 1.001], 3) == [False]
    assert false_discoveries_controlled([one * 1.9, one * 1.8], 3) == [True, True]  # a step-up procedure
    assert false_discoveries_controlled([one * 2.9, one * 0.5, one * 2.1], 3) == [True, True, True]
    assert false_discoveries_controlled([one * 3.1, one * 0.5, one * 2.1], 3) == [False, True, False]


# ---- the table of docs/statistics.md, small


@pytest.mark.full
@pytest.mark.parametrize("name", bench.KINDS)
def test_at_most_one_false_alarm_per_1000_stationary_points(name: str) -> None:
    """4,000 points: up to 4 are allowed, of 2 expected of the worst kind."""
    alarms, refused = bench.false_alarms(name, 20, seed=11)
    assert alarms <= 4
    assert refused <= 4


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("5 % step after 48 points", 57),
        ("2 % step after 100 points", 54),
        ("5 % drift over 50 points", 60),
        ("5 % step after 20 points", 45),
    ],
)
def test_changes_are_found_in_time(name: str, least: int) -> None:
    """Of 60 trials; the limits are 90 % by the 5th point, 95 % by the 12th, all by the end of the drift."""
    found = [bench.delays(name, trial, seed=11) for trial in range(60)]
    assert sum(each is not None for each in found) >= least


def test_a_small_step_is_located_among_plausible_places_that_hold_it() -> None:
    held, wide = 0, 0
    for seed in range(20):
        values = noise(seed, 60) + noise(seed + 1000, 25, 102)
        (_, found), *_ = change_points(values)
        held += found.earliest <= 60 <= found.latest
        wide += found.latest - found.earliest
    assert held >= 16  # 94 % are expected
    assert 20 <= wide <= 100  # 1 to 5 points each: a 2-sigma step cannot be placed exactly


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("points", [20, 40, 100])
def test_the_smallest_change_that_is_told_is_found_in_about_8_of_10_cases(
    points: int, correlation: float
) -> None:
    """By simulation; of changes half as large far fewer are, but where few points may be correlated more."""
    drawn, found = random.Random(points), {1.0: 0, 0.5: 0}
    for _ in range(60):
        deviations, last = [], 0.0
        for _ in range(points + LASTING):
            last = correlation * last + math.sqrt(1 - correlation**2) * drawn.gauss(0, 0.01)
            deviations.append(last)
        values = [100 * math.exp(deviation) for deviation in deviations]
        smallest = smallest_change(values[:points], 1)
        assert smallest and smallest < (smallest_change(values[:points], 100) or 0)
        for part in found:
            then = [value * (1 + part * smallest) for value in values[points:]]
            changed = [values[:points] + then[:after] for after in range(3, LASTING + 1)]
            found[part] += any(map(latest_change, changed))
    assert found[1.0] >= 0.75 * 60, found
    assert found[0.5] <= 0.4 * 60 or (correlation and points < 100), found


def test_no_smallest_change_is_told_of_too_few_points_or_of_equal_values() -> None:
    assert smallest_change(noise(1, TOO_SHORT - 1), 1) is None
    assert smallest_change([1.0] * 30, 1) is None
