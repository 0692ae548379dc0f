"""Planned looks: who leaves, what ends them, and what wins beside a reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mpicampaign.base.expectation import MOST_TO_DECIDE, looks_to_decide
from mpicampaign.verdicts.looks import (
    ALIKE,
    LAST_LOOK,
    ONE,
    Decision,
    LookRule,
    decide,
    lead,
    level_to_win,
)
from mpicampaign.verdicts.rank_tests import signed_ranks

QUIET = np.array([0.003, -0.001, 0.002, -0.004, 0.001, -0.002, 0.004, -0.003] * 4)


def test_the_first_look_is_where_a_pair_can_be_shown() -> None:
    """Two to the power of 1 - n reaches the part of the level that a pair has at a look."""
    assert [looks_to_decide(k)[0] for k in (2, 3, 4, 12)] == [8, 8, 10, 10]
    assert (looks_to_decide(3), looks_to_decide(12)) == ((8, 12, 16, 24), (10, 14, 18, 26))
    for k in range(2, MOST_TO_DECIDE + 1):
        assert 2.0 ** (1 - looks_to_decide(k)[0]) <= 0.025 / k, k


def of(*leads: float, rows: int = 26) -> np.ndarray:
    """Rows of candidates that take so much longer than the first, each with its own course of noise."""
    noise = [np.resize(np.roll(QUIET, 5 * place), rows) for place in range(len(leads) + 1)]
    return np.array([each + more for each, more in zip(noise, (0.0, *leads), strict=True)]).T


def decided(*cells: np.ndarray, rule: LookRule = LookRule()) -> Decision:  # noqa: B008 (it cannot change)
    return decide(np.stack(cells, axis=2), rule)


def test_who_is_led_leaves_at_a_look_and_one_that_remains_ends_it() -> None:
    open_yet = decided(of(0.05, rows=7))
    assert open_yet[1:] == ((0, 1), 0, 8, {}) and open_yet.cells[0].remaining == (0, 1)
    ended = decided(of(0.05, rows=8))
    assert ended[1:] == ((), 8, 8, {1: 8}) and ended.cells[0][:2] == ((0,), ONE)
    assert decided(of(0.05)) == ended  # rows behind the last look change nothing


def test_others_have_more_rows_and_those_that_left_none() -> None:
    """Of four the last leaves at 10 rows; what is not a number behind that is not read."""
    costs = of(0.012, 0.014, 0.2)
    costs[:, 1] += np.resize([0.03, -0.03], 26)
    costs[10:, 3] = math.nan
    decision = decided(costs[:13])
    assert decision.left_after[3] == 10 and decision.due == 14 and 3 not in decision.running
    assert 0 in decision.running and decision.cells[0].best == 0


def test_who_is_led_in_some_cells_alone_runs_on() -> None:
    """It has left those; and a cell that has ended asks for no more rows."""
    noisy = of(0.0, 0.0, rows=8) + np.resize([0.1, -0.1, 0.1, -0.1, -0.1, 0.1], (8, 1)) * [0, 1, -1]
    decision = decided(of(0.05, 0.05, rows=8), noisy)
    assert decision.cells[0][:2] == ((0,), ONE)
    assert decision.cells[1].remaining == decision.running == (0, 1, 2)
    assert (decision.due, decision.left_after) == (12, {})
    decision = decided(of(0.05, 0.05, rows=8), noisy + np.array([0, 0, 1]))
    assert (decision.running, decision.left_after) == ((0, 1), {2: 8})


def test_alike_ones_end_it_and_a_tolerance_says_what_is_alike() -> None:
    decision = decided(of(0.001, -0.001))
    assert decision.cells[0][:2] == ((0, 1, 2), ALIKE) and decision.rows < 24
    assert decided(of(0.015), rule=LookRule(0.03)).cells[0].end == ALIKE
    assert decided(of(0.015), rule=LookRule(0.01)).cells[0].end == ONE
    noisy = np.resize([0.1, -0.1, 0.1, -0.1, -0.1, 0.1], (26, 1)) * [1, -1]
    decision = decided(noisy)
    assert (decision.rows, decision.due, decision.running) == (24, 24, ())
    assert decision.cells[0].end == LAST_LOOK
    limit = of(0.0)
    limit[:, 1] = math.inf
    assert decided(limit).cells[0].remaining == (0,)
    assert decided(np.full((26, 2), math.inf)).cells[0].end == ALIKE
    limit[:4, 0], limit[:4, 1] = math.inf, 0.0
    assert lead(limit[:8], 0, 1) == math.inf  # of as many that met their limit on both sides


def test_the_error_of_all_looks_is_shared() -> None:
    """One small difference of the other sign in 8 rows: p = 0.0156, which is not enough at a look."""
    costs = of(0.05, rows=8)
    costs[3, 1] = costs[3, 0] - 0.0001
    assert signed_ranks(costs[:, 1] - costs[:, 0]) == pytest.approx(2 * 2 / 2**8)
    assert decided(costs).running == (0, 1)


def test_a_reference_runs_to_the_end_and_is_beaten_at_the_level_of_the_caller() -> None:
    """Complete agreement in 8 rows is p = 0.004, in 12 rows 0.0002."""
    for level, rows in ((0.004, 8), (0.0003, 12)):
        decision = decided(of(-0.05, 0.05), rule=LookRule(0.02, level))
        [cell] = decision.cells
        assert (cell.wins, cell.best, cell.p, decision.rows) == (True, 1, 2.0**-rows, rows)
        assert decision.left_after == {2: 8} and cell.remaining == (0, 1)
    decision = decided(of(-0.05, rows=8), rule=LookRule(0.02, 0.001))
    assert decision.running == (0, 1) and not decision.cells[0].wins
    [cell] = decided(of(0.05, 0.05), rule=LookRule(0.02, 0.01)).cells
    assert (cell.remaining, cell.best, cell.p, cell.wins) == ((0,), 0, 1.0, False)


def test_who_is_shown_not_to_be_better_by_the_tolerance_leaves() -> None:
    """Than the reference, or than the best; which of two alike ones wins is no question."""
    for truth, wins, remaining in ((-0.014, False, (0,)), (-0.02, True, (0, 1)), (-0.0175, False, (0, 1))):
        [cell] = decided(of(truth), rule=LookRule(0.02, 0.001)).cells
        assert (cell.wins, cell.best, cell.remaining) == (wins, 1, remaining), truth
    decision = decided(of(-0.05, -0.055, 0.0), rule=LookRule(0.02, 0.004))
    assert decision.cells[0].remaining == (0, 2) and decision.cells[0].wins and decision.rows == 8
    apart = of(-0.05, -0.05) + np.resize([0.1, -0.1, 0.1, -0.1, -0.1, 0.1], (26, 1)) * [0, 0, 0.3]
    [cell] = decided(apart, rule=LookRule(0.02, 0.004)).cells
    assert cell.wins and cell.best == 1 and cell.end in (ONE, LAST_LOOK)


def race(source: np.random.Generator, truth: np.ndarray, noise: float, tolerance: float) -> tuple[dict, int]:
    """Who replaces the reference by cell, and the runs it takes; nodes of the blocks are 3 % apart."""
    nodes = 0.03 * source.standard_normal((24, 1, 1))
    costs = nodes + np.log(truth) + noise * source.standard_normal((24, *truth.shape))
    rule, runs, rows = LookRule(tolerance, level_to_win(*truth.shape)), 0, 0
    while (decision := decide(costs[:rows], rule)).running:
        runs, rows = runs + len(decision.running) * (decision.due - rows), decision.due
    return {place: cell.best for place, cell in enumerate(decision.cells) if cell.wins}, runs


def test_a_race_replaces_nothing_wrongly_and_finds_a_fast_one_in_few_runs() -> None:
    source, alike = np.random.default_rng(32), np.ones((4, 1))
    races = [race(source, alike, 0.01, 0.02) for _ in range(60)]
    assert not any(won for won, _ in races) and 33 < np.mean([runs for _, runs in races]) < 38
    by_chance = [race(source, alike, 0.05, 0.0) for _ in range(60)]  # no tolerance prevents it
    assert sum(bool(won) for won, _ in by_chance) <= 3
    alike[3] = 0.97
    assert [race(source, alike, 0.01, 0.02) for _ in range(30)].count(({0: 3}, 32)) > 20
    many = np.ones((12, 20))
    many[11, 0] = 0.97
    races = [race(source, many, 0.01, 0.02) for _ in range(4)]
    assert all(won == {0: 11} for won, _ in races) and 120 < np.mean([runs for _, runs in races]) < 190
