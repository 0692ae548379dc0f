"""Whole runs that are off, at no size by enough to be an outlier; rates: ``bench/statistics_errors.py``."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from conftest import PROJECT

from mpicampaign.statistics.outliers import Off, off, runs_off

sys.path.append(str(PROJECT / "bench"))

import statistics_errors

SIZES = 24


def test_a_small_difference_is_not_named_however_sure() -> None:
    assert runs_off([[1.0 + n / 1e6 for n in range(9)] + [1.05]] * SIZES) == Off()


def test_far_runs_among_much_scatter_are_not_judged() -> None:
    """The effects of the 30 runs in the STFC Cloud's shared memory: those of 11:25 and 13:05 are far off."""
    others = np.linspace(-0.2, 0.2, 28)
    whole = off(np.array([*others[:9], 0.47, *others[9:14], 0.61, *others[14:]]))
    assert (whole.positions, whole.judged) == ((9, 15), False)
    assert whole.scatter == pytest.approx(0.13, abs=0.01)


# How often it errs


@pytest.mark.full
@pytest.mark.parametrize(("n", "scatter"), [*product((8, 10, 15, 30), (0.02, 0.03, 0.04))])
def test_sound_runs_are_rarely_named(n: int, scatter: float) -> None:
    source = np.random.default_rng(29)
    for noise in (statistics_errors.normal, statistics_errors.student, statistics_errors.drifting):
        assert statistics_errors.named(noise(source, (10_000, n), scatter)) <= 0.016
