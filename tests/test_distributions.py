"""Tails of distributions, compared with printed tables and worked examples."""

from __future__ import annotations

import pytest

from mpicampaign.statistics.distributions import incomplete_beta


def test_incomplete_beta_where_it_is_known() -> None:
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2, 2, 0.5) == pytest.approx(0.5)
    assert incomplete_beta(2, 1, 0.25) == pytest.approx(0.0625)
    assert (incomplete_beta(2, 3, 0), incomplete_beta(2, 3, 1)) == (0, 1)
