from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpicampaign import statistics

if TYPE_CHECKING:
    from collections.abc import Callable

finite = st.floats(min_value=-1e12, max_value=1e12)


@pytest.mark.parametrize(
    ("n", "low", "high", "coverage"),
    [
        (2, 1, 2, 0.5),
        (3, 1, 3, 0.75),
        (5, 1, 5, 0.9375),
        (6, 1, 6, 0.96875),
        (9, 2, 8, 0.9609375),
        (10, 2, 9, 0.978515625),
        (15, 4, 12, 0.96484375),
        (20, 6, 15, 0.9586105),
    ],
)
def test_interval_of_the_median_against_binomial_tables(n: int, low: int, high: int, coverage: float) -> None:
    values = [float(value) for value in range(n, 0, -1)]
    interval = statistics.order_statistic_interval(values)
    assert interval is not None
    assert (interval.low, interval.high) == (low, high)
    assert interval.coverage == pytest.approx(coverage, abs=1e-7)


def test_one_repeat_has_no_interval() -> None:
    assert statistics.order_statistic_interval([3.0]) is None
    assert statistics.summarise([3.0]) == statistics.Summary(1, 3.0, None, 3.0, 3.0, 3.0)


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    source = random.Random(7)
    hits = 0
    for _ in range(4000):
        interval = statistics.order_statistic_interval([source.expovariate(1) for _ in range(10)])
        assert interval is not None
        hits += interval.low <= 0.6931472 <= interval.high
    assert hits / 4000 == pytest.approx(0.9785, abs=0.01)


def test_summarise() -> None:
    summary = statistics.summarise([4.0, 1.0, 2.0, 3.0, 10.0, 6.0])
    assert (summary.n, summary.median, summary.mean) == (6, 3.5, pytest.approx(26 / 6))
    assert (summary.minimum, summary.maximum) == (1.0, 10.0)
    assert summary.interval == statistics.Interval(1.0, 10.0, 0.96875)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_no_values_or_not_finite_ones_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no values|not finite"):
        statistics.summarise(values)


@given(st.lists(finite, min_size=1, max_size=40))
def test_median_lies_between_equal_halves(values: list[float]) -> None:
    middle = statistics.median(values)
    assert sum(value < middle for value in values) <= len(values) / 2
    assert sum(value > middle for value in values) <= len(values) / 2


def test_two_bands_are_found_with_their_members() -> None:
    bands = statistics.modes([0.41, 0.23, 0.40, 0.23, 0.24])
    assert [band.members for band in bands] == [(1, 3, 4), (0, 2)]
    assert bands[0].median == 0.23


def test_a_side_is_split_again() -> None:
    values = [1.0, 1.01, 1.3, 1.31, 5.0, 5.05, 1.0, 1.3, 5.02]
    assert [band.members for band in statistics.modes(values)] == [(0, 1, 6), (2, 3, 7), (4, 5, 8)]


@pytest.mark.parametrize(
    "values",
    [
        [1.0],
        [1.0, 2.0, 2.0],  # fewer than four
        [1.0, 1.0, 1.0, 1.0, 9.0],  # an outlier is no band
        [5.0] * 6,
        [1.00, 1.01, 1.04, 1.05],  # within minimum_gap
        [1.0, 1.3, 1.7, 2.2, 2.4, 3.0],
    ],
)
def test_a_single_band_stays_whole(values: list[float]) -> None:
    assert [band.members for band in statistics.modes(values)] == [tuple(range(len(values)))]


def test_neighbouring_printed_values_are_no_bands() -> None:
    values = [0.11, 0.11, 0.12, 0.12, 0.12]
    assert len(statistics.modes(values, resolution=0.01)) == 1
    assert len(statistics.modes(values)) == 2


def _normal(source: random.Random) -> float:
    return source.gauss(100, 1)


def _log_normal(source: random.Random) -> float:
    return source.lognormvariate(0, 1)


