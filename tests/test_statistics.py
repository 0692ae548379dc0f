from __future__ import annotations

import random

import pytest
from hypothesis import strategies as st

from mpicampaign.statistics import medians

finite = st.floats(min_value=-1e12, max_value=1e12)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_no_values_or_not_finite_ones_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no values|not finite"):
        medians.summarise(values)


def test_too_few_repeats_give_a_reason_and_no_probability() -> None:
    found = medians.difference([1.0, 2.0, 3.0], [7.0, 8.0, 9.0])
    assert (found.p, found.significant) == (None, None)
    assert found.reason == "3 and 3 repeats cannot show a difference: p is 0.1 at best"
    assert found.effect == 1.0


def test_normal_approximation_continues_the_exact_values(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(3)
    a = [source.gauss(0, 1) for _ in range(20)]
    b = [source.gauss(0.6, 1) for _ in range(20)]
    exact = medians.difference(a, b).p
    monkeypatch.setattr(medians, "_EXACT_LIMIT", 0)
    assert medians.difference(a, b).p == pytest.approx(exact, rel=0.1)
    assert medians.difference([1.0] * 30, [1.0] * 30).p == 1.0
