"""Tails of distributions, compared with printed tables and worked examples."""

from __future__ import annotations

import numpy as np
import pytest

from mpicampaign.statistics.distributions import chi_squared_tail, incomplete_beta
from mpicampaign.verdicts.rank_tests import welch


@pytest.mark.parametrize(
    ("x", "freedom", "p"),
    [
        (3.841, 1, 0.05),
        (5.991, 2, 0.05),
        (7.815, 3, 0.05),
        (16.812, 6, 0.01),
        (14.067, 7, 0.05),
        (21.026, 12, 0.05),
    ],
)
def test_chi_squared(x: float, freedom: int, p: float) -> None:
    assert chi_squared_tail(np.array([x, 0.0, -1.0]), freedom) == pytest.approx([p, 1, 1], rel=1e-3)


def test_incomplete_beta_where_it_is_known() -> None:
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2, 2, 0.5) == pytest.approx(0.5)
    assert incomplete_beta(2, 1, 0.25) == pytest.approx(0.0625)
    assert (incomplete_beta(2, 3, 0), incomplete_beta(2, 3, 1)) == (0, 1)


def test_welch_without_any_spread() -> None:
    assert (welch([2, 2, 2], [2, 2, 2]), welch([2, 2, 2], [3, 3, 3])) == (1, 0)