def _false_alarms(draw: Callable[[random.Random], float], n: int, samples: int) -> float:
    source = random.Random(n)
    found = 0
    for _ in range(samples):
        found += len(statistics.modes([draw(source) for _ in range(n)], minimum_gap=0)) > 1
    return found / samples


@pytest.mark.parametrize("n", [4, 5, 6, 10, 20])
def test_false_alarms_of_modes_briefly(n: int) -> None:
    assert _false_alarms(_normal, n, 500) <= 0.03


@pytest.mark.full
@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30])
@pytest.mark.parametrize(
    "draw",
    [
        _normal,
        random.Random.random,
        lambda r: r.expovariate(1),
        lambda r: r.lognormvariate(0, 0.5),
        _log_normal,
    ],
    ids=["normal", "uniform", "exponential", "log-normal 0.5", "log-normal 1"],
)
def test_false_alarms_of_modes(draw: Callable[[random.Random], float], n: int) -> None:
    rate = _false_alarms(draw, n, 10000)
    print(f"false alarms: {rate:.2%}")
    assert rate <= 0.03


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([1.0, 2, 3, 4], [5.0, 6, 7, 8], 2 / 70),
        ([1.0, 2, 3, 4, 5], [6.0, 7, 8, 9, 10], 2 / 252),
        ([1.0, 2, 3, 4, 6], [5.0, 7, 8, 9, 10], 4 / 252),
        ([1.0, 3, 5, 7, 9], [2.0, 4, 6, 8, 10], 0.6904761904761905),
    ],
)
def test_difference_against_the_exact_tables(a: list[float], b: list[float], p: float) -> None:
    assert statistics.difference(a, b).p == pytest.approx(p)
    assert statistics.difference(b, a).p == pytest.approx(p)


@given(
    st.lists(st.integers(0, 4).map(float), min_size=4, max_size=5),
    st.lists(st.integers(0, 4).map(float), min_size=4, max_size=5),
)
def test_difference_equals_full_enumeration_with_ties(a: list[float], b: list[float]) -> None:
    pooled = [*a, *b]
    n = len(pooled)

    def distance(chosen: tuple[int, ...]) -> float:
        rest = [pooled[i] for i in range(n) if i not in chosen]
        return abs(sum((y > pooled[i]) - (y < pooled[i]) for i in chosen for y in rest))

    observed = distance(tuple(range(len(a))))
    ways = list(itertools.combinations(range(n), len(a)))
    expected = sum(distance(way) >= observed for way in ways) / len(ways)
    assert statistics.difference(a, b).p == pytest.approx(expected)


def test_difference_says_how_much_and_in_which_direction() -> None:
    found = statistics.difference([2.0, 2.1, 2.2, 2.3, 2.4], [4.0, 4.2, 4.4, 4.6, 4.8])
    assert (found.ratio, found.effect, found.significant) == (pytest.approx(2.0), 1.0, True)
    same = statistics.difference([1.0, 3, 5, 7, 9], [2.0, 4, 6, 8, 10])
    assert same.significant is False
    assert same.effect == pytest.approx(0.2)


def test_too_few_repeats_give_a_reason_and_no_probability() -> None:
    found = statistics.difference([1.0, 2.0, 3.0], [7.0, 8.0, 9.0])
    assert (found.p, found.significant) == (None, None)
    assert found.reason == "3 and 3 repeats cannot show a difference: p is 0.1 at best"
    assert found.effect == 1.0


def test_normal_approximation_continues_the_exact_values(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(3)
    a = [source.gauss(0, 1) for _ in range(20)]
    b = [source.gauss(0.6, 1) for _ in range(20)]
    exact = statistics.difference(a, b).p
    monkeypatch.setattr(statistics, "_EXACT_LIMIT", 0)
    assert statistics.difference(a, b).p == pytest.approx(exact, rel=0.1)
    assert statistics.difference([1.0] * 30, [1.0] * 30).p == 1.0


def test_a_zero_median_has_no_ratio() -> None:
    assert statistics.difference([0.0] * 4, [1.0] * 4).ratio is None
