"""Whole runs that are off, at no size by enough to be an outlier; rates: ``bench/statistics_errors.py``."""

from __future__ import annotations

import math
import random
import sys
from itertools import product

import numpy as np
import pytest
from conftest import PROJECT

from mpicampaign.statistics.outliers import Off, effects, off, runs_off

sys.path.append(str(PROJECT / "bench"))

import statistics_errors

SIZES = 24


def sweeps(source: random.Random, factors: list[float]) -> list[list[float]]:
    """The values of runs at each size: a factor of the run, and scatter at each size."""
    return [
        [size * factor * source.lognormvariate(0, 0.05) for factor in factors] for size in range(1, SIZES + 1)
    ]


def test_runs_in_line_are_not_named() -> None:
    source = random.Random(1)
    assert runs_off(sweeps(source, [source.lognormvariate(0, 0.04) for _ in range(30)])) == Off()
    assert runs_off([[1.0] * 10, [0.0] * 10]) == Off()
    assert runs_off([]) == Off()
    assert runs_off([[1.0] * 6 + [1.5]] * SIZES) == Off()  # too few


@pytest.mark.parametrize("bad", [{0: 1.5}, {2: 1.35, 7: 1.42}, {2: 1.35, 3: 0.7}])
def test_runs_that_are_off_are_found(bad: dict[int, float]) -> None:
    source = random.Random(2)
    rows = sweeps(source, [bad.get(run, 1) * source.lognormvariate(0, 0.01) for run in range(8)])
    whole = runs_off(rows)
    assert (whole.positions, whole.judged) == (tuple(bad), True)


def test_a_small_difference_is_not_named_however_sure() -> None:
    assert runs_off([[1.0 + n / 1e6 for n in range(9)] + [1.05]] * SIZES) == Off()


def test_far_runs_among_much_scatter_are_not_judged() -> None:
    """The effects of the 30 runs in the STFC Cloud's shared memory: those of 11:25 and 13:05 are far off."""
    others = np.linspace(-0.2, 0.2, 28)
    whole = off(np.array([*others[:9], 0.47, *others[9:14], 0.61, *others[14:]]))
    assert (whole.positions, whole.judged) == ((9, 15), False)
    assert whole.scatter == pytest.approx(0.13, abs=0.01)


def test_effects_are_what_the_sizes_have_in_common() -> None:
    values = np.add.outer(np.log([3.0, 10.0, 40.0]), np.array([0.0, 0.0, 0.0, math.log(2)]))
    values[1, 1] += 5  # one value that is off does not make its run off
    assert effects(values) == pytest.approx([0, 0, 0, math.log(2)])


# How often it errs


@pytest.mark.parametrize("n", [8, 10, 15, 30])
def test_one_run_is_found_as_often_as_two(n: int) -> None:
    source = np.random.default_rng(29)
    one, two = (
        statistics_errors.found(statistics_errors.normal(source, (500, n), 0.03), factors)
        for factors in statistics_errors.OFF.values()
    )
    assert min(one, two) >= 0.75 and one >= two - 0.04


@pytest.mark.full
@pytest.mark.parametrize(("n", "scatter"), [*product((8, 10, 15, 30), (0.02, 0.03, 0.04))])
def test_sound_runs_are_rarely_named(n: int, scatter: float) -> None:
    source = np.random.default_rng(29)
    for noise in (statistics_errors.normal, statistics_errors.student, statistics_errors.drifting):
        assert statistics_errors.named(noise(source, (10_000, n), scatter)) <= 0.016
