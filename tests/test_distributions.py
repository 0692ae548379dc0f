"""Tails of distributions, compared with printed tables and worked examples."""

from __future__ import annotations

import pytest

from mpicampaign.statistics.distributions import incomplete_beta
from mpicampaign.verdicts.rank_tests import welch


def test_incomplete_beta_where_it_is_known() -> None:
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2, 2, 0.5) == pytest.approx(0.5)
    assert incomplete_beta(2, 1, 0.25) == pytest.approx(0.0625)
    assert (incomplete_beta(2, 3, 0), incomplete_beta(2, 3, 1)) == (0, 1)


def test_welch_without_any_spread() -> None:
    assert (welch([2, 2, 2], [2, 2, 2]), welch([2, 2, 2], [3, 3, 3])) == (1, 0)
