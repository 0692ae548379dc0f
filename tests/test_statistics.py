from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpicampaign.statistics import medians
from mpicampaign.verdicts import rank_tests

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


def test_separated_repeats_differ_and_mingled_ones_do_not() -> None:
    assert rank_tests.rank_sum([2.0, 2.1, 2.2, 2.3, 2.4], [4.0, 4.2, 4.4, 4.6, 4.8]) == 2 / 252
    assert rank_tests.rank_sum([1.0, 3, 5, 7, 9], [2.0, 4, 6, 8, 10]) > 0.05


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
