"""Whole runs that are off, at no size by enough to be an outlier."""

from __future__ import annotations

import random

import pytest

from mpicampaign.statistics.whole_runs import extremes, runs_off

SIZES = 24


def sweeps(source: random.Random, n: int, of_run: float = 0.04, of_size: float = 0.1) -> list[list[float]]:
    """The values of n sound runs at each size: a factor of the run, and scatter at each size."""
    factors = [source.lognormvariate(0, of_run) for _ in range(n)]
    return [
        [size * factor * source.lognormvariate(0, of_size) for factor in factors]
        for size in range(1, SIZES + 1)
    ]


def test_runs_in_line_are_not_named() -> None:
    assert runs_off(sweeps(random.Random(1), 30)) == []
    assert runs_off([[1.0] * 10, [0.0] * 10]) == []
    assert runs_off([]) == []


def test_a_small_difference_is_not_named_however_sure() -> None:
    rows = [[1.0 + n / 1e6 for n in range(9)] + [1.05] for _ in range(SIZES)]
    assert extremes(rows[0]) == [9]
    assert runs_off(rows) == []


def false_alarms(n: int, cases: int, of_run: float) -> float:
    source = random.Random(n)
    return sum(bool(runs_off(sweeps(source, n, of_run))) for _ in range(cases)) / cases


@pytest.mark.full
@pytest.mark.parametrize("of_run", [0.01, 0.04, 0.15])
@pytest.mark.parametrize("n", [8, 10, 15, 30])
def test_false_alarms(n: int, of_run: float) -> None:
    """At most 1 % of sound cases, and three standard errors of 1,000 cases."""
    rate = false_alarms(n, 1000, of_run)
    print(f"{n} runs that scatter by {of_run:.0%}: {rate:.1%}")
    assert rate <= 0.01 + 3 * (0.01 * 0.99 / 1000) ** 0.5
